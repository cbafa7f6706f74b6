#!/usr/bin/env python3
"""Measures Gauntlet beside PyTorch, JAX with Orbax, and TensorFlow on this CPU,
and the matrix products of its kernels beside those of oneDNN.

In each round every party does the same work once, in turn. A ratio is the median
over the rounds of Gauntlet's time divided by the peer's in the same round; below
1, Gauntlet is faster. `ci/run.sh compare-peers` installs the peers.

Exit code 0: done; 1: a party failed; 2: the call is wrong.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import jobs
from parties import Gauntlet, KernelsBench, PartyFailed, Peer, TorchRun

# The survey's scripts use argument_types too.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "survey"))
from argument_types import (check_folder, check_programs, positive,
                            some_of)

PEER_SCRIPTS = {"torch": "torch_peer.py", "jax": "jax_peer.py",
                "tensorflow": "tensorflow_peer.py"}
PRODUCT_PEERS = {"oneDNN": "onednn_peer.py"}
SAVE_MODES = {
    "torch": ("torch.save", "safetensors", "DCP", "DCP async"),
    "jax": ("Orbax", "Orbax async"),
    "tensorflow": ("tf.train.Checkpoint",),
}
GAUNTLET_MODES = ("sync", "async", "zero-copy")
# Modes that save in the background.
BACKGROUND = ("async", "zero-copy", "DCP async", "Orbax async")
SECTIONS = ("products", "steps", "workers", "saves", "recovery")
# A product is repeated for this long in each round.
PRODUCT_SECONDS = 0.2
MS = 1e3
US = 1e6


def _fixed(number, decimals):
    return "-" if number is None else f"{number:.{decimals}f}"


class Section:
    """Times of parties by round, and the ratios computed from them."""

    def __init__(self, title, ours=("Gauntlet",)):
        self.title = title
        self.ours = ours
        self.rounds = {}

    def add(self, party, seconds):
        self.rounds.setdefault(party, []).append(seconds)

    def median(self, party):
        return statistics.median(self.rounds[party])

    def ratio(self, party, own):
        """Returns the median ratio; None if no round has times of both."""
        pairs = list(zip(self.rounds.get(own, ()), self.rounds.get(party, ())))
        if not pairs or any(min(pair) <= 0 for pair in pairs):
            return None
        return statistics.median(mine / theirs for mine, theirs in pairs)

    def lines(self):
        own_ones = [own for own in self.ours if own in self.rounds]
        width = max((len(party) for party in self.rounds), default=0)
        columns = [len(f"{own} ÷ peer") for own in own_ones]
        yield self.title
        yield ("  " + " " * width + "  median ms"
               + "".join(f"  {own} ÷ peer" for own in own_ones))
        for party in sorted(self.rounds, key=self.median):
            ratios = [None if party in self.ours else self.ratio(party, own)
                      for own in own_ones]
            texts = [_fixed(one, 2) for one in ratios]
            yield (f"  {party:{width}}  {self.median(party) * MS:9.2f}"
                   + "".join(f"  {text:>{column}}"
                             for text, column in zip(texts, columns)))

    def to_json(self):
        return {"title": self.title, "seconds": self.rounds,
                "ratios": {own: {party: self.ratio(party, own)
                                 for party in self.rounds
                                 if party not in self.ours}
                           for own in self.ours if own in self.rounds}}


class ProductTable:
    """Prints the section of each product as one row."""

    def __init__(self, products, peers):
        self._title = ("product of float32, m x n x k, 1 thread, "
                       + products[0].isa)
        self._width = max(len(str(one)) for one in products)
        self._peers = peers
        self._columns = [f"{party} µs" for party in ("Gauntlet", *peers)]
        self._columns += [f"Gauntlet ÷ {peer}" for peer in peers]

    def header(self):
        return self._title + "\n" + self._line("", self._columns)

    def row(self, product, section):
        texts = [_fixed(section.median(party) * US, 1)
                 if party in section.rounds else "-"
                 for party in ("Gauntlet", *self._peers)]
        texts += [_fixed(section.ratio(peer, "Gauntlet"), 2)
                  for peer in self._peers]
        return self._line(str(product), texts)

    def _line(self, name, texts):
        return "  ".join(["", f"{name:{self._width}}",
                          *(f"{text:>{len(column)}}" for text, column
                            in zip(texts, self._columns))])


class Comparison:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.gauntlet = Gauntlet(args.program, folder)
        self.sections = []
        self.versions = self.gauntlet.versions()
        self.failures = []
        self._left_out = set()  # pairs of a section's title and a party

    def frameworks(self, threads, processors):
        return self.peers({name: PEER_SCRIPTS[name]
                           for name in self.args.peers}, threads, processors)

    def peers(self, scripts, threads, processors):
        """Returns the peers that start. A peer that does not is reported
        once."""
        started = []
        for name, script in scripts.items():
            try:
                peer = Peer(name, script, threads, processors, self.folder)
            except PartyFailed as error:
                self.fail(str(error))
                continue
            self.versions.update(peer.versions)
            started.append(peer)
        return started

    def fail(self, message):
        print(f"compare-peers: {message}", file=sys.stderr, flush=True)
        self.failures.append(message)

    def finish(self, section):
        self.sections.append(section)
        print("\n".join(section.lines()), "\n", sep="", flush=True)

    def measure(self, section, party, measure):
        """Measures one round of a party. After a failure the party is left
        out."""
        if (section.title, party) in self._left_out:
            return None
        try:
            return measure()
        except PartyFailed as error:
            self.fail(f"{section.title}: {party}: {error}")
            self._left_out.add((section.title, party))
            return None

    def products(self):
        kernels = KernelsBench(self.args.kernels)
        try:
            products = [one for one in kernels.products()
                        if any(text in str(one) for text in self.args.shapes)]
        except PartyFailed as error:
            self.fail(f"products: {error}")
            return
        if not products:
            self.fail("products: no product matches --shapes")
            return
        peers = self.peers(PRODUCT_PEERS, threads=1, processors=1)
        table = ProductTable(products, [peer.name for peer in peers])
        print(table.header(), flush=True)
        for product in products:
            section = Section(f"product {product}, 1 thread, {product.isa}")
            self._run_rounds(section,
                             self._multipliers(product, kernels, peers))
            self.sections.append(section)
            print(table.row(product, section), flush=True)
        print()
        for peer in peers:
            peer.close()

    @staticmethod
    def _multipliers(product, kernels, peers):
        """Returns a function for each party, by its name. The function measures
        the product once."""
        parties = {"Gauntlet": lambda: [
            kernels.seconds(product, PRODUCT_SECONDS)]}
        for peer in peers:
            parties[peer.name] = lambda peer=peer: [peer.ask(
                do="product", shape=product.shape, form=product.form,
                at_least=PRODUCT_SECONDS)["seconds"]]
        return parties

    def steps(self):
        for threads in self.args.threads:
            peers = self.frameworks(threads, processors=threads)
            for name, job in jobs.STEP_JOBS.items():
                self._steps_of(name, job, threads, peers)
            for peer in peers:
                peer.close()

    def _steps_of(self, name, job, threads, peers):
        section = Section(f"step of {name}, batch {job['batch']}, "
                          f"{threads} thread{'s' if threads > 1 else ''}")
        parties = {"Gauntlet": lambda: self.gauntlet.steps(
            job, self.args.steps, threads=threads, processors=threads)}
        for peer in peers:
            if self.measure(section, peer.name, lambda: peer.ask(
                    do="build", job=job)) is not None:
                parties[peer.name] = lambda peer=peer: peer.ask(
                    do="steps", count=self.args.steps)["step_seconds"]
        self._run_rounds(section, parties)
        self.finish(section)

    def _run_rounds(self, section, parties):
        """Measures each party's median time of a step or product in each
        round."""
        for _ in range(self.args.rounds):
            for party, run in parties.items():
                seconds = self.measure(section, party, run)
                if seconds:
                    section.add(party, statistics.median(seconds))

    def workers(self):
        """Measures two workers, and one with the same total work."""
        torchrun = TorchRun(self.folder) if "torch" in self.args.peers else None
        for name in "mlp", "cnn":
            job = jobs.STEP_JOBS[name]
            double = jobs.with_batch(job, 2 * job["batch"])
            section = Section(f"step of {name} on 2 workers, batch "
                              f"{job['batch']} each, and the same on 1",
                              ours=("Gauntlet, 2 workers",))
            parties = {
                "Gauntlet, 2 workers": lambda job=job: self.gauntlet.steps(
                    job, self.args.steps, workers=2, replicas=2),
                "Gauntlet, 1 worker": lambda job=job: self.gauntlet.steps(
                    job, self.args.steps, replicas=2)}
            if torchrun:
                parties["DDP, 2 workers"] = lambda job=job: torchrun.steps(
                    job, self.args.steps, workers=2)
                parties["DDP, 1 worker"] = lambda job=double: torchrun.steps(
                    job, self.args.steps, workers=1)
            self._run_rounds(section, parties)
            self.finish(section)

    def saves(self):
        # A background save needs a processor of its own besides the
        # training's. JAX uses as many threads as processors for its steps,
        # too.
        peers = self.frameworks(threads=1, processors=0)
        for megabytes in self.args.state:
            self._saves_of(megabytes, peers)
        for peer in peers:
            peer.close()

    def _saves_of(self, megabytes, peers):
        job = jobs.state_job(megabytes)
        every = self.args.every
        # Half an interval of steps follows the last save.
        steps = every * self.args.saves + every // 2
        where = f"{megabytes} MB, every {every} steps"
        ours = tuple(f"Gauntlet {mode}" for mode in GAUNTLET_MODES)
        blocking = Section(f"stall of a save that training waits for, {where}",
                           ours[:1])
        background = Section(f"stall of a save in the background, {where}",
                             ours[1:])
        cost = Section(f"what a save adds to the run, {where}", ours)
        restore = Section(f"restore, {megabytes} MB", ("Gauntlet",))
        parties = {"Gauntlet": (self.gauntlet, GAUNTLET_MODES)}
        for peer in peers:
            if self.measure(cost, peer.name, lambda: peer.ask(
                    do="build", job=job)) is not None:
                parties[peer.name] = (peer, SAVE_MODES[peer.name])

        def train(party, mode):
            if party is self.gauntlet:
                return party.train(job, mode, every, steps)
            folder = self.folder / "saves"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            return party.ask(do="train", mode=mode, every=every, steps=steps,
                             folder=str(folder))

        def load(party, mode):
            if party is self.gauntlet:
                return party.restore(job, steps)
            return party.ask(do="restore", mode=mode,
                             folder=str(self.folder / "saves"))

        for _ in range(self.args.save_rounds):
            for name, (party, modes) in parties.items():
                base = self.measure(cost, name, lambda: train(party, None))
                for mode in modes if base else ():
                    label = f"{name} {mode}" if name == "Gauntlet" else mode
                    saved = self.measure(cost, label, lambda: train(party, mode))
                    if not saved:
                        continue
                    stalls = saved["stall_seconds"]
                    if not stalls:
                        self.fail(f"{label}: no save in {steps} steps")
                        continue
                    group = background if mode in BACKGROUND else blocking
                    group.add(label, statistics.median(stalls))
                    cost.add(label, (saved["seconds"] - base["seconds"])
                             / len(stalls))
                    if mode in BACKGROUND:
                        continue  # another mode writes the same files
                    loaded = self.measure(restore, label,
                                          lambda: load(party, mode))
                    if loaded:
                        restore.add("Gauntlet" if party is self.gauntlet
                                    else label, loaded["seconds"])
        self.gauntlet.forget()
        for section in blocking, background, cost, restore:
            self.finish(section)

    def recovery(self):
        workers, every = 4, 10
        job = jobs.state_job(100)
        section = Section(
            f"kill -9 of 1 of {workers} workers until the first step after the restart, 100 MB",
            ours=("Gauntlet whole-job", "Gauntlet rejoin"))
        parties = {f"Gauntlet {policy}":
                   lambda policy=policy: self.gauntlet.recover(
                       job, workers, every, policy)
                   for policy in ("whole-job", "rejoin")}
        if "torch" in self.args.peers:
            torchrun = TorchRun(self.folder)
            parties["torchrun"] = lambda: torchrun.recover(job, workers, every)
        beyond = {}
        for _ in range(self.args.save_rounds):
            for party, run in parties.items():
                result = self.measure(section, party, run)
                if result:
                    section.add(party, result["seconds"])
                    beyond.setdefault(party, []).append(
                        result["seconds"]
                        - statistics.median(result["step_seconds"]))
        self.gauntlet.forget()
        self.finish(section)
        for party, seconds in beyond.items():
            print(f"  {party}: {statistics.median(seconds) * MS:.0f} ms beyond "
                  "one normal step")

    def to_json(self):
        return {"versions": self.versions,
                "failures": self.failures,
                "sections": [one.to_json() for one in self.sections]}


def _positives(text):
    return [positive(one) for one in text.split(",")]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="ci/run.sh compare-peers",
        description=" ".join(__doc__.split("\n\n")[:2]))
    parser.add_argument("--program", default="build/release/gauntlet",
                        help=argparse.SUPPRESS)
    parser.add_argument("--kernels",
                        default="build/release/tests/bench/kernels_bench",
                        help=argparse.SUPPRESS)
    parser.add_argument("--only", type=some_of(SECTIONS), default=SECTIONS,
                        metavar="NAME,…",
                        help=f"some of {', '.join(SECTIONS)} (all)")
    parser.add_argument("--peers", type=some_of(list(PEER_SCRIPTS)),
                        default=list(PEER_SCRIPTS), metavar="NAME,…",
                        help=f"some of {', '.join(PEER_SCRIPTS)} (all); the "
                        "products are always compared with oneDNN's")
    parser.add_argument("--rounds", type=positive, default=5, metavar="N",
                        help="rounds of the products and steps (5)")
    parser.add_argument("--shapes", type=lambda text: text.split(","),
                        default=[""], metavar="TEXT,…",
                        help="products that have one of these texts, such as "
                        "32x4096x4096 or NT (all)")
    parser.add_argument("--steps", type=positive, default=200, metavar="N",
                        help="steps of a round (200)")
    parser.add_argument("--threads", type=_positives, default=[1, 2],
                        metavar="N,…", help="threads of the steps (1,2)")
    parser.add_argument("--state", type=_positives, default=[10, 100, 1000],
                        metavar="MB,…",
                        help="sizes of the state in the saves (10,100,1000)")
    parser.add_argument("--save-rounds", type=positive, default=3, metavar="N",
                        help="rounds of the saves and recoveries (3)")
    parser.add_argument("--saves", type=positive, default=4, metavar="N",
                        help="saves of a round (4)")
    parser.add_argument("--every", type=positive, default=10, metavar="N",
                        help="steps from save to save (10)")
    parser.add_argument("--out", metavar="FILE",
                        help="write all figures as JSON, too")
    parser.add_argument("--folder", metavar="DIR", default=os.getcwd(),
                        help="where the saves go: the disk that is measured "
                        "(the current folder)")
    args = parser.parse_args(arguments)
    check_folder(parser, args.folder)
    check_programs(parser, args, ["program"])
    if "products" in args.only:
        check_programs(parser, args, ["kernels"])
    return args


def main():
    args = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="compare-peers-",
                                     dir=args.folder) as folder:
        comparison = Comparison(args, pathlib.Path(folder))
        for name in args.only:
            getattr(comparison, name)()
        print("versions: " + ", ".join(f"{name} {version}" for name, version
                                       in comparison.versions.items()))
        if args.out:
            pathlib.Path(args.out).write_text(
                json.dumps(comparison.to_json(), indent=1) + "\n")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
