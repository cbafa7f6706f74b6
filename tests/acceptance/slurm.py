#!/usr/bin/env python3
"""`gauntlet train` under Slurm: srun, and the guide's batch script.

Final bits are those of `gauntlet train --workers 2`. A worker that is killed,
or a notice to the job, has it requeued by its script, and it goes on.
"""

import json
import os
import pathlib
import re
import sys
import tempfile
import time

from cluster_workers import (kill, pids_with, reach_step,
                             guide_block)
from observed_training import (Cases, DEADLINE_S, expect, expect_equal,
                               generator, parser)
from slurm_cluster import REQUEUE_EXIT, Slurm, why_not

SKIPPED = 77
WORKERS = 2
STATED = ["--preset", "tiny", "--replicas", "2", "--save-every", "5", "--epochs",
          "30"]


class UnderSlurm:
    def __init__(self, options, slurm):
        self.options = options
        self.slurm = slurm
        self.clean = {}

    def train_with_own_workers(self, run):
        self.clean = run.train_to_end(*STATED, "--workers", WORKERS)

    def step_of_srun(self, run):
        done = self.slurm.run("srun", "-n", WORKERS, run.program, "train",
                              *STATED, "--json", "--ckpt", run.store)
        expect_equal(f"exit code ({done.stderr[-300:]})", done.returncode, 0)
        expect_equal("digest", json.loads(done.stdout)["digest"],
                     self.clean["digest"])
        run.expect_clean_store()

    def batch_script_without_srun(self, run):
        script = run.directory / "job.sh"
        script.write_text(f"#!/bin/sh\n#SBATCH --ntasks=2\n{run.program} "
                          "train --explain-cluster\n")
        _, text = self._batch(run, script, lambda job: None)
        expect("SLURM_NTASKS=2 in the batch script itself" in text, text)

    def _batch(self, run, script, disturb):
        """Submits the script, calls `disturb` and waits for the job's end.
        Returns the job's facts and its output."""
        (run.directory / "bin").mkdir(exist_ok=True)
        (run.directory / "bin" / "gauntlet").symlink_to(run.program)
        path = f"{run.directory / 'bin'}:{os.environ['PATH']}"
        submitted = self.slurm.run(
            "sbatch", "--output=job.out", script, cwd=run.directory,
            variables={"PATH": path})
        match = re.search(r"batch job (\d+)", submitted.stdout)
        expect(match, f"sbatch: {submitted.stdout}{submitted.stderr}")
        job = match.group(1)
        disturb(job)
        facts = self._await_end(job)
        return facts, (run.directory / "job.out").read_text(errors="replace")

    def _await_end(self, job):
        give_up = time.monotonic() + DEADLINE_S
        while True:
            facts = self.slurm.job_facts(job)
            if facts.get("JobState") in ("COMPLETED", "FAILED", "CANCELLED",
                                         "NODE_FAIL", "TIMEOUT"):
                return facts
            expect(time.monotonic() < give_up,
                   f"job {job} did not end: {facts.get('JobState')}, "
                   f"{facts.get('Reason')}")
            time.sleep(0.2)

    def guide_script(self, run, disturb):
        self._train_to_end(run, guide_block("sh", "#SBATCH"), disturb)

    def slurm_requeues(self, run, disturb):
        """Slurm requeues by the exit code that the options name, without a
        script."""
        self._train_to_end(
            run, "#!/bin/sh\n#SBATCH --ntasks=2 --requeue "
                 "--open-mode=append\nexec srun gauntlet train "
                 f"{' '.join(STATED)} --ckpt ckpt --preempted-code "
                 f"{REQUEUE_EXIT}\n", disturb)

    def failure_for_good(self, run):
        """One worker fails permanently, while the other requests a restart."""
        script = run.directory / "job.sh"
        script.write_text(
            guide_block("sh", "#SBATCH").replace(
                "gauntlet train", "sh -c '[ $SLURM_PROCID = 0 ] || "
                "set -- \"$@\" --data none; exec gauntlet train "
                "--rendezvous-timeout 2 \"$@\"' sh"))
        facts, text = self._batch(run, script, lambda job: None)
        expect_equal(f"exit code ({text[-300:]})", facts["ExitCode"], "200:0")
        expect_equal("restarts", facts["Restarts"], "0")

    def _train_to_end(self, run, text, disturb):
        script = run.directory / "job.sh"
        script.write_text(text)
        store = run.directory / "ckpt"
        facts, text = self._batch(run, script,
                                  lambda job: disturb and disturb(job, store))
        expect_equal(f"state of the job ({text[-300:]})", facts["JobState"],
                     "COMPLETED")
        expect_equal("restarts", int(facts["Restarts"]), 1 if disturb else 0)
        expect(f"state {self.clean['digest']}" in text,
               f"expected state {self.clean['digest']} in {text[-300:]!r}")
        if disturb:
            expect("resumed from step" in text, text[-300:])

    def worker_is_killed(self, rank, choice):
        step = choice.randrange(5, self.clean["steps"] // 2)

        def disturb(job, store):
            reach_step(store, step, lambda: True)
            for pid, _ in self._tasks(job, rank):
                kill(pid)
        return disturb

    def notice(self, choice):
        step = choice.randrange(5, self.clean["steps"] // 2)

        def disturb(job, store):
            reach_step(store, step, lambda: True)
            # Signals the tasks of its steps, as a preemption does.
            self.slurm.run("scancel", "--signal=TERM", job)
        return disturb

    def _tasks(self, job, rank):
        found = []
        for pid, words in pids_with("SLURM_PROCID", rank):
            variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            if f"SLURM_JOB_ID={job}".encode() in variables.split(b"\0"):
                found.append((pid, words))
        return found


def cases_of(under, round_, options):
    yield "srun", under.step_of_srun
    yield "no-srun", under.batch_script_without_srun
    yield "guide", lambda run: under.guide_script(run, None)
    for rank in range(WORKERS):
        name = f"killed-{rank}"
        yield name, (lambda run, r=rank, c=generator(options, name, round_):
                     under.guide_script(run, under.worker_is_killed(r, c)))
    yield "notice", lambda run: under.guide_script(
        run, under.notice(generator(options, "notice", round_)))
    yield "slurm-requeues", lambda run: under.slurm_requeues(
        run, under.notice(generator(options, "slurm-requeues", round_)))
    yield "for-good", under.failure_for_good


def main():
    options = parser(__doc__, 1, "rounds of all cases").parse_args()
    reason = why_not()
    if reason is not None:
        print(f"skipped: {reason}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="gauntlet-slurm-") as directory, \
            Slurm(directory) as slurm:
        under = UnderSlurm(options, slurm)
        return Cases(options).run_rounds(
            under.train_with_own_workers,
            lambda round_: cases_of(under, round_, options))


if __name__ == "__main__":
    sys.exit(main())
