"""Tests survey.py on a stand-in that needs no library."""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import survey
import trainer_list

STAND_IN = "tests/survey/stand_in_trainer.py"
PROGRAM = None  # set below


def stand_in(name, way, packages=()):
    return trainer_list.Trainer(
        name=name, title=f"stand-in, {way}", packages=packages,
        command=("{python}", "-B", STAND_IN, "{out}", way),
        options=("--step-regex", r"resumed from step (\d+)",
                 "--result", "final.json", "--checkpoint", "checkpoint.json*"))


STAND_INS = (stand_in("in_place", "in-place"), stand_in("renamed", "rename"),
             stand_in("unseeded", "random"),
             stand_in("absent", "rename", ("no-such-package",)))


class SurveyTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.document = pathlib.Path(self.folder, "survey.md")
        self.document.write_text(
            f"# Survey\n\n{survey.BEGIN}\nold\n{survey.END}\n\nMore.\n")

    def run_survey(self, *arguments, trainers=STAND_INS):
        """Returns exit code, output and errors."""
        output, errors = io.StringIO(), io.StringIO()
        with mock.patch.object(trainer_list, "ALL", trainers), \
                mock.patch.object(sys, "argv", [
                    "survey.py", "--program", PROGRAM, "--out",
                    f"{self.folder}/results", "--document", str(self.document),
                    "--faults", "kill", "--time", "60s", *arguments]), \
                contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(errors):
            try:
                code = survey.main()
            except SystemExit as end:
                code = end.code
        return code, output.getvalue(), errors.getvalue()

    def test_names_what_each_trainer_survives(self):
        code, output, errors = self.run_survey("--only", "in_place,renamed")
        self.assertEqual(code, 0, errors)
        rows = [line.split(" | ") for line in output.splitlines()]
        self.assertEqual(rows[0][2:], ["crash states", "kill", "findings |"])
        self.assertEqual(rows[2][0], "| stand-in, in-place")
        self.assertRegex(rows[2][3], r"^\d+: \d+ fails$")
        self.assertEqual(rows[2][4], "1 |")
        self.assertRegex(rows[3][3], r"^\d+$")
        self.assertEqual(rows[3][4], "0 |")
        self.assertIn("time for each trainer: 60s; trials at a time: 2; ",
                      output)

    def test_keeps_results_and_findings(self):
        self.run_survey("--only", "in_place")
        out = pathlib.Path(self.folder, "results")
        records = json.loads((out / "survey.json").read_text())
        self.assertEqual([one["trainer"] for one in records], ["in_place"])
        self.assertTrue(records[0]["result"]["trials"])
        self.assertTrue((out / "tests/in_place/findings/1/repro.sh").exists())

    def test_trainer_without_verdict_does_not_end_the_others(self):
        code, output, _ = self.run_survey("--only", "unseeded,absent,renamed")
        self.assertEqual(code, 1)
        self.assertIn("no verdict: two undisturbed runs end with different "
                      "results", output)
        self.assertIn("no verdict: no-such-package: not installed", output)
        self.assertIn("| stand-in, rename | this one | ", output)

    def test_trainer_that_fails_is_named(self):
        failing = trainer_list.Trainer(
            name="failing", title="failing", packages=(),
            command=("{python}", "-c", "raise SystemExit('no {out}')"),
            options=())
        code, output, _ = self.run_survey(trainers=(failing,))
        self.assertEqual(code, 1)
        self.assertIn("no verdict: exit code 2: gauntlet crash-test: ", output)

    def test_writes_the_table_only(self):
        _, output, _ = self.run_survey("--only", "renamed", "--write")
        self.assertEqual(
            self.document.read_text(),
            f"# Survey\n\n{survey.BEGIN}\n{output}{survey.END}\n\nMore.\n")

    def test_reuses_results(self):
        self.run_survey("--only", "renamed")
        _, output, errors = self.run_survey("--only", "in_place,renamed",
                                            "--reuse")
        self.assertNotIn("renamed …", errors)
        self.assertIn("| stand-in, in-place |", output)
        self.assertIn("| stand-in, rename |", output)

    def test_bad_calls_are_refused(self):
        for arguments, message in (
                (("--only", "torch"), "expected some of in_place, renamed, "),
                (("--jobs", "0"), "expected a whole number from 1, found '0'"),
                (("--program", "/no/such"), "--program: expected a program")):
            code, _, errors = self.run_survey(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(message, errors)


class TableTest(unittest.TestCase):
    def test_power_losses_are_told_apart(self):
        trials = [{"id": "ext4-7-data0", "fault": "power",
                   "verdict": "recovered"},
                  {"id": "weak-7", "fault": "power", "verdict": "lost-work"},
                  {"id": "weak-8", "fault": "power", "verdict": "recovered"}]
        counts = survey.counts_of({"result": {"trials": trials}})
        self.assertEqual(survey.cell(counts["ext4"]), "1")
        self.assertEqual(survey.cell(counts["weak"]), "2: 1 lost-work")
        self.assertEqual(survey.cell(counts["torn"]), "–")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    args, rest = parser.parse_known_args()
    PROGRAM = args.program
    unittest.main(argv=sys.argv[:1] + rest)
