#!/usr/bin/env python3
"""Runs `gauntlet bench checkpoint` with small trials, on purpose also wrongly.

A benchmark that ends, however it ends, leaves no process and no file of its
trials.
"""

import json
import os
import signal
import subprocess
import sys
import time

from observed_training import DEADLINE_S, expect, expect_equal, run_checks

TINY = ("bench", "checkpoint", "--state", "100kB", "--saves", "2")
SMALL = (*TINY, "--every", "2")
TRIALS = 6
USAGE = 2
LIMIT_BROKEN = 5
INTERRUPTED = 130
# Parts of every recovery, in this order.
PARTS = ("detect", "respawn", "join", "restore", "recompute")


def gauntlet(run, *arguments, code=0):
    done = subprocess.run(
        [run.program, *map(str, arguments)], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False)
    expect_equal(f"exit code of {arguments} ({done.stderr[-400:].strip()})",
                 done.returncode, code)
    return done


def expect_no_trials(run):
    left = [path for path in run.directory.rglob("gauntlet-trials-*")]
    expect_equal("folders of trials", left, [])
    run.expect_nothing_left()


def trials_of(result, mode):
    return [entry for entry in result["benchmarks"]
            if entry["run_type"] == "iteration" and entry["mode"] == mode]


def measures_two_workers_in_all_modes(run):
    gauntlet(run, *SMALL, "--workers", 2, "--out", "out")
    result = json.loads((run.directory / "out/result.json").read_text())
    expect("<!DOCTYPE html>" in (run.directory / "out/report.html").read_text(),
           "report.html is no page")
    modes = {entry["mode"] for entry in result["benchmarks"]
             if "mode" in entry}
    expect({"none", "sync", "async", "zero-copy"} <= modes, f"modes: {modes}")
    for mode in modes:
        trials = trials_of(result, mode)
        expect_equal(f"trials of {mode}", len(trials), TRIALS)
        for trial in trials:
            expect(trial["step"] > 0, f"{mode}: a step of no time")
            if mode == "none":
                expect("stall" not in trial, "none: a stall")
                continue
            expect(trial["stall"] > 0 and trial["durable"] > 0,
                   f"{mode}: a save of no time: {trial}")
            expect(trial["bytes"] > 90_000, f"{mode}: {trial['bytes']} bytes")
            total = sum(trial[part] for part in PARTS)
            expect(abs(total - trial["recovery"]) < 1e-9,
                   f"{mode}: parts of the recovery: {trial}")
            expect(0 < trial["recovery"] < 60, f"{mode}: {trial['recovery']}")
    expect_no_trials(run)


def compares_with_a_baseline(run):
    once = (*SMALL, "--modes", "sync")
    gauntlet(run, *once, "--out", "first", "--limit", "sync.recovery<=60s")
    text = gauntlet(run, *once, "--out", "second", "--baseline",
                    "first/result.json", "--limit", "sync.stall>=1h",
                    code=LIMIT_BROKEN)
    expect("baseline of 2" in text.stdout, text.stdout)
    expect("limit sync.stall>=1h: " in text.stderr, text.stderr)
    result = json.loads((run.directory / "first/result.json").read_text())
    text = gauntlet(run, *TINY, "--modes", "sync", "--every", 7, "--out",
                    "third", "--baseline", "first/result.json", "--limit",
                    "sync.stall<=1.1x", code=USAGE)
    expect("expected at least 6 trials of checkpoint/sync/" in text.stderr,
           text.stderr)
    text = gauntlet(run, *TINY, "--modes", "sync", "--every", 7, "--out",
                    "third", "--baseline", "first/result.json", code=USAGE)
    expect("expected a configuration that is measured now, such as checkpoint/"
           in text.stderr, text.stderr)
    result["context"]["cpu"] = "another"
    (run.directory / "other.json").write_text(json.dumps(result))
    text = gauntlet(run, *once, "--out", "third", "--baseline", "other.json",
                    code=USAGE)
    expect("--baseline: other.json: cpu: another in the baseline, "
           in text.stderr, text.stderr)
    expect_no_trials(run)


def measures_goodput_under_kills(run):
    gauntlet(run, *TINY, "--modes", "sync", "--every", 200, "--kills", 8,
             "--kill-every", "1s", "--out", "out")
    result = json.loads((run.directory / "out/result.json").read_text())
    goodput = [entry["goodput_run"] for entry in result["benchmarks"]
               if "goodput_run" in entry][0]
    expect(goodput["kills"] > 0, f"nobody was killed: {goodput}")
    expect(0 < goodput["measured"] < 1, f"{goodput}")
    expect(0 < goodput["expected"] < 1, f"{goodput}")


