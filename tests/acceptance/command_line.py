"""The program as its user meets it: what one command says, leaves and returns.

Each case is a command line of a person, and what they may expect of it.
"""

import json
import os
import subprocess
import sys

from observed_training import (Cases, DEADLINE_S, expect, expect_equal, parser)

CRASH = """{"format": "gauntlet-plan-v1", "seed": 1, "bugs": [], "faults": [
  {"id": "crash", "at": {"worker": 0, "life": 1, "step": 5,
                         "point": "step.end"}, "do": "crash"}]}"""
# Of each life: what keeps it from happening again is that it was noted.
CRASH_OF_ANY_LIFE = CRASH.replace('"life": 1', '"life": "any"')
SMALL = ("--epochs", "1", "--replicas", "2", "--every", "4")


def gauntlet(run, *arguments, environment=None):
    """Ends by itself; standard output and error as text."""
    return subprocess.run(
        [run.program, *map(str, arguments)], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False,
        env={**os.environ, **(environment or {})})


def expect_lines(what, text, count):
    expect_equal(f"lines of {what} ({text!r})", len(text.splitlines()), count)


def plan_injects_in_each_run(run):
    """The same plan again, and nothing is left beside it."""
    plans = run.directory / "plans"
    temporary = run.directory / "tmp"
    plans.mkdir()
    temporary.mkdir()
    (plans / "p.json").write_text(CRASH_OF_ANY_LIFE)
    for attempt in (1, 2):
        done = gauntlet(run, "train", *SMALL, "--ckpt", f"ckpt-{attempt}",
                        "--plan", plans / "p.json", "--json", "--no-progress",
                        environment={"TMPDIR": str(temporary)})
        expect_equal(f"exit code of run {attempt} ({done.stderr})",
                     done.returncode, 0)
        expect_equal(f"restarts of run {attempt}",
                     json.loads(done.stdout)["restarts"], 1)
        expect_equal("files beside the plan", os.listdir(plans), ["p.json"])
        expect_equal("temporary files", os.listdir(temporary), [])


def plan_state_is_kept_where_told(run):
    """Two runs that share it are one to the plan."""
    (run.directory / "p.json").write_text(CRASH_OF_ANY_LIFE)
    for attempt, restarts in ((1, 1), (2, 0)):
        done = gauntlet(run, "train", *SMALL, "--ckpt", f"ckpt-{attempt}",
                        "--plan", "p.json", "--plan-state", "fired",
                        "--json", "--no-progress")
        expect_equal(f"restarts of run {attempt} ({done.stderr})",
                     json.loads(done.stdout)["restarts"], restarts)


def plan_on_a_cluster_names_its_state(run):
    """No launcher of ours, so nobody else can say what one run is."""
    (run.directory / "p.json").write_text(CRASH)
    done = gauntlet(run, "train", "--plan", "p.json",
                    environment={"RANK": "0", "WORLD_SIZE": "2",
                                 "MASTER_ADDR": "127.0.0.1",
                                 "MASTER_PORT": "1"})
    expect_equal(f"exit code ({done.stderr})", done.returncode, 2)
    expect("--plan-state DIR" in done.stderr, done.stderr)
    expect_lines("standard error", done.stderr, 1)


CHECKS = (
    plan_injects_in_each_run,
    plan_state_is_kept_where_told,
    plan_on_a_cluster_names_its_state,
)


def main():
    options = parser(__doc__, 1, "not used").parse_args()
    cases = Cases(options)
    cases.run_all([(check.__name__.replace("_", "-"), check)
                   for check in CHECKS])
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
