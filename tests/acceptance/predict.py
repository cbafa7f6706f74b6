#!/usr/bin/env python3
"""An exported model says the same here as in the program that trained it.

Only NumPy and the standard library: the folder is read as anyone would who has
the description and a specification of safetensors.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys

from observed_training import (DEADLINE_S, Cases, expect, expect_equal, parser)

try:
    import numpy as np
except ImportError:
    np = None

PRESETS = ("linear", "mlp", "dnn", "cnn-short")
# No preset has this activation.
GELU_JOB = """preset: cnn-short
job:
  layers:
    - {kind: conv2d, filters: 4, kernel: 5}
    - {kind: gelu}
    - {kind: flatten}
    - {kind: dense, units: 32}
    - {kind: gelu}
    - {kind: dense, units: 10}
"""
SIDE = 28  # width and height of the presets' images
TRAIN_ROWS = 2048
VALIDATION_ROWS = 1000
CIFAR_ROWS = 64  # images in each of the six files


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        expect_equal(f"dtype of {name}", entry["dtype"], "F32")
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[8 + length + begin:8 + length + end], "<f4")
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


class ExportedModel:
    def __init__(self, directory):
        directory = pathlib.Path(directory)
        self.description = json.loads((directory / "model.json").read_text())
        expect_equal("schema", self.description["schema"], "gauntlet/model/v1")
        self.tensors = read_safetensors(
            directory / self.description["weights"])
        named = [parameter["name"] for layer in self.description["layers"]
                 for parameter in layer.get("parameters", [])]
        expect_equal("tensors", sorted(self.tensors), sorted(named))

    def _apply(self, layer, x):
        kind = layer["kind"]
        own = [self.tensors[parameter["name"]].astype("f8")
               for parameter in layer.get("parameters", [])]
        if kind == "flatten":
            return x.reshape(len(x), -1)
        if kind == "conv2d":
            kernel, bias = own
            size = layer["kernel"]
            expect_equal("shape of a kernel", kernel.shape,
                         (size, size, x.shape[3], layer["filters"]))
            windows = np.lib.stride_tricks.sliding_window_view(
                x, (size, size), axis=(1, 2))
            return np.tensordot(windows, kernel, ((4, 5, 3), (0, 1, 2))) + bias
        if kind == "dense":
            kernel, bias = own
            expect_equal("units", kernel.shape[1], layer["units"])
            return x @ kernel + bias
        if kind == "center":
            return x - own[0]
        if kind == "relu":
            return np.maximum(x, 0)
        if kind == "gelu":
            return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2
        expect(kind == "dropout", f"a layer of the unknown kind {kind}")
        return x

    def classes_of(self, stored):
        """Returns the class that the model predicts for each sample.
        `stored`: samples x height x width x channels, as in a file."""
        facts = self.description["input"]
        expect_equal("size of a row", stored.shape[1:],
                     (facts["height"], facts["width"], facts["channels"]))
        x = (stored.astype("f4") / np.float32(facts["divide_by"])).astype("f8")
        for layer in self.description["layers"]:
            x = self._apply(layer, x)
        expect_equal("outputs", x.shape[1], self.description["classes"])
        return np.argmax(x, axis=1)


def read_images(path):
    data = path.read_bytes()
    magic, rows, height, width = struct.unpack_from(">4I", data)
    expect_equal(f"magic of {path.name}", magic, 0x803)
    return np.frombuffer(data, "u1", offset=16).reshape(rows, height, width, 1)


def write_cifar10(directory, seed):
    """Writes images that can be learned: a colour per class, and noise.

    Returns the images of the test file, as rows of pixels of three channels.
    """
    generator = np.random.default_rng(seed)
    colours = generator.integers(0, 256, (10, 3))
    for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
        labels = generator.integers(0, 10, CIFAR_ROWS)
        noise = generator.integers(-60, 61, (CIFAR_ROWS, 32, 32, 3))
        images = np.clip(colours[labels][:, None, None, :] + noise, 0, 255)
        planes = images.transpose(0, 3, 1, 2).reshape(CIFAR_ROWS, -1)
        rows = np.concatenate([labels[:, None], planes], axis=1).astype("u1")
        (directory / f"{name}.bin").write_bytes(rows.tobytes())
    return images, labels


def read_labels(path):
    return np.frombuffer(path.read_bytes(), "u1", offset=8)


def output_of(*command):
    done = subprocess.run([str(word) for word in command],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=DEADLINE_S, check=False)
    expect_equal(f"exit code of {command[1:3]} ({done.stderr.strip()})",
                 done.returncode, 0)
    return done.stdout


class Predictions:
    def __init__(self, options):
        self.options = options

    def _data(self, run):
        """Writes the digits as MNIST files and for NumPy. Returns the
        folders."""
        idx, npy = run.directory / "idx", run.directory / "npy"
        idx.mkdir()
        npy.mkdir()
        output_of(self.options.digits, idx, SIDE, TRAIN_ROWS, VALIDATION_ROWS)
        for theirs, ours in (("train", "train"), ("t10k", "test")):
            np.save(npy / f"x_{ours}.npy",
                    read_images(idx / f"{theirs}-images-idx3-ubyte"))
            np.save(npy / f"y_{ours}.npy",
                    read_labels(idx / f"{theirs}-labels-idx1-ubyte")
                    .astype("i8"))
        return idx, npy

    def check(self, run, preset):
        return self._check_model(run, "--preset", preset)

    def check_gelu(self, run):
        job = run.directory / "job.yaml"
        job.write_text(GELU_JOB)
        return self._check_model(run, "--job", job)

    def _check_model(self, run, *arguments):
        idx, npy = self._data(run)
        arguments += ("--seed", self.options.seed, "--epochs", 2)
        outcome = run.train_to_end(*arguments, "--data", idx, "--workers", 2,
                                   "--export", run.directory / "model")
        rows = read_images(idx / "t10k-images-idx3-ubyte")
        labels = read_labels(idx / "t10k-labels-idx1-ubyte")
        model = ExportedModel(run.directory / "model")
        classes = model.classes_of(rows)
        expect_equal("state digest", model.description["trained"]
                     ["state_digest"], outcome["digest"])
        expect_equal("accuracy", float(np.mean(classes == labels)),
                     outcome["val_accuracy"])
        self._check_commands(run, idx, classes, labels)
        run.stored = False
        again = run.train_to_end(*arguments, "--data", f"npy:{npy}",
                                 "--replicas", 2)
        expect_equal("digest out of .npy files", again["digest"],
                     outcome["digest"])
        return f"{len(labels)} rows, {outcome['val_accuracy']:.1%} right"

    def check_cifar10(self, run):
        """The first convolution runs over three channels."""
        data = run.directory / "cifar"
        data.mkdir()
        images, labels = write_cifar10(data, self.options.seed)
        outcome = run.train_to_end(
            "--preset", "cnn-short", "--seed", self.options.seed, "--batch", 16,
            "--epochs", 2, "--data", f"cifar10:{data}", "--workers", 2,
            "--export", run.directory / "model")
        model = ExportedModel(run.directory / "model")
        expect_equal("kernel", model.tensors["conv0/kernel"].shape,
                     (3, 3, 3, 32))
        classes = model.classes_of(images)
        expect_equal("accuracy", float(np.mean(classes == labels)),
                     outcome["val_accuracy"])
        self._check_commands(run, data, classes, labels)
        return f"{len(labels)} rows, {outcome['val_accuracy']:.1%} right"

    def check_validation_apart(self, run):
        """A job's validation files may be in another folder, which may be
        moved."""
        idx, _ = self._data(run)
        apart, moved = run.directory / "apart", run.directory / "moved"
        apart.mkdir()
        for file in idx.glob("t10k-*"):
            file.rename(apart / file.name)
        run.train_to_end("--preset", "linear", "--data", idx,
                         "--validation", apart)
        program = self.options.program
        classes = output_of(program, "ckpt", "predict", run.store)
        apart.rename(moved)
        now = ("--validation", moved)
        expect_equal("classes", output_of(program, "ckpt", "predict",
                                          run.store, *now), classes)
        output_of(program, "evaluate", "--ckpt", run.store, "--once", *now)
        idx.rename(run.directory / "rows")
        output_of(program, "ckpt", "export", run.store, run.directory / "model",
                  "--data", run.directory / "rows", *now)
        return f"{len(classes.split())} rows"

    def _check_commands(self, run, data, classes, labels):
        program = self.options.program
        predicted = json.loads(output_of(program, "ckpt", "predict", run.store,
                                         "--json"))
        expect_equal("classes", predicted["classes"], classes.tolist())
        expect_equal("correct", predicted["correct"],
                     int(np.sum(classes == labels)))
        lines = output_of(program, "ckpt", "predict", run.store).split()
        expect_equal("lines", lines, [str(one) for one in classes])
        # The checkpoint gives the same export after its data has moved.
        moved = run.directory / "moved"
        data.rename(moved)
        output_of(program, "ckpt", "export", run.checkpoints()[-1],
                  run.directory / "again", "--data", moved)
        for name in ("model.json", "model.safetensors"):
            expect((run.directory / "again" / name).read_bytes() ==
                   (run.directory / "model" / name).read_bytes(),
                   f"{name} of ckpt export is another than train's")


def main():
    arguments = parser(__doc__, len(PRESETS), "presets to train")
    arguments.add_argument("--digits", required=True,
                           help="the program write_digits")
    options = arguments.parse_args()
    if np is None:
        print("skipped: this Python has no numpy")
        return 77
    cases = Cases(options)
    predictions = Predictions(options)
    checks = [(preset, lambda run, preset=preset:
               predictions.check(run, preset))
              for preset in PRESETS[:options.count]]
    cases.run_all(checks + [("gelu", predictions.check_gelu),
                            ("cifar10", predictions.check_cifar10),
                            ("validation", predictions.check_validation_apart)])
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
