"""The program as its user meets it: what one command says, leaves and returns.

Each case is a command line of a person, and what they may expect of it.
"""

import fcntl
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import time

from observed_training import DEADLINE_S, expect, expect_equal, run_checks
from waiting_scenarios import waiting_scenario, write_scenarios

CRASH = """{"format": "gauntlet-plan-v3", "seed": 1, "bugs": [], "faults": [
  {"id": "crash", "at": {"worker": 0, "incarnation": 1, "step": 5,
                         "point": "step.end"}, "do": "crash"}]}"""
# Matches every incarnation: the crash repeats unless its first occurrence is
# recorded.
CRASH_OF_ANY_INCARNATION = CRASH.replace('"incarnation": 1',
                                         '"incarnation": "any"')
SMALL = ("--epochs", "1", "--replicas", "2", "--save-every", "4")
SOON_S = 10  # about a second on an idle machine


def gauntlet(run, *arguments, environment=None):
    """Runs a command to its end. Returns standard output and error as text."""
    return subprocess.run(
        [run.program, *map(str, arguments)], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False,
        env={**os.environ, **(environment or {})})


def wait_until(what, happened):
    deadline = time.monotonic() + DEADLINE_S
    while not happened():
        expect(time.monotonic() < deadline, f"{what} did not happen")
        time.sleep(0.02)


def expect_lines(what, text, count):
    expect_equal(f"lines of {what} ({text!r})", len(text.splitlines()), count)


def plan_injects_in_each_run(run):
    """Each run injects the same plan again, and leaves no file next to it."""
    plans = run.directory / "plans"
    temporary = run.directory / "tmp"
    plans.mkdir()
    temporary.mkdir()
    (plans / "p.json").write_text(CRASH_OF_ANY_INCARNATION)
    for attempt in (1, 2):
        done = gauntlet(run, "train", *SMALL, "--ckpt", f"ckpt-{attempt}",
                        "--plan", plans / "p.json", "--json", "--no-progress",
                        environment={"TMPDIR": str(temporary)})
        expect_equal(f"exit code of run {attempt} ({done.stderr})",
                     done.returncode, 0)
        expect_equal(f"restarts of run {attempt}",
                     json.loads(done.stdout)["restarts"], 1)
        expect_equal("files next to the plan", os.listdir(plans), ["p.json"])
        expect_equal("temporary files", os.listdir(temporary), [])


def plan_state_is_kept_where_configured(run):
    """A plan injects its faults once in two runs that share --plan-state."""
    (run.directory / "p.json").write_text(CRASH_OF_ANY_INCARNATION)
    for attempt, restarts in ((1, 1), (2, 0)):
        done = gauntlet(run, "train", *SMALL, "--ckpt", f"ckpt-{attempt}",
                        "--plan", "p.json", "--plan-state", "fired",
                        "--json", "--no-progress")
        expect_equal(f"restarts of run {attempt} ({done.stderr})",
                     json.loads(done.stdout)["restarts"], restarts)


def a_plan_that_cannot_be_read_is_said_once(run):
    """Prints one error line, not one per worker, and creates no file."""
    (run.directory / "p.json").write_text("{}")
    says_one_line(run, 2, "--plan: p.json: plan: format: expected "
                  "gauntlet-plan-v3", "train", *SMALL, "--workers", 2,
                  "--ckpt", "ckpt", "--plan", "p.json")
    (run.directory / "p.json").write_text(
        CRASH.replace('"do": "crash"', '"do": "power_loss"'))
    says_one_line(run, 2, "--plan: p.json: fault crash: power_loss is for the "
                  "simulated world only", "train", *SMALL, "--ckpt", "ckpt",
                  "--plan", "p.json")
    says_one_line(run, 2, "--plan: none.json: open: No such file", "train",
                  *SMALL, "--ckpt", "ckpt", "--plan", "none.json")
    expect_equal("what is there", os.listdir(run.directory), ["p.json"])


