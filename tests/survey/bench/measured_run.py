"""The run that all trainers here share: its size, the times that it prints, and
the digests of its newest checkpoint.

An autoencoder of 8.4 million parameters; with the two moments of Adam, a
checkpoint has 100 MB.
"""

import argparse
import hashlib
import json
import pathlib
import time

STEPS = 13
EVERY = 3  # steps between saves
WIDTHS = (1024, 2048, 2048, 1024)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--batch", type=int, default=256)
    return parser.parse_args()


def print_end(step):
    """Called after each step and its save. The driver measures from the end of
    the first step, which compiles, to the end of the last."""
    print(f"step {step} ended at {time.monotonic():.6f}", flush=True)


def write_digests(out, tensors):
    """`tensors`: NumPy arrays by name, as loaded."""
    digests = {name: hashlib.sha256(tensor.tobytes()).hexdigest()
               for name, tensor in sorted(tensors.items())}
    (out / "digests.json").write_text(json.dumps(digests, indent=1) + "\n")
