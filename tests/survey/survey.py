#!/usr/bin/env python3
"""Runs `gauntlet crash-test` on small programs, each of which saves and resumes
by one library as the library's documentation has it.

Prints a table of the crash states that each one recovers from, and keeps the
findings. `ci/run.sh survey` installs the libraries.

Exit code 0: done; 1: a trainer has no verdict; 2: the call is wrong.
"""

import argparse
import collections
import importlib.metadata
import json
import os
import pathlib
import shutil
import sys

import crash_test_call
import trainer_list
from argument_types import check_programs, positive, some_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/survey.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
# Columns of verdicts in the table.
FAULTS = ("kill", "torn", "ext4", "weak", "enospc", "eio", "sigterm", "pause")
FINDINGS = ("fails", "diverged", "lost-work", "hangs")
NOT_FOUND = "not installed"
# Libraries use no device and no network, and print errors only.
ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu",
               "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0",
               "HF_HUB_OFFLINE": "1"}


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return NOT_FOUND


def fault_of(trial):
    """Returns the fault after which the trial is named: the simplest one that
    leaves its state. For a power loss, returns the file system's rules."""
    profile = trial["id"].split("-")[0]
    return profile if trial["fault"] == "power" else trial["fault"]


class Survey:
    def __init__(self, args):
        self.args = args
        self.out = pathlib.Path(args.out)
        (self.out / "tests").mkdir(parents=True, exist_ok=True)

    def record_path(self, trainer):
        return self.out / f"{trainer.name}.json"

    def records(self):
        """Returns the records of all trainers tried, now or before."""
        return [json.loads(self.record_path(trainer).read_text())
                for trainer in trainer_list.ALL
                if self.record_path(trainer).exists()]

    def try_all(self):
        for trainer in self.args.only:
            if self.args.reuse and self.record_path(trainer).exists():
                continue
            print(f"{trainer.name} …", file=sys.stderr, flush=True)
            record = self.try_one(trainer)
            self.record_path(trainer).write_text(json.dumps(record, indent=1))
            print(f"{trainer.name}: {summary(record)}", file=sys.stderr,
                  flush=True)

    def try_one(self, trainer):
        record = {"trainer": trainer.name, "title": trainer.title,
                  "versions": {name: version_of(name)
                               for name in trainer.packages},
                  "time": self.args.time, "jobs": self.args.jobs,
                  "cores": os.cpu_count()}
        missing = [name for name, version in record["versions"].items()
                   if version == NOT_FOUND]
        if missing:
            return {**record, "no_verdict": f"{', '.join(missing)}: {NOT_FOUND}"}
        result, failure = self.crash_test(trainer)
        if failure:
            return {**record, "no_verdict": failure}
        return {**record, "no_verdict": result["no_verdict"], "result": result}

    def crash_test(self, trainer):
        """Returns the result, or a line with the reason why there is none."""
        folder = self.out / "tests" / trainer.name
        shutil.rmtree(folder, ignore_errors=True)
        command = [word.replace("{python}", sys.executable)
                   .replace("{program}", self.args.program)
                   for word in trainer.command]
        options = ["--out", str(folder), "--time", self.args.time, "--jobs",
                   str(self.args.jobs), "--faults", self.args.faults,
                   *trainer.options]
        try:
            return crash_test_call.crash_test(
                self.args.program, options, command, environment=ENVIRONMENT,
                cwd=ROOT), ""
        except crash_test_call.NoVerdict as error:
            # A result without a verdict has its reason in itself.
            return error.result, "" if error.result else str(error)


def counts_of(record):
    """Returns verdicts by fault: {"kill": {"recovered": 9, "fails": 2}}."""
    counts = collections.defaultdict(collections.Counter)
    for trial in record["result"]["trials"]:
        counts[fault_of(trial)][trial["verdict"]] += 1
    return counts


