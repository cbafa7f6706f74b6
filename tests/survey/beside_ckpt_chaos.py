#!/usr/bin/env python3
"""Runs `gauntlet crash-test` beside ckpt-chaos (PyPI) on the same scripts.

In each round both test a script, in turn and with equal -j: scripts that
save plainly, and examples of ckpt-chaos. Printed are the crash states that each judged
a minute, over its whole command; where each failing point of ckpt-chaos is among
those of Gauntlet; and the power losses that fail where a kill recovers.

A state is judged when the resumed run has ended. Gauntlet tries equal states
once, and a state counts for each fault that leaves it; ckpt-chaos's points are
all counted.

Exit code 0: done; 1: a test gave no verdict, or a failing point was not found;
2: the call is wrong.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import crash_test_call
import operation_list
from argument_types import check_folder, check_programs, positive, some_of
from crash_test_call import NoVerdict

BENCH = pathlib.Path(__file__).resolve().parent / "bench"
KILL_MODES = "before,torn"
# Gauntlet's verdicts that match a verdict of ckpt-chaos.
SAME = {"HARD_FAIL": ("fails", "refused", "hangs"),
        "SILENT_DIVERGENCE": ("diverged",),
        "LOST_WORK": ("lost-work",)}
FINDINGS = ("fails", "hangs", "diverged", "lost-work")
SHOWN = 3  # maximum number of power losses named
WRITERS = ("open", "torch.save", "safetensors.save_file", "h5py.File",
           "tensorstore.write")
KINDS = {"os.rename": operation_list.RENAME,
         "os.remove": operation_list.UNLINK,
         "os.mkdir": operation_list.MAKE_DIRECTORY,
         "os.rmdir": operation_list.REMOVE_DIRECTORY}


@dataclasses.dataclass
class Example:
    arguments: list  # options of Python
    result: str      # a file below {out}
    environment: dict = dataclasses.field(default_factory=dict)
    checkpoint: str = ""
    step_regex: str = ""


def _package_example(name, **environment):
    return Example([str(BENCH / "package_example.py"), name, "--out", "{out}"],
                   "final_rank0.pt", environment)


EXAMPLES = {
    "json": Example([str(BENCH / "json_train.py"), "--out", "{out}"],
                    "final.json", checkpoint="checkpoint-*.json",
                    step_regex=r"resumed from step (\d+)"),
    "torch.save": Example([str(BENCH / "torch_train.py"), "--out", "{out}"],
                          "final.pt", checkpoint="checkpoint-*.pt",
                          step_regex=r"resumed from step (\d+)"),
    "loop_ddp direct": _package_example(
        "loop_ddp", CKPT_CHAOS_STRATEGY="direct"),
    "loop_ddp tmp_rename_rank0": _package_example(
        "loop_ddp", CKPT_CHAOS_STRATEGY="tmp_rename_rank0"),
    "hf_trainer": _package_example("hf_trainer", TRANSFORMERS_VERBOSITY="error",
                                   HF_HUB_OFFLINE="1"),
}


@dataclasses.dataclass
class Point:
    """A crash point of ckpt-chaos."""
    label: str
    kind: str
    name: str
    occurrence: int  # occurrence of this kind and name, from 1
    is_torn: bool
    verdict: str


@dataclasses.dataclass
class Test:
    """One run of a tool."""
    seconds: float
    processor_seconds: float
    judged: int

    def per_minute(self):
        return self.judged / self.seconds * 60

    def processor_seconds_each(self):
        return self.processor_seconds / self.judged


@dataclasses.dataclass
class ChaosTest(Test):
    points: list


@dataclasses.dataclass
class CrashTest(Test):
    result: dict
    operations: list


def run_ckpt_chaos(args, example, folder, modes):
    options = ["--jobs", str(args.jobs), "--max-points", str(args.max_points),
               "--modes", modes, "--work", str(folder), "--result-file",
               "{out}/" + example.result]
    if example.step_regex:
        options += ["--step-regex", example.step_regex]
    if example.checkpoint:
        options += ["--checkpoint-glob", "{out}/" + example.checkpoint]
    times, done = _timed(lambda: subprocess.run(
        [args.python, "-m", "ckpt_chaos", "run", *options, "--", args.python,
         *example.arguments],
        env={**os.environ, **example.environment}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True))
    records = [json.loads(path.read_text())
               for path in folder.glob("pt_*/result.json")]
    if done.returncode not in (0, 1) or not records:
        raise NoVerdict(f"ckpt-chaos: {_last_line(done)}")
    points = _points(records, _events(folder), _verdicts(done.stdout))
    return ChaosTest(*times, len(points), points)


def _events(folder):
    """Returns kind and name of each event, by number."""
    lines = (folder / "reference/events.log.rank0").read_text().splitlines()
    return [tuple(line.split("\t")[1:3]) for line in lines]


def _verdicts(table):
    """Returns verdicts by label, from the table that ckpt-chaos prints."""
    verdicts = {}
    for line in table.splitlines():
        words = line.split()
        for verdict in ("PASS", *SAME):
            if line.startswith("#") and verdict in words:
                label = line[:line.index("]") + 1]
                verdicts[label] = verdict
    return verdicts


def _points(records, events, verdicts):
    points = []
    for record in sorted(records, key=lambda one: one["order"]):
        if "point" not in record:
            continue  # the control run
        number, mode = record["point"]
        kind, name = events[number - 1]
        points.append(Point(
            record["label"], kind, name,
            events[:number].count((kind, name)), mode == "torn",
            verdicts[record["label"]]))
    return points


def run_crash_test(args, example, folder):
    options = [f"-j{args.jobs}", "--time", args.time, "--out", str(folder),
               "--result", example.result]
    if example.step_regex:
        options += ["--step-regex", example.step_regex]
    if example.checkpoint:
        options += ["--checkpoint", example.checkpoint]
    try:
        times, result = _timed(lambda: crash_test_call.crash_test(
            args.program, options, [args.python, *example.arguments],
            environment=example.environment))
    except NoVerdict as error:
        raise NoVerdict(f"gauntlet: {error}") from error
    judged = sum(one["verdict"] != "hangs" for one in result["trials"])
    operations = operation_list.read(
        folder / "runs" / "recording" / "log" / "operations")
    return CrashTest(*times, judged, result, operations)


def _processor_seconds():
    """Returns the processor time of all child processes that have ended, in
    seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _timed(run):
    """Calls a function that runs a process. Returns its seconds and processor
    seconds, and the function's result."""
    begin, used = time.monotonic(), _processor_seconds()
    result = run()
    return (time.monotonic() - begin, _processor_seconds() - used), result


