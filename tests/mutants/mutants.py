#!/usr/bin/env python3
"""Runs the bug bank: is each bug found in the simulation, by what, how soon?

A modelled bug is explored for at most --time seconds of a core, over several
bases; exit code 1 if one is not found. A mechanical one (--mechanical) goes
through the scenario suites in the simulated world first, which takes less, and
through the unit tests of the engine's parts last. Those that survive are listed,
each with its explanation if explained.toml has one. A process that dies or hangs
counts as found, told apart. Results stay in a file, and a run goes on
where an earlier one of the same program ended.

First the program runs each stage without a mutant: it must find nothing, and
which mutants it asked for is noted. A stage that never asks for a mutant cannot
find it, and is left out."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "mutants"
SCENARIOS = ROOT / "scenarios"
BASES = (SCENARIOS / "explore", pathlib.Path(__file__).resolve().parent / "bases")
SEEN_BYTES = 4096  # switch.h
MEMORY_BYTES = 8 << 30
# Passed; inconclusive, as where a stage's time is too short for its base; and
# interrupted before anything was found.
NOTHING_FOUND = (0, 3, 130)
# Seconds of a core beyond a stage's time, after which a process hangs:
# shrinking has 10 s of its own, and a suite takes 5 s at most. On the clock a
# busy machine may need many times as long.
ENDS_LATE_S = 60
LONGEST_STAGE_S = 1800

# Of --time, in parts of 60: base file, mode and part. The rest is for the suites.
# Those of the bank have set-ups that `gauntlet explore` does not draw by itself.
EXPLORED = (("base.yaml", "random", 6), ("elastic.yaml", "random", 5),
            ("async.yaml", "random", 5), ("base.yaml", "crash-states", 4),
            ("hosts-apart.yaml", "random", 5), ("base.yaml", "sweep", 4),
            ("file-server.yaml", "random", 4), ("not-finite.yaml", "random", 2),
            ("collective.yaml", "random", 2), ("bank-delete.yaml", "random", 2),
            ("bank-job.yaml", "random", 3), ("bank-grace.yaml", "random", 3))
OWN_BASE_PART = 8  # of a bug that names its base
# Scenario suites of a second or so each. Those of planted bugs pass because
# something is found, and those of large models take minutes.
SUITES = ("smoke", "storage", "async", "network", "preemption", "regressions",
          "elastic", "collective", "gpu", "launcher", "outputs", "stateless")


class Stage:
    def __init__(self, base, mode="", seconds=0.0):
        self.base, self.mode, self.seconds = base, mode, seconds
        self.name = f"{mode} {base}" if mode else f"suite {base}"
        self.limit = seconds + ENDS_LATE_S

    def command(self, program, scratch, planted):
        if not self.mode:
            return [program, "run", SCENARIOS / self.base, "--world", "sim",
                    "-x", "--json", "--runs", scratch / "runs"]
        base = next(folder / self.base for folder in BASES
                    if (folder / self.base).exists())
        if planted:
            text = base.read_text()
            base = scratch / f"{planted}-{self.base}"
            base.write_text(f"{text}planted_bugs: {planted}\n")
        # On a busy machine the clock says nothing: see wait_for.
        return [program, "explore", base, "--mode", self.mode, "--time",
                f"{LONGEST_STAGE_S}s", "-x", "--json", "--out",
                scratch / self.name.replace(" ", "-")]


class UnitTests:
    """One program of tests, in place of the harness. Each of its properties is
    checked in `cases` cases."""
    mode = ""
    limit = ENDS_LATE_S

    def __init__(self, program, cases):
        self.base, self.cases = program, cases
        self.name = f"tests {pathlib.PurePath(program).name}"

    def command(self, program, scratch, planted):
        del scratch, planted
        return [program.parent / "tests" / self.base, "--gtest_fail_fast",
                "--gtest_brief=1"]


# Programs below the build's tests/. Only mechanical mutants come to them. Each
# takes 10 s at most.
UNIT_TESTS = (UnitTests("engine/ckpt/engine_ckpt_test", 1000),
              UnitTests("property/store_prop", 1000),
              UnitTests("engine/cluster/cluster_test", 100),
              UnitTests("engine/train/engine_train_test", 10))


def stages_of(mutant, limit):
    """In the order in which they are tried."""
    unit = limit / 60
    explored = [Stage(base, mode, part * unit) for base, mode, part in EXPLORED
                if (mutant["base"], "random") != (base, mode)]
    suites = [Stage(suite) for suite in SUITES]
    if mutant["planted"]:
        suites = [Stage("canary")]
    if mutant["base"]:
        explored.insert(0, Stage(mutant["base"], "random", OWN_BASE_PART * unit))
    if is_mechanical(mutant):
        return suites + explored + list(UNIT_TESTS)
    return explored + suites


def is_mechanical(mutant):
    return mutant["kind"] not in ("modelled", "planted")


@dataclass
class Ran:
    """What one process came to."""
    code: int  # None: ended at its limit
    out: str
    errors: str
    asked: set  # mutants
    cpu: float  # seconds


def core_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wait_for(child, stage):
    """Exit code or None, and the seconds of a core that it took. An exploration
    is interrupted after the stage's seconds of a core, and says what it has."""
    deadline = time.monotonic() + LONGEST_STAGE_S
    killed, interrupted = False, not stage.mode
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid != 0:
            break
        if not interrupted and core_seconds(child.pid) > stage.seconds:
            interrupted = True
            child.send_signal(signal.SIGINT)
        if time.monotonic() > deadline and not killed:
            killed = True
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(0.02)
    child.returncode = os.waitstatus_to_exitcode(status)
    hangs = killed or child.returncode == -signal.SIGXCPU
    return (None if hangs else child.returncode,
            usage.ru_utime + usage.ru_stime)


