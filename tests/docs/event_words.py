#!/usr/bin/env python3
"""Compares the words of events in docs/schemas with the event vocabulary.

engine/world/event_vocabulary.h lists the kinds, the reasons and the phases. A
schema lists the same words in the same order.
"""

import json
import re
import sys

import outcome
from document import ROOT

VOCABULARY = "engine/world/event_vocabulary.h"
SCHEMAS = "docs/schemas"

# For each list of words: its schema, the keys from the schema's root to the
# list, the array of the vocabulary, and words that only this list has.
LISTS = (
    ("event-line", "$defs event properties kind", "kEventKinds", []),
    ("event-line", "$defs event properties phase", "kEventPhases", []),
    ("event-line", "$defs event properties reason", "kEventReasons", []),
    ("record-line", "$defs event properties kind", "kEventKinds", []),
    ("record-line", "$defs event properties phase", "kEventPhases", []),
    ("record-line", "$defs event properties reason", "kEventReasons", []),
    ("record-line", "$defs golden properties at", "kEventKinds", []),
    ("record-line", "$defs golden properties phase", "kEventPhases", []),
    ("timeline", "properties rows items properties cells items properties kind",
     "kEventKinds", ["routine"]),
)

_ARRAY = re.compile(r"> (kEvent\w+) = \{\{(.*?)\}\};", re.DOTALL)
_WORD = re.compile(r'\{\w+::\w+,\s*"(\w*)"\}')


def vocabulary_of(header):
    """Returns {ARRAY: [WORD]}, without the empty word: a field that has it is
    missing."""
    return {name: [word for word in _WORD.findall(body) if word]
            for name, body in _ARRAY.findall(header)}


def compare(place, expected, found):
    """Returns the differences between two lists, as texts."""
    wrong = [f"{place}: lacks {word}" for word in expected if word not in found]
    wrong += [f"{place}: has {word}, which the vocabulary lacks"
              for word in found if word not in expected]
    if not wrong and found != expected:
        wrong.append(f"{place}: expected the order of {VOCABULARY}, and each "
                     "word once")
    return wrong


def check(root):
    """Returns all differences, one per line, and what was checked."""
    vocabulary = vocabulary_of((root / VOCABULARY).read_text())
    wrong, words = [], 0
    for schema, path, array, own in LISTS:
        name = f"{SCHEMAS}/{schema}.schema.json"
        place = json.loads((root / name).read_text())
        for key in path.split():
            place = place[key]
        found = [word for word in place["enum"] if word not in own]
        words += len(found)
        wrong += compare(f"{name}: {path}", vocabulary[array], found)
    return wrong, f"{len(LISTS)} lists with {words} words checked"


if __name__ == "__main__":
    sys.exit(outcome.report(*check(ROOT)))
