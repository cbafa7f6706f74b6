"""Compares `gauntlet crash-test` with its fork server to fresh processes: both
give the same verdict on each crash state of a training program with planted
mistakes, and a program that behaves differently in it turns it off.

    fork_server.py --program GAUNTLET [--mistakes NAME,...]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

TRAINER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainer.py")
NO_NAMESPACES = "one trial at a time"

OTHERWISE = """
import os, sys
text = "ended in a fresh process" if os.getppid() else "ended in a child"
with open(sys.argv[1] + "/result.txt", "w") as file:
    file.write(text)
"""


def crash_test(program, folder, command, *options):
    call = [program, "crash-test", "--json", *options]
    call += ["--", sys.executable, *command]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    if not done.stdout:
        sys.exit("%s: %s" % (" ".join(call), done.stderr))
    return json.loads(done.stdout)


def note_of(result):
    return next(note for note in result["notes"] if "fork server" in note)


def check(holds, text):
    if not holds:
        sys.exit("FAILED: " + text)


def check_verdicts(program, folder, mistake):
    command = [TRAINER, "--out", "{out}", "--mistake", mistake]
    options = ["--faults", "kill,torn,power", "--trials", "25"]
    options += ["--result", "final.json", "--trial-limit", "4s", "-j2"]
    served = crash_test(program, folder, command, *options)
    fresh = crash_test(program, folder, command, *options, "--fresh")
    if NO_NAMESPACES in " ".join(served["notes"]):
        print("skipped: " + note_of(served))
        sys.exit(77)
    note = note_of(served)
    check("imported once" in note, "%s: %s" % (mistake, note))
    check(note_of(fresh) == "fork server off: --fresh", note_of(fresh))
    verdicts = [
        {trial["id"]: trial["verdict"] for trial in result["trials"]}
        for result in (served, fresh)
    ]
    check(len(verdicts[0]) == 25, "%s: %s" % (mistake, verdicts[0]))
    check(verdicts[0] == verdicts[1], "%s: %s" % (mistake, verdicts))
    print("%s: %s" % (mistake or "no mistake", set(verdicts[0].values())))


def check_reason(program, folder, text, reason):
    path = os.path.join(folder, "program.py")
    with open(path, "w") as file:
        file.write(text)
    note = note_of(crash_test(program, folder, [path, "{out}"], "--trials", "2"))
    check(note.startswith("fork server off: " + reason), note)
    print(note)


def main():
    parser = argparse.ArgumentParser(
        description="Compares the verdicts of gauntlet crash-test with its "
                    "fork server to those of fresh processes.",
        epilog="Exit code 0: they are the same; 1: they differ; 77: skipped, "
               "as the fork server does not run here.")
    parser.add_argument("--program", required=True,
                        help="the program under test")
    parser.add_argument("--mistakes",
                        default=",no-temporary-file,random-state,oldest",
                        help="of trainer.py, separated by commas; an empty one "
                             "is the correct program")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        for mistake in options.mistakes.split(","):
            check_verdicts(program, folder, mistake)
        reason = "an undisturbed run in it ends with other results: result.txt"
        check_reason(program, folder, OTHERWISE, reason)


main()
