"""`gauntlet crash-test` on programs of ours: one that saves as it should, each
mistake of crash_test/trainer.py, and wrong calls."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import crash_test.ranks
import crash_test.trainer
from observed_training import DEADLINE_S, expect, expect_equal, run_checks

TRAINER = pathlib.Path(crash_test.trainer.__file__)
RANKS = pathlib.Path(crash_test.ranks.__file__)
NOBODY = 65534
INTERRUPTED = 130
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")

# Expected results, by the name of the mistake: the faults to try, the verdict,
# and files of which the finding must name one.
EXPECTED = {
    "no-temporary-file": ("kill", "fails", ["ckpt-*.json"]),
    "no-sync": ("power", "fails", ["ckpt-*.json.tmp", "journal.txt"]),
    "no-rename": ("kill", "fails", ["ckpt-*.json"]),
    "no-directory-sync": ("power", "lost-work", ["ckpt-*.json.tmp"]),
    "no-checksum": ("kill,torn", "fails", ["journal.txt"]),
    "rename-first": ("kill", "fails", ["ckpt-*.json"]),
    "pointer-first": ("kill", "fails", ["newest.txt.tmp", "journal.txt"]),
    "two-files": ("kill", "diverged", ["weights.json.tmp", "ckpt-*.json.tmp"]),
    "delete-first": ("kill", "lost-work", ["ckpt-*.json", "journal.txt"]),
    "random-state": ("kill", "diverged", ["ckpt-*.json.tmp", "journal.txt"]),
    "momentum": ("kill", "diverged", ["ckpt-*.json.tmp", "journal.txt"]),
    "data-position": ("kill", "diverged", ["ckpt-*.json.tmp", "journal.txt"]),
    "starts-over": ("kill", "lost-work", ["ckpt-*.json", "journal.txt"]),
    "oldest": ("kill", "lost-work", ["ckpt-*.json.tmp", "final.json.tmp", "final.json", "."]),
    "left-lock": ("kill", "hangs", ["lock", "journal.txt"]),
    "left-temporary": ("kill", "fails", ["ckpt-*.json.tmp"]),
    "disk-full": ("enospc", "fails", ["ckpt-*.json", "final.json.tmp"]),
    "save-on-sigterm": ("sigterm", "diverged", ["ckpt-*.json.tmp"]),
}


def crash_test_of(run, *arguments, command, code=None):
    """Runs a crash test to its end. Returns the process."""
    done = subprocess.run(
        [run.program, "crash-test", *map(str, arguments), "--", *map(str, command)],
        cwd=run.directory, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=DEADLINE_S, check=False)
    if code is not None:
        expect_equal(f"exit code ({done.stderr[-500:]})", done.returncode, code)
    return done


def trained(mistake="", *more):
    return (sys.executable, "-B", TRAINER, "--out", "{out}", "--mistake", mistake,
            *more)


def trained_on_ranks(mistake=""):
    return (sys.executable, "-B", RANKS, "--out", "{out}", "--mistake", mistake)


def result_of(run, *arguments, command, code):
    return result_on(run, "final.json", *arguments, command=command, code=code)


def result_on(run, pattern, *arguments, command, code):
    return json.loads(crash_test_of(
        run, "--json", "-j2", "--result", pattern, *arguments,
        command=command, code=code).stdout)


def a_correct_program_recovers_from_all(run):
    result = result_of(run, "--time", "2m", "--out", "test",
                       command=trained("", "--steps", 15), code=0)
    verdicts = {trial["verdict"] for trial in result["trials"]}
    expect_equal("verdicts", verdicts, {"recovered"})
    expect(result["complete"], "it ran out of time")
    expect(len(result["trials"]) >= 200, f"{len(result['trials'])} states")
    return f"{len(result['trials'])} states"


def check_of(mistake):
    faults, verdict, files = EXPECTED[mistake]

    def check(run):
        limit = "1s" if verdict == "hangs" else "20s"
        steps = ("--steps", 15) if mistake == "oldest" else ()
        result = result_of(run, "--faults", faults, "--trials", 120, "--grace", "1s",
                           "--trial-limit", limit, "--out", "test",
                           command=trained(mistake, *steps), code=1)
        found = [trial for trial in result["trials"]
                 if trial["verdict"] == verdict]
        expect(found, f"no {verdict} among "
               f"{[finding['title'] for finding in result['findings']]}")
        named = {trial["file"] for trial in found}
        expect(named & set(files), f"{verdict} at {named}, not at {files}")
        titles = [finding["title"] for finding in result["findings"]
                  if finding["verdict"] == verdict]
        expect(titles, f"no finding {verdict}")
        return titles[0]

    check.__name__ = f"mistake_{mistake}".replace("-", "_")
    return check


def a_finding_is_repeated_by_its_script(run):
    result_of(run, "--faults", "kill", "--trials", 30, "--out", "test",
              command=trained("no-temporary-file"), code=1)
    folder = run.directory / "test/findings/1"
    done = subprocess.run(["sh", folder / "repro.sh"], capture_output=True,
                          text=True, timeout=DEADLINE_S, check=False)
    expect_equal("exit code of repro.sh", done.returncode, 1)
    expect("JSONDecodeError" in done.stderr, done.stderr[-300:])
    issue = (folder / "issue.md").read_text()
    expect("## Expected" in issue, "issue.md does not say what is expected")
    expect(str(run.directory) not in issue, "issue.md names local paths")


def a_fault_is_repeated_by_its_script(run):
    result = result_of(run, "--faults", "sigterm", "--grace", "1s", "--trials", 60,
                       "--out", "test", command=trained("save-on-sigterm"), code=1)
    number = next(i for i, finding in enumerate(result["findings"], 1)
                  if finding["crashes"][0].startswith("sigterm"))
    script = run.directory / f"test/findings/{number}/repro.sh"
    done = subprocess.run(
        ["sh", script], capture_output=True, text=True, timeout=DEADLINE_S,
        check=False, env={**os.environ, "PATH": os.pathsep.join(
            (os.path.dirname(run.program), os.environ["PATH"]))})
    expect_equal(f"exit code of repro.sh ({done.stderr})", done.returncode, 1)
    expect("diverged: sigterm" in done.stdout, done.stdout)


def one_crash_is_tried_again(run):
    arguments = ("--faults", "power", "--out")
    all_of_them = result_of(run, *arguments, "all",
                            command=trained("no-directory-sync"), code=1)
    lost = next(trial["id"] for trial in all_of_them["trials"]
                if trial["verdict"] == "lost-work")
    one = result_of(run, *arguments, "one", "--only", lost,
                    command=trained("no-directory-sync"), code=1)
    expect_equal("crashes", one["findings"][0]["crashes"], [lost])
    done = crash_test_of(run, "--only", "kill-9999", command=trained(), code=2)
    expect("--only: expected the id of a crash" in done.stderr and
           "result.json" in done.stderr, done.stderr)


def rank_deaths(result):
    """Returns (rank, operation, verdict) of each death of a rank."""
    return [(trial["rank"], trial["operation"], trial["verdict"])
            for trial in result["trials"] if trial["fault"] == "rank"]


def each_rank_dies_at_each_of_its_operations(run):
    tables = []
    for number in range(3):
        result = result_on(run, "final-*.json", "--faults", "rank",
                           "--out", f"test-{number}",
                           command=trained_on_ranks(), code=0)
        tables.append(rank_deaths(result))
        expect_equal("deaths", len(tables[-1]), result["recording"]["crash_points"])
        expect_equal("ranks", {rank for rank, *_ in tables[-1]}, {0, 1})
        expect_equal("verdicts", {verdict for *_, verdict in tables[-1]},
                     {"recovered"})
        expect_equal("table", tables[-1], tables[0])
    return f"{len(tables[0])} deaths, three times the same"


def mistakes_of_ranks_are_found(run):
    found = {}
    for mistake in crash_test.ranks.MISTAKES:
        result = result_on(run, "final-*.json", "--faults", "rank", "--out", mistake,
                           command=trained_on_ranks(mistake), code=1)
        found[mistake] = {trial["fault"] for trial in result["trials"]
                          if trial["verdict"] == "fails"}
        expect("rank" in found[mistake], f"{mistake}: {found[mistake]}")
    # This mistake shows only if one rank outlives the other.
    expect_equal("faults", found["mark-on-error"], {"rank"})


def run_of(run, scenario, code, *arguments):
    """Runs a scenario and returns the result as JSON."""
    done = subprocess.run(
        [run.program, "run", scenario, "--json", *arguments], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False)
    expect_equal(f"exit code of run ({done.stderr[-500:]})", done.returncode, code)
    return json.loads(done.stdout)


# Mistakes whose findings are replayed: the fault to try, and the verdict on
# the corrected program. That program may not reach the finding's operation.
REPLAYED = {"no-temporary-file": ("kill", "INCONCLUSIVE"),
            "no-checksum": ("torn", "PASS"),
            "no-directory-sync": ("power", "PASS"),
            "momentum": ("kill", "PASS")}


def the_failure_can_be_repeated(run, runs, failed):
    """The result and the report of the run name all that a replay needs."""
    expect(failed["replay"].endswith(f" --runs {runs}"), failed["replay"])
    crash_test = f"{failed['directory']}/crash-test"
    for text in (f"{crash_test}/report.html", f"{crash_test}/findings/1/repro.sh"):
        expect(text in failed["summary"]["next"], failed["summary"]["next"])
    page = (runs / "latest/report.html").read_text()
    for text in (f"{crash_test}/report.html", "schema: gauntlet/v2", "trainer:"):
        expect(text in page, f"{text}: expected in report.html, found none")
    judged = subprocess.run([run.program, "judge", "latest", "--runs", runs, "--json"],
                            stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=DEADLINE_S, check=False)
    expect_equal(f"exit code of judge ({judged.stderr[-500:]})",
                 judged.returncode, 4)
    expect_equal("verdicts of judge --json",
                 [one["verdict"] for one in json.loads(judged.stdout)["cases"]], ["SKIP"])


def a_finding_is_replayed_as_a_scenario(run):
    for mistake, (fault, mended) in REPLAYED.items():
        result = result_of(run, "--faults", fault, "--trials", 120, "--out", mistake,
                           command=trained(mistake), code=1)
        scenario = run.directory / mistake / "findings/1/scenario.yaml"
        runs = run.directory / "runs" / mistake
        failed = run_of(run, scenario, 1, "--runs", runs)["cases"]
        expect_equal("cases", len(failed), 1)
        the_failure_can_be_repeated(run, runs, failed[0])
        verdict = result["findings"][0]["verdict"]
        expect(failed[0]["reason"].startswith(verdict), failed[0]["reason"])
        scenario.write_text(scenario.read_text().replace(f"{mistake}]", "'']"))
        again = run_of(run, scenario, 0 if mended == "PASS" else 3)["cases"]
        expect_equal(f"{mistake}, mended: {again[0]['reason']}",
                     again[0]["verdict"], mended)


def a_scenario_that_does_not_fit_is_inconclusive(run):
    scenario = run.directory / "trainer.yaml"
    command = json.dumps([str(word) for word in trained()])
    scenario.write_text(f"""schema: gauntlet/v2
