#!/usr/bin/env python3
"""A run of scenarios while a person watches it, and interrupts it.

Retries in the real world, the status line of a terminal, and the command that
an interrupted run names.
"""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time

from observed_training import DEADLINE_S, expect, expect_equal, run_checks
from unread_output import full_pipe
from waiting_scenarios import write_scenarios

INTERRUPTED = 130
ONE_INTERRUPT_S = 0.25  # SIGINTs within 0.2 s of the first are one interrupt
ERASE = "\r\x1b[K"


def wait_until(what, happened):
    deadline = time.monotonic() + DEADLINE_S
    while not happened():
        expect(time.monotonic() < deadline, f"{what} did not happen")
        time.sleep(0.02)


def reach_step(run, case):
    wait_until(f"a step of {case}", lambda: any(
        '"step"' in events.read_text()
        for events in run.directory.glob(
            f".gauntlet/runs/*/{case}.real/events/*")))


def start(run, *arguments, **streams):
    return subprocess.Popen(
        [run.program, "run", "scenarios", "--world", "real", *arguments],
        cwd=run.directory, stdin=subprocess.DEVNULL, text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams})


def kill_launcher(program):
    """Kills the trainer that the run has started."""
    children = f"/proc/{program.pid}/task/{program.pid}/children"
    with open(children, encoding="ascii") as file:
        for child in file.read().split():
            os.kill(int(child), signal.SIGKILL)


def result_of(run):
    return json.loads(
        (run.directory / ".gauntlet/runs/latest/result.json").read_text())


def run_with_a_flaky_case(run, *arguments):
    write_scenarios(run, {"a": "3s"})
    program = start(run, "--retries", "2", *arguments)
    reach_step(run, "a")
    kill_launcher(program)
    output, errors = program.communicate(timeout=DEADLINE_S)
    expect(re.search(r"^FLAKY +real a .*(failed|inconclusive in) 1 of 2 tries: ",
                     output, re.M), output + errors)
    return program.returncode, output


def a_flaky_case_fails(run):
    code, output = run_with_a_flaky_case(run)
    expect_equal("exit code", code, 1)
    expect(": 0 passed, 1 flaky\n" in output, output)
    [case] = result_of(run)["cases"]
    expect_equal("verdict", (case["verdict"], case["flaky"]), ("FAIL", True))
    expect_equal("verdicts of tries", case["tries"][-1]["verdict"], "PASS")
    for one in case["tries"]:
        expect(os.path.exists(one["directory"] + "/record.jsonl"), one)
    expect_equal("last try", os.path.basename(case["tries"][1]["directory"]),
                 "a~try-2.real")
    runs = run.directory / ".gauntlet/runs/latest"
    expect(' failures="1"' in (runs / "junit.xml").read_text(), "junit")
    expect('badge flaky' in (runs / "report.html").read_text(), "report")


def flaky_case_passes_if_configured(run):
    code, output = run_with_a_flaky_case(run, "--flaky", "pass")
    expect_equal("exit code", code, 0)
    [case] = result_of(run)["cases"]
    expect_equal("verdict", (case["verdict"], case["flaky"]), ("PASS", True))
    junit = (run.directory / ".gauntlet/runs/latest/junit.xml").read_text()
    expect('<property name="flaky"' in junit, junit)
    expect("<failure" not in junit and "first failure:" in junit, junit)


def read_all(terminal):
    text = b""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:  # the last process has closed it
            return text.decode()
        if not read:
            return text.decode()
        text += read


def a_terminal_has_a_status_line(run):
    write_scenarios(run, {"a": "1s", "b": "1ms"})
    for streams in ({"stderr"}, {"stdout", "stderr"}):
        terminal, program_end = pty.openpty()
        program = start(run, "--color", "never",
                        **{name: program_end for name in streams})
        os.close(program_end)
        shown = read_all(terminal)
        os.close(terminal)
        lines = program.stdout.read() if "stdout" not in streams else shown
        expect_equal("exit code", program.wait(), 0)
        expect(f"{ERASE}[0/2]  running: a" in shown, repr(shown))
        # Lines that are rewritten are erased in the end.
        left = re.sub(r"[^\n]*" + re.escape(ERASE), "", shown)
        expect("running:" not in left, repr(left))
        expect("PASS         real a" in lines.replace(ERASE, ""), repr(lines))
    # The second of the two runs knows the duration of a case.
    expect(" left" in shown, repr(shown))


