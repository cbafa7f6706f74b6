"""Tests crash_test_call.py with a stand-in for gauntlet."""

import json
import os
import pathlib
import tempfile
import unittest

from crash_test_call import NoVerdict, crash_test

# Prints its arguments, a variable, its folder and its input as JSON.
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
print(json.dumps({"arguments": sys.argv[1:], "variable": os.environ["VARIABLE"],
                  "home": "HOME" in os.environ, "cwd": os.getcwd(),
                  "input": sys.stdin.read(), "no_verdict": ""}))
"""


class CrashTestCallTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(
            self.enterContext(tempfile.TemporaryDirectory()))

    def program(self, text):
        path = pathlib.Path(self.folder, "gauntlet")
        path.write_text(text)
        path.chmod(0o755)
        return path

    def failing(self, code, output="", errors=""):
        """Returns the exception for a program with this end."""
        program = self.program(f"#!/bin/sh\nprintf '%s' '{output}'\n"
                               f"printf '%s' '{errors}' >&2\nexit {code}\n")
        with self.assertRaises(NoVerdict) as caught:
            crash_test(program, [], ["true"])
        return caught.exception

    def test_options_come_before_the_command(self):
        found = crash_test(self.program(STAND_IN), ["--time", "1m"],
                           ["a", "{out}"], environment={"VARIABLE": "value"},
                           cwd=self.folder)
        self.assertEqual(found["arguments"],
                         ["crash-test", "--json", "--time", "1m", "--", "a",
                          "{out}"])
        self.assertEqual(
            (found["variable"], found["home"], found["cwd"], found["input"]),
            ("value", "HOME" in os.environ, self.folder, ""))

    def test_findings_are_a_result(self):
        program = self.program("#!/bin/sh\necho '{\"findings\": [1]}'\nexit 1\n")
        self.assertEqual(crash_test(program, [], []), {"findings": [1]})

    def test_failure_is_its_last_line(self):
        error = self.failing(2, errors="gauntlet crash-test: one\ntwo\n")
        self.assertEqual((str(error), error.result),
                         ("exit code 2: two", None))
        self.assertEqual(str(self.failing(3)), "exit code 3: no output")
        # Without JSON there is no result, whatever the exit code.
        self.assertEqual(str(self.failing(0, output="{")),
                         "exit code 0: no output")

    def test_reason_of_the_result_comes_first(self):
        result = {"no_verdict": "two runs differ"}
        error = self.failing(3, output=json.dumps(result), errors="note")
        self.assertEqual((str(error), error.result),
                         ("exit code 3: two runs differ", result))


if __name__ == "__main__":
    unittest.main()
