"""Types of arguments for argparse, and checks of what they name."""

import argparse
import os
import shutil


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from 1, found '{text}'")
    return int(text)


def some_of(names):
    """Returns the type of a list of these names, separated by commas."""
    def parse(text):
        chosen = text.split(",")
        for one in chosen:
            if one not in names:
                raise argparse.ArgumentTypeError(
                    f"expected some of {', '.join(names)}, found '{one}'")
        return chosen
    return parse


def check_folder(parser, folder):
    if not os.path.isdir(folder):
        parser.error(f"--folder: expected a folder, found '{folder}'")


def check_programs(parser, args, options):
    """Ends the program unless each of these options names a program."""
    for option in options:
        program = getattr(args, option)
        if not shutil.which(program):
            parser.error(f"--{option}: expected a program, found '{program}'")