def the_next_benchmark_removes_what_a_killed_one_left(run):
    disk = run.directory / "disk"
    process = subprocess.Popen(
        [run.program, *SMALL, "--ckpt", disk, "--out", "killed"],
        cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + DEADLINE_S
    while not any(disk.glob("gauntlet-trials-*/*")):
        expect(time.monotonic() < deadline, "no trial has begun")
        time.sleep(0.01)
    process.kill()
    process.wait()
    gauntlet(run, *TINY, "--modes", "sync", "--every", 5, "--ckpt", "disk",
             "--out", "next")
    expect_no_trials(run)
    expect_equal("folders of trials", list(disk.iterdir()), [])


def interrupt(run, trial):
    """Interrupts a benchmark in trial number `trial`. Returns its errors.

    Trial 1 is the calibration; then each round has two trials.
    """
    process = subprocess.Popen(
        [run.program, *SMALL, "--modes", "sync", "--out", "out"],
        cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + DEADLINE_S
    seen = set()
    while len(seen) < trial:
        seen.update((run.directory / "out").glob("gauntlet-trials-*/*"))
        expect(time.monotonic() < deadline, f"trials: {len(seen)}")
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE_S)
    expect_equal("exit code", process.returncode, INTERRUPTED)
    expect("interrupted" in errors, errors)
    expect_no_trials(run)
    return errors


def an_interrupt_keeps_the_finished_trials(run):
    interrupt(run, 4)
    result = json.loads((run.directory / "out/result.json").read_text())
    expect_equal("interrupted", result["context"]["interrupted"], True)
    expect(trials_of(result, "sync"), "no finished trial")


def an_interrupt_before_a_trial_has_ended_leaves_nothing(run):
    errors = interrupt(run, 1)
    expect("before the first trial had ended: no figures\n" in errors, errors)
    expect(not (run.directory / "out").exists(), "a folder without figures")


def bad_calls_say_what_was_expected(run):
    (run.directory / "full").mkdir()
    (run.directory / "full/file").touch()
    for arguments, message in (
            (("--trials", 1), "--trials: expected a whole number from 6 to"),
            (("--state", "10"), "--state: expected a size from 100kB to 50GB"),
            (("--every", "0"), "--every: expected a number of steps"),
            (("--modes", "fast"), "--modes: expected some of none, sync, "),
            (("--limit", "speed<=3"), "--limit: expected a metric (step, "),
            (("--limit", "none.stall<=3%"), "expected a time such as 1.5ms"),
            (("--limit", "async.stall<=1ms", "--modes", "sync"),
             "--limit async.stall<=1ms: no mode async is measured"),
            (("--limit", "none.stall<=3ms"),
             "a run without checkpoints has no such figure"),
            (("--limit", "overhead<=3"), "expected a share such as 3%"),
            (("--limit", "stall<=2x"), "requires --baseline FILE"),
            (("--limit", "cost<=2x", "--baseline", "none.json"),
             "--limit cost<=2x: a difference, or the goodput of one run, has"),
            (("--limit", "stall<=1us", "--every", "never"),
             "--limit stall<=1us: no mode with checkpoints is measured"),
            (("--limit", "goodput>=90%"), "measured only with --kills"),
            (("--kill-every", "1s"), "--kill-every requires --kills N"),
            (("--baseline", "none.json"),
             "--baseline: none.json: No such file or directory; expected the "
             "result.json of gauntlet bench checkpoint"),
            (("--baseline", "full"),
             "--baseline: full: not a file; expected the result.json of "),
            (("--baseline", "full/file"), "found no JSON object"),
            (("--ckpt", "/proc"), "the trials need a folder in which they can "
             "write: choose another one with --ckpt DIR"),
            (("--out", "full"), "expected an empty folder, or none"),
            (("--workers", 64, "--state", "1.5GB", "--out", "out"),
             "the trials need")):
        done = gauntlet(run, "bench", "checkpoint", *arguments, code=USAGE)
        expect(message in done.stderr, f"{arguments}: {done.stderr}")
        expect_equal(f"lines of {arguments}",
                     len(done.stderr.strip().splitlines()), 1)
    expect("checkpoint or scale, found 'chekpoint'; did you mean checkpoint?"
           in gauntlet(run, "bench", "chekpoint", code=USAGE).stderr,
           "a mistyped subcommand")
    expect(not (run.directory / "out").exists(), "an empty folder is left")
    expect_no_trials(run)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__.splitlines()[0], (
        bad_calls_say_what_was_expected,
        measures_two_workers_in_all_modes,
        compares_with_a_baseline,
        measures_goodput_under_kills,
        the_next_benchmark_removes_what_a_killed_one_left,
        an_interrupt_keeps_the_finished_trials,
        an_interrupt_before_a_trial_has_ended_leaves_nothing)))
