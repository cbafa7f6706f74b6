#!/usr/bin/env python3
"""Executes the examples in the help of each command.

Each runs for at most a moment in a folder with what examples name: scenarios, a
checkpoint directory, a run, an exploration. It fails if the program does not
understand it: exit code 2, or the end by a signal of its own.
"""

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import document
import outcome
from shell_environment import environment_with

MOMENT_S = 2.0
# Examples that are not executed: a pattern of their text, and the reason.
LEFT_OUT = (
    (re.compile(r"mnist|cifar", re.I), "needs a data set"),
    (re.compile(r"--device cuda|--plan "), "needs a GPU or a plan"),
    (re.compile(r"gauntlet launch"), "only harnesses call it"),
    (re.compile(r"gauntlet crash-test"), "needs a training program"),
    (re.compile(r"replay weak-save"), "needs the finding of a crash state"),
)
SETUP = """
gauntlet explore scenarios/canary/canary-loses-the-position.yaml -x --cases 9
gauntlet run scenarios/smoke/crash-in-a-shard.yaml scenarios/smoke/torn-manifest.yaml
cp .gauntlet/runs/latest/crash-in-a-shard.sim/record.jsonl .
cp -rL .gauntlet/runs/latest shard-1
cp -rL .gauntlet/runs/latest shard-2
gauntlet train --epochs 2 --workers 2 --ckpt ckpt --export model
cp -r ckpt store
cp scenarios/smoke/crash-in-a-shard.yaml old.yaml
printf 'job: {epochs: 4}\\n' >job.yaml
"""


def examples(run):
    """Returns (COMMAND, LINE) of each example of each command's help."""
    names = re.findall(r"^  ([\w-]+) +\S", run("gauntlet help").stdout, re.M)
    found = []
    for name in ["", *names]:
        text = run(f"gauntlet {name} --help").stdout
        for line in re.findall(r"^ {2,4}(gauntlet \S.*)$", text, re.M):
            found.append((name, re.sub(r"\s{2,}.*", "", line)))
    return sorted(set(found))


class Folder:
    def __init__(self, program, scratch):
        self._template = scratch / "template"
        self._environment = environment_with(program, scratch / "bin")
        self._scratch = scratch
        self._template.mkdir()
        (self._template / "scenarios").symlink_to(document.ROOT / "scenarios")
        self.run(SETUP)

    def run(self, text, folder=None, limit_s=60.0):
        return subprocess.run(
            ["timeout", "--kill-after", "20", str(limit_s), "bash", "-c", text],
            cwd=folder or self._template, text=True, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=self._environment)

    def try_example(self, numbered):
        """Returns what is wrong with the example, or nothing."""
        number, (_, line) = numbered
        folder = self._scratch / str(number)
        shutil.copytree(self._template, folder, symlinks=True)
        # Replaces ids by `latest`.
        line = re.sub(r"\b\d{8}T\d{4,6}(-\d+)?\b|\b(RUN|ID)\b", "latest", line)
        for name in re.findall(r"step-\S+|\bCASE\b", line):
            stored = sorted((folder / "ckpt").glob("step-*"))[-1].name
            line = line.replace(name, stored if name.startswith("step")
                                else "crash-in-a-shard")
        done = self.run(line, folder, MOMENT_S)
        shutil.rmtree(folder)
        understood = done.returncode in (0, 1, 3, 4, 6, 7, 124, 130, 143)
        return None if understood else (
            f"{line}: exit code {done.returncode}: {done.stdout[:300]}")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True, type=pathlib.Path)
    options.add_argument("--jobs", type=int, default=4)
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gauntlet-help-") as scratch:
        folder = Folder(options.program.resolve(), pathlib.Path(scratch))
        kept, left_out = [], 0
        for name, line in examples(folder.run):
            reason = next((why for pattern, why in LEFT_OUT
                           if pattern.search(line)), None)
            if reason:
                left_out += 1
                print(f"left out: {line} ({reason})")
            else:
                kept.append((name, line))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            wrong = list(filter(None, pool.map(folder.try_example,
                                               enumerate(kept))))
    if not kept:
        wrong.append("no help has an example")
    return outcome.report(wrong,
                          f"{len(kept)} examples ran, {left_out} left out")


if __name__ == "__main__":
    sys.exit(main())
