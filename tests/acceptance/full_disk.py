#!/usr/bin/env python3
"""Trains where there is no room: on disks, in files and among processes.

What is in memory is never trained again for a disk's sake, the exit code says
whether a later start may succeed, and a cause that no restart changes is told
at the first attempt.
"""

import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import time

from observed_training import DEADLINE_S, expect, expect_equal, run_checks

JOB = ("--preset", "tiny", "--replicas", "2", "--epochs", "2")
SMALL = (*JOB, "--workers", "2")
LATER = 75
USAGE = 2
FAILED = 1
TRIED_S = 31  # seconds of a last save's retries
AT_ONCE_S = 15
FEW_SECONDS_S = 6
FEW_BYTES = 8192  # less than a checkpoint of the preset


def gauntlet(run, *arguments, before=None, wrapper=()):
    """Runs a command to its end. Returns the result and the seconds it took."""
    began = time.monotonic()
    done = subprocess.run(
        [*wrapper, run.program, *map(str, arguments)], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False, preexec_fn=before)
    return done, time.monotonic() - began


def short_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FEW_BYTES, FEW_BYTES))


def expect_trained_once(done, seconds):
    """Expects a finished run without recomputed steps."""
    expect_equal(f"exit code ({done.stderr[-500:]})", done.returncode, LATER)
    outcome = json.loads(done.stdout)
    expect_equal("restarts", outcome["restarts"], 0)
    ends = re.findall(r"^epoch (\d)/2 .* val_accuracy ", done.stderr, re.M)
    expect_equal("epochs that ended", ends, ["1", "2"])
    expect("was not saved after 31 s of retries" in outcome["reason"],
           f"reason: {outcome['reason']}")
    expect(seconds >= TRIED_S, f"gave up after {seconds:.1f} s")


def a_limit_on_files_costs_no_step(run):
    done, seconds = gauntlet(run, "train", *SMALL, "--ckpt", "ckpt", "--json",
                             before=short_files)
    expect_trained_once(done, seconds)
    expect("ulimit -f" in done.stderr, done.stderr)


def async_saves_cost_no_retraining_either(run):
    done, seconds = gauntlet(run, "train", *SMALL, "--ckpt", "ckpt", "--json",
                             "--ckpt-mode", "async", "--restart", "rejoin",
                             before=short_files)
    expect_trained_once(done, seconds)


def a_worker_of_a_cluster_is_told_75(run):
    done, _ = gauntlet(run, "train", *JOB, "--ckpt", "ckpt", "--json",
                       before=short_files,
                       wrapper=("env", "RANK=0", "WORLD_SIZE=1",
                                "MASTER_ADDR=127.0.0.1", "MASTER_PORT=29555"))
    expect_equal(f"exit code ({done.stderr[-500:]})", done.returncode, LATER)
    expect("was not saved" in done.stderr, done.stderr)


def unmount(place):
    """Unmounts the disk within FEW_SECONDS_S. A killed process releases its
    memory, and with it its command line in /proc, before its files, so the
    program may end while that process still holds files open."""
    until = time.monotonic() + FEW_SECONDS_S
    while True:
        done = subprocess.run(["umount", str(place)], capture_output=True,
                              text=True, check=False)
        if done.returncode == 0:
            return
        expect("busy" in done.stderr and time.monotonic() < until, done.stderr)
        time.sleep(0.1)


@contextlib.contextmanager
def small_disk(run, size):
    """Mounts a file system of its own. Returns None if this user may not."""
    place = run.directory / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)],
        capture_output=True, check=False).returncode == 0
    try:
        yield place if mounted else None
    finally:
        if mounted:
            unmount(place)


def fill(place):
    with contextlib.suppress(OSError), open(place / "fill", "wb") as file:
        file.write(b"x" * (1 << 20))


def a_full_disk_is_told_at_the_first_attempt(run):
    with small_disk(run, "64k") as place:
        if place is None:
            return "skipped: needs root to mount a disk"
        (place / "ckpt").mkdir()
        fill(place)
        done, seconds = gauntlet(run, "train", *SMALL, "--ckpt",
                                 place / "ckpt", "--json")
        expect_equal(f"exit code ({done.stderr})", done.returncode, LATER)
        expect_equal("restarts", json.loads(done.stdout)["restarts"], 0)
        expect("No space left on device" in done.stderr, done.stderr)
        expect(seconds < AT_ONCE_S, f"took {seconds:.1f} s")
    return None


