#!/usr/bin/env python3
"""Executes the shell steps of ci/recipes and of ci/action/action.yml.

Each recipe is followed in a scratch folder as its system would: its variables
are set, its parts run one after the other, and then the step that merges them.
One of the scenarios fails, so that it shows what a failed case leads to. Steps
that are no shell (checkouts, artifacts, stashes) are the folder that all share.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

import yaml

import document
from shell_environment import environment_with

DEADLINE_S = 60  # limit of one step
PARTS = 2
RECIPES = document.ROOT / "ci" / "recipes"
RESULTS = ("result.json", "junit.xml", "report.html", "summary.md")
PASSING = ("crash-in-a-shard", "bit-flip-at-rest", "clean-run")
FAILING = """\
schema: gauntlet/v2
name: expects-too-much
preset: tiny
job: {epochs: 2, replicas: 2}
cluster: {workers: 2}
checkpoint: {every: {steps: 5}}
faults: [{id: crash, at: {worker: 1, step: 8, point: step.begin}, do: crash}]
expect: {outcome: recovers, recomputed_steps: {max: 0}}
"""


class Failed(Exception):
    """A step did not do what it should."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


class Workspace:
    """A folder with four scenarios, and what steps write."""

    def __init__(self, program, folder):
        self.folder = folder / "workspace"
        self._environment = environment_with(program, folder / "bin")
        scenarios = self.folder / "scenarios"
        scenarios.mkdir(parents=True)
        for name in PASSING:
            text = (document.ROOT / f"scenarios/smoke/{name}.yaml").read_text()
            (scenarios / f"{name}.yaml").write_text(text)
        (scenarios / "expects-too-much.yaml").write_text(FAILING)
        self.steps = 0
        self.apart = True  # each part has a workspace of its own

    def run(self, script, variables, shell=("sh", "-e")):
        """Returns the exit code and the output."""
        self.steps += 1
        file = self.folder.parent / f"step-{self.steps}.sh"
        file.write_text(script)
        done = subprocess.run(
            [*shell, file], cwd=self.folder, text=True, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=DEADLINE_S,
            env={**self._environment, **{name: str(value) for name, value in
                                         variables.items()}})
        return done.returncode, done.stdout

    def run_parts(self, script, variables_of, may_fail):
        """Runs all parts and expects exactly one to have the failed case."""
        codes = []
        for part in range(1, PARTS + 1):
            if self.apart:
                shutil.rmtree(self.folder / "shards", ignore_errors=True)
            code, printed = self.run(script, {
                "SCENARIOS": "scenarios", "WORLD": "sim", "CASES": 100,
                **variables_of(part)})
            expect(code in (0, 1), f"part {part}: exit code {code}: {printed}")
            codes.append(code)
            for name in RESULTS:
                expect((self.folder / f"shards/{part}/{name}").is_file(),
                       f"part {part}: no {name}: {printed}")
            if self.apart:
                self._gather(part)
        expect(sorted(codes) == ([0, 1] if may_fail else [0, 0]),
               f"exit codes of the parts: {codes}")

    def _gather(self, part):
        """Moves a part's output to where the merge job gathers artifacts."""
        gathered = self.folder / "gathered" / str(part)
        gathered.parent.mkdir(exist_ok=True)
        (self.folder / "shards" / str(part)).rename(gathered)

    def run_merge(self, script):
        if self.apart:
            shutil.rmtree(self.folder / "shards")
            (self.folder / "gathered").rename(self.folder / "shards")
        code, printed = self.run(script, {})
        expect(code == 1, f"merge: exit code {code}: {printed}")
        for name in RESULTS:
            expect((self.folder / "merged" / name).is_file(), f"no {name}")
        text = (self.folder / "merged/junit.xml").read_text()
        for name in (*PASSING, "expects-too-much"):
            expect(name in text, f"merged/junit.xml: no {name}")


def load(name):
    return list(yaml.safe_load_all((RECIPES / name).read_text()))


def shell_steps(job):
    """Returns the `run:` steps of a GitHub job, without expressions in them."""
    scripts = [step["run"] for step in job["steps"] if "run" in step]
    for script in scripts:
        expect("${{" not in script, "an expression within a script")
    return scripts


def github(workspace):
    workflow, = load("github.yml")
    jobs = workflow["jobs"]
    script, = shell_steps(jobs["shard"])
    summary = workspace.folder / "step-summary"
    expect(jobs["shard"]["env"]["SHARD"] == "${{ matrix.shard }}", "SHARD")
    expect(len(jobs["shard"]["strategy"]["matrix"]["shard"]) ==
           jobs["shard"]["env"]["SHARDS"], "parts")
    workspace.run_parts(script, lambda part: {
        "SHARD": part, "SHARDS": PARTS, "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": workspace.folder,
        "GITHUB_STEP_SUMMARY": summary}, may_fail=True)
    expect("expects-too-much" in summary.read_text(), "the step's summary")
    script, = shell_steps(jobs["merge"])
    workspace.run_merge(script)