def _last_line(done):
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}, no output"


def operation_of(point, operations):
    """Returns the number of the operation at the point, or None if not
    recorded."""
    count = 0
    for number, one in enumerate(operations, 1):
        is_kind = (one.begins_file() if point.kind in WRITERS
                   else one.kind == KINDS.get(point.kind))
        if is_kind and os.path.basename(one.name) == point.name:
            count += 1
            if count == point.occurrence:
                return number
    return None


def span_of(point, operations):
    """Returns the numbers of the first and of the last operation after which a
    crash leaves the same state as a crash at the point; None if the operation
    is not recorded. A torn file may end anywhere in its writes."""
    at = operation_of(point, operations)
    if at is None:
        return None
    if not point.is_torn:
        first = at - 1
        while first > 0 and not operations[first - 1].changes():
            first -= 1
        return first, at - 1
    file, last = operations[at - 1].file, at
    for number in range(at, len(operations) + 1):
        one = operations[number - 1]
        if one.file == file and number > at and one.begins_file():
            break
        if one.file == file and one.kind == operation_list.WRITE:
            last = number
    return at, last - 1


def crashes_of(trial):
    """Returns the trial once for its own crash, and once for each crash that
    was not tried because it leaves the same directories."""
    return [trial, *({**trial, "point": equal["id"], "lost": [], **equal}
                     for equal in trial.get("equal_crashes", []))]


