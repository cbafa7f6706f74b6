#!/usr/bin/env python3
"""What programs read of this one: all that it writes as JSON keeps to
docs/schemas/*.schema.json, junit.xml to junit.xsd, and traces to the rules of
their format. A file that does not is refused by the same check."""

import copy
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from observed_training import (DEADLINE_S, STOPPED, Cases, Failed, expect,
                               expect_equal, parser)

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: no python3-{missing.name}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs/schemas"
FAILED, BAD_INPUT, INCONCLUSIVE = 1, 2, 3

# Worker 1 resumes with another dropout key, and the scenario does not expect
# that: it fails in both worlds.
FAILS = """schema: gauntlet/v2
name: loses-the-key
preset: tiny
job: {epochs: 4, replicas: 4}
cluster: {workers: 2}
checkpoint: {every: {steps: 5}}
planted_bugs: lose-rng-key
faults:
  - id: crash
    at: {worker: 1, step: 8, point: step.begin}
    do: crash
expect: {outcome: recovers}
---
schema: gauntlet/v2
name: passes
preset: tiny
job: {epochs: 1, replicas: 2}
cluster: {workers: 2}
labels: [quick]
expect: {outcome: completes}
---
schema: gauntlet/v2
name: never-fires
preset: tiny
job: {epochs: 1, replicas: 2}
cluster: {workers: 2}
checkpoint: {every: {steps: 5}}
faults:
  - id: again
    at: {worker: 1, save: 1, point: ckpt.shard.write, offset: 900MiB}
    do: crash
expect: {outcome: recovers}
"""
# A base with a planted bug, to be explored.
LOSES_THE_KEY = """schema: gauntlet/v2
name: base
preset: tiny
job: {epochs: 2, replicas: 2}
cluster: {workers: 2}
checkpoint: {every: {steps: 5}}
planted_bugs: lose-rng-key
expect: {outcome: completes}
"""


def validator(name):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema, **registry_of(schema))


def registry_of(schema):
    """Returns the argument that lets a schema find the other schemas it refers
    to."""
    schemas = {path.name: json.loads(path.read_text())
               for path in SCHEMAS.glob("*.schema.json")}
    try:
        import referencing
    except ImportError:  # before jsonschema 4.18
        return {"resolver": jsonschema.RefResolver.from_schema(
            schema, store=schemas)}
    return {"registry": referencing.Registry().with_contents(schemas.items())}


def broken_twins(value):
    """Yields each key and a copy of the value with a wrong value at that
    key."""
    if isinstance(value, list):
        yield "", {"not": "a list"}
    if not isinstance(value, dict):
        return
    for key in value:
        twin = copy.deepcopy(value)
        twin[key] = [{"of": "another type"}, 1.5]
        yield key, twin


class Yaml12(yaml.SafeLoader):
    """Reads 1e-3 as a number, and `on` as a text, as YAML 1.2 and editors do."""


Yaml12.yaml_implicit_resolvers = {
    first: [one for one in known
            if first not in "yYnNoO" or not one[0].endswith(":bool")]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Yaml12.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
    list("-+0123456789"))


def twins_with_typo(value, place="the file"):
    """Yields each map in the value by its place, with a copy of the whole value
    in which that map has an unknown key."""
    children = []
    if isinstance(value, dict):
        yield place, {**value, "typo": 1}
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        for below, twin in twins_with_typo(child, key):
            changed = copy.copy(value)
            changed[key] = twin
            yield below, changed


class Checker:
    """Checks values against a schema, and that the schema refuses broken
    values."""

    def __init__(self):
        self.checked = {}

    def check(self, name, value):
        errors = list(validator(name).iter_errors(value))
        if errors:
            error = jsonschema.exceptions.best_match(errors)
            place = "/".join(map(str, error.absolute_path))
            raise Failed(f"{name}: {place}: {error.message[:300]}")
        if name not in self.checked:
            self.refuses(name, value)
        self.checked[name] = self.checked.get(name, 0) + 1

    def check_lines(self, name, path):
        check = validator(name)
        lines = path.read_text().splitlines()
        expect(lines, f"{path}: no lines")
        for number, line in enumerate(lines, 1):
            error = jsonschema.exceptions.best_match(
                check.iter_errors(json.loads(line)))
            expect(error is None,
                   f"{path.name}:{number}: {error and error.message[:300]}")
        if name not in self.checked:
            self.refuses(name, json.loads(lines[0]))
        self.checked[name] = self.checked.get(name, 0) + len(lines)

    @staticmethod
    def refuses(name, value):
        check = validator(name)
        for key, twin in broken_twins(value):
            expect(not check.is_valid(twin),
                   f"docs/schemas/{name}.schema.json takes anything as {key!r}")