def a_mistyped_name_gets_a_suggestion(run):
    says_one_line(run, 2, "found 'bugs'; did you mean planted-bugs?", "list",
                  "bugs")
    says_one_line(run, 2, "found 'crahs'; did you mean crash?", "explore",
                  "--kinds", "crahs")
    for verb in ("ls", "verify"):
        says_one_line(run, 2, "x: no such file or folder", "ckpt", verb, "x")
    says_one_line(run, 2, "x: no such file or folder", "ckpt", "diff", "x", "y")
    (run.directory / "base.yaml").write_text("")
    says_one_line(run, 2, "bse.yaml: no such scenario file; "
                  "did you mean base.yaml?", "explore", "bse.yaml")
    says_one_line(run, 2, "--job: bse.yaml: expected a YAML file of job "
                  "settings, found nothing; did you mean base.yaml?", "train",
                  "--job", "bse.yaml")
    says_one_line(run, 2, "gauntlet launch: --options: none.json: expected a "
                  "JSON file of options, found nothing", "launch", "--options",
                  "none.json")
    says_one_line(run, 2, "gauntlet upgrade: bse.yaml: no such scenario file; "
                  "did you mean base.yaml?", "upgrade", "bse.yaml")


def a_fault_that_never_fires_is_said(run):
    """A run warns of such a fault, unless --plan-state lets a later run reach
    it."""
    (run.directory / "p.json").write_text(
        CRASH.replace('"step": 5', '"step": 900'))
    train = ("train", *SMALL, "--ckpt", "ckpt", "--no-progress", "--plan",
             "p.json")
    done = gauntlet(run, *train)
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    expect("--plan: fault crash never fired\n" in done.stderr, done.stderr)
    done = gauntlet(run, *train, "--plan-state", "fired")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    expect("never fired" not in done.stderr, done.stderr)


def trace_that_cannot_be_written_is_exit_3(run):
    """Training itself completes, and its result is printed."""
    done = gauntlet(run, "train", *SMALL[:4], "--no-progress", "--json",
                    "--trace", "/dev/full")
    expect_equal("exit code", done.returncode, 3)
    expect_equal("status", json.loads(done.stdout)["status"], "done")
    expect_equal("standard error", done.stderr.splitlines()[-1],
                 "gauntlet train: --trace: /dev/full: cannot be written: No "
                 "space left on device; training itself is complete")


def plan_on_a_cluster_names_its_state(run):
    """Without Gauntlet's launcher, only --plan-state tells what one run is."""
    (run.directory / "p.json").write_text(CRASH)
    done = gauntlet(run, "train", "--plan", "p.json",
                    environment={"RANK": "0", "WORLD_SIZE": "2",
                                 "MASTER_ADDR": "127.0.0.1",
                                 "MASTER_PORT": "1"})
    expect_equal(f"exit code ({done.stderr})", done.returncode, 2)
    expect("--plan-state DIR" in done.stderr, done.stderr)
    expect_lines("standard error", done.stderr, 1)


def says_one_line(run, code, line, *arguments, environment=None):
    done = gauntlet(run, *arguments, environment=environment)
    expect_equal(f"exit code of {arguments} ({done.stderr})",
                 done.returncode, code)
    expect_lines(f"standard error of {arguments}", done.stderr, 1)
    expect(line in done.stderr, f"expected {line!r}, found {done.stderr!r}")


def workers_and_a_cluster_are_one_too_many(run):
    """Otherwise each process of the cluster would start --workers workers."""
    torchrun = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": "1"}
    says_one_line(run, 2, "--workers 2 starts workers here, and RANK=0",
                  "train", "--workers", 2, environment=torchrun)
    done = gauntlet(run, "train", *SMALL[:4], "--workers", 2, "--cluster",
                    "none", "--no-progress", environment=torchrun)
    expect_equal(f"exit code with --cluster none ({done.stderr})",
                 done.returncode, 0)


def scenarios_are_listed_from_here(run):
    says_one_line(run, 2, "no folder ./scenarios here", "list", "scenarios")
    (run.directory / "empty").mkdir()
    says_one_line(run, 4, "no scenario in empty", "list", "scenarios", "empty")


def idx_files(folder):
    """Writes images of 4 x 3 pixels, all of them grey."""
    folder.mkdir()
    for part, rows in (("train", 64), ("t10k", 16)):
        head = b"".join(n.to_bytes(4, "big") for n in (0x803, rows, 4, 3))
        (folder / f"{part}-images-idx3-ubyte").write_bytes(
            head + bytes(range(12)) * rows)
        head = b"".join(n.to_bytes(4, "big") for n in (0x801, rows))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(
            head + bytes(row % 10 for row in range(rows)))


