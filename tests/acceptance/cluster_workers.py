"""Starts `gauntlet train` as the launcher of a cluster would: each worker is a
process, and variables assign its rank.

Uses only what a user sees: variables, arguments, exit codes, the JSON line,
the checkpoint directory.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

from observed_training import DEADLINE_S, Failed, expect, expect_equal

LOST_WORKER = 75  # exit code that requests a restart of all
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/clusters.md"

# Variables that would assign a worker another rank than the test does.
_PLACES = re.compile(
    r"^(RANK|WORLD_SIZE|LOCAL_.*|MASTER_.*|TORCHELASTIC_.*|TF_CONFIG|SLURM_.*|"
    r"OMPI_.*|PMIX?_.*|PRTE_.*|JOB_COMPLETION_INDEX|GAUNTLET_.*|ENVIRONMENT)$")


def environment(**variables):
    """Returns this process's environment with these cluster variables and no
    others."""
    kept = {name: value for name, value in os.environ.items()
            if not _PLACES.match(name)}
    return {**kept, **{name: str(value) for name, value in variables.items()}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def guide_block(language, mark):
    """Returns the code block of the guide to clusters that contains `mark`."""
    blocks = re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.S)
    found = [block for block in blocks if mark in block]
    expect_equal(f"blocks of the guide with {mark!r}", len(found), 1)
    return found[0]


class Workers:
    """One attempt of a cluster; each worker's output is in files of
    `directory`."""

    def __init__(self, program, directory):
        self.program = str(program)
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.processes = []
        self.err_to = None  # descriptor for standard error; None: files

    def start(self, variables, *arguments):
        rank = len(self.processes)
        with open(self.directory / f"{rank}.out", "wb") as out, \
                open(self.directory / f"{rank}.err", "wb") as err:
            self.processes.append(subprocess.Popen(
                [self.program, "train", *map(str, arguments), "--json"],
                stdin=subprocess.DEVNULL, stdout=out,
                stderr=err if self.err_to is None else self.err_to,
                env=variables))

    def wait(self, within_s=DEADLINE_S):
        """Returns the exit codes by rank, negative for a signal."""
        give_up = time.monotonic() + within_s
        try:
            return [process.wait(max(0.0, give_up - time.monotonic()))
                    for process in self.processes]
        except subprocess.TimeoutExpired:
            raise Failed(f"workers still ran after {within_s:g} s: "
                         f"{self.errors(0)[-300:]}") from None
        finally:
            self.end()

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()

    def errors(self, rank):
        return (self.directory / f"{rank}.err").read_text(errors="replace")

    def outcome(self):
        """Returns the chief's result line. Expects the other workers to print
        none."""
        for rank in range(1, len(self.processes)):
            expect_equal(f"standard output of worker {rank}",
                         (self.directory / f"{rank}.out").read_text(), "")
        return json.loads((self.directory / "0.out").read_text())


def newest_step(store):
    if not store.is_dir():
        return 0
    steps = [int(match.group(1)) for match in
             (re.fullmatch(r"step-(\d+)(-[a-z-]+)?-g\d+", entry.name)
              for entry in store.iterdir()) if match]
    return max(steps, default=0)


def wait_until(what, come):
    give_up = time.monotonic() + DEADLINE_S
    while not come():
        expect(time.monotonic() < give_up, f"waited for {what} in vain")
        time.sleep(0.002)


def reach_step(store, step, still_runs):
    def come():
        reached = newest_step(store) >= step
        expect(reached or still_runs(), f"ended before step {step}")
        return reached
    wait_until(f"step {step}", come)


def pids_with(variable, value):
    """Returns PID and command line of each gauntlet process with this
    variable."""
    wanted = f"{variable}={value}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in variables and words[:1] and \
                words[0].endswith(b"gauntlet"):
            found.append((int(entry.name), words))
    return found


def kill(pid, number=signal.SIGKILL):
    os.kill(pid, number)
