"""A program of two ranks that saves correctly, with mistakes to plant in it.

The launcher starts the ranks, releases them at each barrier, and ends them if
one dies, as torchrun does. Each rank has half of the weights and writes its
own shard; rank 0 marks the checkpoint as complete after a barrier."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

STEPS = 4
SAVE_AT = 2

MISTAKES = {
    "no-barrier": "the mark comes before the other rank's shard",
    "mark-on-error": "rank 0 marks what is there when the other rank dies",
}


class Barrier:
    """A rank's side of the launcher's barrier."""

    def __init__(self, here, go):
        self._here, self._go = here, go

    def wait(self):
        os.write(self._here, b"x")
        if not os.read(self._go, 1):
            raise ConnectionError("a rank is gone")


def write_file(path, text):
    temporary = path.with_suffix(".tmp")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)


def save(out, rank, weights, barrier, mistake):
    def mark():
        if rank == 0:
            write_file(out / "complete.txt", str(SAVE_AT))

    write_file(out / f"shard-{rank}.json", json.dumps(weights))
    if mistake == "no-barrier":
        mark()
    try:
        barrier.wait()
    except ConnectionError:
        if mistake == "mark-on-error":
            mark()
        raise
    mark()
    barrier.wait()


def train(out, rank, barrier, mistake):
    step, weights = 0, [1.0 + rank]
    if (out / "complete.txt").exists():
        step = int((out / "complete.txt").read_text())
        weights = json.loads((out / f"shard-{rank}.json").read_text())
    barrier.wait()
    while step < STEPS:
        step += 1
        weights = [value * 0.9 for value in weights]
        if step == SAVE_AT:
            save(out, rank, weights, barrier, mistake)
    write_file(out / f"final-{rank}.json", json.dumps(weights))
    barrier.wait()


def launch(arguments):
    heres, goes, ranks = [], [], []
    for rank in range(2):
        here, mine = os.pipe()
        its, go = os.pipe()
        ranks.append(subprocess.Popen(
            [sys.executable, "-B", __file__, *arguments, "--pipes", str(mine), str(its)],
            env={**os.environ, "RANK": str(rank)}, pass_fds=(mine, its)))
        os.close(mine)
        os.close(its)
        heres.append(here)
        goes.append(go)
    while all(os.read(here, 1) for here in heres):
        for go in goes:
            os.write(go, b"x")
    for go in goes:
        os.close(go)
    return max(abs(rank.wait()) for rank in ranks)


def main():
    parser = argparse.ArgumentParser(
        description="Trains with two ranks, for gauntlet crash-test.",
        epilog="Exit code 0: trained to the end; another: that of a rank that "
               "failed.")
    parser.add_argument("--out", type=pathlib.Path, required=True,
                        help="folder of checkpoints and results")
    parser.add_argument("--mistake", default="", choices=["", *MISTAKES],
                        help="mistake to make in saves")
    parser.add_argument("--pipes", type=int, nargs=2,
                        help="descriptors of the launcher, for a rank")
    chosen = parser.parse_args()
    if not chosen.pipes:
        sys.exit(launch(sys.argv[1:]))
    train(chosen.out, int(os.environ["RANK"]), Barrier(*chosen.pipes), chosen.mistake)


if __name__ == "__main__":
    main()