def twin_of(point, test):
    """Returns the crash that failed at the same place and in the same way as
    the point, or None."""
    span = span_of(point, test.operations)
    if span is None:
        return None
    for trial in test.result["trials"]:
        for crash in crashes_of(trial):
            if (crash["fault"] in ("kill", "torn")
                    and span[0] <= crash["operation"] <= span[1]
                    and crash["verdict"] in SAME[point.verdict]):
                return crash
    return None


def power_losses(result):
    """Returns power losses that fail, although a kill at the same operation
    recovers; at most one for each state."""
    kills = sorted((crash["operation"], crash["verdict"])
                   for trial in result["trials"] for crash in crashes_of(trial)
                   if crash["fault"] == "kill")

    def kill_recovers(operation):
        # Only one of several equal states is tried. So the last kill at or
        # before the operation counts.
        before = [verdict for at, verdict in kills if at <= operation]
        return before[-1:] == ["recovered"]

    failing = []
    for trial in result["trials"]:
        losses = [crash for crash in crashes_of(trial)
                  if crash["fault"] == "power" and crash["verdict"] in FINDINGS
                  and kill_recovers(crash["operation"])]
        failing += losses[:1]
    return failing


def _kind(trial):
    """Returns the file system's rules and the verdict, such as "ext4 fails"."""
    return f"{trial['id'].split('-')[0]} {trial['verdict']}"


def _count(counts):
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def _spread(ratios):
    return (f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to "
            f"{max(ratios):.1f})")


class Comparison:
    """The rounds of one example."""

    def __init__(self, name):
        self.name = name
        self.rounds = []  # tests of ckpt-chaos and of Gauntlet
        self.unsynced = None

    def add(self, theirs, ours):
        self.rounds.append((theirs, ours))

    def ratios(self):
        return [ours.per_minute() / theirs.per_minute()
                for theirs, ours in self.rounds]

    def processor_ratios(self):
        return [theirs.processor_seconds_each() / ours.processor_seconds_each()
                for theirs, ours in self.rounds]

    def failing(self):
        """Returns each failing point of the first round, and its twin."""
        theirs, ours = self.rounds[0]
        return [(point, twin_of(point, ours)) for point in theirs.points
                if point.verdict != "PASS"]

    def to_json(self):
        theirs, ours = self.rounds[0]
        return {
            "example": self.name,
            "points": len(theirs.points),
            "ckpt_chaos": dict(collections.Counter(
                point.verdict for point in theirs.points)),
            "gauntlet": dict(collections.Counter(
                trial["verdict"] for trial in ours.result["trials"])),
            "complete": ours.result["complete"],
            "notes": ours.result["notes"],
            "seconds": [[one.seconds for one in pair] for pair in self.rounds],
            "processor_seconds": [[one.processor_seconds for one in pair]
                                  for pair in self.rounds],
            "judged": [[one.judged for one in pair] for pair in self.rounds],
            "ratios": self.ratios(),
            "unsynced": self.unsynced,
            "failing": [{"point": point.label, "verdict": point.verdict,
                         "found": twin["id"] if twin else None}
                        for point, twin in self.failing()],
            "power_only": [{"id": one["id"], "kind": _kind(one),
                            "point": one["point"], "lost": one.get("lost", []),
                            "reason": one["reason"]}
                           for one in power_losses(ours.result)]}

    def lines(self):
        figures = self.to_json()
        ratios = figures["ratios"]
        sides = list(zip(*self.rounds))
        yield self.name
        for tool, side, verdicts in zip(
                ("ckpt-chaos", "gauntlet"), sides,
                (figures["ckpt_chaos"], figures["gauntlet"])):
            rate = statistics.median(one.per_minute() for one in side)
            each = statistics.median(one.processor_seconds_each()
                                     for one in side)
            yield (f"  {tool:10}  {side[0].judged:4} crash states, "
                   f"{rate:6.1f} a minute, {each:5.2f} processor seconds each: "
                   f"{_count(verdicts)}")
        yield f"  gauntlet judges {_spread(ratios)} times as many a minute"
        yield (f"  and {_spread(self.processor_ratios())} times as many a "
               "processor second")
        failing = figures["failing"]
        found = sum(one["found"] is not None for one in failing)
        yield f"  failing points of ckpt-chaos: {len(failing)}, found: {found}"
        for one in failing:
            yield (f"    {one['point']:44} {one['verdict']:17} "
                   f"{one['found'] or 'NOT FOUND'}")
        power = figures["power_only"]
        kinds = collections.Counter(one["kind"] for one in power)
        yield (f"  power losses that fail where a kill recovers: {len(power)}"
               + (f" ({_count(kinds)})" if power else "")
               + "; ckpt-chaos in its mode unsynced: "
               + (_count(self.unsynced) if self.unsynced else "no verdict"))
        for one in power[:SHOWN]:
            yield f"    {one['point']}"
            yield "      " + ": ".join([*one["lost"][-1:], one["reason"]])


