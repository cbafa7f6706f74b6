#!/usr/bin/env python3
"""TensorBoard's event files, read by a reader that shares no code with them.

Framing, checksums and protobuf are taken apart here with the standard library
alone; where TensorBoard is installed, it has to read the same.
"""

import os
import pathlib
import signal
import struct
import sys
import time

from observed_training import Cases, expect, expect_equal, parser

try:
    from tensorboard.backend.event_processing import event_accumulator
except ImportError:
    event_accumulator = None

EPOCH_TAGS = ("epoch_loss", "epoch_accuracy", "epoch_val_loss",
              "epoch_val_accuracy")
EVERY = 4  # steps between two points
STEPS_PER_EPOCH = 24  # preset tiny with one replica
CRASH_OF_THE_CHIEF = """{"format": "gauntlet-plan-v3", "seed": 1, "bugs": [],
  "faults": [{"id": "crash", "at": {"worker": 0, "incarnation": 1, "step": 33,
                                    "point": "step.end"}, "do": "crash"}]}"""


def crc32c(data):
    """Computes bit by bit, so that it does not share the table it checks."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    """Yields a file's records, up to one that a crash truncated."""
    at = 0
    while at + 12 <= len(data):
        length, length_crc = struct.unpack_from("<QI", data, at)
        expect_equal(f"checksum of the length at {at}", length_crc,
                     masked(data[at:at + 8]))
        end = at + 12 + length
        if end + 4 > len(data):
            return
        (data_crc,) = struct.unpack_from("<I", data, end)
        expect_equal(f"checksum of the data at {at}", data_crc,
                     masked(data[at + 12:end]))
        yield data[at + 12:end]
        at = end + 4


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(message):
    """Yields (number, value) of each field of a protobuf message."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(message, at)
        elif wire == 1:
            (value,), at = struct.unpack_from("<d", message, at), at + 8
        elif wire == 5:
            (value,), at = struct.unpack_from("<f", message, at), at + 4
        else:
            expect_equal("wire type", wire, 2)
            length, at = varint(message, at)
            value, at = message[at:at + length], at + length
        yield number, value
    expect_equal("end of a message", at, len(message))


class Event:
    def __init__(self, message):
        known = dict(fields(message))
        self.wall_time = known.pop(1)
        self.step = known.pop(2)
        self.version = known.pop(3, b"").decode()
        summary = known.pop(5, b"")
        self.starts = dict(fields(known.pop(7, b""))) == {1: 1}
        self.scalars = {}
        for number, value in fields(summary):
            expect_equal("field of a summary", number, 1)
            scalar = dict(fields(value))
            self.scalars[scalar.pop(1).decode()] = scalar.pop(2)
            expect_equal("other fields of a value", scalar, {})
        expect_equal("other fields of an event", known, {})


def curves(files):
    """Returns the points of each tag. A session start removes the points of
    its step and of later steps."""
    points = {}
    for file in files:
        events = [Event(record) for record in records(file.read_bytes())]
        expect_equal(f"version of {file.name}", events[0].version,
                     "brain.Event:2")
        expect(events[1].starts, f"{file.name} has no session start")
        for event in events:
            expect(abs(event.wall_time - time.time()) < 3600,
                   f"{file.name}: a wall time of {event.wall_time}")
            if event.starts:
                for curve in points.values():
                    for step in [s for s in curve if s >= event.step]:
                        del curve[step]
            for tag, value in event.scalars.items():
                curve = points.setdefault(tag, {})
                expect(event.step not in curve,
                       f"{tag} has step {event.step} twice")
                curve[event.step] = value
    return points


def tensorboard_curves(directory):
    accumulator = event_accumulator.EventAccumulator(
        str(directory), size_guidance={event_accumulator.SCALARS: 0})
    accumulator.Reload()
    return {tag: {event.step: event.value
                  for event in accumulator.Scalars(tag)}
            for tag in accumulator.Tags()["scalars"]}


class Curves:
    def __init__(self, epochs):
        self.epochs = epochs

    def _arguments(self, run, save_every=5):
        return ("--epochs", self.epochs, "--save-every", save_every, "--replicas", 1,
                "--tensorboard", run.directory / "curves",
                "--tensorboard-every", EVERY)

    def _files(self, run):
        return sorted((run.directory / "curves").glob("events.out.tfevents.*"))

    def _expect_whole(self, run, outcome, missing=()):
        """Expects complete curves, and returns them. `missing`: steps that
        batch_loss must lack; run_summary.cc has the reason."""
        found = curves(self._files(run))
        steps = self.epochs * STEPS_PER_EPOCH
        expect_equal("steps of batch_loss", sorted(found["batch_loss"]),
                     [step for step in range(EVERY, steps + 1, EVERY)
                      if step not in missing])
        ends = list(range(STEPS_PER_EPOCH, steps + 1, STEPS_PER_EPOCH))
        for tag in EPOCH_TAGS:
            expect_equal(f"steps of {tag}", sorted(found[tag]), ends)
        for tag, key in (("epoch_loss", "loss"), ("epoch_accuracy", "accuracy"),
                         ("epoch_val_accuracy", "val_accuracy")):
            expect(abs(found[tag][steps] - outcome[key]) < 1e-6,
                   f"{tag} ends at {found[tag][steps]}, the run said "
                   f"{outcome[key]}")
        if event_accumulator is not None:
            expect_equal("what TensorBoard reads",
                         tensorboard_curves(run.directory / "curves"), found)
        return found

    def undisturbed(self, run):
        outcome = run.train_to_end(*self._arguments(run))
        expect_equal("event files", len(self._files(run)), 1)
        self._expect_whole(run, outcome)

    def stopped(self, run):
        run.start(*self._arguments(run), "--stop-at-step", 30)
        expect_equal("exit code", run.wait(), 143)
        outcome = run.train_to_end(*self._arguments(run))
        expect_equal("event files", len(self._files(run)), 2)
        self._expect_whole(run, outcome)

    def resumed_before_an_evaluation(self, run):
        """The checkpoint has the epoch's last step, but not the epoch's end."""
        plan = run.directory / "plan.json"
        plan.write_text(CRASH_OF_THE_CHIEF)
        outcome = run.train_to_end(*self._arguments(run, STEPS_PER_EPOCH),
                                   "--plan", plan)
        expect_equal("event files", len(self._files(run)), 2)
        self._expect_whole(run, outcome, missing=(STEPS_PER_EPOCH,))

    def killed(self, run):
        """Kills the launcher and all workers once the curve has grown for a
        while."""
        run.start(*self._arguments(run))
        while run.launcher.poll() is None:
            files = self._files(run)
            if files and files[0].stat().st_size > 1000:
                break
            time.sleep(0.002)
        for process in run.processes():
            process.signal(signal.SIGKILL)
            process.close()
        run.wait()
        run.expect_nothing_left()
        outcome = run.train_to_end(*self._arguments(run))
        self._expect_whole(run, outcome)

    def chief_dies(self, run):
        """The launcher restarts all workers: there is a second file, and no gap
        in the curves."""
        plan = run.directory / "plan.json"
        plan.write_text(CRASH_OF_THE_CHIEF)
        outcome = run.train_to_end(*self._arguments(run), "--plan", plan)
        expect_equal("restarts", outcome["restarts"], 1)
        expect_equal("event files", len(self._files(run)), 2)
        self._expect_whole(run, outcome)

    def not_writable(self, run):
        """A wrong directory is refused; a later write error does not disturb
        training."""
        (run.directory / "curves").write_text("a file in its place")
        for place in (run.directory / "curves", "/proc/none"):
            run.start("--epochs", self.epochs, "--replicas", 1,
                      "--tensorboard", place)
            expect_equal("exit code", run.wait(), 2)
            expect("--tensorboard: " in run.errors(), run.errors())
        if os.geteuid() != 0:
            return  # refused: this user may not write to /proc
        # The folder exists, but takes no file.
        outcome = run.train_to_end("--epochs", self.epochs, "--replicas", 1,
                                   "--tensorboard", "/proc")
        expect("TensorBoard events are not written" in run.errors(),
               f"no warning: {run.errors()!r}")
        run.stored = False
        plain = run.train_to_end("--epochs", self.epochs, "--replicas", 1)
        expect_equal("digest", outcome["digest"], plain["digest"])


def main():
    arguments = parser(__doc__, 3, "epochs of each run")
    options = arguments.parse_args()
    checks = Curves(options.count)
    cases = Cases(options)
    cases.run_all([("undisturbed", checks.undisturbed),
                   ("stopped", checks.stopped), ("killed", checks.killed),
                   ("chief-dies", checks.chief_dies),
                   ("resumed-before-an-evaluation",
                    checks.resumed_before_an_evaluation),
                   ("not-writable", checks.not_writable)])
    if event_accumulator is None:
        print("not compared with TensorBoard: this Python has none")
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
