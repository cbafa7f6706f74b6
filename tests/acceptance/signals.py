#!/usr/bin/env python3
"""Asks a training run to stop, and stops it without asking.

A notice to the launcher or to any one worker saves and loses no step, repeated
or not; a second interrupt, as from a terminal, or the launcher's death ends the
run at once; no process is ever left.
"""

import pathlib
import signal
import sys
import time

from observed_training import (Cases, STOPPED, expect, expect_equal, generator,
                               parser)

WORKERS = 4
AT_ONCE_S = 1.0
INTERRUPTED = 130


def takes_or_holds(pid, number):
    """Returns True iff the process catches or blocks the signal, by /proc."""
    masks = {}
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("SigBlk", "SigCgt"):
            masks[name] = int(value, 16)
    return any(mask >> (number - 1) & 1 for mask in masks.values())


def command(options):
    return ["--preset", "tiny", "--replicas", WORKERS, "--workers", WORKERS,
            "--epochs", options.epochs, "--save-every", 5]


class Signals:
    def __init__(self, options):
        self.options = options
        self.clean = {}

    def train_undisturbed(self, run):
        self.clean = run.train_to_end(*command(self.options))
        run.expect_nothing_left()

    def notice(self, run, role, number, choice):
        """One notice: the run saves, and resumes from the step at which it
        stopped."""
        self._start_and_reach(run, choice)
        self._send(run, role, number)
        code = run.wait()
        outcome = run.outcome()
        expect_equal(f"exit code ({run.errors()[-300:].strip()})", code,
                     STOPPED)
        expect_equal("status", outcome["status"], "stopped")
        expect_equal("restarts", outcome["restarts"], 0)
        return self._expect_saved(run, outcome)

    def notice_by_signal(self, run, choice):
        """A notice by the signal that --notice-signal names."""
        self._start_and_reach(run, choice, "--notice-signal", "USR1")
        run.launcher.send_signal(signal.SIGUSR1)
        expect_equal("exit code", run.wait(), STOPPED)
        outcome = run.outcome()
        expect_equal("newest checkpoint", run.newest_step(), outcome["steps"])
        self._resume(run)
        return f"stopped at step {outcome['steps']}"

    def _expect_saved(self, run, outcome):
        """Expects a save of the step at which the run stopped, and resumes from
        it."""
        run.expect_nothing_left()
        run.expect_clean_store()
        expect_equal("newest checkpoint", run.newest_step(), outcome["steps"])
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"],
                     outcome["steps"])
        return f"stopped at step {outcome['steps']}"

    def notice_at_any_moment(self, run, number, choice):
        """A notice at any time, even during start or exit: the run stops or is
        done."""
        run.start(*command(self.options))
        time.sleep(choice.uniform(0.0, 0.3))
        run.launcher.send_signal(number)
        code = run.wait()
        # The signal itself ends the launcher only before main.
        expect(code in (STOPPED, -number, 0),
               f"expected exit code {STOPPED} or 0, found {code} "
               f"({run.errors()[-300:].strip()})")
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"exit code {code}, saved step {saved}"

    def notice_at_birth(self, run, choice):
        """A notice to a worker that has just started stays pending until it can
        act."""
        run.start(*command(self.options))
        worker = self._first_worker(run)
        sent = worker.signal(signal.SIGTERM)
        worker.close()
        expect(sent, "the worker was gone before it could be told")
        expect_equal(f"exit code ({run.errors()[-300:].strip()})", run.wait(),
                     STOPPED)
        outcome = run.outcome()
        expect_equal("restarts", outcome["restarts"], 0)
        return self._expect_saved(run, outcome)

    def notice_as_it_begins(self, run, choice):
        """A notice to the launcher once it catches or blocks the signal."""
        run.start(*command(self.options))
        while not takes_or_holds(run.launcher.pid, signal.SIGTERM):
            expect(run.launcher.poll() is None, run.errors()[-300:])
        run.launcher.send_signal(signal.SIGTERM)
        expect_equal(f"exit code ({run.errors()[-300:].strip()})", run.wait(),
                     STOPPED)
        outcome = run.outcome()
        return self._expect_saved(run, outcome)

    def _first_worker(self, run):
        """Returns the first child process of the launcher that appears."""
        while True:
            expect(run.launcher.poll() is None, run.errors()[-300:])
            there = run.processes()
            born = [process for process in there
                    if process.parent == run.launcher.pid]
            for process in there:
                if process not in born[:1]:
                    process.close()
            if born:
                return born[0]

    def second_interrupt(self, run, choice):
        """One worker is paused and cannot react to the first interrupt."""
        self._start_and_reach(run, choice)
        self._send(run, f"worker {choice.randrange(WORKERS)}", signal.SIGSTOP)
        run.launcher.send_signal(signal.SIGINT)
        time.sleep(0.3)
        run.launcher.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        expect(run.launcher.poll() is None,
               "ended with the first notice though a worker stands still")
        run.launcher.send_signal(signal.SIGINT)
        expect_equal("exit code", run.wait(within_s=AT_ONCE_S), INTERRUPTED)
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"resumed from step {saved}"

    def second_notice(self, run, role, choice):
        """Senders may repeat notices: still one saved step."""
        self._start_and_reach(run, choice)
        slow = f"worker {choice.randrange(WORKERS)}"
        self._send(run, slow, signal.SIGSTOP)
        for _ in range(3):
            self._send(run, role, signal.SIGTERM)
            time.sleep(0.05)
        expect(run.launcher.poll() is None,
               "ended with repeated notices though a worker stands still")
        self._send(run, slow, signal.SIGCONT)
        expect_equal("exit code", run.wait(), STOPPED)
        outcome = run.outcome()
        return self._expect_saved(run, outcome)

    def notice_in_a_pause(self, run, choice):
        """A notice while the launcher waits to restart a job."""
        self._start_and_reach(run, choice)
        self._send(run, f"worker {choice.randrange(WORKERS)}", signal.SIGKILL)
        time.sleep(choice.uniform(0.0, 0.15))
        run.launcher.send_signal(signal.SIGTERM)
        expect_equal("exit code", run.wait(), STOPPED)
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"saved step {saved}"

    def launcher_killed(self, run, choice):
        self._start_and_reach(run, choice)
        run.launcher.kill()
        expect_equal("exit code", run.wait(), -signal.SIGKILL)
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"resumed from step {saved}"

    def _start_and_reach(self, run, choice, *more):
        """Starts a run and waits for a random step of the first half."""
        step = choice.randrange(5, self.clean["steps"] // 2)
        run.start(*command(self.options), *more)
        while (run.newest_step() or 0) < step:
            expect(run.launcher.poll() is None,
                   f"ended before step {step}: {run.errors()[-300:]}")
            time.sleep(0.001)

    def _send(self, run, role, number):
        there = run.processes()
        receivers = [process for process in there if process.role == role]
        try:
            expect(len(receivers) == 1 and receivers[0].signal(number),
                   f"expected one {role}, found "
                   f"{[process.role for process in there]}")
        finally:
            for process in there:
                process.close()

    def _resume(self, run):
        outcome = run.train_to_end(*command(self.options))
        expect_equal("digest", outcome["digest"], self.clean["digest"])
        run.expect_nothing_left()
        run.expect_clean_store()
        return outcome


def cases_of(signals, round_, options):
    def case(name, method, *arguments):
        name = f"{name}-{round_}"
        return name, lambda run: method(run, *arguments,
                                        generator(options, name))

    yield case("term-launcher", signals.notice, "launcher", signal.SIGTERM)
    yield case("int-launcher", signals.notice, "launcher", signal.SIGINT)
    yield case("hup-launcher", signals.notice, "launcher", signal.SIGHUP)
    for worker in range(WORKERS):
        yield case(f"term-worker-{worker}", signals.notice,
                   f"worker {worker}", signal.SIGTERM)
    yield case("term-any-moment", signals.notice_at_any_moment, signal.SIGTERM)
    yield case("int-any-moment", signals.notice_at_any_moment, signal.SIGINT)
    yield case("term-thrice-launcher", signals.second_notice, "launcher")
    yield case("term-worker-at-birth", signals.notice_at_birth)
    yield case("term-launcher-as-it-begins", signals.notice_as_it_begins)
    yield case("usr1-launcher", signals.notice_by_signal)
    yield case("int-twice", signals.second_interrupt)
    yield case("term-in-a-pause", signals.notice_in_a_pause)
    yield case("kill-launcher", signals.launcher_killed)


def main():
    # Restores the default, however this test was started.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    arguments = parser(__doc__, 3, "rounds of all cases")
    arguments.add_argument("--epochs", type=int, default=30)
    options = arguments.parse_args()
    signals = Signals(options)
    return Cases(options).run_rounds(
        signals.train_undisturbed,
        lambda round_: cases_of(signals, round_, options))


if __name__ == "__main__":
    sys.exit(main())
