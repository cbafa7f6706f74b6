"""Tests compare_peers.py with a stand-in that sleeps in place of a
framework."""

import argparse
import contextlib
import io
import json
import pathlib
import statistics
import sys
import tempfile
import unittest
from unittest import mock

import compare_peers

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = None  # set below
KERNELS = None


class SectionTest(unittest.TestCase):
    def test_ratio_is_the_median_of_the_rounds(self):
        section = compare_peers.Section("step")
        for mine, theirs in (1.0, 2.0), (3.0, 2.0), (2.0, 2.0):
            section.add("Gauntlet", mine)
            section.add("peer", theirs)
        self.assertEqual(section.ratio("peer", "Gauntlet"), 1.0)
        self.assertEqual(section.to_json()["ratios"],
                         {"Gauntlet": {"peer": 1.0}})

    def test_no_ratio_to_a_time_of_nothing(self):
        section = compare_peers.Section("save")
        section.add("Gauntlet", 1.0)
        section.add("peer", 0.0)
        self.assertIsNone(section.ratio("peer", "Gauntlet"))
        lines = {line.split()[0]: line for line in section.lines()}
        self.assertTrue(lines["peer"].endswith(" -"), lines)


class ComparisonTest(unittest.TestCase):
    def compare(self, script, *arguments):
        """Returns exit code, output, errors and figures of a small
        comparison."""
        output, errors = io.StringIO(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(compare_peers.PEER_SCRIPTS,
                                {"stand-in": script}, clear=True), \
                mock.patch.dict(compare_peers.SAVE_MODES,
                                {"stand-in": ("plain",)}), \
                mock.patch.dict(compare_peers.PRODUCT_PEERS,
                                {"stand-in": script}, clear=True), \
                mock.patch.object(compare_peers, "PRODUCT_SECONDS", 0.001), \
                mock.patch.object(sys, "argv", [
                    "compare_peers.py", "--program", PROGRAM, "--kernels",
                    KERNELS, "--folder", folder, "--out",
                    f"{folder}/out.json", "--rounds", "1",
                    "--save-rounds", "1", "--saves", "1", "--every", "2",
                    "--steps", "5", "--state", "1", "--threads", "1",
                    *arguments]), \
                contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(errors):
            try:
                code = compare_peers.main()
                figures = json.loads(
                    pathlib.Path(f"{folder}/out.json").read_text())
            except SystemExit as end:
                code, figures = end.code, None
        return code, output.getvalue(), errors.getvalue(), figures

    def test_measures_steps_and_saves(self):
        code, output, errors, figures = self.compare(
            "stand_in_peer.py", "--only", "steps,saves")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("step of mlp, batch 32, 1 thread\n", output)
        self.assertEqual(figures["versions"]["stand-in"], "1")
        sections = {one["title"]: one for one in figures["sections"]}
        step = sections["step of dnn, batch 50, 1 thread"]["seconds"]
        # The stand-in's step sleeps for 2 ms, its save for 20 and a load for 4.
        self.assertGreaterEqual(step["stand-in"][0], 0.002)
        stall = sections["stall of a save that training waits for, 1 MB, every "
                         "2 steps"]["seconds"]
        self.assertGreaterEqual(stall["plain"][0], 0.02)
        self.assertIn("Gauntlet sync", stall)
        background = sections["stall of a save in the background, 1 MB, every 2 "
                              "steps"]["seconds"]
        self.assertEqual(sorted(background),
                         ["Gauntlet async", "Gauntlet zero-copy"])
        restore = sections["restore, 1 MB"]["seconds"]
        self.assertGreaterEqual(restore["plain"][0], 0.004)
        self.assertEqual(len(restore["Gauntlet"]), 1)

    def test_measures_products_beside_a_peer(self):
        code, output, errors, figures = self.compare(
            "stand_in_peer.py", "--only", "products", "--shapes",
            "32x10x512,512x10x32", "--rounds", "3")
        self.assertEqual((code, errors), (0, ""))
        rows = {line.strip()[:13].strip(): line.split()
                for line in output.splitlines() if line.startswith("  ")}
        self.assertEqual(list(rows), ["Gauntlet µs", "32x10x512 NN",
                                      "512x10x32 TN"])
        self.assertEqual(figures["versions"]["stand-in"], "1")
        for section in figures["sections"]:
            ours = section["seconds"]["Gauntlet"]
            self.assertEqual(section["seconds"]["stand-in"], [0.001] * 3)
            self.assertGreater(min(ours), 0)
            self.assertAlmostEqual(section["ratios"]["Gauntlet"]["stand-in"],
                                   statistics.median(ours) / 0.001)

    def test_kernels_that_are_not_measured_are_reported(self):
        for arguments, message in (
                (("--kernels", "false"), "kernels_bench, exit code 1"),
                (("--kernels", "true"), "no product matches"),
                (("--shapes", "1x1x1"), "no product matches")):
            code, output, errors, figures = self.compare(
                "stand_in_peer.py", "--only", "products", *arguments)
            self.assertEqual((code, output.startswith("versions")), (1, True))
            self.assertIn(message, errors)
            self.assertEqual(len(figures["failures"]), 1)

    def test_two_workers_need_no_peer(self):
        code, output, errors, figures = self.compare(
            "stand_in_peer.py", "--only", "workers")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn("Gauntlet, 2 workers", output)
        self.assertEqual(len(figures["sections"]), 2)

    def test_a_peer_that_does_not_start_is_named_and_left_out(self):
        code, output, errors, figures = self.compare(
            "no_such_peer.py", "--only", "steps")
        self.assertEqual(code, 1)
        self.assertIn("stand-in ended: ", errors)
        self.assertIn("Gauntlet", output)
        self.assertEqual(len(figures["failures"]), 1)

    def test_bad_calls_are_refused(self):
        for arguments, message in (
                (("--peers", "mxnet"), "expected some of stand-in, found 'mxnet'"),
                (("--rounds", "0"), "expected a whole number from 1, found '0'"),
                (("--kernels", "/no/such"), "--kernels: expected a program,"),
                (("--folder", "/no/such"), "--folder: expected a folder, found")):
            code, _, errors, _ = self.compare("stand_in_peer.py", *arguments)
            self.assertEqual(code, 2)
            self.assertIn(message, errors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--kernels", required=True)
    args, rest = parser.parse_known_args()
    PROGRAM, KERNELS = args.program, args.kernels
    unittest.main(argv=sys.argv[:1] + rest)