def cell(counts):
    total = sum(counts.values())
    if not total:
        return "–"
    bad = [f"{counts[verdict]} {verdict}" for verdict in FINDINGS
           if counts[verdict]]
    unknown = counts["resume-point-unknown"]
    if unknown:
        bad.append(f"{unknown} unknown")
    return f"{total}: {', '.join(bad)}" if bad else f"{total}"


def summary(record):
    if record["no_verdict"]:
        return f"no verdict: {record['no_verdict']}"
    result = record["result"]
    counts = collections.Counter(trial["verdict"] for trial in result["trials"])
    return (f"crash states: {cell(counts)}"
            + ("" if result["complete"] else "; time ran out"))


def faults_of(records):
    tried = {fault for record in records if not record["no_verdict"]
             for fault in counts_of(record)}
    return [fault for fault in FAULTS if fault in tried]


def row(record, faults):
    versions = ", ".join(f"{name} {version}"
                         for name, version in record["versions"].items())
    cells = [record["title"], versions or "this one"]
    if record["no_verdict"]:
        return [*cells, f"no verdict: {record['no_verdict']}",
                *[""] * (len(faults) + 1)]
    result, counts = record["result"], counts_of(record)
    tried = str(len(result["trials"]))
    return [*cells, tried if result["complete"] else f"{tried}, time ran out",
            *[cell(counts[fault]) for fault in faults],
            str(len(result["findings"]))]


def table(records):
    """Returns the table in Markdown."""
    faults = faults_of(records)
    head = ["trainer", "versions", "crash states",
            *[f"power, {fault}" if fault in ("ext4", "weak") else fault
              for fault in faults], "findings"]
    rows = [head, ["---"] * len(head), *[row(one, faults) for one in records]]
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    versions = sorted({one["result"]["version"] for one in records
                       if "result" in one})
    def each(key):
        return ", ".join(map(str, sorted({one[key] for one in records})))

    return "\n".join([*lines, "", f"Gauntlet {', '.join(versions)}; time for "
                      f"each trainer: {each('time')}; trials at a time: "
                      f"{each('jobs')}; cores: {each('cores')}."])


def write_table(document, text):
    path = pathlib.Path(document)
    before, rest = path.read_text().split(BEGIN + "\n")
    _, after = rest.split(END)
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def _trainers(text):
    by_name = {trainer.name: trainer for trainer in trainer_list.ALL}
    return [by_name[name] for name in some_of(by_name)(text)]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="ci/run.sh survey",
        description=" ".join(__doc__.split("\n\n")[:2]))
    parser.add_argument("--program", default="build/release/gauntlet",
                        help=argparse.SUPPRESS)
    parser.add_argument("--document", default=DOCUMENT, help=argparse.SUPPRESS)
    parser.add_argument("--only", type=_trainers, default=trainer_list.ALL,
                        metavar="NAME,…", help="some of the trainers (all)")
    parser.add_argument("--time", default="4m",
                        help="time for the crash states of a trainer (4m)")
    parser.add_argument("--faults", default="kill,torn,power", metavar="NAME,…",
                        help="faults of gauntlet crash-test (kill,torn,power)")
    parser.add_argument("-j", "--jobs", type=positive, default=2, metavar="N",
                        help="trials at a time (2)")
    parser.add_argument("--out", metavar="DIR", default="build/survey/results",
                        help="where results and findings go "
                        "(build/survey/results)")
    parser.add_argument("--reuse", action="store_true",
                        help="try only the trainers without a result in --out")
    parser.add_argument("--write", action="store_true",
                        help="put the table into docs/survey.md")
    args = parser.parse_args(arguments)
    check_programs(parser, args, ("program",))
    args.program = os.path.abspath(args.program)
    return args


def main():
    args = parse(sys.argv[1:])
    survey = Survey(args)
    survey.try_all()
    records = survey.records()
    (survey.out / "survey.json").write_text(json.dumps(records, indent=1))
    text = table(records)
    print(text)
    if args.write:
        write_table(args.document, text)
    return 1 if any(record["no_verdict"] for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
