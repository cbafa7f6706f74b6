"""A small training program that saves as safely as a file system allows, and
variants of it with one mistake each.

    trainer.py --out DIR [--mistake NAME] [--steps 12] [--every 3]

A checkpoint is ckpt-STEP.json: written to a temporary file, synced, renamed,
and its directory synced. The position in the data is in a journal with a line
and a checksum per save, synced before the checkpoint appears. The result is
final.json. Uses only Python's standard library, so that it starts quickly.
"""

import argparse
import json
import os
import random
import signal
import time
import zlib

MISTAKES = {
    "no-temporary-file": "a checkpoint is written under its own name",
    "no-sync": "a checkpoint is not synced before it is renamed",
    "no-rename": "one checkpoint file is rewritten in place",
    "no-directory-sync": "the directory is not synced after the rename",
    "no-checksum": "the last line of the journal is believed",
    "rename-first": "the file is renamed before it is written",
    "pointer-first": "a pointer names a checkpoint before it is written",
    "two-files": "weights and step are in two files, each written by itself",
    "delete-first": "the old checkpoint goes before the new one is written",
    "random-state": "the random state is not saved",
    "momentum": "the optimizer's state is not saved",
    "data-position": "the position in the data is not saved",
    "starts-over": "a checkpoint that cannot be read is passed over in silence",
    "oldest": "the last name in alphabetical order is taken for the newest",
    "left-lock": "a lock file that a crash left is waited for",
    "left-temporary": "a temporary file that a crash left is an error",
    "disk-full": "a save that fails is passed over, and what it left stays",
    "save-on-sigterm": "a save on SIGTERM comes in the middle of a step",
}


def sync_directory(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


class Store:
    def __init__(self, folder, mistake):
        self.folder = folder
        self.mistake = mistake

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """Writes a file that appears complete or not at all."""
        final = self.path(name)
        in_place = self.mistake in (
            "no-temporary-file",
            "no-rename",
            "starts-over",
            "disk-full",
        )
        temporary = final if in_place else final + ".tmp"
        if self.mistake == "rename-first":
            open(temporary, "w").close()
            os.rename(temporary, final)
            temporary = final
        flags = os.O_WRONLY | os.O_CREAT
        flags |= os.O_EXCL if self.mistake == "left-temporary" else os.O_TRUNC
        with open(os.open(temporary, flags, 0o644), "w") as file:
            half = len(text) // 2
            file.write(text[:half])
            file.flush()
            file.write(text[half:])
            file.flush()
            if self.mistake != "no-sync":
                os.fsync(file.fileno())
        if temporary != final:
            os.rename(temporary, final)
        if self.mistake != "no-directory-sync":
            sync_directory(self.folder)

    def note_position(self, step, position):
        """Appends a line to the journal in two writes, so that it can be
        torn."""
        line = "%d %d" % (step, position)
        line += " %08x" % zlib.crc32(line.encode())
        is_new = not os.path.exists(self.path("journal.txt"))
        with open(self.path("journal.txt"), "a") as file:
            half = len(line) // 2
            # Starts a line of its own, in case the line before is torn.
            file.write("\n" + line[:half])
            file.flush()
            file.write(line[half:] + "\n")
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync_directory(self.folder)

    def position_at(self, step):
        with open(self.path("journal.txt")) as file:
            lines = [line for line in file.read().split("\n") if line]
        if self.mistake == "no-checksum":
            return int(lines[-1].split(" ")[1])
        for line in reversed(lines):
            text, _, checksum = line.rpartition(" ")
            if checksum != "%08x" % zlib.crc32(text.encode()):
                continue
            if text.startswith("%d " % step):
                return int(text.split(" ")[1])
        raise ValueError("no position for step %d in journal.txt" % step)

    def save(self, state):
        name = "ckpt-%d.json" % state["step"]
        if self.mistake == "no-rename":
            name = "ckpt-0.json"
        if self.mistake == "delete-first":
            for old in self.names():
                os.unlink(self.path(old))
        if self.mistake == "pointer-first":
            self.write("newest.txt", name)
        self.note_position(state["step"], state["position"])
        saved = {key: value for key, value in state.items() if key != "position"}
        if self.mistake in saved:
            del saved[self.mistake]
        if self.mistake == "two-files":
            self.write("weights.json", json.dumps(saved.pop("weights")))
            self.write("ckpt-0.json", json.dumps(saved))
            return
        try:
            self.write(name, json.dumps(saved))
        except OSError:
            if self.mistake != "disk-full":
                raise

    def names(self):
        """Returns the names of the checkpoints, oldest first."""
        names = [n for n in os.listdir(self.folder) if n.startswith("ckpt-")]
        names = [n for n in names if n.endswith(".json")]
        if self.mistake == "oldest":
            return sorted(names)
        return sorted(names, key=lambda name: int(name[5:-5]))

    def load(self):
        """Returns the newest checkpoint, or None if there is none."""
        names = self.names()
        if self.mistake == "pointer-first":
            names = []
            if os.path.exists(self.path("newest.txt")):
                with open(self.path("newest.txt")) as file:
                    names = [file.read()]
        if not names:
            return None
        try:
            with open(self.path(names[-1])) as file:
                state = json.load(file)
        except (OSError, ValueError):
            if self.mistake != "starts-over":
                raise
            return None
        if self.mistake == "two-files":
            with open(self.path("weights.json")) as file:
                state["weights"] = json.load(file)
        if self.mistake != "data-position":
            state["position"] = self.position_at(state["step"])
        return state


class Lock:
    def __init__(self, path):
        self.path = path
        while True:
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL))
                return
            except FileExistsError:
                time.sleep(0.05)

    def release(self):
        os.unlink(self.path)


