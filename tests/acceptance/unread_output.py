#!/usr/bin/env python3
"""Trains with an output that nobody reads: a stopped terminal, a log collector
that is stuck, a full disk.

Notices are passed on and saved, dead workers are started again, finished runs
end with their result and their exit code, and checkpoints are deleted only if
somebody has that result.
"""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import time

from cluster_workers import (Workers, environment, free_port, reach_step,
                             wait_until)
from observed_training import (Cases, STOPPED, expect, expect_equal, parser)

WORKERS = 2
ENDLESS = 1_000_000
# Limit on the time from SIGTERM to the exit: a step, a save, and the wait for a
# reader.
SOON_S = 15.0
# A launcher that has its result waits 5 s for readers; the rest is a margin.
SETTLED_S = 8.0
# Longer than a launcher waits for a reader that reads nothing (1 s).
LATE_S = 3.0
INTERRUPTED = 130
# A step after some epochs. By then, a launcher has written lines.
REACHED = 40
# Number of steps whose output takes half a minute to read in single pages.
ENOUGH_TO_SAY = 20_000
SMALL = ["--preset", "tiny", "--replicas", WORKERS]
ALL = [*SMALL, "--workers", WORKERS]


@contextlib.contextmanager
def full_pipe():
    """Yields both ends of a full pipe that nobody reads."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETFL, os.O_NONBLOCK)
    try:
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write, b"\n" * 65536)
        # Makes writes block again, as in the pipes of a run.
        fcntl.fcntl(write, fcntl.F_SETFL, 0)
        yield read, write
    finally:
        os.close(read)
        os.close(write)


@contextlib.contextmanager
def abandoned_pipe():
    """Yields the write end of a pipe whose reader is gone."""
    read, write = os.pipe()
    os.close(read)
    try:
        yield read, write
    finally:
        os.close(write)


@contextlib.contextmanager
def full_disk():
    device = os.open("/dev/full", os.O_WRONLY)
    try:
        yield device, device
    finally:
        os.close(device)


OUTPUTS = {"full-pipe": full_pipe, "abandoned-pipe": abandoned_pipe,
           "full-disk": full_disk}


def still_runs(run):
    return lambda: run.launcher.poll() is None


def train_until(run, step, every):
    """Starts a training run and waits for the step."""
    run.start(*ALL, "--epochs", ENDLESS, "--save-every", every)
    reach_step(run.store, step, still_runs(run))


def notice(output):
    """Expects one saved step, and the exit code of a stop."""
    def check(run):
        with OUTPUTS[output]() as (_, write):
            run.err_to = write
            train_until(run, REACHED, every=5)
            run.launcher.send_signal(signal.SIGTERM)
            expect_equal("exit code", run.wait(SOON_S), STOPPED)
        run.expect_nothing_left()
        run.expect_clean_store()
        outcome = run.outcome()
        expect_equal("status", outcome["status"], "stopped")
        expect_equal("newest checkpoint", run.newest_step(), outcome["steps"])
        return f"stopped at step {outcome['steps']}"
    return check


def notice_with_unread_results(run):
    """As notice, but standard output is not read either."""
    with full_pipe() as (_, write):
        run.out_to = run.err_to = write
        train_until(run, REACHED, every=5)
        run.launcher.send_signal(signal.SIGTERM)
        expect_equal("exit code", run.wait(SOON_S), STOPPED)
    run.expect_nothing_left()
    run.expect_clean_store()


def dead_worker(run):
    """A dead worker is restarted, and the job ends as usual."""
    with full_pipe() as (_, write):
        run.err_to = write
        run.start(*ALL, "--epochs", 100, "--save-every", 5)
        reach_step(run.store, REACHED, still_runs(run))
        for process in run.processes():
            if process.role == "worker 1":
                process.signal(signal.SIGKILL)
            process.close()
        expect_equal("exit code", run.wait(), 0)
    outcome = run.outcome()
    expect_equal("status", outcome["status"], "done")
    expect_equal("restarts", outcome["restarts"], 1)


def results(output):
    """Unread output is lost, but the exit code is right."""
    def check(run):
        with OUTPUTS[output]() as (_, write):
            run.out_to = write
            run.start(*ALL, "--epochs", 2)
            expect_equal(f"exit code ({run.errors()})", run.wait(), 0)
        is_reported = "cannot write to standard output" in run.errors()
        expect_equal("reports that it is lost", is_reported,
                     output != "abandoned-pipe")
    return check


def finished_run_that_deletes(run):
    """The result is acknowledged, and not computed a second time."""
    with full_pipe() as (_, write):
        run.err_to = write
        run.start(*ALL, "--epochs", 200, "--save-every", 100,
                  "--delete-checkpoints-at-success")
        expect_equal("exit code", run.wait(), 0)
    outcome = run.outcome()
    expect_equal("status", outcome["status"], "done")
    expect_equal("restarts", outcome["restarts"], 0)
    expect(not run.checkpoints(), "the checkpoints are still there")


def worker_count(run):
    there = run.processes()
    for process in there:
        process.close()
    return len([p for p in there if p.role.startswith("worker")])


def slow_reader(run):
    """The exit waits for a reader that reads a page now and then, but at most
    5 s in all."""
    with full_pipe() as (read, write):
        run.out_to = run.err_to = write
        train_until(run, ENOUGH_TO_SAY, every=1000)
        run.launcher.send_signal(signal.SIGTERM)
        ended = None
        give_up = time.monotonic() + 4 * SOON_S
        while run.launcher.poll() is None:
            expect(time.monotonic() < give_up, "it waits for ever")
            if ended is None and worker_count(run) == 0:
                ended = time.monotonic()
            os.read(read, 4096)
            time.sleep(0.4)
        waited = time.monotonic() - ended
        expect_equal("exit code", run.wait(1), STOPPED)
        expect(waited < SETTLED_S, f"waited {waited:.1f} s for the reader")
        return f"waited {waited:.1f} s for the reader"


def paused_launcher(run):
    """The chief keeps the checkpoints until its launcher continues; the job is
    done."""
    run.start(*ALL, "--epochs", 200, "--save-every", 100,
              "--delete-checkpoints-at-success")
    reach_step(run.store, 100, still_runs(run))
    run.launcher.send_signal(signal.SIGSTOP)
    give_up = time.monotonic() + SOON_S * 4
    # The other workers remain as zombies; the chief is still running.
    while worker_count(run) > 1:
        expect(time.monotonic() < give_up, "the run does not finish")
        time.sleep(0.01)
    expect(run.checkpoints(), "deleted before the result was acknowledged")
    run.launcher.send_signal(signal.SIGCONT)
    expect_equal(f"exit code ({run.errors()})", run.wait(SOON_S), 0)
    outcome = run.outcome()
    expect_equal("status", outcome["status"], "done")
    expect_equal("restarts", outcome["restarts"], 0)
    expect(not run.checkpoints(), "the checkpoints are still there")


def cluster_worker(run):
    """Workers of a cluster, without a launcher of this program."""
    workers = Workers(run.program, run.directory / "workers")
    port = free_port()
    try:
        with full_pipe() as (_, write):
            workers.err_to = write
            for rank in range(WORKERS):
                workers.start(
                    environment(RANK=rank, WORLD_SIZE=WORKERS,
                                MASTER_ADDR="127.0.0.1", MASTER_PORT=port),
                    *SMALL, "--epochs", ENDLESS, "--save-every", 5,
                    "--ckpt", run.store)
            reach_step(run.store, REACHED,
                       lambda: all(process.poll() is None
                                   for process in workers.processes))
            workers.processes[1].send_signal(signal.SIGTERM)
            expect_equal("exit codes", workers.wait(SOON_S),
                         [STOPPED] * WORKERS)
        outcome = workers.outcome()
        expect_equal("status", outcome["status"], "stopped")
        expect_equal("newest checkpoint", run.newest_step(), outcome["steps"])
        run.expect_clean_store()
    finally:
        workers.end()


def takes_signals(process):
    """Returns True iff the process catches signals, by its mask in /proc."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    caught = next(line for line in status.splitlines()
                  if line.startswith("SigCgt"))
    return int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1


