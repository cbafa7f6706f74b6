"""Tests recording_overhead.py with a trainer that needs no framework."""

import argparse
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import recording_overhead

PROGRAM = None  # set below


class RecordingOverheadTest(unittest.TestCase):
    def measure(self, *arguments):
        """Returns exit code, output, errors and figures."""
        output, errors = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(recording_overhead.TRAINERS,
                                {"stand-in": "stand_in.py"}, clear=True), \
                mock.patch.object(sys, "argv", [
                    "recording_overhead.py", "--program", PROGRAM, "--only",
                    "stand-in", "--rounds", "2", "--folder", folder, "--out",
                    f"{folder}/out.json", *arguments]), \
                contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(errors):
            try:
                code = recording_overhead.main()
                figures = json.loads(
                    pathlib.Path(f"{folder}/out.json").read_text())
            except SystemExit as end:
                code, figures = end.code, None
            left = set(os.listdir(folder)) - {"out.json"}
        self.assertEqual(left, set())
        return code, output.getvalue(), errors.getvalue(), figures

    def test_recorded_run_has_all_bytes_and_equal_results(self):
        code, output, errors, figures = self.measure()
        self.assertEqual((code, errors), (0, ""), output)
        (one,) = figures
        self.assertTrue(one["equal"])
        self.assertEqual(len(one["ratios"]), 2)
        self.assertGreater(one["recorded_bytes"], 4_000_000)
        self.assertIn("  equal", output)

    def test_another_result_is_reported(self):
        with mock.patch.dict(os.environ, {"DIFFERENCE": "1"}):
            code, output, _, figures = self.measure()
        self.assertEqual(code, 1)
        self.assertFalse(figures[0]["equal"])
        self.assertIn("DIFFER", output)

    def test_failing_trainer_is_one_line(self):
        code, _, errors, figures = self.measure("--python", "/bin/false")
        self.assertEqual((code, figures), (1, []))
        self.assertEqual(errors, "recording_overhead: stand-in: expected a run "
                         "that ends with 0, found exit code 1: no output\n")

    def test_wrong_calls(self):
        for arguments, text in (
                (("--only", "x"), "expected some of stand-in, found 'x'"),
                (("--rounds", "0"), "expected a whole number from 1, found '0'"),
                (("--python", "/none"), "--python: expected a program, found "
                 "'/none'"),
                (("--folder", "/none"), "--folder: expected a folder, found "
                 "'/none'")):
            with self.subTest(arguments):
                code, _, errors, _ = self.measure(*arguments)
                self.assertEqual(code, 2)
                self.assertIn(text, errors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    args, rest = parser.parse_known_args()
    PROGRAM = os.path.abspath(args.program)
    unittest.main(argv=[sys.argv[0], *rest])