def a_model_that_has_room_is_enough(run):
    with small_disk(run, "16k") as place:
        if place is None:
            return "skipped: needs root to mount a disk"
        done, _ = gauntlet(run, "train", *SMALL, "--ckpt", place / "ckpt",
                           "--export", run.directory / "model", "--json")
        expect_equal(f"exit code ({done.stderr[-500:]})", done.returncode, 0)
        expect_equal("status", json.loads(done.stdout)["status"], "done")
        expect("the last checkpoint is missing" in done.stderr, done.stderr)
        expect((run.directory / "model" / "model.safetensors").exists(),
               "no model")
        expect("KiB, the file system of" in done.stderr, done.stderr)
    return None


def a_full_folder_of_runs_ends_the_run(run):
    names = ("one", "two")
    for name in names:
        (run.directory / f"{name}.yaml").write_text(
            f"schema: gauntlet/v2\nname: {name}\npreset: tiny\n"
            "job: {epochs: 2}\nexpect: {outcome: completes}\n")
    with small_disk(run, "64k") as place:
        if place is None:
            return "skipped: needs root to mount a disk"
        done, seconds = gauntlet(
            run, "run", *(f"{name}.yaml" for name in names), "--world", "real",
            "--runs", place / "runs")
        expect_equal(f"exit code ({done.stderr})", done.returncode, 3)
        expect(done.stderr.startswith(
            f"gauntlet run: no space left in {place}/runs/"), done.stderr)
        expect_equal("lines", done.stderr.count("\n"), 1)
        expect(" after 0 of 2 cases. Free space there " in done.stderr,
               done.stderr)
        expect(": 0 passed, 2 not run\n" in done.stdout, done.stdout)
        expect("INCONCLUSIVE" not in done.stdout, done.stdout)
        expect(seconds < AT_ONCE_S, f"took {seconds:.1f} s")
    return None


def a_result_without_room_leaves_the_exit_code(run):
    for name in ("one", "two"):
        (run.directory / f"{name}.yaml").write_text(
            f"schema: gauntlet/v2\nname: {name}\npreset: tiny\n"
            "job: {epochs: 2}\n"
            "faults: [{at: {step: 2}, do: crash}]\n"
            "expect: {outcome: completes}\n")
    command = ("run", "one.yaml", "two.yaml", "--world", "sim", "--runs")
    with small_disk(run, "4m") as place:
        if place is None:
            return "skipped: needs root to mount a disk"
        # The disk has room for the records, but not for the files of the whole
        # run.
        done, _ = gauntlet(run, *command, run.directory / "runs")
        of_the_run = ("result.json", "junit.xml", "report.html", "summary.md")
        room = sum(file.stat().st_blocks * 512
                   for file in (run.directory / "runs").rglob("*")
                   if file.is_file() and file.name not in of_the_run)
        with open(place / "fill", "wb") as file:
            file.write(b"x" * ((4 << 20) - room - (24 << 10)))
        done, _ = gauntlet(run, *command, place / "runs")
        expect_equal(f"exit code ({done.stderr})", done.returncode, FAILED)
        (folder,) = [one for one in (place / "runs").glob("2*") if one.is_dir()]
        expect_equal("has a report", (folder / "report.html").exists(),
                     f"{folder}/report.html" in done.stdout)
        expect(re.fullmatch(r"gauntlet run: run \S+ has no .*report\.html.*: "
                            r"No space left on device\. Its records are there: "
                            r"gauntlet judge \S+ --runs \S+ computes .*\n",
                            done.stderr), done.stderr)
        again, _ = gauntlet(run, "judge", folder.name, "--runs",
                            place / "runs")
        expect_equal(f"exit code of judge ({again.stderr})", again.returncode,
                     FAILED)
    return None


def limit_on_file_sizes_makes_a_case_inconclusive(run):
    (run.directory / "small.yaml").write_text(
        "schema: gauntlet/v2\nname: small\npreset: tiny\n"
        "job: {epochs: 2, replicas: 2}\ncluster: {workers: 2}\n"
        "checkpoint: {every: {steps: 5}}\nexpect: {outcome: completes}\n")
    done, seconds = gauntlet(run, "run", "small.yaml", "--world", "real",
                             before=short_files)
    expect_equal(f"exit code ({done.stderr})", done.returncode, 3)
    expect(" (ulimit -f), 8192 bytes, so its later contents are missing\n" in
           done.stdout, done.stdout)
    expect("  next      raise the limit on file sizes (ulimit -f) and repeat "
           "the run\n" in done.stdout, done.stdout)
    expect("\n  training " not in done.stdout, done.stdout)
    expect(seconds < AT_ONCE_S, f"took {seconds:.1f} s")
    report, _ = gauntlet(run, "report", "latest", "--html", "page.html",
                         before=short_files)
    expect_equal(f"exit code ({report.stderr})", report.returncode, 2)
    expect("ulimit -f" in report.stderr, report.stderr)
    expect_equal("files left", list(run.directory.glob("page.html*")), [])


