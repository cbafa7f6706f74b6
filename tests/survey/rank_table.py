#!/usr/bin/env python3
"""Crash-tests two ranks under torchrun (trainers/torchrun_parts.py) again and
again, and compares the tables of (rank, operation, verdict).

Prints the table and how often it came. Exit code 0: always the same; 1: not, or
a crash test had no verdict; 2: the call is wrong.
"""

import argparse
import collections
import pathlib
import shutil
import sys
import sysconfig

import crash_test_call
from argument_types import positive

HERE = pathlib.Path(__file__).resolve().parent
TRAINER = HERE / "trainers/torchrun_parts.py"
TORCHRUN = pathlib.Path(sysconfig.get_path("scripts")) / "torchrun"
MOST_POINTS = 12


def crash_test(program, out, command):
    """Returns the result of one crash test of the command, or None."""
    shutil.rmtree(out, ignore_errors=True)
    options = ["--faults", "rank", "--out", out, "--result", "final.bin",
               "--checkpoint", "part-*", "--checkpoint", "complete", "--time",
               "30m"]
    try:
        return crash_test_call.crash_test(
            program, options, command, environment={"OMP_NUM_THREADS": "1"})
    except crash_test_call.NoVerdict as error:
        print(f"crash-test: {error}", file=sys.stderr)
        return None


def table_of(result):
    """Returns (rank, crash point, verdict) of each death of a rank, in the
    order of the recording. torchrun itself has no rank."""
    deaths = [trial for trial in result["trials"] if trial["fault"] == "rank"]
    deaths.sort(key=lambda trial: trial["operation"])
    return tuple((trial["rank"], trial["point"], trial["verdict"])
                 for trial in deaths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--repeats", type=positive, default=20)
    parser.add_argument("--out", default="build/rank-table")
    args = parser.parse_args()
    if not TORCHRUN.exists():
        parser.error(f"{TORCHRUN}: no such file: ci/run.sh rank-table installs it")
    command = [sys.executable, TORCHRUN, "--standalone", "--nproc-per-node", "2",
               TRAINER, "{out}"]
    tables = collections.Counter()
    for repeat in range(args.repeats):
        result = crash_test(pathlib.Path(args.program).resolve(), args.out,
                            command)
        if result is None or result["no_verdict"] or not result["complete"]:
            print(f"repeat {repeat + 1}: no complete table", file=sys.stderr)
            return 1
        table = table_of(result)
        if not 0 < len(table) <= MOST_POINTS:
            print(f"expected 1 to {MOST_POINTS} crash points of ranks, found "
                  f"{len(table)}", file=sys.stderr)
            return 1
        tables[table] += 1
        print(f"repeat {repeat + 1}: {len(table)} deaths of ranks, "
              f"{len(tables)} different tables", flush=True)
    for table, count in tables.most_common():
        print(f"{count} of {args.repeats} times:")
        for rank, point, verdict in table:
            print(f"  rank {rank}  {verdict:10} {point}")
    return 0 if len(tables) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
