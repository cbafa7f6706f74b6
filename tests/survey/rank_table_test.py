"""rank_table.py with a stand-in for the crash test."""

import contextlib
import io
import sys
import unittest
from unittest import mock

import rank_table


def result(*verdicts, complete=True):
    trials = [{"id": "kill-1", "fault": "kill", "operation": 1,
               "point": "mkdir of torchrun", "verdict": "recovered"}]
    trials += [{"id": f"rank-{i + 1}", "fault": "rank", "rank": i % 2,
               "operation": i + 1, "point": "write", "verdict": verdict}
              for i, verdict in enumerate(verdicts)]
    return {"trials": list(reversed(trials)), "no_verdict": "",
            "complete": complete}


class RankTableTest(unittest.TestCase):
    def run_with(self, *results):
        """Returns exit code and output of a run whose repeats have these
        results, in order."""
        output = io.StringIO()
        with mock.patch.object(rank_table, "crash_test",
                               mock.Mock(side_effect=results)), \
                mock.patch.object(rank_table, "TORCHRUN", rank_table.HERE), \
                mock.patch.object(sys, "argv", [
                    "rank_table.py", "--program", "p", "--repeats",
                    str(len(results))]), \
                contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(output):
            return rank_table.main(), output.getvalue()

    def test_equal_tables_are_one(self):
        code, output = self.run_with(result("recovered", "fails"),
                                     result("recovered", "fails"))
        self.assertEqual(code, 0, output)
        self.assertIn("2 of 2 times:\n  rank 0  recovered  write\n  rank 1  fails", output)

    def test_another_verdict_is_another_table(self):
        code, output = self.run_with(result("recovered", "fails"),
                                     result("recovered", "recovered"))
        self.assertEqual(code, 1)
        self.assertIn("2 different tables", output)

    def test_table_that_is_not_complete_counts_for_nothing(self):
        code, output = self.run_with(result("recovered", complete=False))
        self.assertEqual(code, 1)
        self.assertIn("no complete table", output)

    def test_no_crash_points_and_too_many_are_refused(self):
        for count in (0, 13):
            code, output = self.run_with(result(*["recovered"] * count))
            self.assertEqual(code, 1)
            self.assertIn("expected 1 to 12 crash points of ranks, found "
                          f"{count}", output)


if __name__ == "__main__":
    unittest.main()