def call(run, *arguments, code=0, env=None):
    done = subprocess.run(
        [run.program, *map(str, arguments)], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False, env={**os.environ, **(env or {})})
    expect_equal(f"exit code of {arguments} ({done.stderr[-400:].strip()})",
                 done.returncode, code)
    return done.stdout


def last_json(text):
    return json.loads(text.strip().splitlines()[-1])


class Formats:
    def __init__(self, options):
        self.options = options
        self.checker = Checker()

    def check_trace(self, path):
        data = path.read_bytes()
        if path.name.endswith(".gz"):
            expect(data[:2] == b"\x1f\x8b", f"{path}: is not compressed")
            data = gzip.decompress(data)
        trace = json.loads(data)
        self.checker.check("trace", trace)
        plain = path.with_name(path.name + ".plain")
        plain.write_bytes(data)
        done = subprocess.run([self.options.check_trace, plain],
                              capture_output=True, text=True, check=False)
        expect_equal(f"violations in {path.name}", done.stdout, "")
        expect_equal(f"exit code for {path.name}", done.returncode, 0)
        return trace

    def check_junit(self, path):
        xsd = SCHEMAS / "junit.xsd"
        command = ["xmllint", "--nonet", "--noout", "--schema", xsd]
        done = subprocess.run([*command, path], capture_output=True, text=True,
                              check=False)
        expect_equal(f"xmllint ({done.stderr[-400:]})", done.returncode, 0)
        text = path.read_text()
        for part, other in ((" classname=", " class="), (" tests=", " count="),
                            ("<failure ", "<problem "),
                            ('time="', 'time="-')):
            expect(part in text, f"{path}: has no {part}")
            twin = path.with_name("broken.xml")
            twin.write_text(text.replace(part, other, 1))
            done = subprocess.run([*command, twin], capture_output=True,
                                  check=False)
            expect(done.returncode != 0, f"junit.xsd accepts {other}")

    def runs(self, run):
        suite = run.directory / "suite.yaml"
        suite.write_text(FAILS)
        listed = json.loads(call(run, "run", suite, "--list", "--json"))
        self.checker.check("cases", listed)
        expect_equal("cases listed", len(listed["cases"]), 6)
        out = call(run, "run", suite, "--json", "--junit", "junit.xml",
                   "--retries", 1, code=FAILED)
        result = json.loads(out)
        expect_equal("tries of each case that failed in the real world",
                     [len(case["tries"]) for case in result["cases"]
                      if case["verdict"] == "FAIL" and
                      case["world"] == "real"], [2])
        self.checker.check("result", result)
        self.check_junit(run.directory / "junit.xml")
        latest = run.directory / ".gauntlet/runs/latest"
        expect_equal("result.json",
                     json.loads((latest / "result.json").read_text()), result)
        for record in latest.glob("*/record.jsonl"):
            self.checker.check_lines("record-line", record)
        for events in latest.glob("*/events/*.jsonl"):
            self.checker.check_lines("event-line", events)
        self.failed_cases_say_what_differs(result)
        for case in result["cases"]:
            if case["timeline"]:
                self.check_trace(pathlib.Path(case["timeline"]))
        self.checker.check("timeline", json.loads(
            call(run, "show", "latest/loses-the-key", "--json")))
        call(run, "show", "latest/loses-the-key", "--trace", "shown.json")
        self.check_trace(run.directory / "shown.json")
        self.checker.check("result", json.loads(
            call(run, "judge", latest, "--json", code=FAILED)))
        self.reports(run, suite)
        return f"{len(result['cases'])} cases"

    def reports(self, run, suite):
        """Checks reports of stored runs: listed, compared, merged."""
        call(run, "run", suite, "-k", "passes", "--world", "sim", "--runs",
             "other")
        self.checker.check("runs", json.loads(
            call(run, "report", "--list", "--json")))
        self.checker.check("comparison", json.loads(
            call(run, "report", "--compare", "other/latest", "latest",
                 "--json", code=FAILED)))
        self.checker.check("result", json.loads(
            call(run, "report", "--merge", "latest", "--out", "merged",
                 "--json", code=FAILED)))
        self.check_junit(run.directory / "merged/junit.xml")

    @staticmethod
    def failed_cases_say_what_differs(result):
        failed = [case for case in result["cases"]
                  if case["verdict"] == "FAIL"]
        expect_equal("failed", {case["world"] for case in failed},
                     {"real", "sim"})
        for case in failed:
            key = case["differences"][0]["tensors"][0]
            expect_equal("tensor", key["name"], "rng/key")
            expect_equal("expected", key["first"][0]["expected"], "1")
            expect_equal("bits", key["first"][0]["expected_bits"],
                         "0000000000000001")
            expect("rng/key" in case["cause"], case["cause"])
            expect(case["losses"]["differing"] > 0, "no loss differs")
            expect("trajectory" in {one["invariant"]
                                    for one in case["consequences"]},
                   "trajectory does not follow")
            expect(case["timeline"].endswith(".json.gz"), "no trace")

    def explorations(self, run):
        def explore(*arguments, code=0):
            return json.loads(call(run, "explore", "--json", *arguments,
                                   code=code))
        self.checker.check("explore", explore(
            "--mode", "random", "--cases", 12, "--show-uncovered"))
        one = explore("--case", 3, "--trace")
        self.checker.check("explore", one)
        self.checker.check("timeline", one["timeline"])
        self.checker.check("explore", explore(
            "--mode", "crash-states", "--windows", "save", "--profiles",
            "ext4"))
        base = run.directory / "base.yaml"
        base.write_text(LOSES_THE_KEY)
        found = explore(base, "--mode", "random", "--cases", 60, "--seed", 1,
                        "--stop-after", 1, code=FAILED)
        self.checker.check("explore", found)
        tensors = found["findings"][0]["differences"][0]["tensors"]
        expect_equal("tensor", tensors[0]["name"], "rng/key")

    def trains(self, run):
        """Checks train's output, also when stopped or failed, and as a
        cluster's worker."""
        job = ("--preset", "tiny", "--workers", 2, "--save-every", 5,
               "--json", "--no-progress")
        done = call(run, "train", *job, "--epochs", 2, "--ckpt", "ckpt",
                    "--trace", "t.json.gz")
        self.checker.check("train", last_json(done))
        trace = self.check_trace(run.directory / "t.json.gz")
        names = {event["name"] for event in trace["traceEvents"]}
        for part in ("step 1", "save of step 5", "launch 1", "incarnation 1"):
            expect(part in names, f"the trace has no {part}")
        seconds = last_json(done)["seconds"]
        last = max(event["ts"] for event in trace["traceEvents"])
        expect(0 < last / 1e6 < seconds + 5, f"{last} us in {seconds} s")
        call(run, "train", *job, "--epochs", 4, "--stop-at-step", 7, "--ckpt",
             "other", "--trace", "stopped.json", code=STOPPED)
        trace = self.check_trace(run.directory / "stopped.json")
        expect("step 7" in {event["name"] for event in trace["traceEvents"]},
               "the trace has no step 7")
        for path in ("none/t.json", "ckpt", "ckpt/t.json"):
            call(run, "train", *job, "--trace", path, "--ckpt", "ckpt",
                 code=BAD_INPUT)
        left = list(pathlib.Path(
            os.environ.get("TMPDIR", "/tmp")).glob("gauntlet-trace-*"))
        expect_equal("left", left, [])

    def stopped_by_a_notice(self, run):
        run.start("--preset", "tiny", "--workers", 2, "--epochs", 100000,
                  "--save-every", 5, "--trace", "noticed.json.gz")
        give_up = time.monotonic() + DEADLINE_S
        while not run.checkpoints():
            expect(time.monotonic() < give_up, "no checkpoint appeared")
            time.sleep(0.02)
        run.launcher.send_signal(signal.SIGTERM)
        expect_equal("exit code", run.wait(), STOPPED)
        trace = self.check_trace(run.directory / "noticed.json.gz")
        names = {event["name"] for event in trace["traceEvents"]}
        expect("receives a preemption notice" in names,
               "the trace does not show the notice")

    def fails_in_training(self, run):
        plan = run.directory / "plan.json"
        suite = run.directory / "suite.yaml"
        suite.write_text(FAILS)
        call(run, "run", suite, "-k", "loses-the-key", "--world", "real",
             code=FAILED)
        latest = run.directory / ".gauntlet/runs/latest"
        plan.write_text(next(latest.glob("*/plan.json")).read_text())
        out = call(run, "train", "--workers", 2, "--epochs", 4, "--restart",
                   "none", "--plan", plan, "--trace", "failed.json.gz",
                   "--json", "--no-progress", "--events", "events", code=75)
        self.checker.check("train", last_json(out))
        trace = self.check_trace(run.directory / "failed.json.gz")
        names = {event["name"] for event in trace["traceEvents"]}
        expect("worker 1 exited with code 70" in names,
               "the trace does not show the end of worker 1")

    def worker_of_a_cluster(self, run):
        variables = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0",
                     "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29417"}
        explained = call(run, "train", "--explain-cluster", "--json",
                         env=variables)
        self.checker.check("cluster", json.loads(explained))
        call(run, "train", "--preset", "tiny", "--ckpt", "ckpt", "--trace",
             "t.json.gz", "--no-progress", env=variables)
        traces = [path.name for path in run.directory.glob("t*.json.gz")]
        expect_equal("traces", traces, ["t-worker-0-incarnation-1.json.gz"])
        self.check_trace(run.directory / traces[0])

    def checkpoints(self, run):
        for seed in (1, 2):
            call(run, "train", "--preset", "tiny", "--seed", seed, "--ckpt",
                 f"ckpt-{seed}", "--no-progress")
        for command, good in (("ls", None), ("verify", True)):
            listed = json.loads(call(run, "ckpt", command, "ckpt-1", "--json"))
            self.checker.check("checkpoints", listed)
            expect_equal(f"`good` of ckpt {command}",
                         {checkpoint["good"] for checkpoint in listed}, {good})
        steps = [sorted((run.directory / f"ckpt-{seed}").glob("step-*"))[-1]
                 for seed in (1, 2)]
        self.checker.check("checkpoint-differences", json.loads(
            call(run, "ckpt", "diff", *steps, "--json", code=FAILED)))
        self.checker.check("prediction", json.loads(
            call(run, "ckpt", "predict", "ckpt-1", "--json")))
        evaluations = call(run, "evaluate", "--ckpt", "ckpt-1", "--once",
                           "--json")
        for line in evaluations.splitlines():
            self.checker.check("evaluation", json.loads(line))
        self.checker.check("doctor", json.loads(
            call(run, "doctor", "--json")))

    def benchmarks(self, run):
        printed = json.loads(call(
            run, "bench", "checkpoint", "--state", "100kB", "--every", 2,
            "--saves", 2, "--modes", "async", "--out", "bench", "--json"))
        self.checker.check("benchmark", printed)
        expect_equal("bench/result.json", json.loads(
            (run.directory / "bench/result.json").read_text()), printed)
        self.checker.check("scale", json.loads(call(
            run, "bench", "scale", "--workers", "4,8", "--json")))

    def crash_tests(self, run):
        trainer = pathlib.Path(__file__).parent / "crash_test/trainer.py"
        printed = json.loads(call(
            run, "crash-test", "--trials", 12, "--fresh", "--json", "--out",
            "crashes", "--result", "final.json", "--", sys.executable, "-B",
            trainer, "--mistake", "no-temporary-file", "--out", "{out}",
            code=FAILED))
        self.checker.check("crash-test", printed)
        expect_equal("crashes/result.json", json.loads(
            (run.directory / "crashes/result.json").read_text()), printed)
        self.check_junit(run.directory / "crashes/junit.xml")

    def scenarios(self, run):
        """Checks that the schema for editors accepts each scenario of the
        tree, and no unknown key in any of its maps."""
        check = jsonschema.Draft202012Validator(
            json.loads(call(run, "help", "json-schema")))
        check.check_schema(check.schema)
        count = 0
        for path in sorted((ROOT / "scenarios").rglob("*.yaml")):
            for scenario in yaml.load_all(path.read_text(), Loader=Yaml12):
                count += 1
                error = jsonschema.exceptions.best_match(
                    check.iter_errors(scenario))
                expect(error is None, f"{path}: {error and error.message}")
                for place, twin in twins_with_typo(scenario):
                    expect(not check.is_valid(twin),
                           f"{path}: an unknown key in {place} is accepted")
        return f"{count} scenarios"

    def all_schemas_were_used(self, _):
        names = {path.name.split(".")[0]
                 for path in SCHEMAS.glob("*.schema.json")}
        expect_equal("schemas without a file that was checked",
                     names - set(self.checker.checked), set())
        return str(self.checker.checked)


def main():
    options = parser(__doc__, 1, "unused")
    options.add_argument("--check-trace", type=os.path.abspath,
                         default=str(ROOT / "build/release/tests/reports/"
                                     "check_trace"))
    cases = Cases(options.parse_args())
    formats = Formats(cases.options)
    for check in (formats.runs, formats.explorations, formats.trains,
                  formats.stopped_by_a_notice, formats.fails_in_training,
                  formats.worker_of_a_cluster, formats.checkpoints,
                  formats.benchmarks, formats.crash_tests, formats.scenarios,
                  formats.all_schemas_were_used):
        cases.run(check.__name__, check)
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