class Runner:
    def __init__(self, options):
        self.options = options
        self.program = options.program.resolve()
        self.seen = {}

    def run(self, stage, mutant, scratch):
        seen = scratch / "seen"
        seen.write_bytes(bytes(SEEN_BYTES))
        environment = dict(os.environ, GAUNTLET_MUTANT=str(mutant["number"]),
                           GAUNTLET_MUTANTS_SEEN=str(seen))
        if isinstance(stage, UnitTests):
            environment["RC_PARAMS"] = f"seed=1 max_success={stage.cases}"
        command = stage.command(self.program, scratch, mutant["planted"])
        with open(scratch / "out", "wb+") as out, \
                open(scratch / "errors", "wb+") as errors:
            child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", "prlimit",
                 f"--as={MEMORY_BYTES}", "--core=0",
                 f"--cpu={stage.limit:.0f}", "--",
                 *map(str, command)], cwd=scratch, stdout=out, stderr=errors,
                env=environment, process_group=0)
            code, cpu = wait_for(child, stage)
            texts = []
            for file in (out, errors):
                file.seek(0)
                texts.append(file.read(1 << 24).decode(errors="replace"))
        asked = {n for n, byte in enumerate(seen.read_bytes()) if byte}
        return Ran(code, *texts, asked, cpu)

    def look(self, stages):
        """Each stage without a mutant. Returns what it wrongly found."""
        false_alarms = []
        nothing = {"number": 0, "planted": ""}

        def look_at(stage):
            with tempfile.TemporaryDirectory() as scratch:
                # More cases than with a mutant, which needs a stage's time too.
                longer = (stage if isinstance(stage, UnitTests) else
                          Stage(stage.base, stage.mode, 2 * stage.seconds))
                ran = self.run(longer, nothing, pathlib.Path(scratch))
            found = read_outcome(stage, ran)
            if found:
                false_alarms.append(f"{stage.name}: {found}")
            self.seen[stage.name] = ran.asked

        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(look_at, stages))
        return false_alarms

    def hunt(self, mutant):
        """The row of the table."""
        row = {key: mutant[key] for key in
               ("name", "number", "kind", "what", "guard", "why")}
        row.update(how="", by="", stage="", seconds=0.0, asked_in=[])
        with tempfile.TemporaryDirectory() as folder:
            for stage in stages_of(mutant, self.options.time):
                number = mutant["number"]
                if not mutant["planted"]:
                    if number not in self.seen[stage.name]:
                        continue
                    row["asked_in"].append(stage.name)
                scratch = pathlib.Path(folder) / stage.name.replace(" ", "-")
                scratch.mkdir()
                ran = self.run(stage, mutant, scratch)
                row["seconds"] += ran.cpu
                found = (read_mutation_test(mutant, ran)
                         if stage.base == "canary" else
                         read_outcome(stage, ran))
                shutil.rmtree(scratch)
                if found:
                    row.update(found, stage=stage.name)
                    break
        row["seconds"] = round(row["seconds"], 1)
        return row


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def read_outcome(stage, ran):
    """What was found, as fields of a row; {} if nothing."""
    if ran.code is None:
        return {"how": "hang", "by": f"no end after {stage.limit:.0f} s"}
    if ran.code < 0:
        return {"how": "crash", "by": f"{signal.Signals(-ran.code).name}: "
                                      f"{last_line(ran.errors)}"}
    if isinstance(stage, UnitTests):
        return read_tests(ran)
    try:
        result = json.loads(ran.out)
    except ValueError:
        if ran.code in NOTHING_FOUND:
            return {}
        # An exploration does not begin where its base does not complete.
        return {"how": "base" if stage.mode and ran.code == 1 else "error",
                "by": f"exit code {ran.code}: {last_line(ran.errors)}"}
    return read_finding(result) if stage.mode else read_suite(result)