# A scenario whose checkpoints do not fit on the disk. Smaller files do, as
# removed files free some space.
LARGE = """schema: gauntlet/v2
name: large
preset: dnn
cluster: {workers: 3}
checkpoint: {every: {steps: 10}}
expect: {outcome: completes}
"""


def a_checkpoint_without_room_ends_the_run(run):
    (run.directory / "large.yaml").write_text(LARGE)
    with small_disk(run, "1m") as place:
        if place is None:
            return "skipped: needs root to mount a disk"
        done, seconds = gauntlet(run, "run", "large.yaml", "--world", "real",
                                 "--runs", place / "runs")
        expect_equal(f"exit code ({done.stderr})", done.returncode, 3)
        expect(done.stderr.startswith("gauntlet run: no space left in "),
               done.stderr)
        expect(seconds < FEW_SECONDS_S, f"took {seconds:.1f} s")
    return None


def a_path_that_is_too_long_is_told_before_training(run):
    deep = run.directory
    while len(str(deep)) < 3990:
        deep = deep / ("d" * min(200, 3990 - len(str(deep))))
    done, seconds = gauntlet(run, "train", *SMALL, "--ckpt", deep)
    expect_equal(f"exit code ({done.stderr[-300:]})", done.returncode, USAGE)
    expect("expected a path of at most" in done.stderr, done.stderr[-300:])
    expect(seconds < AT_ONCE_S, f"took {seconds:.1f} s")


def no_loopback_is_told_at_the_first_attempt(run):
    apart = ("unshare", "-n")
    if subprocess.run([*apart, "true"], capture_output=True,
                      check=False).returncode != 0:
        return "skipped: needs root for a network of its own"
    done, seconds = gauntlet(run, "train", *SMALL, "--json", wrapper=apart)
    expect_equal(f"exit code ({done.stderr})", done.returncode, FAILED)
    expect_equal("restarts", json.loads(done.stdout)["restarts"], 0)
    expect("is the loopback interface up?" in done.stderr, done.stderr)
    expect(seconds < AT_ONCE_S, f"took {seconds:.1f} s")
    return None


def no_process_left_is_told_at_the_first_attempt(run):
    nobody = 65531
    if os.geteuid() != 0:
        return "skipped: needs root to be a user without processes"
    # Opens the path to the scratch directory, which is private to this user.
    for place in (run.directory, *run.directory.parents[:1]):
        place.chmod(0o777)

    def few_processes(most):
        def limit():
            os.setgroups([])
            os.setgid(nobody)
            os.setuid(nobody)
            resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
        return limit

    # The three limits stop, in turn, the launcher's output thread, the first
    # worker process, and a thread of the first worker.
    for most, has_result in ((1, False), (3, True), (5, True)):
        done, seconds = gauntlet(run, "train", *SMALL, "--json",
                                 before=few_processes(most))
        expect_equal(f"exit code ({done.stderr})", done.returncode, LATER)
        if has_result:
            expect_equal("restarts", json.loads(done.stdout)["restarts"], 0)
        expect("ulimit -u" in done.stderr, done.stderr)
        expect(seconds < AT_ONCE_S, f"took {seconds:.1f} s")
    return None


CHECKS = (
    a_limit_on_files_costs_no_step,
    async_saves_cost_no_retraining_either,
    a_worker_of_a_cluster_is_told_75,
    a_full_disk_is_told_at_the_first_attempt,
    a_model_that_has_room_is_enough,
    a_full_folder_of_runs_ends_the_run,
    a_result_without_room_leaves_the_exit_code,
    limit_on_file_sizes_makes_a_case_inconclusive,
    a_checkpoint_without_room_ends_the_run,
    a_path_that_is_too_long_is_told_before_training,
    no_loopback_is_told_at_the_first_attempt,
    no_process_left_is_told_at_the_first_attempt,
)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, CHECKS))
