#!/usr/bin/env python3
"""A state of more than 4 GiB is saved, restored and kept within its memory.

One of its tensors has more than 2^31 bytes, and its file more than 2^32. Needs
12 GB of memory and 10 GB of disk, and takes up to two minutes.
"""

import json
import os
import shutil
import subprocess
import sys
import threading

from observed_training import DEADLINE_S, expect, expect_equal, run_checks

MEMORY_BYTES = 12e9
DISK_BYTES = 10e9
HIDDEN = (8200, 65536)
FEATURES, CLASSES = 784, 10
JOB = {
    "preset": "mlp",
    "job": {
        "layers": [{"kind": "flatten"},
                   {"kind": "dense", "units": HIDDEN[0]}, {"kind": "relu"},
                   {"kind": "dense", "units": HIDDEN[1]}, {"kind": "relu"},
                   {"kind": "dense", "units": CLASSES}],
        "batch": 8,
        "optimizer": {"name": "sgd", "lr": 0.001, "momentum": 0.9},
        "data": {"samples": 512, "validation_samples": 8}}}
PARAMETERS = ((FEATURES + 1) * HIDDEN[0] + (HIDDEN[0] + 1) * HIDDEN[1]
              + (HIDDEN[1] + 1) * CLASSES)
GRADIENT_BYTES = 4 * PARAMETERS
STATE_BYTES = 2 * GRADIENT_BYTES  # parameters and momentum
# Memory besides the state: the program, a batch and its activations.
BESIDE_BYTES = 300e6


def train(run, steps, *arguments):
    """Returns the result, and the peak memory of the largest process in
    bytes."""
    process = subprocess.Popen(
        [run.program, "train", "--job", "job.yaml", "--epochs", "1", "--steps",
         str(steps), "--no-progress", "--json", *arguments],
        cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    timer = threading.Timer(DEADLINE_S, process.kill)
    timer.start()
    with process.stdout:
        output = process.stdout.read()
    timer.cancel()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    expect_equal(f"exit code of {arguments}", process.returncode, 0)
    return json.loads(output), usage.ru_maxrss * 1024


def expect_memory(what, found, bound):
    expect(found <= bound, f"{what}: expected at most {bound / 1e9:.2f} GB, "
                           f"found {found / 1e9:.2f} GB")


def comes_back_within_its_memory(run):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    expect(memory >= MEMORY_BYTES, "this machine has too little memory")
    expect(shutil.disk_usage(run.directory).free >= DISK_BYTES,
           "this disk has too little room")
    (run.directory / "job.yaml").write_text(json.dumps(JOB))
    undisturbed, peak = train(run, 4)
    expect_memory("without checkpoints", peak,
                  STATE_BYTES + GRADIENT_BYTES + BESIDE_BYTES)
    saves = ("--ckpt", "ckpt", "--save-every", "2", "--keep-last", "1")
    _, peak = train(run, 2, *saves)
    expect_memory("with a save", peak,
                  STATE_BYTES + GRADIENT_BYTES + BESIDE_BYTES)
    largest = max(path.stat().st_size
                  for path in run.directory.rglob("*.safetensors"))
    expect(largest > 1 << 32, f"the largest file has {largest} bytes")
    resumed, peak = train(run, 4, "--save-every", "never", *saves[:2])
    expect_memory("at the restore", peak,
                  STATE_BYTES + GRADIENT_BYTES + BESIDE_BYTES)
    expect_equal("step that it resumed from", resumed["resumed_from"], 2)
    expect_equal("digest", resumed["digest"], undisturbed["digest"])
    subprocess.run([run.program, "ckpt", "verify", "ckpt"], cwd=run.directory,
                   stdout=subprocess.DEVNULL, timeout=DEADLINE_S, check=True)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__.splitlines()[0],
                        (comes_back_within_its_memory,)))
