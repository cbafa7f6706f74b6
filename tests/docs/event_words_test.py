"""Tests of the check of event words: what it reads, and its reports."""

import unittest

import event_words

HEADER = """
inline constexpr std::array<EventWord<EventKind>, 2> kEventKinds = {{
    {EventKind::kStep, "step"},
    {EventKind::kResultAcknowledged,
     "result_acknowledged"},
}};
inline constexpr std::array<EventWord<Reason>, 2> kEventReasons = {{
    {Reason::kNone, ""},
    {Reason::kClosed, "closed"},
}};
"""


class EventWords(unittest.TestCase):
    def test_reads_each_array_of_the_vocabulary(self):
        self.assertEqual({"kEventKinds": ["step", "result_acknowledged"],
                          "kEventReasons": ["closed"]},
                         event_words.vocabulary_of(HEADER))

    def test_names_each_difference(self):
        for found, wrong in (
                (["a", "b"], []),
                (["a"], ["x: lacks b"]),
                (["a", "b", "c"], ["x: has c, which the vocabulary lacks"]),
                (["b", "a"], [f"x: expected the order of "
                              f"{event_words.VOCABULARY}, and each word once"]),
                (["a", "b", "b"], [f"x: expected the order of "
                                   f"{event_words.VOCABULARY}, and each word "
                                   "once"])):
            self.assertEqual(wrong, event_words.compare("x", ["a", "b"], found))


if __name__ == "__main__":
    unittest.main()
