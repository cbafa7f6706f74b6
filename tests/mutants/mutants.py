#!/usr/bin/env python3
"""Runs the bug bank and reports what finds each bug, and how soon.

A modelled bug is explored for at most --time seconds of CPU time, over several
bases; the exit code is 1 if one is not found. A mechanical mutant
(--mechanical) goes through the scenario suites in the simulated world first, as
they are quicker, and through the unit tests of the engine's parts last.
Survivors are listed, with their explanation if explained.toml has one. A crash
or a hang counts as found and is reported as such. Results are kept in a file; a
later run of the same program continues from it.

Each stage first runs without a mutant: it must find nothing, and the mutants
that it reaches are recorded. A stage that does not reach a mutant cannot find
it and is skipped for it."""

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
# Exit codes: passed; inconclusive, for example if a stage's time is too short
# for its base; interrupted before anything was found.
NOTHING_FOUND = (0, 3, 130)
# CPU seconds beyond a stage's time after which a process counts as hung:
# shrinking takes 10 s more, and a suite 5 s at most. In wall-clock time a busy
# machine may need many times as long.
ENDS_LATE_S = 60
LONGEST_STAGE_S = 1800

# Base file, mode, and share of --time in parts of 60. The rest is for the
# suites. The bank's own bases have set-ups that `gauntlet explore` does not
# draw by itself.
EXPLORED = (("base.yaml", "random", 6), ("elastic.yaml", "random", 5),
            ("async.yaml", "random", 5), ("base.yaml", "crash-states", 4),
            ("hosts-apart.yaml", "random", 5), ("base.yaml", "sweep", 4),
            ("file-server.yaml", "random", 4), ("not-finite.yaml", "random", 2),
            ("collective.yaml", "random", 2), ("bank-delete.yaml", "random", 2),
            ("bank-job.yaml", "random", 3), ("bank-grace.yaml", "random", 3))
OWN_BASE_PART = 8  # share of the base that a bug names
# Scenario suites of about a second each. Suites of planted bugs are left out,
# as they pass because a bug is found; suites of large models take minutes.
SUITES = ("smoke", "storage", "async", "network", "preemption", "regressions",
          "elastic", "collective", "gpu", "launcher", "outputs", "stateless")


# Suites of real processes, for bugs in code that the simulation does not run.
REAL_SUITES = ("launcher",)
# The crash test's power losses depend on this file's syncs.
POSIX_STORAGE = "engine/real/storage/posix_storage.cc"
CRASH_TEST_S = 60


class Stage:
    def __init__(self, base, mode="", seconds=0.0, world="sim"):
        self.base, self.mode, self.seconds = base, mode, seconds
        self.world = world
        self.name = f"{mode} {base}" if mode else f"suite {base}"
        if world == "real":
            self.name = f"real {self.name}"
        self.limit = seconds + ENDS_LATE_S

    def command(self, program, scratch, planted):
        if not self.mode:
            return [program, "run", SCENARIOS / self.base, "--world",
                    self.world, "-x", "--json", "--runs", scratch / "runs"]
        base = next(folder / self.base for folder in BASES
                    if (folder / self.base).exists())
        if planted:
            text = base.read_text()
            base = scratch / f"{planted}-{self.base}"
            base.write_text(f"{text}planted_bugs: {planted}\n")
        # CPU time limits the stage, not wall-clock time: see wait_for.
        return [program, "explore", base, "--mode", self.mode, "--time",
                f"{LONGEST_STAGE_S}s", "-x", "--json", "--out",
                scratch / self.name.replace(" ", "-")]


class UnitTests:
    """One unit test program instead of the harness. It checks each of its
    properties in `cases` cases."""
    mode = ""
    limit = ENDS_LATE_S

    def __init__(self, program, cases):
        self.base, self.cases = program, cases
        self.name = f"tests {pathlib.PurePath(program).name}"

    def command(self, program, scratch, planted):
        del scratch, planted
        return [program.parent / "tests" / self.base, "--gtest_fail_fast",
                "--gtest_brief=1"]


class CrashTest:
    """A crash test of the program itself, as if it were a training program."""
    base, mode, name = "crash-test", "", "crash test"
    limit = ENDS_LATE_S

    def command(self, program, scratch, planted):
        del planted
        return [program, "crash-test", "--json", "--out", scratch / "test",
                "--time", f"{CRASH_TEST_S}s", "--checkpoint", "ckpt/step-*",
                "--result-cmd", "sha256sum < {out}/model/model.safetensors", "--",
                program, "train", "--preset", "tiny", "--epochs", "1", "--ckpt",
                "{out}/ckpt", "--save-every", "8", "--export", "{out}/model"]


