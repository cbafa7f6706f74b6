"""Starts `gauntlet train` as a user would and watches it from outside.

Uses only what a user sees: arguments, exit codes, the JSON line, the
checkpoint directory and the processes in /proc.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

STOPPED = 143  # exit code after a preemption notice
GONE_WITHIN_S = 1.0  # time in which processes exit after their launcher
DEADLINE_S = 180.0  # limit of one command, far above its usual time
EXIT_CODES = ("Exit code 0: every case passed; 1: a case failed; "
              "77: skipped, as something it needs is missing.")
_MARK = "GAUNTLET_ACCEPTANCE_RUN"  # set for all processes of a run
_ROOT = pathlib.Path(__file__).resolve().parents[2]


class Failed(Exception):
    """A check failed."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def expect_equal(what, found, expected):
    expect(found == expected, f"{what}: expected {expected}, found {found}")


class Process:
    """A process of a run as read from /proc, and a handle safe from PID
    reuse."""

    def __init__(self, pid, handle, role, parent):
        self.pid = pid
        self.role = role  # "launcher", "worker 2", "starting"
        self.parent = parent
        self._handle = handle

    def signal(self, number):
        """Sends a signal. Returns False if the process was gone."""
        try:
            signal.pidfd_send_signal(self._handle, number)
            return True
        except ProcessLookupError:
            return False

    def close(self):
        os.close(self._handle)


def _read(path):
    try:
        return path.read_bytes()
    except OSError:  # gone, or another user's
        return b""


def _parent_of(pid):
    # The name in brackets may contain any character.
    fields = _read(pathlib.Path(f"/proc/{pid}/stat")).rpartition(b")")[2]
    return int(fields.split()[1]) if fields else 0