def gitlab(workspace):
    pipeline, = load("gitlab.yml")
    script, = pipeline["shard"]["script"]
    workspace.run_parts(script, lambda part: {
        "CI_NODE_INDEX": part, "CI_NODE_TOTAL": PARTS}, may_fail=True)
    workspace.run_merge("\n".join(pipeline["merge"]["script"]))


def jenkins(workspace):
    text = (RECIPES / "Jenkinsfile").read_text()
    # Without Jenkins, only braces and quotes can be checked.
    expect(text.count("{") == text.count("}"), "braces")
    shard, = re.findall(r"sh '''\n(.*?)'''", text, re.S)
    merge, = re.findall(r"sh '([^'].*)'", text)
    workspace.run_parts(textwrap.dedent(shard), lambda part: {
        "SHARD": part, "SHARDS": PARTS}, may_fail=True)
    workspace.run_merge(merge)


def slurm(workspace):
    workspace.apart = False
    script = (RECIPES / "slurm-array.sh").read_text()
    expect(re.search(r"^#SBATCH .*--array=1-", script, re.M), "no array")
    workspace.run_parts(script, lambda part: {
        "SLURM_ARRAY_TASK_ID": part, "SLURM_ARRAY_TASK_COUNT": PARTS},
        may_fail=False)
    merge = (RECIPES / "slurm-merge.sh").read_text()
    workspace.run_merge(merge)
    # Submits the script a second time in the same folder.
    workspace.run_parts(script, lambda part: {
        "SLURM_ARRAY_TASK_ID": part, "SLURM_ARRAY_TASK_COUNT": PARTS},
        may_fail=False)
    workspace.run_merge(merge)


def kubernetes(workspace):
    workspace.apart = False
    campaign, merge = load("kubernetes.yaml")
    expect(campaign["spec"]["completionMode"] == "Indexed", "Indexed")
    container, = campaign["spec"]["template"]["spec"]["containers"]
    shell, option, script = container["command"]
    expect((shell, option) == ("sh", "-c"), "a shell")
    variables = {one["name"]: one["value"] for one in container["env"]}
    expect(variables["SHARDS"] == str(campaign["spec"]["completions"]), "parts")
    workspace.run_parts(script, lambda part: {
        "JOB_COMPLETION_INDEX": part - 1, "SHARDS": PARTS}, may_fail=False)
    container, = merge["spec"]["template"]["spec"]["containers"]
    workspace.run_merge(container["command"][2])


def action(workspace):
    text = (document.ROOT / "ci/action/action.yml").read_text()
    steps = yaml.safe_load(text)
    expect(steps["runs"]["using"] == "composite", "composite")
    build, run = steps["runs"]["steps"]
    expect(build["if"] == "inputs.program == ''", "built only if asked for")
    expect("${{" not in build["run"] + run["run"], "an expression in a script")
    values = {"program": "gauntlet", "scenarios": "scenarios", "world": "sim",
              "labels": "", "shard": "1/1", "retries": "0"}
    expect(sorted(values) == sorted(steps["inputs"]), "inputs")
    variables = {name: values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}",
                                           value).group(1)]
                 for name, value in run["env"].items()}
    folder = workspace.folder
    files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_WORKSPACE": folder,
             "GITHUB_STEP_SUMMARY": folder / "summary",
             "GITHUB_ACTION_PATH": document.ROOT / "ci/action"}
    bash = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
    code, printed = workspace.run(run["run"], {**variables, **files}, bash)
    expect(code == 1, f"exit code {code}: {printed}")
    expect("::error " in printed, f"no annotation: {printed}")
    expect("expects-too-much" in (folder / "summary").read_text(), "summary")
    results = (folder / "output").read_text().strip().removeprefix("results=")
    expect((folder / results / "report.html").is_file(), "output: results")
    more = {"LABELS": "no-such-label", "SHARD": "", "RETRIES": "2"}
    code, printed = workspace.run(run["run"], {**variables, **files, **more},
                                  bash)
    expect(code == 0, f"no case has the label: exit code {code}: {printed}")
    code, printed = workspace.run(
        run["run"], {**variables, **files, "PROGRAM": "none"}, bash)
    expect(code == 2 and "::error" in printed, "a program that is missing")


FOLLOWED = (github, gitlab, jenkins, slurm, kubernetes, action)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True, type=pathlib.Path)
    options.add_argument("name", nargs="*")
    options = options.parse_args()
    failed = steps = 0
    for follow in FOLLOWED:
        if options.name and follow.__name__ not in options.name:
            continue
        with tempfile.TemporaryDirectory(prefix="gauntlet-recipe-") as scratch:
            workspace = Workspace(options.program.resolve(),
                                  pathlib.Path(scratch))
            try:
                follow(workspace)
                print(f"passed {follow.__name__}: {workspace.steps} steps")
            except Failed as failure:
                failed += 1
                print(f"FAILED {follow.__name__}: {failure}")
            steps += workspace.steps
    print("left out: ci/action: its build of the program, which ci/run.sh does")
    print(f"{steps} steps ran, {failed} recipes failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