def an_export_says_that_it_needs_the_data(run):
    """The shape of images in files is known from the files only."""
    idx_files(run.directory / "data")
    done = gauntlet(run, "train", *SMALL[:4], "--data", "data", "--batch", 8,
                    "--ckpt", "ckpt", "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    (run.directory / "data").rename(run.directory / "moved")
    says_one_line(run, 2, "(--data DIR)", "ckpt", "export", "ckpt", "model")
    says_one_line(run, 2, "data", "ckpt", "predict", "ckpt")
    done = gauntlet(run, "ckpt", "export", "ckpt", "model", "--data", "moved")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    model = json.loads((run.directory / "model" / "model.json").read_text())
    expect_equal("input", [model["input"][key] for key in
                           ("height", "width", "channels")], [4, 3, 1])


def an_export_goes_to_a_place_with_a_name(run):
    done = gauntlet(run, "train", *SMALL, "--ckpt", "ckpt", "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    before = sorted(os.listdir(run.directory))
    says_one_line(run, 2, "ckpt export: DIR: expected a value, found ''",
                  "ckpt", "export", "ckpt", "")
    expect_equal("what is there", sorted(os.listdir(run.directory)), before)


def a_damaged_export_begins_nothing(run):
    done = gauntlet(run, "train", *SMALL[:4], "--export", "model",
                    "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    begin = ("train", *SMALL[:4], "--no-progress", "--init-from", "model")
    done = gauntlet(run, *begin)
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    weights = run.directory / "model" / "model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    says_one_line(run, 2, "model/model.json: weights_digest: expected", *begin)


def a_damaged_checkpoint_is_exit_7(run):
    """Every command that reads the checkpoint reports the damage."""
    done = gauntlet(run, "train", *SMALL, "--ckpt", "ckpt", "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    for checkpoint in (run.directory / "ckpt").glob("step-*"):
        (checkpoint / "MANIFEST.json").write_bytes(b"")
        one = checkpoint
    for arguments in (("export", "ckpt", "out"), ("export", one, "out"),
                      ("predict", one), ("diff", one, one), ("verify", one),
                      ("verify", "ckpt")):
        done = gauntlet(run, "ckpt", *arguments)
        expect_equal(f"exit code of ckpt {arguments} ({done.stderr})",
                     done.returncode, 7)
    expect_equal("exit code of train",
                 gauntlet(run, "train", *SMALL, "--ckpt", "ckpt",
                          "--no-progress").returncode, 7)


def the_folder_of_the_data_is_there(run):
    says_one_line(run, 2, "the job's data: none: expected a folder, found none",
                  "train", *SMALL, "--ckpt", "ckpt", "--data", "npy:none")
    says_one_line(run, 2, "expected a folder, found none (--data DIR); "
                  "expected one of idx:, cifar10:, npy: before the folder, "
                  "found 'nope:'", "train", *SMALL, "--ckpt", "ckpt", "--data",
                  "nope:x")


def a_store_is_a_directory(run):
    (run.directory / "file").write_text("")
    says_one_line(run, 2, "--ckpt: file: ", "train", *SMALL, "--ckpt", "file")
    says_one_line(run, 2, "--ckpt: /proc/none: mkdir: ", "train", *SMALL,
                  "--ckpt", "/proc/none")


def what_cannot_be_written_is_said_before_anything_runs(run):
    """Uses a read-only mount, as file permissions do not restrict root."""
    (run.directory / "kept").mkdir()
    script = ('mount --bind kept kept && mount -o remount,bind,ro kept && '
              'exec "$@"')

    def mounted(*command):
        return subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", *command],
            cwd=run.directory, text=True, stdin=subprocess.DEVNULL,
            capture_output=True, check=False, timeout=DEADLINE_S)

    if mounted("true").returncode != 0:
        print("  not shown: nothing can be mounted here")
        return
    for option in ("--ckpt", "--events", "--logs"):
        done = mounted(run.program, "train", "--epochs", "1", "--no-progress",
                       option, "kept")
        expect_equal(f"exit code with {option} ({done.stderr})",
                     done.returncode, 2)
        expect_equal(f"standard error with {option}", done.stderr,
                     f"gauntlet train: {option}: kept: "
                     "Read-only file system\n")


def an_exploration_ends_at_once_on_a_signal(run):
    """A signal interrupts even a long base run, in every mode."""
    (run.directory / "long.yaml").write_text(
        "schema: gauntlet/v2\nname: long\npreset: tiny\n"
        "job: {epochs: 1000000}\ncheckpoint: {every: {epochs: 1000}}\n"
        "timeout: {total: 24h}\nexpect: {outcome: completes}\n")
    for mode in ("random", "sweep", "crash-states"):
        exploration = subprocess.Popen(
            [run.program, "explore", "long.yaml", "--mode", mode],
            cwd=run.directory, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            line = exploration.stderr.readline()
            expect("still running the base without faults" in line, line)
            exploration.send_signal(signal.SIGTERM)
            _, errors = exploration.communicate(timeout=DEADLINE_S)
        finally:
            exploration.kill()
        expect_equal(f"exit code of mode {mode} ({errors})",
                     exploration.returncode, 130)
        expect(errors.endswith("gauntlet explore: interrupted\n"), errors)


def an_interrupted_exploration_says_how_to_resume(run):
    """Until the interrupt, its progress line fits the terminal."""
    columns = 60
    terminal, errors = os.openpty()
    fcntl.ioctl(errors, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    exploration = subprocess.Popen(
        [run.program, "explore", "--mode", "random", "--time", "900s"],
        cwd=run.directory, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=errors,
        env={**os.environ, "TERM": "xterm"})
    os.close(errors)
    shown = b""
    try:
        while b" left" not in shown:
            shown += os.read(terminal, 4096)
        exploration.send_signal(signal.SIGINT)
        output, _ = exploration.communicate(timeout=DEADLINE_S)
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the terminal's other end is closed
                break
    finally:
        exploration.kill()
        os.close(terminal)
    text = shown.decode().replace("\r\n", "\n")
    expect_equal(f"exit code ({text})", exploration.returncode, 130)
    expect("\ninterrupted. " in output, output)
    lines = text.split("\r\x1b[K")
    expect_equal(f"lines that do not fit in {text}",
                 [one for one in lines[1:-1] if len(one) >= columns], [])
    match = re.fullmatch(
        r"gauntlet explore: stopping, keeping the findings so far; Ctrl-C "
        r"again ends at once\n"
        r"gauntlet explore: interrupted after [0-9,]+ cases?: nothing was "
        r"found, report in (\S+); resume with: gauntlet (explore .* "
        r"--first-case [0-9]+) --time \S+\n", lines[-1])
    expect(match, text)
    expect((run.directory / match[1]).is_file(), match[1])
    resumed = gauntlet(run, *match[2].split(), "--cases", "3")
    expect_equal(f"exit code of {match[2]} ({resumed.stderr})",
                 resumed.returncode in (0, 3), True)


def an_exploration_of_crash_states_ends_soon(run):
    """A turn of the crash-state search ends on an interrupt, too."""
    exploration = subprocess.Popen(
        [run.program, "explore", "--time", "900s"], cwd=run.directory,
        stdin=subprocess.DEVNULL, text=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE)
    try:
        while "crash states " not in (line := exploration.stderr.readline()):
            expect(line, "the exploration ended")
        began = time.monotonic()
        exploration.send_signal(signal.SIGINT)
        _, errors = exploration.communicate(timeout=DEADLINE_S)
        seconds = time.monotonic() - began
    finally:
        exploration.kill()
    expect_equal(f"exit code ({errors})", exploration.returncode, 130)
    expect("gauntlet explore: stopping, " in errors, errors)
    expect("gauntlet explore: interrupted after " in errors, errors)
    expect(seconds < SOON_S, f"took {seconds:.1f} s")


def what_one_world_recorded_is_replayed_in_the_other(run):
    (run.directory / "one.yaml").write_text(
        "schema: gauntlet/v2\nname: one\npreset: tiny\n"
        "job: {epochs: 1, replicas: 1}\ncluster: {workers: 1}\n"
        "faults: [{at: {step: 2}, do: crash}]\n"
        "expect: {outcome: recovers}\n")
    done = gauntlet(run, "run", "one.yaml", "--world", "sim")
    expect_equal(f"exit code of run ({done.stdout})", done.returncode, 0)
    for case in ("latest", "latest/one", "latest/one.sim"):
        done = gauntlet(run, "replay", case, "--world", "real")
        expect_equal(f"exit code of {case} ({done.stderr})", done.returncode, 0)
        expect(done.stdout.startswith("one (real): 1 fault, "), done.stdout)
        expect(" events recorded in the other world\nreproduced: " in
               done.stdout, done.stdout)


def memory_that_runs_out_is_said(run):
    """Skipped with sanitizers, which reserve more memory than any limit."""
    def limited(limit, *arguments):
        return subprocess.run(
            [run.program, *arguments], cwd=run.directory, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=DEADLINE_S, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_AS, (limit, limit)))

    if limited(1 << 26, "help").returncode != 0:
        print("  not shown: the program does not start under a limit")
        return
    done = limited(1 << 27, "train", "--preset", "cnn-short", "--batch", "4096",
                   "--max-restarts", "0", "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 75)
    expect("gauntlet: out of memory\n" in done.stderr, done.stderr)
    expect("the disk or memory failed" in done.stderr, done.stderr)
    (run.directory / "small.yaml").write_text(
        "schema: gauntlet/v2\nname: small\npreset: tiny\n"
        "job: {epochs: 1}\nexpect: {outcome: completes}\n")
    # Finds the largest limit that fails, as the memory needed differs between
    # machines.
    for most, arguments in ((256, ("run", "small.yaml", "--world", "real")),
                            (128, ("explore", "--cases", "60"))):
        for limit in range(most, 40, -4):
            done = limited(limit << 20, *arguments)
            if done.returncode != 0:
                break
        output = done.stdout + done.stderr
        expect_equal(f"exit code under {limit} MiB ({output})",
                     done.returncode, 3)
        expect("gauntlet: out of " in output or
               "tcmalloc: allocation failed" in output, output)


def closed_streams_stay_closed(run):
    """Files opened later do not take the descriptors of closed streams."""
    def closed(which, *arguments):
        return subprocess.run(
            ["sh", "-c", f'"$@" {which}', "-", run.program,
             *map(str, arguments)], cwd=run.directory, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=DEADLINE_S)

    for which in ("2>&-", "<&- 2>&-"):
        done = closed(which, "train", *SMALL, "--ckpt", "ckpt" + which[0],
                      "--workers", 2, "--json")
        expect_equal(f"exit code with {which}", done.returncode, 0)
        expect_equal("status", json.loads(done.stdout)["status"], "done")
    # A finished run must not be restarted because its output was lost.
    for code, command in ((0, ("train", *SMALL[:4], "--no-progress")),
                          (3, ("help", "exit-codes"))):
        done = closed(">&-", *command)
        expect_equal(f"exit code ({done.stderr})", done.returncode, code)
        expect("cannot write to standard output" in done.stderr, done.stderr)
    # A worse exit code takes precedence.
    (run.directory / "wrong.yaml").write_text(
        "schema: gauntlet/v2\nname: wrong\npreset: tiny\n"
        "expect: {outcome: completes, exit_code: 9}\n")
    done = closed(">&-", "run", "wrong.yaml", "--world", "sim")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 1)


def who_does_not_restart_says_start_again(run):
    """Exits with 75, as in a cluster: a scheduler may start the job again."""
    (run.directory / "p.json").write_text(CRASH_OF_ANY_INCARNATION)
    for never in (("--restart", "none"), ("--max-restarts", 0)):
        done = gauntlet(run, "train", *SMALL[:4], *never, "--plan", "p.json",
                        "--no-progress")
        expect_equal(f"exit code of {never} ({done.stderr})",
                     done.returncode, 75)


def a_store_in_use_is_for_later(run):
    (run.directory / "ckpt").mkdir()
    with open(run.directory / "ckpt" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = gauntlet(run, "train", *SMALL, "--ckpt", "ckpt",
                        "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 75)
    expect("in use by another run" in done.stderr, done.stderr)


def print_cluster_refuses_what_train_refuses(run):
    torchrun = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": "1"}
    says_one_line(run, 2, "--workers 2 starts workers here", "train",
                  "--workers", 2, "--explain-cluster", environment=torchrun)


def a_diff_is_of_two_checkpoints(run):
    done = gauntlet(run, "train", *SMALL, "--ckpt", "ckpt", "--no-progress")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    says_one_line(run, 2, "expected a checkpoint, found a store; name one, "
                  "such as ckpt/step-", "ckpt", "diff", "ckpt", "ckpt")


def an_empty_store_is_sound(run):
    (run.directory / "ckpt").mkdir()
    (run.directory / "ckpt" / "gen-000001").write_text("")
    done = gauntlet(run, "ckpt", "verify", "ckpt")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    expect("a run starts from scratch" in done.stdout, done.stdout)


def an_interrupted_run_of_scenarios_is_not_whole(run):
    """Unfinished cases have the verdict NOT RUN; --last-failed runs them."""
    scenarios = write_scenarios(run, {"first": "90s", "second": "1ms"})
    run_all = ("run", "scenarios", "--world", "real")
    interrupted = subprocess.Popen(
        [run.program, *run_all, "--json"], cwd=run.directory,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    wait_until("a step", lambda: any(
        '"step"' in events.read_text()
        for events in run.directory.glob(
            ".gauntlet/runs/*/first.real/events/*")))
    interrupted.terminate()
    # The interrupted run does not wait for the worker that is held up.
    output, errors = interrupted.communicate(timeout=45)
    expect_equal(f"exit code ({errors})", interrupted.returncode, 130)
    result = json.loads(output)
    expect_equal("reasons", [one["reason"] for one in result["cases"]],
                 ["interrupted before it was over"] * 2)
    expect_equal("cases that were not run", result["counts"]["not_run"], 2)
    expect_equal("verdicts", [one["verdict"] for one in result["cases"]],
                 ["NOT RUN"] * 2)
    junit = (run.directory / ".gauntlet/runs/latest/junit.xml").read_text()
    expect('tests="2" failures="0" errors="0" skipped="2"' in junit, junit[:300])
    done = gauntlet(run, *run_all, "--last-failed", "-k", "second")
    expect_equal(f"exit code ({done.stdout})", done.returncode, 0)
    before = sorted(os.listdir(run.directory / ".gauntlet/runs"))
    says_one_line(run, 2, "--junit: none/j.xml: there is no folder none", *run_all,
                  "--junit", "none/j.xml")
    expect_equal("runs", sorted(os.listdir(run.directory / ".gauntlet/runs")), before)
    # The run creates the folder of the file itself.
    done = gauntlet(run, *run_all, "--runs", "new", "--junit", "new/j.xml",
                    "-k", "second")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    expect("<testsuites" in (run.directory / "new/j.xml").read_text(), "junit")


def a_killed_run_of_scenarios_is_taken_up(run):
    """--last-failed runs the cases that SIGKILL left without a result."""
    scenarios = write_scenarios(run, {"first": "1ms", "second": "30s"})
    run_all = ("run", "scenarios", "--world", "real")
    killed = subprocess.Popen([run.program, *run_all], cwd=run.directory,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    wait_until("a step", lambda: any(
        '"step"' in events.read_text()
        for events in run.directory.glob(
            ".gauntlet/runs/*/second.real/events/*")))
    killed.kill()
    killed.wait(timeout=DEADLINE_S)
    (scenarios / "second.yaml").write_text(waiting_scenario("second", "1ms"))
    done = gauntlet(run, *run_all, "--last-failed")
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    expect("1 of its 2 cases has no record and counts as not run"
           in done.stderr, done.stderr)
    expect("2 scenarios, 1 case, " in done.stdout, done.stdout)


def what_ignores_hangups_goes_on(run):
    """The launcher ignores SIGHUP, as under nohup; so do its workers."""
    train = subprocess.Popen(
        [run.program, "train", "--epochs", "200", "--workers", "2", "--ckpt",
         "ckpt", "--json"], cwd=run.directory, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_until("a save", lambda: any(run.directory.glob("ckpt/step-*")))
    workers = subprocess.run(["ps", "-o", "pid=", "--ppid", str(train.pid)],
                             capture_output=True, text=True, check=True)
    for pid in [train.pid, *map(int, workers.stdout.split())]:
        os.kill(pid, signal.SIGHUP)
    output, _ = train.communicate(timeout=DEADLINE_S)
    expect_equal("exit code", train.returncode, 0)
    expect_equal("restarts", json.loads(output)["restarts"], 0)


def a_case_is_shown_as_a_table(run):
    """Shows a stored run, and one case of an exploration."""
    (run.directory / "s.yaml").write_text(
        "schema: gauntlet/v2\nname: one\npreset: tiny\n"
        "job: {epochs: 1, replicas: 2}\ncluster: {workers: 2}\n"
        "checkpoint: {every: {steps: 2}}\n"
        "faults: [{id: crash, at: {worker: 1, point: step.end, step: 3}, "
        "do: crash}]\nexpect: {outcome: recovers}\n")
    done = gauntlet(run, "run", "s.yaml", "--world", "both")
    expect_equal(f"exit code of run ({done.stdout})", done.returncode, 0)
    for name in ("latest/one", "latest/one.real", ".gauntlet/runs/latest/one.sim",
                 ".gauntlet/runs/latest/one.sim/record.jsonl"):
        shown = gauntlet(run, "show", name, "--width", "140")
        expect_equal(f"exit code of show {name} ({shown.stderr})",
                     shown.returncode, 0)
        for text in ("crash fires: crash worker 1 at step.end",
                     "incarnation 2 starts", "resumes from step 2",
                     "restart 1, in 0.100 s", "launcher exits with 0"):
            expect(text in shown.stdout, f"{text} in {shown.stdout}")
        expect(shown.stdout.isascii(), "ASCII where there is no terminal")
        expect(max(map(len, shown.stdout.splitlines())) <= 140, "line length")
    wrong = gauntlet(run, "show", "latest/two")
    expect_equal("exit code where there is no such case", wrong.returncode, 2)
    expect_lines("stderr", wrong.stderr, 1)
    wrong = gauntlet(run, "show", "s.yaml")
    expect_equal("exit code of what is no record", wrong.returncode, 2)
    expect_lines("stderr", wrong.stderr, 1)
    traced = gauntlet(run, "explore", "s.yaml", "--case", "5", "--trace")
    expect_equal(f"exit code of explore ({traced.stderr})",
                 traced.returncode in (0, 3), True)
    expect("  fault         fault-1: " in traced.stdout, "its plan")
    for column in ("launcher", "worker 0", "worker 1"):
        expect(column in traced.stdout, f"its events: {column}")


def stored_runs_are_reported(run):
    """Reports on the runs of two shards: each alone, merged, listed,
    compared."""
    scenario = ("schema: gauntlet/v2\nname: {}\npreset: tiny\n"
                "job: {{epochs: 1, replicas: 2}}\ncluster: {{workers: 2}}\n"
                "expect: {{outcome: {}}}\n")
    for name, outcome in (("good", "completes"), ("bad", "recovers")):
        (run.directory / f"{name}.yaml").write_text(
            scenario.format(name, outcome))
    shards = []
    for shard in ("1/2", "2/2"):
        runs = "runs-" + shard[0]
        gauntlet(run, "run", "good.yaml", "bad.yaml", "--world", "sim",
                 "--shard", shard, "--runs", runs)
        shards.append(runs + "/latest")
    merged = gauntlet(run, "report", "--merge", *shards, "--out", "merged")
    expect_equal(f"exit code of --merge ({merged.stderr})", merged.returncode, 1)
    for words, code in ((["merged"], 1), (["merged", "--html", "r.html"], 1),
                        ([shards[1]], 0), (["--list", "--runs", "runs-1"], 0),
                        (["--compare", shards[1], "merged"], 1),
                        (["none"], 2), (["merged/good.sim"], 2)):
        done = gauntlet(run, "report", *words)
        expect_equal(f"exit code of report {words} ({done.stderr})",
                     done.returncode, code)
        expect_lines("stderr", done.stderr, 1 if code == 2 else 0)


CHECKS = (
    a_case_is_shown_as_a_table,
    stored_runs_are_reported,
    what_ignores_hangups_goes_on,
    closed_streams_stay_closed,
    who_does_not_restart_says_start_again,
    a_store_in_use_is_for_later,
    print_cluster_refuses_what_train_refuses,
    a_diff_is_of_two_checkpoints,
    an_empty_store_is_sound,
    an_interrupted_run_of_scenarios_is_not_whole,
    a_killed_run_of_scenarios_is_taken_up,
    a_store_is_a_directory,
    what_cannot_be_written_is_said_before_anything_runs,
    an_exploration_ends_at_once_on_a_signal,
    an_interrupted_exploration_says_how_to_resume,
    an_exploration_of_crash_states_ends_soon,
    what_one_world_recorded_is_replayed_in_the_other,
    memory_that_runs_out_is_said,
    workers_and_a_cluster_are_one_too_many,
    scenarios_are_listed_from_here,
    the_folder_of_the_data_is_there,
    an_export_says_that_it_needs_the_data,
    an_export_goes_to_a_place_with_a_name,
    a_damaged_export_begins_nothing,
    a_damaged_checkpoint_is_exit_7,
    plan_injects_in_each_run,
    plan_state_is_kept_where_configured,
    a_plan_that_cannot_be_read_is_said_once,
    a_mistyped_name_gets_a_suggestion,
    a_fault_that_never_fires_is_said,
    trace_that_cannot_be_written_is_exit_3,
    plan_on_a_cluster_names_its_state,
)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, CHECKS))