class Run:
    """Consecutive runs of `gauntlet train` on one checkpoint directory."""

    def __init__(self, program, directory):
        self.program = str(program)
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.store = self.directory / "ckpt"
        self.stored = True  # True: runs get the checkpoint directory
        self.out_to = None  # descriptor for standard output; None: a file
        self.err_to = None  # descriptor for standard error; None: a file
        self.launcher = None
        self.starts = 0
        self.started_at = 0.0

    def start(self, *arguments):
        self.starts += 1
        name = f"start-{self.starts}"
        store = ["--ckpt", str(self.store)] if self.stored else []
        command = [self.program, "train", *map(str, arguments), *store,
                   "--json", "--no-progress"]
        (self.directory / f"{name}.command").write_text(" ".join(command))
        with open(self.directory / f"{name}.out", "wb") as out, \
                open(self.directory / f"{name}.err", "wb") as err:
            self.started_at = time.monotonic()
            self.launcher = subprocess.Popen(
                command, stdin=subprocess.DEVNULL,
                stdout=out if self.out_to is None else self.out_to,
                stderr=err if self.err_to is None else self.err_to,
                cwd=self.directory,
                env={**os.environ, _MARK: str(self.directory)})

    def wait(self, within_s=DEADLINE_S):
        """Returns the exit code, negative for a signal."""
        try:
            return self.launcher.wait(timeout=within_s)
        except subprocess.TimeoutExpired:
            raise Failed(f"the launcher still ran after {within_s:g} s: "
                         f"{self._left()}") from None

    def errors(self):
        return (self.directory / f"start-{self.starts}.err").read_text(
            errors="replace")

    def outcome(self):
        """Returns the result that the run printed: one line of JSON."""
        text = (self.directory / f"start-{self.starts}.out").read_text()
        try:
            outcome = json.loads(text)
        except ValueError:
            raise Failed(f"expected one JSON object on standard output, "
                         f"found {text!r}") from None
        return outcome

    def train_to_end(self, *arguments):
        """Trains until the status is "done", and returns the result."""
        self.start(*arguments)
        code = self.wait()
        expect_equal(f"exit code of start {self.starts} "
                     f"({self.errors()[-300:].strip()})", code, 0)
        outcome = self.outcome()
        expect_equal("status", outcome["status"], "done")
        return outcome

    def processes(self):
        """Returns all running processes of the run; the caller closes each."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            pid = int(entry.name)
            try:
                handle = os.pidfd_open(pid)
            except (ProcessLookupError, OSError):
                continue
            # Reads after the handle is open, so that both belong to one
            # process.
            words = _read(entry / "cmdline").split(b"\0")
            if self._owns(entry, words):
                found.append(Process(pid, handle, self._role(pid, words),
                                     _parent_of(pid)))
            else:
                os.close(handle)
        return sorted(found, key=lambda process: process.role)

    def _owns(self, entry, words):
        mark = f"{_MARK}={self.directory}".encode()
        if mark in _read(entry / "environ").split(b"\0"):
            return True
        if str(self.store).encode() not in words:
            return False
        try:  # a pager on the directory is no process of the run
            return os.path.samefile(entry / "exe", self.program)
        except OSError:
            return False

    def _role(self, pid, words):
        if self.launcher is not None and pid == self.launcher.pid:
            return "launcher"
        if b"--worker" in words:
            return "worker " + words[words.index(b"--worker") + 1].decode()
        return "starting"

    def _left(self):
        left = self.processes()
        text = ", ".join(f"{p.role} ({p.pid})" for p in left)
        for process in left:
            process.close()
        return text

    def expect_nothing_left(self, within_s=GONE_WITHIN_S):
        """Expects no process of the run in two successive scans: one may be in
        exec."""
        give_up = time.monotonic() + within_s
        looks = 0
        while looks < 2:
            left = self._left()
            looks = 0 if left else looks + 1
            expect(not left or time.monotonic() < give_up,
                   f"left after {within_s:g} s: {left}")
            time.sleep(0.02)

    def end(self):
        """Kills what is left and reaps the launcher."""
        for process in self.processes():
            process.signal(signal.SIGKILL)
            process.close()
        if self.launcher is not None:
            self.launcher.wait()
        self._remove_handouts()

    def _remove_handouts(self):
        """Removes the option files that killed launchers had written for their
        workers."""
        for options in pathlib.Path("/tmp").glob("gauntlet-*/options.json"):
            if f'"{self.store}"'.encode() in _read(options):
                shutil.rmtree(options.parent, ignore_errors=True)

    def checkpoints(self):
        """Returns the directories of committed checkpoints, oldest first."""
        if not self.store.is_dir():
            return []
        return sorted(entry for entry in self.store.iterdir()
                      if re.fullmatch(r"step-\d+(-[a-z-]+)?-g\d+", entry.name))

    def newest_step(self):
        names = [entry.name for entry in self.checkpoints()]
        return max((int(name.split("-")[1]) for name in names), default=None)

    def verify(self):
        """Returns exit code and output of `gauntlet ckpt verify`."""
        done = subprocess.run(
            [self.program, "ckpt", "verify", str(self.store)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=DEADLINE_S, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect_clean_store(self):
        code, text = self.verify()
        expect_equal(f"exit code of ckpt verify ({text.strip()})", code, 0)
        remains = [entry.name for entry in self.store.iterdir()
                   if entry.name.endswith(".tmp")]
        expect_equal("unfinished saves in the store", remains, [])


class Cases:
    """Runs cases, each in a directory that is kept only if it failed."""

    def __init__(self, options):
        self.options = options
        self.passed = 0
        self.failed = 0
        self.scratch = pathlib.Path(
            tempfile.mkdtemp(prefix="gauntlet-acceptance-",
                             dir=options.scratch))
        self._lock = threading.Lock()

    def run(self, name, check):
        """Runs check(Run), which raises Failed or returns a text for
        --verbose."""
        run = Run(self.options.program, self.scratch / name)
        try:
            note, failed = check(run), False
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            note, failed = str(failure), True
        finally:
            run.end()
        with self._lock:
            self._report(name, run, note, failed)

    def _report(self, name, run, note, failed):
        if failed:
            self.failed += 1
            print(f"FAILED {name}: {note}\n  kept: {run.directory}")
        else:
            self.passed += 1
            shutil.rmtree(run.directory)
            if self.options.verbose and note:
                print(f"passed {name}: {note}")
        sys.stdout.flush()

    def run_all(self, named_checks):
        """Runs the cases, --jobs at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for done in [pool.submit(self.run, name, check)
                         for name, check in named_checks]:
                done.result()

    def run_rounds(self, clean, cases_of):
        """Runs `clean` and, if it passes, --count rounds of cases_of(round)."""
        self.run("clean", clean)
        if self.failed == 0:
            for round_ in range(1, self.options.count + 1):
                self.run_all(cases_of(round_))
        return self.exit_code()

    def exit_code(self):
        """Prints how many cases passed, cleans up, and returns the exit
        code."""
        if self.failed == 0:
            shutil.rmtree(self.scratch, ignore_errors=True)
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0


def parser(description, count, count_help):
    options = argparse.ArgumentParser(
        description=description, epilog=EXIT_CODES,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    options.add_argument("--program", type=os.path.abspath,
                         default=str(_ROOT / "build/release/gauntlet"),
                         help="the program under test")
    options.add_argument("--count", type=int, default=count, help=count_help)
    options.add_argument("--seed", type=int, default=1,
                         help="of every random choice")
    options.add_argument("--jobs", type=int, default=1,
                         help="cases at a time")
    options.add_argument("--scratch", type=os.path.abspath, default=None,
                         help="where runs live; those that fail stay there")
    options.add_argument("--verbose", action="store_true",
                         help="a line for each case that passed, too")
    return options


def run_checks(description, checks):
    """Runs each function as a case of its name. Returns the exit code."""
    cases = Cases(parser(description, 1, "not used").parse_args())
    cases.run_all([(check.__name__.replace("_", "-"), check)
                   for check in checks])
    return cases.exit_code()


def generator(options, *key):
    """Returns a generator per case: its choices do not depend on the order of
    cases."""
    return random.Random(":".join(map(str, (options.seed, *key))))
