#!/usr/bin/env python3
"""bank_test.py PROGRAM: checks that the bug bank's tables match the engine's
sources, and that PROGRAM, built without mutants, contains none."""

import pathlib
import sys
import tempfile
import unittest

from bank import (HERE, BankError, Edit, explain, find_mechanical, find_once,
                  mutate, mutated_sources, read_bank, read_modelled)

ROOT = HERE.parent.parent
SOURCE = """#include "engine/x.h"
Status Save() {
  RETURN_IF_ERROR(
      file->Sync());  // RETURN_IF_ERROR(not this)
  if (found == digest) return OkStatus();
  if (!status.ok()) return status;
  return storage.Rename(From(a, b), ")");
}
"""
PLANTED = {"engine/world/fault_point.cc": 'PlantedBug::kLose, "lose-it"'}
BUG = """[[bug]]
name = "early"
what = "w"
guard = "g"
"""


def read_one(text, sources):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "table.toml").write_text(BUG + text)
        return read_modelled(pathlib.Path(folder), {**PLANTED, **sources})


def explain_source(entry):
    """Returns the explanations of SOURCE's mutants by kind, given one entry."""
    mutants = list(find_mechanical("engine/x.cc", SOURCE))
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "explained.toml"
        table.write_text('[[mutant]]\nfile = "engine/x.cc"\nwhy = "w"\n' + entry)
        explain(mutants, {"engine/x.cc": SOURCE}, table)
    return {mutant.kind: mutant.why for mutant in mutants}


def with_switches(state, text):
    """Returns the text with every switch replaced by `state`."""
    for number in range(1, 10):
        text = text.replace(f"::gauntlet::mutants::On({number})", state)
    return text


class Tables(unittest.TestCase):
    def check_error(self, message, table, sources):
        with self.assertRaises(BankError) as caught:
            read_one(table, sources)
        self.assertIn(message, str(caught.exception))
        self.assertIn("table.toml: early", str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_MissingText_IsAnError(self):
        self.check_error("engine/x.cc: found 0 times, expected once: 'Load()'",
                         'file = "engine/x.cc"\nfind = "Load()"\nwith = "BUG"',
                         {"engine/x.cc": SOURCE})

    def test_TextThatComesTwice_IsAnError(self):
        self.check_error("found 2 times", 'file = "engine/x.cc"\n'
                         'find = "RETURN_IF_ERROR("\nwith = "BUG"',
                         {"engine/x.cc": SOURCE})

    def test_EditWithoutSwitch_IsAnError(self):
        self.check_error("expected an edit that contains BUG",
                         'file = "engine/x.cc"\n'
                         'find = "Save()"\nwith = "Load()"',
                         {"engine/x.cc": SOURCE})

    def test_UnknownPlantedBug_IsAnError(self):
        self.check_error("the name of a planted bug", 'planted = "lose-all"', {})
        self.assertEqual(read_one('planted = "lose-it"', {})[0].kind, "planted")

    def test_LineBreaksDoNotMatter(self):
        begin, end = find_once(SOURCE, "RETURN_IF_ERROR(file->Sync());")
        self.assertEqual(SOURCE[begin:end].split(),
                         ["RETURN_IF_ERROR(", "file->Sync());"])

    def test_EveryTextIsInTheEngine(self):
        mutants, sources = read_bank(ROOT)
        modelled = [m for m in mutants if not m.is_mechanical()]
        self.assertGreaterEqual(len(modelled), 40)
        self.assertGreaterEqual(len(mutants) - len(modelled), 400)
        for file, text in mutated_sources(mutants, sources):
            # Messages name the lines of the original.
            self.assertEqual(text.count("\n"), sources[file].count("\n") + 2)


class Explained(unittest.TestCase):
    def check_error(self, message, entry):
        with self.assertRaises(BankError) as caught:
            explain_source(entry)
        self.assertIn(message, str(caught.exception))

    def test_EntryExplainsTheMutantOfItsKind(self):
        why = explain_source(
            'find = "RETURN_IF_ERROR(file->Sync());"\nkind = "sync"')
        self.assertEqual((why["sync"], why["status"]), ("w", ""))

    def test_MissingText_IsAnError(self):
        self.check_error("explained.toml: engine/x.cc: found 0 times",
                         'find = "Load()"\nkind = "sync"')

    def test_TextThatComesTwice_IsAnError(self):
        self.check_error("found 3 times", 'find = "return"\nkind = "status"')

    def test_TextWithoutSuchAMutant_IsAnError(self):
        self.check_error("found 0 mutants of kind rename",
                         'find = "file->Sync()"\nkind = "rename"')

    def test_TextOfSeveralMutants_IsAnError(self):
        text = SOURCE.replace("(found == digest)", "(!found.ok())")
        mutants = list(find_mechanical("engine/x.cc", text))
        entry = {"find": "if (!found.ok()) return OkStatus();\n"
                         "  if (!status.ok()) return status;"}
        self.assertEqual(sum(m.kind == "status-if" for m in mutants), 2)
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "explained.toml"
            table.write_text('[[mutant]]\nfile = "engine/x.cc"\nwhy = "w"\n'
                             f'kind = "status-if"\nfind = """{entry["find"]}"""')
            with self.assertRaisesRegex(BankError, "found 2 mutants"):
                explain(mutants, {"engine/x.cc": text}, table)


class Mechanical(unittest.TestCase):
    def test_FindsEachKind(self):
        found = list(find_mechanical("x.cc", SOURCE))
        self.assertEqual([mutant.name for mutant in found],
                         ["x.cc:3:status", "x.cc:4:sync", "x.cc:5:digest",
                          "x.cc:6:status-if", "x.cc:7:rename"])
        self.assertEqual(found[-1].what, 'storage.Rename(From(a, b), ")")')

    def test_SwitchesTakeEffect(self):
        edits = [(mutant.edits[0], number) for number, mutant
                 in enumerate(find_mechanical("x.cc", SOURCE), 1)]
        off = with_switches("false", mutate(SOURCE, edits))
        on = with_switches("true", mutate(SOURCE, edits))
        self.assertIn("(false ? ::gauntlet::OkStatus() : file->Sync())", off)
        self.assertIn("if ((found == digest) || true) return OkStatus();", on)
        self.assertIn("if ((!status.ok()) && !true) return status;", on)


class Edits(unittest.TestCase):
    def test_Nest(self):
        edits = [(Edit("x", 0, 5, "if (!BUG) ORIGINAL"), 1),
                 (Edit("x", 2, 3, "(BUG ? z : ORIGINAL)"), 2)]
        self.assertEqual(with_switches("0", mutate("ab+cd;", edits)),
                         "if (!0) ab(0 ? z : +)cd;")

    def test_Overlap_IsAnError(self):
        with self.assertRaises(BankError):
            mutate("abcdef", [(Edit("x", 0, 3, "BUG ORIGINAL"), 1),
                              (Edit("x", 2, 4, "BUG ORIGINAL"), 2)])


class Program(unittest.TestCase):
    def test_HoldsNoMutants(self):
        self.assertNotIn(b"GAUNTLET_MUTANT", PROGRAM.read_bytes())


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1))
    unittest.main()
