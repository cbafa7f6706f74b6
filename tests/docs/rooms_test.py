"""Tests of the folder tables' check: which includes it allows, and its
reports."""

import pathlib
import tempfile
import unittest

import rooms

TOP = rooms.TOP_DOCUMENT
FOLDERS = rooms.FOLDERS_DOCUMENT

TOPS = """| folder | what lives there | may include |
|---|---|---|
| `engine/` | the engine | – |
| `chaos/` | the faults | `engine/` |
| `tests/` | the tests | all |
"""
ENGINE = """
| folder | what lives there | may include |
|---|---|---|
| `engine/*` | each folder below | `engine` |
| `engine` | the core | – |
| `engine/train/state` | a value | – |
| `engine/train` | a loop | `state` |
| `engine/api` | headers | all above |
"""
CHAOS = """
| folder | what lives there | may include |
|---|---|---|
| `chaos/sim` | a world | `engine/` but `engine/train/state` |
"""
FILES = {"engine/status.h": "", "engine/train/state/state.h": "",
         "engine/train/loop.h": "", "engine/api/api.h": "",
         "chaos/sim/sim.h": "", "tests/engine/status_test.cc": ""}


class Cells(unittest.TestCase):
    def row(self, folder, cell, above=()):
        row = rooms.Row("folders.md:1", folder, "one", cell, list(above))
        folders = {"engine", "engine/train", "engine/train/state",
                   "engine/ckpt", "engine/ckpt/state"}
        return row, rooms.resolve(row, folders)

    def test_a_name_is_looked_up_upwards_from_the_folder_of_the_row(self):
        for folder, name, found in (
                ("engine/train/save", "state", "engine/train/state"),
                ("engine/ckpt", "state", "engine/ckpt/state"),
                ("engine/train", "ckpt/state", "engine/ckpt/state"),
                ("chaos/sim", "engine", "engine")):
            row, wrong = self.row(folder, f"`{name}`")
            self.assertEqual(([found], []), (row.included, wrong), folder)

    def test_a_slash_takes_in_the_folders_below(self):
        row, _ = self.row("chaos/sim", "`engine/train/`")
        self.assertTrue(row.allows("engine/train"))
        self.assertTrue(row.allows("engine/train/state"))
        self.assertFalse(row.allows("engine/trainer"))
        row, _ = self.row("chaos/sim", "`engine/train`")
        self.assertFalse(row.allows("engine/train/state"))

    def test_but_takes_folders_out(self):
        row, _ = self.row("chaos/sim", "all but `engine/train/`")
        self.assertTrue(row.allows("engine/ckpt"))
        self.assertFalse(row.allows("engine/train/state"))

    def test_all_above_means_the_rows_above(self):
        row, _ = self.row("engine/api", "all above", ["engine", "engine/ckpt"])
        self.assertTrue(row.allows("engine/ckpt"))
        self.assertFalse(row.allows("engine/train"))

    def test_a_dash_allows_nothing(self):
        row, wrong = self.row("engine", "–")
        self.assertEqual([], wrong)
        self.assertFalse(row.allows("engine/train"))

    def test_an_unknown_name_or_word_is_reported(self):
        for cell in ("`nowhere`", "anything", "`engine` `engine/train`"):
            self.assertEqual(1, len(self.row("chaos/sim", cell)[1]), cell)


class Tree(unittest.TestCase):
    def wrong(self, text=ENGINE + CHAOS, **changes):
        """Returns violations of a tree of FILES; `changes`: new text by file
        name."""
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, content in {**FILES, **changes}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            for document, table in ((TOP, TOPS),
                                    (FOLDERS, text)):
                (root / document).parent.mkdir(parents=True, exist_ok=True)
                (root / document).write_text(table)
            return rooms.check(root)[0]

    def including(self, path, *included):
        text = "".join(f'#include "{name}"\n' for name in included)
        return self.wrong(**{path: text})

    def test_allowed_includes_are_no_violation(self):
        self.assertEqual([], self.wrong())
        for path, included in (
                ("engine/train/loop.cc", "engine/train/state/state.h"),
                ("engine/train/loop.cc", "engine/train/loop.h"),
                ("engine/train/state/state.cc", "engine/status.h"),
                ("engine/api/api.cc", "engine/train/state/state.h"),
                ("chaos/sim/sim.cc", "engine/train/loop.h"),
                ("tests/engine/status_test.cc", "chaos/sim/sim.h"),
                ("engine/status.cc", "zlib/zlib.h")):
            self.assertEqual([], self.including(path, included), path)

    def test_other_includes_are_reported_with_line_and_row(self):
        for path, included, document, line in (
                ("engine/train/state/state.cc", "engine/train/loop.h",
                 FOLDERS, 6),
                ("engine/status.cc", "engine/api/api.h", FOLDERS, 5),
                ("engine/status.cc", "chaos/sim/sim.h", TOP, 3),
                ("engine/status.cc", "tests/engine/fixture.h", TOP, 3),
                ("chaos/sim/sim.cc", "engine/train/state/state.h",
                 FOLDERS, 12)):
            violation, = self.including(path, "engine/status.h", included)
            self.assertTrue(violation.startswith(f"{path}:2: "), violation)
            self.assertIn(f"({document}:{line})", violation)

    def test_a_folder_with_sources_needs_a_row(self):
        for path in ("engine/gpu/gpu.cu", "chaos/x/a.cc.in", "chaos/b.proto"):
            violation, = self.wrong(**{path: ""})
            self.assertIn("no row", violation)
        self.assertEqual([], self.wrong(**{"chaos/CMakeLists.txt": "",
                                           "tests/x/x_test.cc": ""}))

    def test_a_folder_without_a_row_is_reported_once(self):
        self.assertEqual(
            ["engine/gpu: has sources and no row in docs/design/folders.md"],
            self.wrong(**{"engine/gpu/gpu.h": "",
                          "engine/gpu/gpu.cc": '#include "engine/api/api.h"',
                          "engine/api/a.cc": '#include "engine/gpu/gpu.h"'}))

    def test_a_row_needs_a_folder(self):
        self.assertEqual(
            ["docs/design/folders.md:13: no such folder: chaos/gone"],
            self.wrong(ENGINE + CHAOS +
                       "| `chaos/gone` | – | – |\n"))

    def test_a_second_row_is_reported(self):
        violation, = self.wrong(ENGINE + CHAOS +
                                "| `chaos/sim` | – | `engine/` |\n")
        self.assertIn("second row for chaos/sim", violation)

    def test_folders_have_at_most_30_files(self):
        files = {f"tests/data/{number}.json": "" for number in range(30)}
        self.assertEqual([], self.wrong(**files))
        violation, = self.wrong(**files, **{"tests/data/30.json": ""})
        self.assertEqual("tests/data: has 31 files, more than 30", violation)

    def test_a_document_without_tables_has_no_rows(self):
        # The folders of `tests` have the row of their top folder.
        self.assertEqual(len(FILES) - 1, len(self.wrong("no table")))


if __name__ == "__main__":
    unittest.main()
