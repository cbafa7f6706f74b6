#!/usr/bin/env python3
"""The side-car evaluator says of each epoch what training said of it."""

import json
import os
import re
import signal
import subprocess
import sys

from observed_training import (DEADLINE_S, Cases, expect, expect_equal, parser)

EPOCHS = 4
JOB = ("--preset", "tiny", "--replicas", "2", "--epochs", str(EPOCHS))
EVALUATION = re.compile(
    r"(?:epoch )?(\d+)(?:/\d+| epochs? completed)?  step (\d+)  .*"
    r"val_loss (\S+)  val_accuracy (\S+)")
CLUSTER = json.dumps({"cluster": {"worker": ["127.0.0.1:1", "127.0.0.1:2"]},
                      "task": {"type": "evaluator", "index": 0}})


def evaluations(text):
    """Returns (epoch, step, loss, accuracy) of each line that has them."""
    return [match.groups() for match in EVALUATION.finditer(text)]


def start(run, *arguments, **variables):
    return subprocess.Popen(
        [run.program, *map(str, arguments)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **variables})


def ended(process, exit_code):
    try:
        out, err = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    expect_equal(f"exit code ({err!r})", process.returncode, exit_code)
    return out


def train(run):
    run.start(*JOB, "--workers", 2)
    expect_equal("exit code of training", run.wait(), 0)
    epochs = evaluations(run.errors())
    expect_equal("epochs of training", len(epochs), EPOCHS)
    return epochs


def parallel(run):
    command = ("evaluate", "--ckpt", run.store, "--every", "1s", "--epochs",
               EPOCHS)
    by_hand = start(run, *command)
    of_cluster = start(run, "train", *JOB, "--ckpt", run.store,
                       "--tensorboard", run.directory / "curves",
                       TF_CONFIG=CLUSTER)
    epochs = train(run)
    for evaluator in (by_hand, of_cluster):
        expect_equal("evaluations", evaluations(ended(evaluator, 0)), epochs)
    expect((run.directory / "curves" / "evaluation").is_dir(), "no curves")


def once(run):
    epochs = train(run)
    output = ended(start(run, "evaluate", "--ckpt", run.store, "--once"), 0)
    expect_equal("evaluations", evaluations(output), epochs)
    ended(start(run, "evaluate", "--ckpt", run.directory / "none", "--once"),
          7)
    ended(start(run, "train", *JOB, "--seed", 9, "--ckpt", run.store,
                TF_CONFIG=CLUSTER), 8)


def stopped(run):
    epochs = train(run)
    evaluator = start(run, "evaluate", "--ckpt", run.store)
    lines = [evaluator.stdout.readline() for _ in epochs]
    evaluator.send_signal(signal.SIGTERM)
    ended(evaluator, 143)
    expect_equal("evaluations", evaluations("".join(lines)), epochs)


def missing_start(run):
    evaluator = start(run, "train", *JOB, "--ckpt", run.store, "--init-from",
                      run.directory / "none", TF_CONFIG=CLUSTER)
    _, errors = evaluator.communicate(timeout=DEADLINE_S)
    expect_equal("exit code", evaluator.returncode, 2)
    expect_equal("error", errors,
                 f"gauntlet train: --init-from: {run.directory / 'none'}: "
                 "expected a checkpoint, an --export folder or a weights file, "
                 "found nothing; gauntlet train writes one with --ckpt or "
                 "--export\n")


def main():
    cases = Cases(parser(__doc__, 1, "unused").parse_args())
    cases.run_all([("parallel", parallel), ("once", once),
                   ("stopped", stopped),
                   ("missing-start", missing_start)])
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
