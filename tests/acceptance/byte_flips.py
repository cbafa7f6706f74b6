#!/usr/bin/env python3
"""Flips one byte of the newest checkpoint and resumes.

The damage must be named by its file, the run must go on from the checkpoint
before, and must come to the digest of a clean run.
"""

import collections
import shutil
import sys

from observed_training import (Cases, STOPPED, expect, expect_equal, generator,
                               parser)

JOB = ["--preset", "tiny", "--replicas", 2, "--workers", 2, "--epochs", 2,
       "--save-every", 5]
STOP_AT_STEP = 13


def flip_random_byte(run, options, choice):
    """Flips one byte of the newest checkpoint. Returns the file and a
    description."""
    newest = run.checkpoints()[-1]
    files = sorted(entry for entry in newest.iterdir()
                   if options.only in (None, entry.name))
    expect(files, f"{newest.name} has no {options.only}")
    sizes = [file.stat().st_size for file in files]
    file = choice.choices(files, weights=sizes)[0]
    content = bytearray(file.read_bytes())
    offset = choice.randrange(len(content))
    mask = choice.randrange(1, 256)
    content[offset] ^= mask
    file.write_bytes(content)
    return file, (f"{newest.name}/{file.name} byte {offset} of {len(content)} "
                  f"xor 0x{mask:02x}")


def line_of(text, name):
    return next((line for line in text.splitlines()
                 if line.startswith(name + " ")), "")


class Flips:
    def __init__(self, options):
        self.options = options
        self.clean = {}
        self.original = None  # checkpoint directory of the stopped run
        self.older_step = None
        self.hit = collections.Counter()  # number of flips, by file
        self.named_by_train = 0

    def train_undisturbed(self, run):
        self.clean = run.train_to_end(*JOB)

    def stop_half_way(self, run):
        run.start(*JOB, "--stop-at-step", STOP_AT_STEP)
        expect_equal("exit code", run.wait(), STOPPED)
        run.expect_clean_store()
        found = run.checkpoints()
        expect(len(found) >= 2, f"expected 2 checkpoints, found {found}")
        self.older_step = int(found[-2].name.split("-")[1])
        self.original = run.directory.with_name("original")
        shutil.copytree(run.store, self.original)

    def flip(self, run, index):
        shutil.copytree(self.original, run.store)
        file, flip = flip_random_byte(run, self.options,
                                      generator(self.options, index))
        (run.directory / "flip").write_text(flip + "\n")
        code, text = run.verify()
        expect(code not in (0, 2), f"{flip}: ckpt verify exits with {code}")
        expect(file.name in line_of(text, file.parent.name),
               f"{flip}: ckpt verify does not name the file: {text}")
        outcome = run.train_to_end(*JOB)
        expect_equal(f"{flip}: resumed_from", outcome["resumed_from"],
                     self.older_step)
        expect_equal(f"{flip}: digest", outcome["digest"],
                     self.clean["digest"])
        run.expect_clean_store()
        self.hit[file.name] += 1
        self.named_by_train += file.name in run.errors()
        return flip


def main():
    arguments = parser(__doc__, 500, "flips")
    arguments.add_argument("--only", metavar="FILE",
                           help="flip in files of this name alone")
    options = arguments.parse_args()
    cases = Cases(options)
    flips = Flips(options)
    cases.run("clean", flips.train_undisturbed)
    cases.run("stopped", flips.stop_half_way)
    if cases.failed == 0:
        cases.run_all(
            (f"flip-{index:04}",
             lambda run, index=index: flips.flip(run, index))
            for index in range(1, options.count + 1))
        print("flips: " + ", ".join(
            f"{name} {count}" for name, count in sorted(flips.hit.items())))
        print(f"named by train itself: {flips.named_by_train}")
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
