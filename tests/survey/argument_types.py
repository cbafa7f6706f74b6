"""Types of arguments for argparse."""

import argparse


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 1, found '{text}'")
    return int(text)
