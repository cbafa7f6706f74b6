#!/usr/bin/env python3
"""A job file says what options say, and options come before it; a run may begin
with what another one left: its export or one of its checkpoints."""

import sys

from observed_training import (STOPPED, Cases, expect, expect_equal, parser)

JOB = """preset: tiny
seed: 5
job: {batch: 8, replicas: 2, epochs: 2, optimizer: {lr: 0.01}, data: {steps_per_epoch: 9}}
cluster: {workers: 2}
checkpoint: {every: {steps: 4}, keep: 2}
"""
OPTIONS = ("--preset", "tiny", "--seed", 5, "--batch", 8,
           "--replicas", 2, "--lr", 0.01, "--steps-per-epoch", 9)
BAD_INPUT = 2
OTHER_JOB = 8


def job_file(run, text=JOB):
    path = run.directory / "job.yaml"
    path.write_text(text)
    return path


def refused(run, code, message, *arguments):
    run.start(*arguments)
    expect_equal(f"exit code of {arguments}", run.wait(), code)
    expect(message in run.errors(),
           f"expected {message!r} in {run.errors()!r}")


def says_the_same(run):
    path = job_file(run)
    from_file = run.train_to_end("--job", path)
    expect(len(run.checkpoints()) == 2, f"kept: {run.checkpoints()}")
    # The same job: options continue what the job file began.
    longer = run.train_to_end(*OPTIONS, "--epochs", 3)
    expect_equal("resumed from", longer["resumed_from"], from_file["steps"])
    run.stored = False
    options = run.train_to_end(*OPTIONS, "--epochs", 2)
    expect_equal("digest", options["digest"], from_file["digest"])
    refused(run, BAD_INPUT, "checkpoint requires --ckpt DIR",
            "--job", path)


def options_come_first(run):
    path = job_file(run)
    from_file = run.train_to_end("--job", path, "--epochs", 1, "--workers", 1,
                                 "--batch", 16, "--seed", 9)
    expect_equal("epochs", from_file["epochs"], 1)
    run.stored = False
    same = run.train_to_end("--epochs", 1, "--batch", 16, "--seed", 9,
                            *OPTIONS[6:])
    expect_equal("digest", same["digest"], from_file["digest"])


def mistakes_have_a_place(run):
    for text, message in (
            ("preset: tiny\njob:\n  layer: []\n", "job.yaml:3:3: unknown key"),
            ("preset: tiny\njob: {batch: 0}\n", "job.yaml:2:14: expected"),
            ("preset: tiny\nfaults: []\n", "job.yaml:2:1: 'faults' is of"),
            ("preset: [tiny", "job.yaml:")):
        refused(run, BAD_INPUT, message, "--job", job_file(run, text))


def begins_with_anothers_model(run):
    model = run.directory / "model"
    run.train_to_end(*OPTIONS, "--workers", 2, "--epochs", 2, "--export", model)
    checkpoint = run.checkpoints()[-1]
    run.store = run.directory / "further"
    further = ("--preset", "tiny", "--batch", 8, "--epochs", 2, "--init-from")
    run.start(*further, model, "--stop-at-step", 5)
    expect_equal("exit code", run.wait(), STOPPED)
    resumed = run.train_to_end(*further, model)
    expect_equal("resumed from", resumed["resumed_from"], 5)
    refused(run, OTHER_JOB, "start.weights", *further[:-1])
    run.stored = False
    # The same weights, read from another place.
    uninterrupted = run.train_to_end(*further, checkpoint)
    expect_equal("digest", resumed["digest"], uninterrupted["digest"])
    refused(run, BAD_INPUT, "expected a checkpoint, an export or a file",
            *further, run.directory)
    refused(run, BAD_INPUT, "dense0/kernel", "--preset", "mlp",
            "--init-from", model)
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    refused(run, BAD_INPUT, "model.safetensors", *further, model)


def main():
    cases = Cases(parser(__doc__, 1, "unused").parse_args())
    cases.run_all([("says-the-same", says_the_same),
                   ("options-come-first", options_come_first),
                   ("mistakes", mistakes_have_a_place),
                   ("begins-with", begins_with_anothers_model)])
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
