#!/usr/bin/env python3
"""Executes the commands of README.md, CONTRIBUTING.md and docs/.

A document's commands run in order, in a scratch folder of its own that holds
the tree's scenarios; `gauntlet` is the program under test. What they print is
compared by the rule of transcript.py. Prints how many commands ran and which
were left out, with the reason that the document gives.

--write puts what was printed into the documents instead, where it differs.
"""

import argparse
import concurrent.futures
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

import document
import transcript
from shell_environment import environment_with

DEADLINE_S = 60  # limit of one command


@dataclasses.dataclass
class Outcome:
    """Result of one document."""
    path: pathlib.Path
    ran: int = 0
    checked: int = 0  # number of files, excerpts and YAML blocks
    left_out: list = dataclasses.field(default_factory=list)
    failures: list = dataclasses.field(default_factory=list)
    printed: dict = dataclasses.field(default_factory=dict)  # output by line


class Reader:
    """A reader who follows one document from its first line."""

    def __init__(self, path, program, folder):
        self.outcome = Outcome(path)
        self._folder = folder / "work"
        self._code = 0  # exit code of the last command, for $?
        self._environment = environment_with(program, folder / "bin")
        self._folder.mkdir()
        (self._folder / "scenarios").symlink_to(document.ROOT / "scenarios")

    def follow(self):
        for block in document.read_blocks(self.outcome.path):
            try:
                self._take(block)
            except document.Malformed as error:
                self._fail(block.first_line, str(error))
        return self.outcome

    def _fail(self, line, text):
        name = self.outcome.path.relative_to(document.ROOT)
        self.outcome.failures.append(f"{name}:{line}: {text}")

    def _take(self, block):
        if block.marker == "not run":
            many = (len(document.commands_of(block))
                    if block.language == "console" else 1)
            self.outcome.left_out.append((many, block.value))
        elif block.marker == "from":
            self._check_excerpt(block)
        elif block.language == "console":
            self._run_all(block)
        elif block.language == "yaml":
            self._check_yaml(block)
        elif block.marker == "file":
            self._write_file(block)
        elif block.language != "text":
            self._fail(block.first_line,
                       f"a block of {block.language!r} without a marker")

    def _run_all(self, block):
        commands = document.commands_of(block)
        instead = block.value if block.marker == "run as" else None
        if instead and len(commands) != 1:
            self._fail(block.first_line, "run as: the block has one command")
            return
        for command in commands:
            self._run(command, instead or command.text)

    def _run(self, command, text):
        # Sets $? to the exit code of the previous command.
        script = f"(exit {self._code})\n{text}\n"
        try:
            done = subprocess.run(
                ["bash", "-c", script], cwd=self._folder, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, env=self._environment, check=False,
                timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._fail(command.line, f"{text}: more than {DEADLINE_S} s")
            return
        self._code = done.returncode
        self.outcome.ran += 1
        printed = done.stdout.splitlines()
        if not transcript.matches(command.output, printed):
            self.outcome.printed[command.line] = printed
            shown = "\n    ".join(
                transcript.difference(command.output, printed))
            self._fail(command.line, f"{text}: exit code {self._code}, "
                                     f"prints something else:\n    {shown}")

    def _check_excerpt(self, block):
        self.outcome.checked += 1
        source = document.ROOT / block.value
        if not source.is_file():
            self._fail(block.first_line, f"{block.value}: no such file")
            return
        lines = [line.strip() for line in source.read_text().splitlines()]
        wanted = [line.strip() for line in block.lines]
        if not any(lines[at:at + len(wanted)] == wanted
                   for at in range(len(lines))):
            self._fail(block.first_line, f"{block.value} has no such lines")

    def _write_file(self, block):
        name = block.value if block.marker == "file" else "block.yaml"
        place = self._folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(block.text())
        return name

    def _check_yaml(self, block):
        """Checks a YAML block, and writes it to a file for the next
        commands."""
        self.outcome.checked += 1
        name = self._write_file(block)
        if re.search(r"^schema: gauntlet/", block.text(), re.M):
            done = subprocess.run(
                ["gauntlet", "validate", name], cwd=self._folder, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=self._environment, check=False, timeout=DEADLINE_S)
            if done.returncode != 0:
                self._fail(block.first_line, f"no scenario:\n{done.stdout}")
            return
        try:
            list(yaml.safe_load_all(block.text()))
        except yaml.YAMLError as error:
            self._fail(block.first_line, f"no YAML: {error}")


def write(outcome):
    """Replaces output in the document where a command printed something
    else."""
    lines = outcome.path.read_text().splitlines()
    for block in reversed(document.read_blocks(outcome.path)):
        if block.language != "console" or block.marker == "not run":
            continue
        for command in reversed(document.commands_of(block)):
            if command.line in outcome.printed:
                first = command.line + command.text.count("\n")
                lines[first:first + len(command.output)] = (
                    outcome.printed[command.line])
    outcome.path.write_text("\n".join(lines) + "\n")


def report(outcomes):
    left_out = [(outcome.path, *one) for outcome in outcomes
                for one in outcome.left_out]
    for path, many, reason in left_out:
        print(f"left out: {path.relative_to(document.ROOT)}: {many} "
              f"(not run: {reason})")
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"FAILED {failure}")
    print(f"{len(outcomes)} documents: {sum(one.ran for one in outcomes)} "
          f"commands ran, {sum(one.checked for one in outcomes)} files and "
          f"excerpts checked, {sum(one[1] for one in left_out)} left out, "
          f"{sum(len(one.failures) for one in outcomes)} failed")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True, type=pathlib.Path)
    options.add_argument("--write", action="store_true")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("document", nargs="*", type=pathlib.Path)
    options = options.parse_args()
    paths = [path.resolve() for path in options.document] or document.documents()

    def follow(numbered):
        number, path = numbered
        return Reader(path, options.program.resolve(),
                      pathlib.Path(scratch) / str(number)).follow()

    with tempfile.TemporaryDirectory(prefix="gauntlet-docs-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(follow, enumerate(paths)))
    if options.write:
        for outcome in outcomes:
            write(outcome)
    report(outcomes)
    return 1 if any(outcome.failures for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
