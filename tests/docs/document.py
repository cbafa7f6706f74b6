"""Reads the fenced blocks of a Markdown document, with their markers.

A marker is an HTML comment on the line above a block (an empty line may stand
between). It does not show in the rendered document:
  <!-- not run: REASON -->   the block cannot run here
  <!-- run as: COMMAND -->   run COMMAND instead of the block's one command
  <!-- file: NAME -->        the block is a file, written before what follows
  <!-- from: PATH -->        the block is a part of this file of the tree
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

_MARKER = re.compile(r"^\s*<!-- (not run|run as|file|from): (.*) -->$")
_FENCE = re.compile(r"^(\s*)```(\w*)$")


class Malformed(Exception):
    """A document that the test cannot read."""


@dataclasses.dataclass
class Block:
    language: str
    first_line: int  # line of its content, from 1
    lines: list
    marker: str = ""  # "", "not run", "run as", "file" or "from"
    value: str = ""  # text after the colon of the marker

    def text(self):
        return "".join(line + "\n" for line in self.lines)


@dataclasses.dataclass
class Command:
    line: int  # line in the document, from 1
    text: str
    output: list


def documents():
    """Returns the paths of README.md and all of docs/."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md",
            *sorted((ROOT / "docs").rglob("*.md"))]


def read_blocks(path):
    blocks, marker, indent, block = [], None, "", None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = _FENCE.match(line)
        if block is not None:
            if fence and not fence.group(2):
                blocks.append(block)
                block, marker = None, None
            else:
                block.lines.append(line.removeprefix(indent))
        elif fence:
            indent = fence.group(1)
            name, value = marker or ("", "")
            block = Block(fence.group(2), number + 1, [], name, value)
        elif found := _MARKER.match(line):
            marker = found.groups()
        elif line.strip():
            marker = None
    if block is not None:
        raise Malformed(f"{path}:{block.first_line}: the block has no end")
    return blocks


def commands_of(block):
    """Returns the `$` lines of a console block, each with the output below
    it."""
    commands = []
    lines = iter(enumerate(block.lines, block.first_line))
    for number, line in lines:
        if line.startswith("$ "):
            text = line[2:]
            while text.endswith("\\"):
                _, more = next(lines)
                text += "\n" + more
            commands.append(Command(number, text, []))
        elif commands:
            commands[-1].output.append(line)
        else:
            raise Malformed(f"line {number}: a console block begins with `$ `")
    return commands