def waits_for_a_reader(process):
    """Returns True iff a thread of the process is in a write to a pipe."""
    return any("pipe" in task.read_text() for task in
               pathlib.Path(f"/proc/{process.pid}/task").glob("*/wchan"))


def evaluator(run):
    """A notice ends the evaluator, whatever it still has to print."""
    run.train_to_end(*ALL, "--epochs", 4)
    with full_pipe() as (_, write):
        evaluator = subprocess.Popen(
            [run.program, "evaluate", "--ckpt", run.store],
            stdin=subprocess.DEVNULL, stdout=write, stderr=write)
        try:
            wait_until("its signal handlers", lambda: takes_signals(evaluator))
            wait_until("its first line", lambda: waits_for_a_reader(evaluator))
            evaluator.send_signal(signal.SIGTERM)
            expect_equal("exit code", evaluator.wait(SOON_S), STOPPED)
        finally:
            evaluator.kill()
            evaluator.wait()


def suite(run):
    """A signal ends a suite, whatever it still has to print."""
    with full_pipe() as (_, write):
        evaluator = subprocess.Popen(
            [run.program, "run", "--demo", "--world", "sim", "--runs",
             run.directory / "runs"],
            stdin=subprocess.DEVNULL, stdout=write, stderr=write)
        try:
            wait_until("its first line", lambda: waits_for_a_reader(evaluator))
            wait_until("its signal handlers", lambda: takes_signals(evaluator))
            evaluator.send_signal(signal.SIGTERM)
            # The suite may have finished before the signal.
            expect(evaluator.wait(SOON_S) in (0, INTERRUPTED),
                   "another exit code")
        finally:
            evaluator.kill()
            evaluator.wait()


def late_reader(run):
    """Without a signal, a command waits for its reader and loses nothing."""
    run.train_to_end(*ALL, "--epochs", 60, "--keep-last", 100, "--save-every", "epoch")
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(
            [run.program, "evaluate", "--ckpt", run.store, "--once", "--json"],
            stdin=subprocess.DEVNULL, stdout=write) as evaluator:
        os.close(write)
        time.sleep(LATE_S)
        with os.fdopen(read) as lines:
            shown = lines.read().splitlines()
        expect_equal("exit code", evaluator.wait(SOON_S), 0)
    expect_equal("lines", len(shown), 60)


def cases_of(round_):
    def case(name, check):
        return f"{name}-{round_}", check

    for output in OUTPUTS:
        yield case(f"notice-{output}", notice(output))
        yield case(f"results-{output}", results(output))
    yield case("notice-with-unread-results", notice_with_unread_results)
    yield case("slow-reader", slow_reader)
    yield case("dead-worker", dead_worker)
    yield case("finished-run-that-deletes", finished_run_that_deletes)
    yield case("paused-launcher", paused_launcher)
    yield case("cluster-worker", cluster_worker)
    yield case("evaluator", evaluator)
    yield case("suite", suite)
    yield case("late-reader", late_reader)


def main():
    options = parser(__doc__, 1, "rounds of all cases").parse_args()
    cases = Cases(options)
    return cases.run_rounds(
        lambda run: run.train_to_end(*ALL, "--epochs", 2),
        cases_of)


if __name__ == "__main__":
    sys.exit(main())