def compare(args, name, folder):
    example = EXAMPLES[name]
    comparison = Comparison(name)
    for number in range(args.rounds):
        place = pathlib.Path(tempfile.mkdtemp(dir=folder))
        theirs = run_ckpt_chaos(args, example, place / "theirs", KILL_MODES)
        ours = run_crash_test(args, example, place / "ours")
        comparison.add(theirs, ours)
        if number == 0:
            try:
                unsynced = run_ckpt_chaos(args, example, place / "unsynced",
                                          "unsynced")
                comparison.unsynced = collections.Counter(
                    point.verdict for point in unsynced.points)
            except NoVerdict:
                pass
        shutil.rmtree(place)
    return comparison


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="beside_ckpt_chaos.py", description=__doc__.split("\n\n")[1])
    parser.add_argument("--program", default="build/release/gauntlet",
                        help="gauntlet (build/release/gauntlet)")
    parser.add_argument("--python", default=sys.executable,
                        help="Python that has ckpt-chaos and the frameworks "
                        "(this one)")
    parser.add_argument("--only", type=some_of(EXAMPLES),
                        default=list(EXAMPLES), metavar="NAME,…",
                        help=f"some of {', '.join(EXAMPLES)} (all)")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N",
                        help="rounds of each example (3)")
    parser.add_argument("-j", "--jobs", type=positive, default=2, metavar="N",
                        help="trials at a time, of both (2)")
    parser.add_argument("--max-points", type=positive, default=40, metavar="N",
                        help="most crash points of ckpt-chaos (40)")
    parser.add_argument("--time", default="10m", metavar="TIME",
                        help="time for the trials of Gauntlet (10m)")
    parser.add_argument("--folder", metavar="DIR", default=os.getcwd(),
                        help="where the tests run (the current folder)")
    parser.add_argument("--out", metavar="FILE",
                        help="write all figures as JSON, too")
    args = parser.parse_args(arguments)
    check_folder(parser, args.folder)
    check_programs(parser, args, ("program", "python"))
    return args


def main():
    args = parse(sys.argv[1:])
    results, is_good = [], True
    with tempfile.TemporaryDirectory(prefix="beside-ckpt-chaos-",
                                     dir=os.path.abspath(args.folder)) as folder:
        for name in args.only:
            try:
                comparison = compare(args, name, folder)
            except NoVerdict as error:
                print(f"beside_ckpt_chaos: {name}: {error}", file=sys.stderr)
                is_good = False
                continue
            print("\n".join(comparison.lines()), "\n", sep="", flush=True)
            results.append(comparison.to_json())
            is_good &= all(twin for _, twin in comparison.failing())
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
