"""Compares what a command printed with what a document shows.

The one rule: in both texts
  a duration (0.2s, 18ms, 1.5 s, 3:07)     becomes <time>
  a run's id (20261121T024211-26019)       becomes <run>
  a number before "samples/s", "a second"  becomes <rate>
  a row of spaces                          becomes one space
  a line of progress                       is left out: it begins with a duration,
                                           or is `epoch N/M  step N/M  N%`
Then they are equal line by line, and `…` in the document stands for anything:
alone on its line for any number of lines, else for any part of the line.
"""

import difflib
import re

_RULE = (
    (re.compile(r"\b\d{8}T\d{6}-\d+\b"), "<run>"),
    (re.compile(r"(?<![\w.])\d[\d,]*(\.\d+)?(?= (samples/s|(\w+ )?a second))"), "<rate>"),
    (re.compile(r"(?<![\w.])\d+(\.\d+)? ?(ns|us|µs|ms|s|min|h)(?![\w/])"),
     "<time>"),
    (re.compile(r"(?<![\w.:])\d+:\d\d(?![\w:])"), "<time>"),
    (re.compile(r"[ \t]+"), " "),
)

_PROGRESS = re.compile(r"\s*(gauntlet \w+: )?<time>[ ,].*|"
                       r"epoch \d+/\d+ step \d+/\d+ \d+%.*")


def normalised(line):
    for pattern, replacement in _RULE:
        line = pattern.sub(replacement, line)
    return line.rstrip()


def _texts(lines):
    """Returns the lines without lines of progress."""
    return [line for line in lines
            if not _PROGRESS.fullmatch(normalised(line))]


def _pattern(lines):
    parts = []
    for line in _texts(lines):
        if line.strip() == "…":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            within = map(re.escape, normalised(line).split("…"))
            parts.append(r"[^\n]*".join(within) + r"\n")
    return re.compile("".join(parts))


def matches(shown, printed):
    """Returns true iff the lines `printed` match those that are shown."""
    text = "".join(normalised(line) + "\n" for line in _texts(printed))
    return _pattern(shown).fullmatch(text) is not None


def difference(shown, printed):
    """Returns the normalised lines as a unified diff without a header."""
    lines = difflib.unified_diff(list(map(normalised, _texts(shown))),
                                 list(map(normalised, _texts(printed))), lineterm="",
                                 n=1)
    return [line for line in lines if not line.startswith(("---", "+++"))]
