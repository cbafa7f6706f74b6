#!/usr/bin/env python3
"""Measures what the recording of `gauntlet crash-test` costs a training program.

Each trainer of tests/survey/bench runs by itself and recorded, in turn. It saves
100 MB every 3 steps. Measured is the time from the end of its first step to that
of its last, so that imports and compilation do not count. A ratio is that of the
recorded run to the one before it. Both must leave equal checkpoints.

Exit code 0: done; 1: a run failed, or the recording changed a result; 2: the
call is wrong.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from argument_types import check_folder, check_programs, positive, some_of

BENCH = pathlib.Path(__file__).resolve().parent / "bench"
TRAINERS = {"torch.save": "torch_save.py",
            "Keras BackupAndRestore": "keras_backup.py",
            "Orbax CheckpointManager": "orbax_manager.py"}
EVERY = 3  # as in bench/measured_run.py
STEP_END = re.compile(r"^step (\d+) ended at ([\d.]+)$", re.MULTILINE)
MS = 1e3
MB = 1e6


class RunFailed(Exception):
    """A failed run, as one line."""


@dataclasses.dataclass
class Run:
    step_seconds: list  # times of the second step and later ones
    digests: str
    recorded_bytes: int = 0

    def seconds(self):
        return sum(self.step_seconds)

    def steps(self, with_save):
        """Returns the steps that end with a save, or the others."""
        return [seconds for step, seconds in enumerate(self.step_seconds, 2)
                if (step % EVERY == 0) == with_save]


class Trainer:
    def __init__(self, args, name, folder):
        self.name = name
        self._args = args
        self._folder = folder
        self._command = [args.python, "-B", str(BENCH / TRAINERS[name]),
                         "--batch", str(args.batch)]

    def run(self, is_recorded):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self._folder))
        for name in "out", "temporary", "log":
            (folder / name).mkdir()
        # Syncs, so that no data of an earlier run is still to be written.
        os.sync()
        try:
            output = (self._record if is_recorded else self._run_alone)(folder)
            return self._run_of(folder, output)
        finally:
            shutil.rmtree(folder)

    def _environment(self, folder):
        return {**os.environ, "PYTHONHASHSEED": "0",
                "TMPDIR": str(folder / "temporary")}

    def _run_alone(self, folder):
        done = subprocess.run(
            [*self._command, "--out", folder / "out"],
            env=self._environment(folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._check(done.returncode, done.stdout)
        return done.stdout

    def _record(self, folder):
        """Records as crash-test does (harness/trainer/run/trainer_run.h), but without
        namespaces."""
        directories = [str(folder / "out"), str(folder / "temporary")]
        run = {
            "arguments": [*self._command, "--out", directories[0]],
            "working_directory": os.getcwd(),
            "environment": [f"{name}={value}" for name, value
                            in self._environment(folder).items()],
            "output_file": str(folder / "output.txt"),
            "namespaces": False, "private_network": False, "mounts": [],
            "directories": directories, "log_folder": str(folder / "log"),
            "log_bytes": 1 << 34, "log_operations": 1_000_000,
            "injections": [], "ranks_take_turns": False, "time_limit": 3600 * 10**9,
            "background_grace": 2 * 10**9, "fork_server": ""}
        (folder / "run.json").write_text(json.dumps(run))
        done = subprocess.run([self._args.program, "trainer-run", folder],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode != 0:
            raise RunFailed(f"{self.name}: gauntlet trainer-run: {done.stderr}")
        end = json.loads((folder / "end.json").read_text())
        output = folder / "output.txt"
        text = output.read_text() if output.exists() else ""
        self._check(end.get("exit_code", 1),
                    end.get("message", "") if "error" in end else text)
        return text

    def _check(self, code, output):
        if code != 0:
            lines = output.strip().splitlines() or ["no output"]
            raise RunFailed(f"{self.name}: expected a run that ends with 0, "
                            f"found exit code {code}: {lines[-1]}")

    def _run_of(self, folder, output):
        ends = [float(time) for _, time in STEP_END.findall(output)]
        if len(ends) < 2:
            raise RunFailed(f"{self.name}: expected the ends of steps, found "
                            f"{len(ends)}")
        return Run(
            step_seconds=[end - begin for begin, end in zip(ends, ends[1:])],
            digests=(folder / "out" / "digests.json").read_text(),
            recorded_bytes=sum(file.stat().st_size
                               for file in (folder / "log").iterdir()))


class Overhead:
    """The rounds of one trainer."""

    def __init__(self, name):
        self.name = name
        self.rounds = []  # runs alone and recorded
        self.are_equal = True

    def add(self, alone, recorded):
        self.rounds.append((alone, recorded))
        self.are_equal &= alone.digests == recorded.digests

    def ratios(self):
        return [recorded.seconds() / alone.seconds()
                for alone, recorded in self.rounds]

    def _median_ms(self, is_recorded, with_save):
        return MS * statistics.median(
            seconds for pair in self.rounds
            for seconds in pair[is_recorded].steps(with_save))

    def to_json(self):
        return {
            "trainer": self.name, "ratios": self.ratios(),
            "ratio": statistics.median(self.ratios()),
            "equal": self.are_equal,
            "recorded_bytes": self.rounds[0][1].recorded_bytes,
            "ms": {"step": self._median_ms(False, False),
                   "step_recorded": self._median_ms(True, False),
                   "step_and_save": self._median_ms(False, True),
                   "step_and_save_recorded": self._median_ms(True, True)},
            "seconds": [[one.seconds() for one in pair]
                        for pair in self.rounds]}


HEADER = (f"{'':24} {'ratio':>5}  {'from':>5}  {'to':>5}  {'step':>14}  "
          f"{'step and save':>16}  {'recorded':>8}  results")


def line_of(overhead):
    figures = overhead.to_json()
    ms = figures["ms"]
    step = f"{ms['step']:.0f} → {ms['step_recorded']:.0f} ms"
    save = f"{ms['step_and_save']:.0f} → {ms['step_and_save_recorded']:.0f} ms"
    return (f"{overhead.name:24} {figures['ratio']:5.2f}  "
            f"{min(figures['ratios']):5.2f}  {max(figures['ratios']):5.2f}  "
            f"{step:>14}  {save:>16}  "
            f"{figures['recorded_bytes'] / MB:5.0f} MB  "
            f"{'equal' if figures['equal'] else 'DIFFER'}")


def measure(args, name, folder):
    trainer = Trainer(args, name, folder)
    overhead = Overhead(name)
    for _ in range(args.rounds):
        alone = trainer.run(is_recorded=False)
        overhead.add(alone, trainer.run(is_recorded=True))
    return overhead


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="recording_overhead.py",
        description=" ".join(__doc__.split("\n\n")[:2]))
    parser.add_argument("--program", default="build/release/gauntlet",
                        help="gauntlet (build/release/gauntlet)")
    parser.add_argument("--python", default=sys.executable,
                        help="Python that has the frameworks (this one)")
    parser.add_argument("--only", type=some_of(TRAINERS),
                        default=list(TRAINERS), metavar="NAME,…",
                        help=f"some of {', '.join(TRAINERS)} (all)")
    parser.add_argument("--rounds", type=positive, default=5, metavar="N",
                        help="pairs of runs (5)")
    parser.add_argument("--batch", type=positive, default=256, metavar="N",
                        help="samples of a step (256)")
    parser.add_argument("--folder", metavar="DIR", default=os.getcwd(),
                        help="where the saves go: the disk that is measured "
                        "(the current folder)")
    parser.add_argument("--out", metavar="FILE",
                        help="write all figures as JSON, too")
    args = parser.parse_args(arguments)
    check_folder(parser, args.folder)
    check_programs(parser, args, ("program", "python"))
    return args


def main():
    args = parse(sys.argv[1:])
    print(HEADER, flush=True)
    results, is_good = [], True
    with tempfile.TemporaryDirectory(prefix="recording-overhead-",
                                     dir=os.path.abspath(args.folder)) as folder:
        for name in args.only:
            try:
                overhead = measure(args, name, folder)
            except RunFailed as error:
                print(f"recording_overhead: {error}", file=sys.stderr)
                is_good = False
                continue
            print(line_of(overhead), flush=True)
            results.append(overhead.to_json())
            is_good &= overhead.are_equal
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
