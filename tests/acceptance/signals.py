#!/usr/bin/env python3
"""Asks a training run to stop, and stops it without asking.

A notice to the launcher or to any one worker saves and loses no step; a second
notice or the launcher's death ends the run at once; no process is ever left.
"""

import signal
import sys
import time

from observed_training import (Cases, STOPPED, expect, expect_equal, generator,
                               parser)

WORKERS = 4
AT_ONCE_S = 1.0


def command(options):
    return ["--preset", "tiny", "--replicas", WORKERS, "--workers", WORKERS,
            "--epochs", options.epochs, "--every", 5]


class Signals:
    def __init__(self, options):
        self.options = options
        self.clean = {}

    def train_undisturbed(self, run):
        self.clean = run.train_to_end(*command(self.options))
        run.expect_nothing_left()

    def notice(self, run, role, number, choice):
        """One notice: saved, and resumed from the step that it stopped at."""
        self._start_and_reach(run, choice)
        self._send(run, role, number)
        code = run.wait()
        outcome = run.outcome()
        expect_equal(f"exit code ({run.errors()[-300:].strip()})", code,
                     STOPPED)
        expect_equal("status", outcome["status"], "stopped")
        expect_equal("restarts", outcome["restarts"], 0)
        run.expect_nothing_left()
        run.expect_clean_store()
        expect_equal("newest checkpoint", run.newest_step(), outcome["steps"])
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"],
                     outcome["steps"])
        return f"stopped at step {outcome['steps']}"

    def notice_at_any_moment(self, run, number, choice):
        """Also while it starts or ends: stopped or done, nothing else."""
        run.start(*command(self.options))
        time.sleep(choice.uniform(0.0, 0.3))
        run.launcher.send_signal(number)
        code = run.wait()
        # By the signal itself as long as no handler is installed.
        expect(code in (STOPPED, -number, 0),
               f"expected exit code {STOPPED} or 0, found {code} "
               f"({run.errors()[-300:].strip()})")
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"exit code {code}, saved step {saved}"

    def second_notice(self, run, number, choice):
        """With a worker that cannot answer the first one."""
        self._start_and_reach(run, choice)
        self._send(run, f"worker {choice.randrange(WORKERS)}", signal.SIGSTOP)
        run.launcher.send_signal(number)
        time.sleep(0.3)
        expect(run.launcher.poll() is None,
               "ended with the first notice though a worker stands still")
        run.launcher.send_signal(number)
        code = run.wait(within_s=AT_ONCE_S)
        expect(code != 0, "expected another exit code than 0")
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"exit code {code}"

    def launcher_killed(self, run, choice):
        self._start_and_reach(run, choice)
        run.launcher.kill()
        expect_equal("exit code", run.wait(), -signal.SIGKILL)
        run.expect_nothing_left()
        saved = run.newest_step()
        resumed = self._resume(run)
        expect_equal("resumed_from", resumed["resumed_from"], saved)
        return f"resumed from step {saved}"

    def _start_and_reach(self, run, choice):
        """A random step of the first half."""
        step = choice.randrange(5, self.clean["steps"] // 2)
        run.start(*command(self.options))
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
    for worker in range(WORKERS):
        yield case(f"term-worker-{worker}", signals.notice,
                   f"worker {worker}", signal.SIGTERM)
    yield case("term-any-moment", signals.notice_at_any_moment, signal.SIGTERM)
    yield case("int-any-moment", signals.notice_at_any_moment, signal.SIGINT)
    yield case("term-twice", signals.second_notice, signal.SIGTERM)
    yield case("int-twice", signals.second_notice, signal.SIGINT)
    yield case("kill-launcher", signals.launcher_killed)


def main():
    arguments = parser(__doc__, 3, "rounds of all cases")
    arguments.add_argument("--epochs", type=int, default=30)
    options = arguments.parse_args()
    signals = Signals(options)
    return Cases(options).run_rounds(
        signals.train_undisturbed,
        lambda round_: cases_of(signals, round_, options))


if __name__ == "__main__":
    sys.exit(main())