def step_once(state, data):
    sample = data[state["position"] % len(data)]
    noise = random.random()
    state["position"] += 1
    for i, weight in enumerate(state["weights"]):
        gradient = weight - sample * (i + 1) + noise
        state["momentum"][i] = 0.9 * state["momentum"][i] + gradient
        state["weights"][i] = weight - 0.01 * state["momentum"][i]
    state["step"] += 1


def train(options):
    data = [0.5 + (i * 37 % 11) for i in range(11)]
    store = Store(options.out, options.mistake)
    random.seed(7)
    state = {"step": 0, "weights": [0.0] * 64, "momentum": [0.0] * 64, "position": 0}
    loaded = store.load()
    if loaded is not None:
        print("resumed from step %d" % loaded["step"], flush=True)
        state.update(loaded)
        if "random-state" in state:
            version, words, gauss = state["random-state"]
            random.setstate((version, tuple(words), gauss))

    def save_and_stop(signal_number, frame):
        # The state may be half a step ahead of its random state.
        state["random-state"] = random.getstate()
        state["position"] += 1
        store.save(state)
        raise SystemExit(143)

    if options.mistake == "save-on-sigterm":
        signal.signal(signal.SIGTERM, save_and_stop)
    while state["step"] < options.steps:
        step_once(state, data)
        if state["step"] % options.every == 0:
            state["random-state"] = random.getstate()
            store.save(state)
    result = {key: state[key] for key in ("step", "weights", "momentum")}
    store.mistake = ""
    store.write("final.json", json.dumps(result))


def main():
    parser = argparse.ArgumentParser(
        description="A small training program, for gauntlet crash-test.",
        epilog="Exit code 0: trained to the end; 1: it failed.")
    parser.add_argument("--out", required=True,
                        help="folder of checkpoints and the result")
    parser.add_argument("--mistake", default="", choices=["", *MISTAKES],
                        help="mistake to make")
    parser.add_argument("--steps", type=int, default=12,
                        help="number of steps to train")
    parser.add_argument("--every", type=int, default=3,
                        help="steps between two checkpoints")
    options = parser.parse_args()
    lock = None
    if options.mistake == "left-lock":
        lock = Lock(os.path.join(options.out, "lock"))
    train(options)
    if lock:
        lock.release()


if __name__ == "__main__":
    main()