def nothing_is_rewritten_elsewhere(run):
    write_scenarios(run, {"a": "1ms"})
    output, errors = start(run).communicate(timeout=DEADLINE_S)
    expect("\r" not in output + errors, output + errors)
    terminal, program_end = pty.openpty()
    program = start(run, "--json", stderr=program_end)
    os.close(program_end)
    shown = read_all(terminal)
    os.close(terminal)
    program.communicate(timeout=DEADLINE_S)
    expect_equal("lines in addition to JSON", shown, "")


def an_interrupted_run_names_the_command_for_the_rest(run):
    write_scenarios(run, {"a": "1ms", "b": "90s", "c": "1ms"})
    program = start(run)
    reach_step(run, "b")
    program.send_signal(signal.SIGINT)
    output, errors = program.communicate(timeout=DEADLINE_S)
    expect_equal("exit code", program.returncode, INTERRUPTED)
    match = re.search(
        r"interrupted after 1 of 3 cases: 1 passed; results and report in "
        r"(\S+)\. Run the remaining cases: (gauntlet run .* --last-failed)\n",
        errors)
    expect(match, errors)
    expect((run.directory / match[1] / "report.html").exists(), match[1])
    slow = run.directory / "scenarios/b.yaml"
    slow.write_text(slow.read_text().replace("90s", "1ms"))
    done = subprocess.run(
        [run.program, *shlex.split(match[2])[1:]], cwd=run.directory,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=DEADLINE_S, check=False)
    expect_equal(f"exit code ({done.stderr})", done.returncode, 0)
    expect_equal("cases", [one["name"] for one in result_of(run)["cases"]],
                 ["b", "c"])


def two_signals_of_one_interrupt_end_in_order(run):
    """`timeout -s INT` signals its child and then the group of its child."""
    write_scenarios(run, {"a": "90s"})
    program = start(run)
    reach_step(run, "a")
    program.send_signal(signal.SIGINT)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=DEADLINE_S)
    expect_equal("exit code", program.returncode, INTERRUPTED)
    expect("interrupted after 0 of 1 cases" in errors.splitlines()[-1], errors)


def a_second_interrupt_ends_at_once(run):
    """Without a second one, exiting waits for the reader of standard output."""
    write_scenarios(run, {"a": "90s"})
    for interrupts in (1, 2):
        with full_pipe() as (_, write):
            interrupt(run, f"runs-{interrupts}", write, interrupts)


def interrupt(run, runs, output, interrupts):
    program = start(run, "--json", "--runs", runs, stdout=output)
    wait_until("a worker", lambda: any(
        run.directory.glob(f"{runs}/*/a.real/events/*")))
    program.send_signal(signal.SIGINT)
    wait_until("a report", lambda: any(
        run.directory.glob(f"{runs}/*/report.html")))
    if interrupts == 2:
        time.sleep(ONE_INTERRUPT_S)
        program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=DEADLINE_S)
    expect_equal("exit code", program.returncode, INTERRUPTED)
    expect_equal(f"named the second interrupt ({errors})",
                 "interrupted again, ended at once" in errors, interrupts == 2)
    expect_equal(f"waited for a reader ({errors})",
                 "output is blocked" in errors, interrupts == 1)


def two_interrupts_leave_no_empty_folder(run):
    """The interrupts may arrive while files load, while the folder is made, or
    later. They may be so close together that they count as one."""
    write_scenarios(run, {"a": "1ms"})
    for apart_s in (0, ONE_INTERRUPT_S):
        for wait_ms in range(0, 200, 20):
            program = start(run, "--runs", "twice")
            time.sleep(wait_ms / 1000)
            program.send_signal(signal.SIGINT)
            time.sleep(apart_s)
            program.send_signal(signal.SIGINT)
            program.communicate(timeout=DEADLINE_S)
    folders = [one for one in run.directory.glob("twice/2*") if one.is_dir()]
    expect(folders, "no run came far enough to have a folder")
    empty = [one.name for one in folders if not any(one.iterdir())]
    expect_equal("empty folders of runs", empty, [])


CHECKS = (
    a_flaky_case_fails,
    flaky_case_passes_if_configured,
    a_terminal_has_a_status_line,
    nothing_is_rewritten_elsewhere,
    an_interrupted_run_names_the_command_for_the_rest,
    two_signals_of_one_interrupt_end_in_order,
    a_second_interrupt_ends_at_once,
    two_interrupts_leave_no_empty_folder,
)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, CHECKS))
