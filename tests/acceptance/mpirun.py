#!/usr/bin/env python3
"""`gauntlet train` under Open MPI's mpirun, as the README has it.

Final bits are those of `gauntlet train --workers 2`; a worker that is killed
ends the job with a code that starts it again, and it goes on.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

from cluster_workers import (LOST_WORKER, environment, kill, newest_step,
                             pids_with, reach_step, readme_block)
from observed_training import (Cases, DEADLINE_S, expect, expect_equal,
                               generator, parser)

SKIPPED = 77
WORKERS = 2
STATED = ["--no-progress", "--preset", "tiny", "--replicas", "2", "--every",
          "5", "--epochs", "30"]
# mpirun by itself refuses root, and more processes than cores.
PERMITTED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM":
             "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class UnderMpirun:
    def __init__(self, options):
        self.options = options
        self.clean = {}

    def train_with_own_workers(self, run):
        self.clean = run.train_to_end(*STATED, "--workers", WORKERS)

    def _start(self, run, *before):
        self.out = open(run.directory / "out", "w+b")
        return subprocess.Popen(
            ["mpirun", *before, "-np", str(WORKERS), run.program, "train",
             *STATED, "--json", "--ckpt", run.store],
            stdin=subprocess.DEVNULL, stdout=self.out,
            stderr=open(run.directory / "err", "wb"),
            env={**environment(), **PERMITTED})

    def _end(self, run, job):
        try:
            code = job.wait(DEADLINE_S)
        finally:
            job.kill()
        self.out.close()
        text = (run.directory / "out").read_text()
        return code, json.loads(text) if text else None

    def _finish(self, run):
        code, outcome = self._end(run, self._start(run))
        expect_equal("exit code", code, 0)
        expect_equal("digest", outcome["digest"], self.clean["digest"])
        return outcome

    def same_bits(self, run):
        self._finish(run)
        run.expect_clean_store()

    def worker_is_killed(self, run, rank, choice):
        job = self._start(run)
        step = choice.randrange(5, self.clean["steps"] // 2)
        reach_step(run.store, step, lambda: job.poll() is None)
        for pid, variables in pids_with("OMPI_COMM_WORLD_RANK", rank):
            if str(run.store).encode() in pathlib.Path(
                    f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                kill(pid)
        code, _ = self._end(run, job)
        # Whichever worker mpirun saw end first.
        expect(code in (128 + signal.SIGKILL, LOST_WORKER),
               f"expected exit code 137 or {LOST_WORKER}, found {code}")
        outcome = self._finish(run)
        expect(outcome["resumed_from"] >= step,
               f"resumed from {outcome['resumed_from']}, not {step}")

    def notice(self, run, choice):
        """mpirun passes SIGTERM on, and kills who is not gone after that
        time."""
        job = self._start(run, "--mca", "odls_base_sigkill_timeout", "30")
        reach_step(run.store, choice.randrange(5, self.clean["steps"] // 2),
                   lambda: job.poll() is None)
        job.terminate()
        code, outcome = self._end(run, job)
        expect(code != 0, "expected mpirun to end with an error")
        expect(outcome is not None, "the chief was killed before its end")
        expect_equal("status", outcome["status"], "stopped")
        expect_equal("newest checkpoint", newest_step(run.store),
                     outcome["steps"])
        expect_equal("resumed_from", self._finish(run)["resumed_from"],
                     outcome["steps"])

    def readme(self, run):
        """Its loop, with the program found by name."""
        script = run.directory / "job.sh"
        script.write_text(readme_block("sh", "mpirun "))
        (run.directory / "bin").mkdir()
        (run.directory / "bin" / "gauntlet").symlink_to(run.program)
        path = f"{run.directory / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", script], cwd=run.directory, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=DEADLINE_S, check=False,
            env={**environment(), **PERMITTED, "PATH": path})
        expect_equal(f"exit code ({done.stderr[-300:]})", done.returncode, 0)
        expect(self.clean["digest"] in done.stdout,
               f"expected digest {self.clean['digest']} in {done.stdout!r}")


def cases_of(under, options):
    yield "same-bits", under.same_bits
    yield "readme", under.readme
    for rank in range(WORKERS):
        name = f"killed-{rank}"
        yield name, (lambda run, r=rank, c=generator(options, name):
                     under.worker_is_killed(run, r, c))
    yield "notice", lambda run: under.notice(run, generator(options, "notice"))


def main():
    options = parser(__doc__, 1, "rounds of all cases").parse_args()
    if shutil.which("mpirun") is None:
        print("skipped: no mpirun (Debian package openmpi-bin)")
        return SKIPPED
    cases = Cases(options)
    under = UnderMpirun(options)
    cases.run("clean", under.train_with_own_workers)
    if cases.failed == 0:
        for _ in range(options.count):
            cases.run_all(cases_of(under, options))
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
