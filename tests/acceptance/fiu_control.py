#!/usr/bin/env python3
"""fiu-run and fiu-ctrl fail operations of workers that have no fault plan."""

import shutil
import signal
import subprocess
import sys
import time

from observed_training import (DEADLINE_S, STOPPED, expect, expect_equal,
                               run_checks)

JOB = ("--preset", "tiny", "--epochs", 2)
LONG_JOB = ("--preset", "tiny", "--epochs", 100000, "--save-every", 20)
FULL_DISK = "ckpt.rename: injected ENOSPC"
BROKEN_DISK = "Input/output error"


def start_under_fiu(run, fiu_options, arguments):
    """Starts the run as `fiu-run OPTIONS gauntlet train ARGUMENTS`."""
    program, run.program = run.program, str(run.directory / "gauntlet")
    under = run.directory / "gauntlet"
    under.write_text("#!/bin/sh\n"
                     f"TMPDIR='{run.directory}' exec fiu-run {fiu_options} "
                     f"'{program}' \"$@\"\n")
    under.chmod(0o755)
    try:
        run.start(*arguments)
    finally:
        run.program = program


def control(run, command):
    """Sends a command of libfiu to the run's worker."""
    deadline = time.monotonic() + DEADLINE_S
    while not (pipes := pipes_of_worker(run)):
        expect(time.monotonic() < deadline, "the worker has no pipes")
        time.sleep(0.02)
    done = subprocess.run(["fiu-ctrl", "-c", command, pipes],
                          capture_output=True, text=True, check=False,
                          timeout=DEADLINE_S)
    expect_equal(f"fiu-ctrl {command}", (done.returncode, done.stdout), (0, ""))


def pipes_of_worker(run):
    """Returns the path of the worker's libfiu pipes, without .in and .out."""
    pipes = ""
    for process in run.processes():
        path = run.directory / f"fiu-ctrl-{process.pid}"
        if process.role == "worker 0" and path.with_suffix(".out").exists():
            pipes = str(path)
        process.close()
    return pipes


def wait_for_text(run, text):
    deadline = time.monotonic() + DEADLINE_S
    while text not in run.errors():
        expect(time.monotonic() < deadline and run.launcher.poll() is None,
               f"expected {text!r} in {run.errors()[-300:]!r}")
        time.sleep(0.02)


def stop(run):
    """Stops the run with a preemption notice, which saves its last step."""
    run.launcher.send_signal(signal.SIGTERM)
    expect_equal("exit code", run.wait(), STOPPED)
    run.expect_clean_store()


def fiu_run_fails_a_point(run):
    undisturbed = run.train_to_end(*JOB)
    expect("failed" not in run.errors(), run.errors())
    run.store = run.directory / "other"
    start_under_fiu(
        run, "-c 'enable name=gauntlet/ckpt.rename,failinfo=28,onetime'", JOB)
    expect_equal("exit code", run.wait(), 0)
    expect_equal(f"failed saves in {run.errors()!r}",
                 run.errors().count(FULL_DISK), 1)
    expect_equal("digest", run.outcome()["digest"], undisturbed["digest"])
    run.expect_clean_store()


def fiu_ctrl_reaches_a_running_worker(run):
    start_under_fiu(run, "", LONG_JOB)
    control(run, "enable name=gauntlet/ckpt.rename,failinfo=28")
    wait_for_text(run, FULL_DISK)
    control(run, "disable name=gauntlet/ckpt.rename")
    stop(run)


def a_call_of_the_c_library_fails(run):
    start_under_fiu(run, "-x", LONG_JOB)
    # A failed call before the first step could end the run.
    wait_for_text(run, "epoch 1/")
    control(run, "enable name=posix/io/sync/fsync,failinfo=5,onetime")
    wait_for_text(run, BROKEN_DISK)
    stop(run)


if __name__ == "__main__":
    if not shutil.which("fiu-run"):
        print("skipped: fiu-run is not installed (Debian: fiu-utils)")
        sys.exit(77)
    sys.exit(run_checks(__doc__, [fiu_run_fails_a_point,
                                  fiu_ctrl_reaches_a_running_worker,
                                  a_call_of_the_c_library_fails]))