def read_tests(ran):
    failed = re.search(r"^\[  FAILED  \] (\S+?),? ", ran.out, re.MULTILINE)
    if ran.code == 0:
        return {}
    return {"how": "unit test",
            "by": failed.group(1) if failed else
            f"exit code {ran.code}: {last_line(ran.out)}"}


def read_finding(result):
    if not result["findings"]:
        return {}
    finding = result["findings"][0]
    if "survived" in finding:  # of crash-states: one power loss
        return {"how": "finding", "by": "crash state: " + finding["event"],
                "message": last_line(str(finding.get("why", ""))), "faults": 1}
    faults = finding.get("faults")
    return {"how": "finding",
            "by": f"{finding['invariant']} ({finding['name']})",
            "message": finding["message"][:300],
            "faults": None if faults is None else len(faults),
            "plan": faults, "case": finding.get("case")}


def read_suite(result):
    for case in result["cases"]:
        if case["verdict"] != "FAIL":
            continue
        broken = [f"{one['invariant']} ({one['findings'][0]['name']})"
                  if one["findings"] else one["invariant"]
                  for one in case["invariants"] if one["breaches"]]
        return {"how": "suite", "scenario": case["name"],
                "by": broken[0] if broken else "expectation",
                "message": (case["reason"] or
                            str(case["broken_expectations"]))[:300]}
    return {}


def read_mutation_test(mutant, ran):
    """The scenario of a planted bug, whose fault somebody chose."""
    for case in json.loads(ran.out)["cases"] if ran.code == 0 else ():
        text = pathlib.Path(case["file"]).read_text()
        if f"planted_bugs: {mutant['planted']}\n" in text:
            return {"how": "mutation test", "scenario": case["name"],
                    "by": case["name"], "message": case["reason"][:300]}
    return {}


# ---- Results and the table -----------------------------------------------

class Results:
    """A file that is whole at each moment."""

    def __init__(self, path, program, again):
        self.path, self.lock = path, threading.Lock()
        tests = [program.parent / "tests" / one.base for one in UNIT_TESTS]
        stats = [one.stat() for one in [program, *tests]]
        self.program = " ".join(f"{stat.st_size} {stat.st_mtime_ns}"
                                for stat in stats)
        self.data = {"program": self.program, "seen": {}, "rows": {}}
        if path.exists() and not again:
            found = json.loads(path.read_text())
            if found["program"] == self.program:
                self.data = found
        rows = self.data["rows"]
        self.data["rows"] = {name: row for name, row in rows.items()
                             if row["how"] != "error"}

    def take_explanations(self, mutants):
        """A table may have changed since."""
        for mutant in mutants:
            if mutant["name"] in self.data["rows"]:
                self.data["rows"][mutant["name"]]["why"] = mutant["why"]

    def add(self, row):
        with self.lock:
            self.data["rows"][row["name"]] = row
            self.write()

    def write(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.data, indent=1) + "\n")
        new.rename(self.path)


def line_of(row):
    if row["how"]:
        by = {"finding": "", "suite": f"{row.get('scenario')}: ",
              }.get(row["how"], f"{row['how']}: ") + row["by"]
    else:
        by = "NOT FOUND" if row["asked_in"] or row["kind"] == "planted" else \
            "NOT FOUND (no stage comes to it)"
        if row["why"]:
            by += " (explained)"
    faults = row.get("faults")
    return (f"{row['name']:44} {row['seconds']:6.1f} s "
            f"{'-' if faults is None else faults:>6}  {row['stage']:28} {by}")


