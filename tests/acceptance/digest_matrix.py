#!/usr/bin/env python3
"""One digest for a job, however many workers, threads and vector lanes.

And `--math library`, which promises nothing, has to differ somewhere: a matrix
that cannot see a difference proves nothing.
"""

import itertools
import pathlib
import sys

from observed_training import Cases, expect, expect_equal, generator, parser

STEPS = {"tiny": 14, "mlp": 8, "cnn-short": 2}
# Batch size per replica where the preset's own would take long.
BATCH = {"cnn-short": 4}
# Maximum number of cells tried for a preset.
MOST_CELLS = {"cnn-short": 3}
NEEDED_FLAGS = {"scalar": {"fma"},
                "avx2": {"avx2", "fma"},
                "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}


def flags_of_this_machine():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.partition(":")[2].split())
    return set()


def instruction_sets():
    flags = flags_of_this_machine()
    for isa, needed in NEEDED_FLAGS.items():
        if isa == "scalar" or needed <= flags:
            yield isa
        else:
            print(f"skipped {isa}: this machine lacks "
                  f"{', '.join(sorted(needed - flags))}")


def train(run, preset, math, cell):
    workers, threads, isa = cell
    run.stored = False  # not allowed with --math library
    outcome = run.train_to_end(
        "--preset", preset, "--replicas", 4, "--workers", workers,
        "--threads", threads, "--isa", isa, "--math", math,
        "--steps", STEPS[preset],
        *(("--batch", BATCH[preset]) if preset in BATCH else ()))
    expect_equal("steps", outcome["steps"], STEPS[preset])
    return outcome["digest"]


class Matrix:
    def __init__(self, options, cases, isas):
        self.cases = cases
        cells = list(itertools.product((1, 2, 3, 4), (1, 2), isas))
        if 0 < options.count < len(cells):
            cells = generator(options).sample(cells, options.count)
        self.cells = cells
        self.random = generator(options)

    def _compare(self, preset):
        reference = {}
        cells = self.cells
        if len(cells) > MOST_CELLS.get(preset, len(cells)):
            cells = self.random.sample(cells, MOST_CELLS[preset])

        def first(run):
            reference["digest"] = train(run, preset, "canonical",
                                        (1, 1, "scalar"))
            return reference["digest"]

        def cell_check(run, cell):
            digest = train(run, preset, "canonical", cell)
            expect_equal(f"digest of {preset} with (workers, threads, isa) "
                         f"{cell}", digest, reference.get("digest"))

        self.cases.run(f"{preset}-reference", first)
        self.cases.run_all(
            ("-".join(map(str, (preset, *cell))),
             lambda run, cell=cell: cell_check(run, cell))
            for cell in cells)
        print(f"{preset}: {len(cells)} cells, digest "
              f"{reference.get('digest')}")
        return reference.get("digest")

    def check(self):
        self._compare("tiny")
        self._compare("cnn-short")
        canonical = self._compare("mlp")

        def fast_differs(run):
            found = {train(run, "mlp", "library", cell) for cell in self.cells}
            expect(found - {canonical},
                   f"--math library gives {canonical} in all "
                   f"{len(self.cells)} cells")
            return f"{len(found)} digests with --math library"

        self.cases.run("mlp-fast", fast_differs)


def main():
    arguments = parser(__doc__, 0, "cells of the matrix; 0: all of them")
    options = arguments.parse_args()
    cases = Cases(options)
    Matrix(options, cases, list(instruction_sets())).check()
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
