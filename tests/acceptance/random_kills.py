#!/usr/bin/env python3
"""Kills random processes of a training run at random moments.

SIGKILL to the launcher or a worker, with no help from the harness: the run, or
the next one where the launcher died, must come to the digest of a clean run.
"""

import collections
import re
import signal
import sys
import time

from observed_training import (Cases, Failed, expect, expect_equal, generator,
                               parser)


def command(options):
    return ["--preset", "tiny", "--replicas", 4, "--workers", 4,
            "--epochs", options.epochs, "--save-every", 5]


class KilledRun:
    """One training run, over all the starts it takes."""

    def __init__(self, options, run, choice, clean):
        self.options = options
        self.run = run
        self.choice = choice
        self.clean = clean
        self.kills = []
        self.resumed = []
        self.at_rest = None  # newest checkpoint's step before this start

    def train(self):
        self.run.start(*command(self.options))
        for _ in range(self.options.kills_per_run):
            if not self._kill():
                break
        outcome = self._end()
        expect_equal("digest", outcome["digest"], self.clean["digest"])
        expect_equal("steps", outcome["steps"], self.clean["steps"])
        self.run.expect_nothing_left()
        self.run.expect_clean_store()
        return self._describe(outcome)

    def _await_random_moment(self):
        """Waits for a moment in the rendezvous or a step, at any speed of the
        machine."""
        if self.choice.random() < 0.2:
            moment = self.run.started_at + self.choice.uniform(0.0, 0.2)
            step = 0
        else:
            moment = 0.0
            step = self.choice.randrange(self.clean["steps"])
        while (time.monotonic() < moment or
               (self.run.newest_step() or 0) < step):
            if self.run.launcher.poll() is not None:
                return
            time.sleep(0.001)
        # Waits for a moment within the next steps and their save.
        time.sleep(self.choice.uniform(
            0.0, 5 * self.clean["seconds"] / self.clean["steps"]))

    def _kill(self):
        """Kills a random process. Returns False if none was left."""
        self._await_random_moment()
        there = self.run.processes()
        try:
            victim = self.choice.choice(there) if there else None
            if victim is None or not victim.signal(signal.SIGKILL):
                return False
            age = time.monotonic() - self.run.started_at
            self.kills.append(f"{victim.role} of start {self.run.starts} "
                              f"at {age:.3f} s")
            killed_launcher = victim.role == "launcher"
        finally:
            for process in there:
                process.close()
        if killed_launcher:
            self.run.wait()
            self._start_again()
        return True

    def _end(self):
        """Expects success: no kill is a reason to give up."""
        code = self.run.wait()
        expect(code == 0, f"start {self.run.starts} ended with {code}: "
               f"{self.run.errors()[-500:].strip()}")
        self._note_resumptions()
        outcome = self.run.outcome()
        expect_equal("status", outcome["status"], "done")
        return outcome

    def _start_again(self):
        # Waits in half of the cases only: in the others, processes of the last
        # start may still run, and must not disturb the next one.
        if self.choice.random() < 0.5:
            self.run.expect_nothing_left()
        self._note_resumptions()
        self.at_rest = self.run.newest_step()
        self.run.start(*command(self.options))

    def _note_resumptions(self):
        """Expects no attempt of this start to resume from an older step than
        the store's."""
        steps = [int(step) for step in re.findall(
            r"^resumed .*?: step (\d+)", self.run.errors(), re.MULTILINE)]
        self.resumed += [f"step {step}" for step in steps]
        for step in steps:
            expect(self.at_rest is None or step >= self.at_rest,
                   f"resumed step {step} though the store held step "
                   f"{self.at_rest}")

    def _describe(self, outcome):
        return (f"{'; '.join(self.kills) or 'ended before the kill'} | "
                f"{', '.join(self.resumed) or 'from the beginning'} | "
                f"{outcome['restarts']} restarts")


def main():
    arguments = parser(__doc__, 100, "kills")
    arguments.add_argument("--epochs", type=int, default=30)
    arguments.add_argument("--kills-per-run", type=int, default=1)
    options = arguments.parse_args()
    cases = Cases(options)
    clean = {}

    def train_undisturbed(run):
        clean.update(run.train_to_end(*command(options)))
        run.expect_nothing_left()
        run.expect_clean_store()
        return f"{clean['seconds']} s, {clean['digest']}"

    cases.run("clean", train_undisturbed)
    kills = 0
    roles = collections.Counter()
    index = 0
    while clean and kills < options.count and index < 3 * options.count:
        index += 1

        def check(run, index=index):
            nonlocal kills
            killed = KilledRun(options, run, generator(options, index), clean)
            try:
                return killed.train()
            except Failed as failure:
                raise Failed(f"{failure} | kills: {'; '.join(killed.kills)}"
                             ) from None
            finally:
                kills += len(killed.kills)
                roles.update(kill.split(" of ")[0] for kill in killed.kills)

        cases.run(f"run-{index:04}", check)
    print(f"{kills} kills: " + ", ".join(
        f"{role} {count}" for role, count in sorted(roles.items())))
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
