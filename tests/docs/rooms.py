#!/usr/bin/env python3
"""Checks the folder tables of the documents against the tree.

ARCHITECTURE.md has the table of the top folders, docs/design/folders.md those
of the folders in them.

A table with the columns `folder` and `may include` has rows of three kinds:
  `engine/`        a top folder: the most that any folder in it may include
  `engine/ckpt`    one folder, without its sub-folders
  `harness/cli/*`  each folder below: adds to what its own row allows
A cell of `may include` lists, in any order:
  –                nothing
  `train`          this folder alone
  `train/`         this folder and all below it
  all              every folder
  all above        the folders of the rows above in this table
  … but `cli/`     not these
A name is looked up in the row's own folder, then in each folder above it.
Files of one folder may always include each other.

The row `tests/` stands for all folders in it, as they mirror the sources.
"""

import dataclasses
import pathlib
import re
import sys

import outcome
from document import ROOT

TOP_DOCUMENT = "ARCHITECTURE.md"
FOLDERS_DOCUMENT = "docs/design/folders.md"
SOURCE_TOPS = ("engine", "chaos", "harness", "reports")
TOPS = (*SOURCE_TOPS, "tests")
MOST_FILES = 30
SOURCES = (".h", ".cc", ".cc.in", ".cu", ".inc", ".proto")

_INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)/[^"/]+"')


@dataclasses.dataclass
class Row:
    place: str  # DOCUMENT:LINE
    folder: str  # folder without `/` or `/*` at its end
    kind: str  # "top", "one" or "below"
    cell: str
    above: list  # folders of the one-folder rows above
    included: list = dataclasses.field(default_factory=list)
    excluded: list = dataclasses.field(default_factory=list)

    def allows(self, folder):
        return (any(covers(name, folder) for name in self.included) and
                not any(covers(name, folder) for name in self.excluded))


def covers(name, folder):
    """Returns true iff `name` (a folder, one with `/`, or all) covers the
    folder."""
    if name == "all":
        return True
    return folder == name or (name.endswith("/") and
                              f"{folder}/".startswith(name))


def read_rows(document, text):
    """Returns the rows of all folder tables in a document, top to bottom."""
    rows, within, above = [], False, []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            within = False
        elif cells[0] == "folder" and cells[-1] == "may include":
            within, above = True, []
        elif within and (name := re.fullmatch(r"`([^`]+)`", cells[0])):
            name = name.group(1)
            kind = ("below" if name.endswith("/*") else
                    "top" if name.endswith("/") else "one")
            folder = re.sub(r"/\*?$", "", name)
            rows.append(Row(f"{document}:{number}", folder, kind, cells[-1],
                            list(above)))
            if kind == "one":
                above.append(folder)
    return rows


def find_folder(name, start, folders):
    """Returns the folder that `name` means in the row of `start`, or ""."""
    slash = "/" if name.endswith("/") else ""
    name = name.rstrip("/")
    place = pathlib.PurePosixPath(start)
    for parent in (place, *place.parents):
        folder = str(parent / name)
        if folder in folders:
            return folder + slash
    return ""


def resolve(row, folders):
    """Reads a row's cell into the row's lists. Returns the cell's errors."""
    wrong = []
    before, *after = re.split(r"\bbut\b", row.cell, maxsplit=1)
    for text, names in ((before, row.included), ("".join(after), row.excluded)):
        for item in filter(None, (item.strip() for item in text.split(","))):
            quoted = re.fullmatch(r"`([^`]+)`", item)
            if item == "all above":
                names.extend(row.above)
            elif item == "all":
                names.append("all")
            elif quoted and (found := find_folder(quoted.group(1), row.folder,
                                                  folders)):
                names.append(found)
            elif item != "–":
                wrong.append(f"{row.place}: no such folder to include: {item}")
    return wrong


def tree_of(root):
    """Returns {FOLDER: [FILE NAME]} of all folders of sources and tests."""
    tree = {}
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            parts = path.relative_to(root).parts
            if path.is_file() and not any(
                    part.startswith(".") or part == "__pycache__"
                    for part in parts):
                tree.setdefault("/".join(parts[:-1]), []).append(path.name)
    return tree


def includes_of(text):
    """Yields (LINE, FOLDER) of each include by a path from the root."""
    for number, line in enumerate(text.splitlines(), 1):
        found = _INCLUDE.match(line)
        if found and found.group(1).split("/")[0] in TOPS:
            yield number, found.group(1)


class Rooms:
    """Rules on which folder may include which, by the rows of the tables."""

    def __init__(self, rows, folders):
        self.wrong = []
        self._top, self._one, self._below = {}, {}, {}
        for row in rows:
            kind = {"top": self._top, "one": self._one,
                    "below": self._below}[row.kind]
            if row.folder in kind:
                self.wrong.append(f"{row.place}: a second row for {row.folder}")
            kind[row.folder] = row
            self.wrong += resolve(row, folders)

    def has(self, folder):
        top = folder.split("/")[0]
        return folder in self._one or (top not in SOURCE_TOPS and
                                       top in self._top)

    def refusing_row(self, folder, included):
        """Returns the row that forbids this include, or None."""
        top = self._top.get(folder.split("/")[0])
        inside = covers(f"{folder.split('/')[0]}/", included)
        if top and not inside and not top.allows(included):
            return top
        if folder == included or not self.has(included):
            return None  # A folder without a row is reported once, as such.
        own = self._one.get(folder)
        below = [row for name, row in self._below.items()
                 if folder.startswith(f"{name}/")]
        if own and not any(row.allows(included) for row in (own, *below)):
            return own
        return None


def check(root):
    """Returns all violations, one per line, and what was checked."""
    rows = [row for document in (TOP_DOCUMENT, FOLDERS_DOCUMENT)
            for row in read_rows(document, (root / document).read_text())]
    tree = tree_of(root)
    rooms = Rooms(rows, {str(folder) for name in tree for folder in
                         (name, *pathlib.PurePosixPath(name).parents)})
    wrong = [f"{row.place}: no such folder: {row.folder}"
             for row in rows if not (root / row.folder).is_dir()]
    wrong += rooms.wrong
    includes = 0
    for folder, files in tree.items():
        sources = [name for name in files if name.endswith(SOURCES)]
        if sources and not rooms.has(folder):
            wrong.append(f"{folder}: has sources and no row in "
                         f"{FOLDERS_DOCUMENT}")
        if len(files) > MOST_FILES:
            wrong.append(f"{folder}: has {len(files)} files, more than "
                         f"{MOST_FILES}")
        for name in sources:
            text = (root / folder / name).read_text()
            for line, included in includes_of(text):
                includes += 1
                row = rooms.refusing_row(folder, included)
                if row:
                    wrong.append(f"{folder}/{name}:{line}: {row.folder} may "
                                 f"not include {included} "
                                 f"({row.place})")
    return wrong, f"{len(rows)} rows and {includes} includes checked"


if __name__ == "__main__":
    sys.exit(outcome.report(*check(ROOT)))
