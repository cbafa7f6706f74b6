#!/usr/bin/env python3
"""`gauntlet train` under Open MPI's mpirun, as the guide to clusters has it.

Final bits are those of `gauntlet train --workers 2`; a worker that is killed
ends the job with a code that starts it again, and it goes on.
"""

import json
import os
import shutil
import signal
import subprocess
import sys

from cluster_workers import (LOST_WORKER, environment, kill, newest_step,
                             pids_with, reach_step, guide_block)
from observed_training import (Cases, DEADLINE_S, STOPPED, expect, expect_equal,
                               generator, parser)

SKIPPED = 77
WORKERS = 2
JOB = ["--no-progress", "--preset", "tiny", "--replicas", "2"]
EVERY = ["--save-every", "5"]
SHORT = ["--epochs", "30"]
LONG = ["--epochs", "100000"]
# By default mpirun refuses root, and more processes than cores.
PERMITTED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM":
             "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class UnderMpirun:
    def __init__(self, options):
        self.options = options
        self.clean = {}

    def train_with_own_workers(self, run):
        self.clean = run.train_to_end(*JOB, *EVERY, *SHORT, "--workers", WORKERS)

    def _pids(self, run, rank):
        return [pid for pid, words in pids_with("OMPI_COMM_WORLD_RANK", rank)
                if str(run.store).encode() in words]

    def _start(self, run, horizon, *before):
        self.out = open(run.directory / "out", "w+b")
        return subprocess.Popen(
            ["mpirun", *before, "-np", str(WORKERS), run.program, "train",
             *JOB, *EVERY, *horizon, "--json", "--ckpt", run.store],
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
        code, outcome = self._end(run, self._start(run, SHORT))
        expect_equal("exit code", code, 0)
        expect_equal("digest", outcome["digest"], self.clean["digest"])
        return outcome

    def same_bits(self, run):
        self._finish(run)
        run.expect_clean_store()

    def worker_is_killed(self, run, rank, choice):
        job = self._start(run, SHORT)
        step = choice.randrange(5, self.clean["steps"] // 2)
        reach_step(run.store, step, lambda: job.poll() is None)
        for pid in self._pids(run, rank):
            kill(pid)
        code, _ = self._end(run, job)
        # The code depends on which worker mpirun sees exit first.
        expect(code in (128 + signal.SIGKILL, LOST_WORKER),
               f"expected exit code 137 or {LOST_WORKER}, found {code}")
        outcome = self._finish(run)
        expect(outcome["resumed_from"] >= step,
               f"resumed from {outcome['resumed_from']}, not {step}")

    def _stop(self, run, job, choice, stop):
        """Stops a long run; another one resumes from there."""
        reach_step(run.store, choice.randrange(5, self.clean["steps"] // 2),
                   lambda: job.poll() is None)
        stop(job)
        code, outcome = self._end(run, job)
        expect(outcome is not None, "the chief was killed before its end")
        expect_equal("status", outcome["status"], "stopped")
        expect_equal("newest checkpoint", newest_step(run.store),
                     outcome["steps"])
        more = ["--steps", str(outcome["steps"] + 20)]
        resumed = self._end(run, self._start(run, more))[1]
        expect_equal("resumed_from", resumed["resumed_from"],
                     outcome["steps"])
        run.stored = False
        clean = run.train_to_end(*JOB, *more, "--workers", WORKERS)
        expect_equal("digest", resumed["digest"], clean["digest"])
        return code

    def notice_to_mpirun(self, run, choice):
        """mpirun passes SIGTERM on, and kills after the timeout."""
        job = self._start(run, LONG, "--mca", "odls_base_sigkill_timeout", "4")
        code = self._stop(run, job, choice, lambda it: it.terminate())
        expect(code != 0, "expected mpirun to end with an error")

    def notice_to_a_worker(self, run, choice):
        def stop(_):
            for pid in self._pids(run, 1):
                kill(pid, signal.SIGTERM)
        code = self._stop(run, self._start(run, LONG), choice, stop)
        expect_equal("exit code", code, STOPPED)

    def guide(self, run):
        """Runs the guide's loop, with the program found by name."""
        script = run.directory / "job.sh"
        script.write_text(guide_block("sh", "mpirun "))
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


def cases_of(under, round_, options):
    yield "same-bits", under.same_bits
    yield "guide", under.guide
    for rank in range(WORKERS):
        name = f"killed-{rank}"
        yield name, (lambda run, r=rank, c=generator(options, name, round_):
                     under.worker_is_killed(run, r, c))
    for method in (under.notice_to_mpirun, under.notice_to_a_worker):
        name = method.__name__.replace("_", "-")
        yield name, (lambda run, m=method, c=generator(options, name, round_):
                     m(run, c))


def main():
    options = parser(__doc__, 1, "rounds of all cases").parse_args()
    if shutil.which("mpirun") is None:
        print("skipped: no mpirun (Debian package openmpi-bin)")
        return SKIPPED
    under = UnderMpirun(options)
    return Cases(options).run_rounds(
        under.train_with_own_workers,
        lambda round_: cases_of(under, round_, options))


if __name__ == "__main__":
    sys.exit(main())
