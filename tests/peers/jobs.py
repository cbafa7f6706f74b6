"""Jobs that Gauntlet and its peers train.

A job is a dictionary: batch, hidden (units of the dense layers), dropout (after
each of them), filters (of a 3 x 3 convolution before them, or 0) and optimizer
(adam or sgd). Samples have 784 features and one of 10 labels.
"""

import math

FEATURES = 784
CLASSES = 10
ROWS = 20480  # number of samples that a peer draws its batches from
LEARNING_RATE = 0.001
_BYTES_PER_PARAMETER = 12  # with both moments of Adam

# The layers of `gauntlet list presets`. The convolution is trained by plain SGD.
STEP_JOBS = {
    "mlp": {"batch": 32, "hidden": [512], "dropout": 0.2, "filters": 0,
            "optimizer": "adam"},
    "dnn": {"batch": 50, "hidden": [256, 32], "dropout": 0.2, "filters": 0,
            "optimizer": "adam"},
    "cnn": {"batch": 64, "hidden": [128], "dropout": 0.0, "filters": 32,
            "optimizer": "sgd"},
}


def state_job(megabytes):
    """Returns a job with two equal hidden layers, whose state under Adam has
    this size."""
    parameters = megabytes * 1e6 / _BYTES_PER_PARAMETER
    half = (FEATURES + CLASSES + 2) / 2
    width = round(math.sqrt(half * half + parameters) - half)
    return {"batch": 32 if megabytes < 500 else 8, "hidden": [width, width],
            "dropout": 0.0, "filters": 0, "optimizer": "adam"}


def with_batch(job, batch):
    return {**job, "batch": batch}


def gauntlet_job(job):
    """Returns the job as a job file of `gauntlet train --job`."""
    layers = []
    if job["filters"]:
        layers += [{"kind": "conv2d", "filters": job["filters"], "kernel": 3},
                   {"kind": "relu"}]
    layers.append({"kind": "flatten"})
    for units in job["hidden"]:
        layers += [{"kind": "dense", "units": units}, {"kind": "relu"}]
        if job["dropout"]:
            layers.append({"kind": "dropout", "rate": job["dropout"]})
    layers.append({"kind": "dense", "units": CLASSES})
    return {"preset": "mlp",
            "job": {"layers": layers, "batch": job["batch"],
                    "optimizer": {"name": job["optimizer"],
                                  "lr": LEARNING_RATE},
                    "data": {"samples": ROWS, "validation_samples": 32}}}
