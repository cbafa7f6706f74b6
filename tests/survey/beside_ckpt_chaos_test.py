"""Tests beside_ckpt_chaos.py with a stand-in for ckpt-chaos, on a script that
needs no framework."""

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

import beside_ckpt_chaos
from beside_ckpt_chaos import ChaosTest, Point

PROGRAM = None  # set below

TORN = Point("#3 open:checkpoint-4.json [torn]", "open", "checkpoint-4.json", 1,
             True, "HARD_FAIL")
PASSED = Point("#2 open:checkpoint-2.json [before]", "open",
               "checkpoint-2.json", 1, False, "PASS")


class BesideCkptChaosTest(unittest.TestCase):
    def compare(self, *arguments, points=(TORN, PASSED)):
        """Returns exit code, output, errors and figures."""
        output, errors = io.StringIO(), io.StringIO()

        def stand_in(args, example, folder, modes):
            return ChaosTest(60.0, 40.0, len(points), list(points))

        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(beside_ckpt_chaos, "run_ckpt_chaos",
                                  stand_in), \
                mock.patch.object(sys, "argv", [
                    "beside_ckpt_chaos.py", "--program", PROGRAM, "--only",
                    "json", "--rounds", "1", "--folder", folder, "--out",
                    f"{folder}/out.json", *arguments]), \
                contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(errors):
            try:
                code = beside_ckpt_chaos.main()
                figures = json.loads(
                    pathlib.Path(f"{folder}/out.json").read_text())
            except SystemExit as end:
                code, figures = end.code, None
        return code, output.getvalue(), errors.getvalue(), figures

    def test_failing_point_is_found_in_writes_of_its_file(self):
        code, output, errors, figures = self.compare()
        self.assertEqual((code, errors), (0, ""), output)
        (one,) = figures
        self.assertEqual(one["ckpt_chaos"], {"HARD_FAIL": 1, "PASS": 1})
        (failing,) = one["failing"]
        self.assertIn(failing["found"].split("-")[0], ("kill", "torn"))
        self.assertIn(f"{TORN.label:44} HARD_FAIL         {failing['found']}",
                      output)
        self.assertGreater(one["judged"][0][1], 10)

    def test_failing_point_that_gauntlet_recovers_from_is_not_found(self):
        wrong = Point("#9 open:final.json [before]", "open", "final.json", 1,
                      False, "HARD_FAIL")
        absent = Point("#5 os.remove:checkpoint-2.json [before]", "os.remove",
                       "checkpoint-2.json", 1, False, "HARD_FAIL")
        code, output, _, figures = self.compare(points=(wrong, absent))
        self.assertEqual(code, 1)
        self.assertEqual([one["found"] for one in figures[0]["failing"]],
                         [None, None])
        self.assertEqual(output.count("NOT FOUND"), 2)

    def test_program_that_fails_is_one_line(self):
        code, _, errors, figures = self.compare("--python", "/bin/false")
        self.assertEqual((code, figures), (1, []))
        self.assertTrue(errors.startswith(
            "beside_ckpt_chaos: json: gauntlet: "), errors)

    def test_power_loss_counts_where_a_kill_recovers(self):
        def trial(name, operation, verdict):
            fault = "kill" if name.startswith("kill") else "power"
            return {"id": f"{name}-{operation}", "fault": fault,
                    "operation": operation, "verdict": verdict}

        trials = [trial("kill", 3, "recovered"), trial("kill", 5, "fails"),
                  trial("ext4", 4, "fails"), trial("weak", 4, "recovered"),
                  trial("weak", 5, "fails"), trial("weak", 1, "fails")]
        found = beside_ckpt_chaos.power_losses({"trials": trials})
        self.assertEqual([one["id"] for one in found], ["ext4-4"])

    def test_state_counts_for_each_fault_that_leaves_it(self):
        def crash(fault, operation, verdict):
            return {"id": f"{fault}-{operation}", "fault": fault,
                    "operation": operation, "verdict": verdict}

        def trial(first, *equal):
            return {**first, "equal_crashes": list(equal)}

        empty = trial(crash("kill", 5, "fails"), crash("power", 3, "fails"),
                      crash("power", 4, "fails"))
        self.assertEqual(
            beside_ckpt_chaos.crashes_of(empty)[1]["point"], "power-3")
        # The kill at operation 3 leaves the same state as the power loss at 2.
        complete = trial(crash("power", 2, "lost-work"),
                         crash("kill", 3, "recovered"))
        found = beside_ckpt_chaos.power_losses({"trials": [empty, complete]})
        self.assertEqual([one["id"] for one in found], ["power-3"])

    def test_verdicts_are_read_from_the_table(self):
        table = ("crash point      newest ok  resume result    verdict\n"
                 "no crash (control)    8  resumed from step 0  PASS\n"
                 f"{TORN.label:58}  2  RAISED ExitCode1   -  HARD_FAIL\n"
                 f"{PASSED.label:58}  0  resumed from step 0  0.00  PASS"
                 "  [PLAN DRIFT]\n\nHARD_FAIL: 1  PASS: 2\n")
        self.assertEqual(beside_ckpt_chaos._verdicts(table),
                         {TORN.label: "HARD_FAIL", PASSED.label: "PASS"})

    def test_wrong_calls(self):
        for arguments, text in (
                (("--only", "x"), "expected some of json, torch.save, "),
                (("--rounds", "0"), "expected a whole number from 1, found '0'"),
                (("--python", "/none"), "--python: expected a program, found "
                 "'/none'"),
                (("--folder", "/none"), "--folder: expected a folder, found "
                 "'/none'")):
            with self.subTest(arguments):
                code, _, errors, _ = self.compare(*arguments)
                self.assertEqual(code, 2)
                self.assertIn(text, errors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    args, rest = parser.parse_known_args()
    PROGRAM = os.path.abspath(args.program)
    unittest.main(argv=[sys.argv[0], *rest])
