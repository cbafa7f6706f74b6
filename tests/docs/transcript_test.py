"""Tests of which outputs the documents' test accepts as equal, and which
not."""

import pathlib
import tempfile
import unittest

import document
import transcript


class Matches(unittest.TestCase):
    def test_times_ids_and_rates_do_not_count(self):
        for shown, printed in (
                ("12 cases in 1.4s", "12 cases in 12.5s"),
                ("took 18ms, then", "took 0.2 s, then"),
                ("run 20261121T024211-26019", "run 20270101T000000-7"),
                ("303 samples/s", "1,234.5 samples/s"),
                ("eta 0:03", "eta 12:41"),
                ("a   0.2s  b", "a 102ms b")):
            self.assertTrue(transcript.matches([shown], [printed]), shown)

    def test_all_else_counts(self):
        for shown, printed in (
                ("12 cases in 1.4s", "13 cases in 1.4s"),
                ("1 fault, 1 restart", "1 fault, 2 restarts"),
                ("step 5", "step 6"), ("PASS", "FAIL"), ("", "more"),
                ("2 steps", "3 steps"), ("state 4s9a", "state 5s9a")):
            self.assertFalse(transcript.matches([shown], [printed]), shown)

    def test_a_line_more_or_less_counts(self):
        self.assertFalse(transcript.matches(["a", "b"], ["a"]))
        self.assertFalse(transcript.matches(["a"], ["a", "b"]))

    def test_progress_does_not_count(self):
        self.assertTrue(transcript.matches(
            ["a", "epoch 1/3  step 12  loss 2"],
            ["a", "epoch 1/3  step 1/36  2%  loss 2.25", "  10s  128 cases",
             "gauntlet explore: 7 s, still at the base",
             "epoch 1/3  step 12  loss 2"]))

    def test_an_ellipsis_stands_for_lines_or_a_part_of_one(self):
        self.assertTrue(transcript.matches(["a", "…", "d"], list("abcd")))
        self.assertTrue(transcript.matches(["a", "…"], ["a"]))
        self.assertTrue(transcript.matches(["a … c"], ["a b b c"]))
        self.assertFalse(transcript.matches(["a … c"], ["a b", "c"]))
        self.assertFalse(transcript.matches(["…", "d"], ["d", "e"]))


class Blocks(unittest.TestCase):
    def blocks(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "one.md"
            path.write_text(text)
            return document.read_blocks(path)

    def test_a_marker_belongs_to_the_next_block_alone(self):
        one, two = self.blocks("<!-- not run: long -->\n\n```console\n$ a\n```\n"
                               "```console\n$ b\n```\n")
        self.assertEqual(("not run", "long"), (one.marker, one.value))
        self.assertEqual("", two.marker)

    def test_text_parts_a_marker_from_a_block(self):
        block, = self.blocks("<!-- file: a.yaml -->\ntext\n```yaml\na: 1\n```\n")
        self.assertEqual("", block.marker)

    def test_commands_have_their_output(self):
        block, = self.blocks("```console\n$ a \\\n  b\nout\n$ c\n```\n")
        commands = document.commands_of(block)
        self.assertEqual([("a \\\n  b", ["out"]), ("c", [])],
                         [(one.text, one.output) for one in commands])
        self.assertEqual([2, 5], [one.line for one in commands])

    def test_output_without_a_command_is_malformed(self):
        block, = self.blocks("```console\nout\n```\n")
        with self.assertRaises(document.Malformed):
            document.commands_of(block)

    def test_a_block_without_an_end_is_malformed(self):
        with self.assertRaises(document.Malformed):
            self.blocks("```console\n$ a\n")


if __name__ == "__main__":
    unittest.main()