name: too-many
trainer:
  command: {command}
  result: final.json
  faults:
    - {{do: kill, at: {{operation: rename, occurrence: 999}}}}
expect: {{outcome: recovers}}
""")
    one = run_of(run, scenario, 3)["cases"][0]
    expect("trainer.faults[0].at.occurrence: expected 1 to " in one["reason"] and
           "(rename on *), found 999" in one["reason"], one["reason"])
    skipped = run_of(run, scenario, 0, "--world", "sim")["cases"][0]
    expect_equal("in the simulated world", skipped["verdict"], "SKIP")


def an_ordinary_user_finds_the_same(run):
    if os.geteuid() != 0:
        return "all of these checks run as one"
    may_read = all(
        subprocess.run([*AS_NOBODY, *call], capture_output=True, check=False,
                       timeout=DEADLINE_S).returncode == 0
        for call in ((run.program, "--version"), ("test", "-r", TRAINER),
                     ("/usr/bin/python3", "-c", "pass")))
    if not may_read:
        return "not tried: another user may not read the program here"
    folder = run.directory / "home"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    run.directory.chmod(0o755)
    run.directory.parent.chmod(0o755)
    found = {}
    for name, user in (("root", ()), ("nobody", AS_NOBODY)):
        done = subprocess.run(
            [*user, run.program, "crash-test", "--json", "--faults", "kill,torn",
             "--result", "final.json", "--out", name, "--",
             "/usr/bin/python3", *map(str, trained("no-temporary-file")[1:])],
            cwd=folder, env={**os.environ, "HOME": str(folder)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=DEADLINE_S, check=False)
        expect_equal(f"exit code of {name} ({done.stderr[-500:]})",
                     done.returncode, 1)
        result = json.loads(done.stdout)
        found[name] = [(trial["id"], trial["verdict"]) for trial in result["trials"]]
    expect_equal("verdicts", found["nobody"], found["root"])
    return f"{len(found['root'])} states"


# Saves in a temporary directory, as Lightning does, and moves the file.
MOVES = """
import os, sys, tempfile
path = sys.argv[1] + '/checkpoint'
step = int(open(path).read()) if os.path.exists(path) else 0
while step < 3:
    step += 1
    with tempfile.NamedTemporaryFile('w', delete=False) as file:
        file.write(str(step))
    os.rename(file.name, path)
