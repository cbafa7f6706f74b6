#!/usr/bin/env python3
"""Checks the links of the documents, and the options that their text names.

A relative link leads to a file. An option in code (`--retries N`, or `gauntlet
run -x`) is in the help of its command, or of some command if none is named.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import document
import outcome

SUBCOMMANDS = {"ckpt": ("ls", "verify", "diff", "export", "predict"),
               "bench": ("checkpoint", "scale")}
# Options of other programs.
FOREIGN = {"--requeue", "--signal", "-fmad"}


def prose_of(path):
    """Yields (LINE, TEXT) without fenced blocks."""
    within = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            within = not within
        elif not within:
            yield number, line


class Helps:
    def __init__(self, program):
        self._program = program
        self._texts = {}
        overview = self._of("help")
        self.commands = re.findall(r"^  ([\w-]+) +\S", overview, re.M)
        self._all = overview + "".join(self.text(name) for name in self.commands)

    def _of(self, *words):
        return subprocess.run([self._program, *words], text=True, check=False,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT).stdout

    def text(self, name):
        if name not in self._texts:
            text = self._of(name, "--help")
            for part in SUBCOMMANDS.get(name, ()):
                text += self._of(name, part, "--help")
            self._texts[name] = text
        return self._texts[name]

    def has(self, name, option):
        text = self.text(name) if name in self.commands else self._all
        return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])",
                         text) is not None


def options_in(code):
    """Yields (COMMAND or "", OPTION) of each option in a piece of code."""
    command = re.match(r"gauntlet ([\w-]+)", code)
    if not command and not code.startswith("-"):
        return
    for option in re.findall(r"(?<![\w-])--?[a-z][\w-]*", code):
        option = re.sub(r"^-j\d$", "-j", option)
        if option not in FOREIGN:
            yield command.group(1) if command else "", option


class Check:
    def __init__(self, helps):
        self._helps = helps
        self.checked = 0
        self.wrong = []

    def read(self, path):
        for number, line in prose_of(path):
            place = f"{path.relative_to(document.ROOT)}:{number}"
            for target in re.findall(r"\]\(([^)#:]+)\)", line):
                self.checked += 1
                if not (path.parent / target).exists():
                    self.wrong.append(f"{place}: no such file: {target}")
            for code in re.findall(r"`([^`]+)`", line):
                for name, option in options_in(code):
                    self._check_option(place, name, option)

    def _check_option(self, place, name, option):
        self.checked += 1
        if not self._helps.has(name, option):
            self.wrong.append(f"{place}: {name or 'no command'} has no {option}")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True, type=pathlib.Path)
    options = options.parse_args()
    check = Check(Helps(options.program.resolve()))
    for path in document.documents():
        check.read(path)
    return outcome.report(check.wrong,
                          f"{check.checked} links and options checked")


if __name__ == "__main__":
    sys.exit(main())