def print_summary(rows, title):
    found = [row for row in rows if row["how"]]
    ways = {}
    for row in found:
        ways[row["how"]] = ways.get(row["how"], 0) + 1
    text = ", ".join(f"{count} by {how}" for how, count in sorted(ways.items()))
    print(f"{title}: {len(found)} of {len(rows)} found ({text or 'none'})")
    shrunk = [row["faults"] for row in found if row.get("faults") is not None]
    if shrunk:
        few = sum(faults <= 3 for faults in shrunk)
        print(f"  {few} of {len(shrunk)} shrunk to 3 faults or fewer")


def print_survivors(mechanical):
    """1 where an explanation is wrong."""
    survivors = [row for row in mechanical if not row["how"]]
    met = [row for row in survivors if row["asked_in"]]
    explained = [row for row in met if row["why"]]
    print(f"  {len(survivors)} survive: {len(met)} change what some stage does "
          f"({len(explained)} explained, {len(met) - len(explained)} not), "
          f"{len(survivors) - len(met)} are never come to")
    for row in explained:
        print(f"  explained {row['name']}: {row['why']}")
    for row in met:
        if not row["why"]:
            print(f"  NOT EXPLAINED {row['name']}: {row['what']}")
    wrong = [row for row in mechanical if row["how"] and row["why"]]
    for row in wrong:
        print(f"  found, so explained.toml is wrong: {row['name']}")
    return int(bool(wrong))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="only mutants whose names begin so; repeatable")
    parser.add_argument("--mechanical", action="store_true",
                        help="mechanical mutants instead of modelled bugs")
    parser.add_argument("--sample", type=int, default=1, metavar="N",
                        help="only every N-th of them")
    parser.add_argument("--list", action="store_true",
                        help="print names and what each does; run nothing")
    parser.add_argument("--jobs", "-j", type=int, default=1)
    parser.add_argument("--time", type=float, default=60, metavar="SECONDS",
                        help="of a core, to explore with each mutant (60)")
    parser.add_argument("--again", action="store_true",
                        help="forget earlier results")
    parser.add_argument("--program", type=pathlib.Path,
                        default=BUILD / "gauntlet")
    parser.add_argument("--bank", type=pathlib.Path,
                        default=BUILD / "mutated" / "mutants.json")
    parser.add_argument("--results", type=pathlib.Path,
                        default=BUILD / "results.json")
    return parser.parse_args()


def choose(bank, options):
    chosen = [mutant for mutant in bank
              if any(mutant["name"].startswith(name) for name in options.only)
              or (not options.only and
                  is_mechanical(mutant) == options.mechanical)]
    return chosen[::options.sample]


def main():
    options = read_options()
    mutants = choose(json.loads(options.bank.read_text()), options)
    if options.list:
        for mutant in mutants:
            print(f"{mutant['number']:4} {mutant['name']:44} {mutant['what']}")
            if mutant["why"]:
                print(f"{'':4} {'':44} explained: {mutant['why']}")
        return 0
    runner = Runner(options)
    results = Results(options.results, runner.program, options.again)
    results.take_explanations(mutants)
    rows = results.data["rows"]
    wanted = {stage.name: stage for mutant in mutants
              for stage in stages_of(mutant, options.time)}
    runner.seen = {name: set(seen)
                   for name, seen in results.data["seen"].items()}
    alarms = runner.look([stage for name, stage in wanted.items()
                          if name not in runner.seen])
    if alarms:
        print("found without a mutant, so no result would mean anything:",
              *alarms, sep="\n  ")
        return 1
    results.data["seen"] = {name: sorted(seen)
                            for name, seen in runner.seen.items()}
    results.write()

    print(f"{'bug':44} {'time':>8} {'faults':>6}  {'in':28} found by")
    left = [mutant for mutant in mutants if mutant["name"] not in rows]
    for mutant in mutants:
        if mutant not in left:
            print(line_of(rows[mutant["name"]]))

    def hunt(mutant):
        row = runner.hunt(mutant)
        results.add(row)
        print(line_of(row), flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(hunt, left))
    of_run = [rows[mutant["name"]] for mutant in mutants]
    modelled = [row for row in of_run if not is_mechanical(row)]
    mechanical = [row for row in of_run if is_mechanical(row)]
    code = 0
    if modelled:
        print_summary(modelled, "modelled")
        code = int(any(not row["how"] or row["how"] == "error"
                       for row in modelled))
    if mechanical:
        print_summary(mechanical, "mechanical")
        code |= print_survivors(mechanical)
    return code


if __name__ == "__main__":
    sys.exit(main())