# Programs in the build's tests/, run for mechanical mutants only. Each takes
# 10 s at most.
UNIT_TESTS = (UnitTests("engine/ckpt/engine_ckpt_test", 1000),
              UnitTests("property/store_prop", 1000),
              UnitTests("engine/cluster/cluster_test", 100),
              UnitTests("engine/train/engine_train_test", 10))


def stages_of(mutant, limit):
    """Returns the mutant's stages in the order in which they run."""
    unit = limit / 60
    explored = [Stage(base, mode, part * unit) for base, mode, part in EXPLORED
                if (mutant["base"], "random") != (base, mode)]
    suites = [Stage(suite) for suite in SUITES]
    if mutant["file"] == POSIX_STORAGE:
        return [CrashTest()]
    if mutant["file"].startswith("engine/real/"):
        return [Stage(suite, world="real") for suite in REAL_SUITES]
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
    """Outcome of one process."""
    code: int  # exit code; None: killed at its limit
    out: str
    errors: str
    asked: set  # numbers of the mutants it reached
    cpu: float  # CPU seconds


def core_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def wait_for(child, stage):
    """Returns the exit code or None, and the CPU seconds. An exploration is
    interrupted after the stage's CPU seconds; it then prints its findings."""
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
        """Runs each stage without a mutant. Returns the false alarms."""
        false_alarms = []
        nothing = {"number": 0, "planted": ""}

        def look_at(stage):
            with tempfile.TemporaryDirectory() as scratch:
                # Twice the time, to reach all that a run with a mutant can.
                longer = (stage if isinstance(stage, (UnitTests, CrashTest)) else
                          Stage(stage.base, stage.mode, 2 * stage.seconds,
                                stage.world))
                ran = self.run(longer, nothing, pathlib.Path(scratch))
            found = read_outcome(stage, ran)
            if found:
                false_alarms.append(f"{stage.name}: {found}")
            self.seen[stage.name] = ran.asked

        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(look_at, stages))
        return false_alarms

    def hunt(self, mutant):
        """Runs the mutant's stages until one finds it. Returns its row."""
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
    """Returns the finding as fields of a row; {} if there is none."""
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
        # An exploration exits with 1 if its base does not complete undisturbed.
        return {"how": "base" if stage.mode and ran.code == 1 else "error",
                "by": f"exit code {ran.code}: {last_line(ran.errors)}"}
    if isinstance(stage, CrashTest):
        return read_crash_test(result)
    return read_finding(result) if stage.mode else read_suite(result)


def read_crash_test(result):
    if not result["findings"]:
        return {}
    finding = result["findings"][0]
    return {"how": "crash test", "by": finding["title"][:100],
            "message": finding["reason"][:300]}


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
    if "survived" in finding:  # crash-states mode: one power loss
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
    """Returns the mutation test of the planted bug, if it passed."""
    for case in json.loads(ran.out)["cases"] if ran.code == 0 else ():
        text = pathlib.Path(case["file"]).read_text()
        if f"planted_bugs: {mutant['planted']}\n" in text:
            return {"how": "mutation test", "scenario": case["name"],
                    "by": case["name"], "message": case["reason"][:300]}
    return {}


# ---- Results and the table -----------------------------------------------

class Results:
    """The results file. Every write replaces it as a whole."""

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
        """Updates the rows' explanations: explained.toml may have changed."""
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
            "NOT FOUND (no stage reaches it)"
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
    """Returns 1 if a mutant with an explanation was found, else 0."""
    survivors = [row for row in mechanical if not row["how"]]
    met = [row for row in survivors if row["asked_in"]]
    explained = [row for row in met if row["why"]]
    print(f"  {len(survivors)} survive: {len(met)} are reached by a stage "
          f"({len(explained)} explained, {len(met) - len(explained)} not), "
          f"{len(survivors) - len(met)} by none")
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
                        help="only mutants whose names start so; repeatable")
    parser.add_argument("--mechanical", action="store_true",
                        help="mechanical mutants instead of modelled bugs")
    parser.add_argument("--sample", type=int, default=1, metavar="N",
                        help="only every N-th mutant")
    parser.add_argument("--list", action="store_true",
                        help="print each mutant's name and effect; run nothing")
    parser.add_argument("--jobs", "-j", type=int, default=1)
    parser.add_argument("--time", type=float, default=60, metavar="SECONDS",
                        help="CPU time to explore with each mutant (60)")
    parser.add_argument("--again", action="store_true",
                        help="discard earlier results")
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
        print("false alarms without a mutant, so results would be meaningless:",
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