"""


def a_file_is_moved_from_tmpdir(run):
    result = result_of_any(run, (sys.executable, "-c", MOVES, "{out}"), 0,
                           "--faults", "kill,torn")
    expect_equal("verdicts", {trial["verdict"] for trial in result["trials"]},
                 {"recovered"})


# Saves two files one after the other, and pauses in between.
PAUSES_IN_A_SAVE = """
import os, sys, time
def path(name): return os.path.join(sys.argv[1], name)
def read(name): return int(open(path(name)).read())
step, sum = 0, 0
if os.path.exists(path('step')): step, sum = read('step'), read('sum')
while step < 6:
    step, sum = step + 1, sum + step
    for name, value in (('sum', sum), ('step', step)):
        with open(path(name + '.tmp'), 'w') as file: file.write(str(value))
        os.rename(path(name + '.tmp'), path(name))
        if name == 'sum': time.sleep(0.05)
"""


def a_stop_within_a_save_is_no_claim_on_any_stop(run):
    result = result_of_any(run, (sys.executable, "-c", PAUSES_IN_A_SAVE, "{out}"), 1,
                           "--faults", "kill")
    control = result["controls"][1]
    expect(control["holds"] and ", not after operation" in control["text"],
           control["text"])
    titles = [finding["title"] for finding in result["findings"]]
    expect(titles and all(title.startswith("diverged: kill at s") for title in titles),
           titles)


def stops_show_that_a_program_never_resumes_equal(run):
    """One finding names the stops, and its reason counts the kills."""
    result = result_of(run, "--faults", "kill", "--out", "test",
                       command=trained("random-state"), code=1)
    finding = result["findings"][0]
    expect(finding["title"].startswith("diverged: a resume gives other results"),
           finding["title"])
    expect(" kills recovered; " in finding["reason"], finding["reason"])
    expect(not result["controls"][1]["holds"], result["controls"][1]["text"])
    issue = (run.directory / "test/findings/1/issue.md").read_text()
    expect(finding["title"] in issue and finding["reason"] in issue, issue)


def no_verdict_on_a_program_that_does_not_repeat(run):
    code = "import os, sys; open(sys.argv[1] + '/r', 'wb').write(os.urandom(9))"
    result = result_of_any(run, (sys.executable, "-c", code, "{out}"), 3)
    expect("two undisturbed runs end with different results"
           in result["no_verdict"], result["no_verdict"])
    expect_equal("trials", result["trials"], [])


def no_verdict_on_a_program_that_never_resumes(run):
    code = "import sys; open(sys.argv[1] + '/r', 'w').write('result')"
    result = result_of_any(run, (sys.executable, "-c", code, "{out}"), 3)
    expect("no run resumed from a checkpoint" in result["no_verdict"],
           result["no_verdict"])


def no_false_finding_where_few_crashes_are_tried(run):
    for trials in (2, 8, 16):
        result = result_of(run, "--trials", trials, "--out", f"test-{trials}",
                           command=trained(""), code=0)
        expect_equal(f"findings of {trials} trials", result["findings"], [])


def result_of_any(run, command, code, *arguments):
    return json.loads(crash_test_of(run, "--json", "--out", "test", *arguments,
                                    command=command, code=code).stdout)


# Wrong calls: the command after --, more options, and the beginning of the one
# error line.
WRONG = {
    "no command": ((), (), "expected a command after --"),
    "no out": (("true",), (), "expected {out} in the command"),
    "no program": (("no-such-program", "{out}"), (),
                   "no-such-program: command not found in PATH"),
    "ends at once": (("false", "{out}"), (),
                     "false '{out}': expected a run that ends with 0, found exit "
                     "code 1"),
    "writes nothing": (("true", "{out}"), (),
                       "true '{out}': expected a program that writes"),
    "never ends": (("sh", "-c", "echo > $0/a; sleep 1000", "{out}"),
                   ("--trial-limit", "1s"),
                   "sh -c 'echo > $0/a; sleep 1000' '{out}': expected a run that "
                   "ends within 1s, found"),
    "goes to the background": (
        ("sh", "-c", "echo > $0/a; setsid sleep 1000 & exit 0", "{out}"), (),
        "sh -c 'echo > $0/a; setsid sleep 1000 & exit 0' '{out}': expected a "
        "command that ends when the training has ended"),
    "result without files": (
        ("sh", "-c", "echo > $0/a", "{out}"), ("--result", "*.pt"),
        "--result: expected a pattern of files"),
    "unknown fault": (("true", "{out}"), ("--faults", "kil"),
                      "--faults: expected some of kill"),
    "checkpoint without files": (
        ("sh", "-c", "echo > $0/a", "{out}"), ("--checkpoint", "*.pt"),
        "--checkpoint: expected a pattern of files"),
    "bad regex": (("true", "{out}"), ("--step-regex", "("),
                  "--step-regex: expected a regular expression"),
    "two results": (("true", "{out}"),
                    ("--result", "a", "--result-cmd", "cat {out}/a"),
                    "--result and --result-cmd: expected one of them"),
    "path outside": (("true", "{out}"), ("--result", "/etc/passwd"),
                     "--result: expected a pattern of files below {out}"),
    "set-uid": (("su", "-c", "true", "{out}"), (), None),
}


def results_without_a_place_name_the_option_for_another(run):
    """A folder takes the name of the file while the program runs."""
    program = subprocess.Popen(
        [run.program, "crash-test", "--faults", "kill", "--trials", "5",
         "--result", "final.json", "--out", "test", "--",
         *map(str, trained())],
        cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + DEADLINE_S
    while not (run.directory / "test/runs").is_dir():
        expect(time.monotonic() < deadline, "no run began")
        time.sleep(0.02)
    (run.directory / "test/result.json").mkdir()
    _, errors = program.communicate(timeout=DEADLINE_S)
    expect("test/result.json: cannot be written: Is a directory; choose "
           "another folder with --out DIR\n" in errors, errors)


def an_interrupt_keeps_the_findings_so_far(run):
    """The program notes each of its starts outside {out}. 30 trials suffice for
    a finding, and many more follow."""
    for name, number in (("int", signal.SIGINT), ("term", signal.SIGTERM)):
        starts = run.directory / f"starts-{name}"
        starts.touch()
        noted = ("sh", "-c", f'echo >> {starts}; exec "$0" "$@"')
        program = subprocess.Popen(
            [run.program, "crash-test", "--result", "final.json", "--out", name,
             "--", *noted, *map(str, trained("no-temporary-file"))],
            cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + DEADLINE_S
        while len(starts.read_text().splitlines()) < 40:
            expect(program.poll() is None and time.monotonic() < deadline,
                   "the trials did not begin")
            time.sleep(0.01)
        program.send_signal(number)
        output, errors = program.communicate(timeout=DEADLINE_S)
        expect_equal(f"exit code ({errors[-500:]})", program.returncode,
                     INTERRUPTED)
        expect("\n1. " in output and "these are the findings so far" in output,
               output)
        expect("gauntlet crash-test: interrupted" in errors, errors)
        script = run.directory / name / "findings/1/repro.sh"
        expect(script.is_file(), "the finding was not kept")


def an_interrupt_before_the_trials_keeps_nothing(run):
    """The first run, which is recorded, notes its start outside {out}."""
    started = run.directory / "started"
    program = subprocess.Popen(
        [run.program, "crash-test", "--out", "test", "--", "sh", "-c",
         f"echo > {started}; sleep 1000", "{out}"],
        cwd=run.directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + DEADLINE_S
    while not started.exists():
        expect(program.poll() is None and time.monotonic() < deadline,
               "the recording did not begin")
        time.sleep(0.01)
    program.send_signal(signal.SIGINT)
    output, errors = program.communicate(timeout=DEADLINE_S)
    expect_equal(f"exit code ({errors[-500:]})", program.returncode,
                 INTERRUPTED)
    expect_equal("standard output", output, "")
    expect_equal("standard error", errors,
                 'gauntlet crash-test: interrupted during the stage "recording": '
                 "no crash was tried, so no files are kept\n")
    expect(not (run.directory / "test").exists(), "the folder was kept")


def wrong_calls_get_one_line(run):
    for name, (command, arguments, line) in WRONG.items():
        done = crash_test_of(run, *arguments, command=command)
        expect_equal(f"{name}: exit code ({done.stderr})", done.returncode, 2)
        expect_equal(f"{name}: standard output", done.stdout, "")
        expect_equal(f"{name}: lines ({done.stderr})",
                     len(done.stderr.splitlines()), 1)
        if line is not None:
            expect(line in done.stderr, f"{name}: {done.stderr}")
        expect_equal(f"{name}: files left", os.listdir(
            run.directory / ".gauntlet/crash-tests")
            if (run.directory / ".gauntlet/crash-tests").exists() else [], [])


CHECKS = (
    a_correct_program_recovers_from_all,
    *map(check_of, EXPECTED),
    a_finding_is_repeated_by_its_script,
    a_fault_is_repeated_by_its_script,
    one_crash_is_tried_again,
    each_rank_dies_at_each_of_its_operations,
    mistakes_of_ranks_are_found,
    a_finding_is_replayed_as_a_scenario,
    a_scenario_that_does_not_fit_is_inconclusive,
    an_ordinary_user_finds_the_same,
    a_file_is_moved_from_tmpdir,
    a_stop_within_a_save_is_no_claim_on_any_stop,
    stops_show_that_a_program_never_resumes_equal,
    no_verdict_on_a_program_that_does_not_repeat,
    no_verdict_on_a_program_that_never_resumes,
    no_false_finding_where_few_crashes_are_tried,
    results_without_a_place_name_the_option_for_another,
    an_interrupt_keeps_the_findings_so_far,
    an_interrupt_before_the_trials_keeps_nothing,
    wrong_calls_get_one_line,
)


if __name__ == "__main__":
    expect_equal("mistakes", set(EXPECTED), set(crash_test.trainer.MISTAKES))
    sys.exit(run_checks(__doc__, CHECKS))
