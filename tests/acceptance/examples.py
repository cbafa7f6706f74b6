"""The examples as a user runs them: interrupted, stopped, started again.

Each must end in the state that it ends in when nothing happens to it.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time


def run(command, expected):
    """Runs a command, expects its exit code, and returns its output."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if ended.returncode != expected:
        sys.exit(f"{' '.join(command)}: expected exit code {expected}, found "
                 f"{ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def final_state(output):
    lines = [line for line in output.splitlines()
             if line.startswith("final state ")]
    if len(lines) != 1:
        sys.exit(f"expected one final state, found:\n{output}")
    return lines[0]


def expect(what, expected, found):
    if expected != found:
        sys.exit(f"{what}: expected {expected!r}, found {found!r}")


def check_fit(program, scratch):
    clean = run([program, f"{scratch}/clean", "6"], 0)
    backup = f"{scratch}/backup"
    run([program, backup, "6", "4"], 1)
    expect("a backup after an interruption", True, os.path.isdir(backup))
    resumed = run([program, backup, "6"], 0)
    expect("first line", "went on from step 128", resumed.splitlines()[0])
    expect("fit_and_resume", final_state(clean), final_state(resumed))
    expect("a backup at the end", False, os.path.exists(backup))


def check_loop(program, scratch):
    clean = run([program, f"{scratch}/once", "75"], 0)
    twice = f"{scratch}/twice"
    run([program, twice, "33"], 0)
    resumed = run([program, twice, "75"], 0)
    expect("first line", "went on from step 33", resumed.splitlines()[0])
    expect("custom_loop", final_state(clean), final_state(resumed))
    # Retention renames a directory before it removes it.
    kept = sorted(name for name in os.listdir(twice)
                  if name.startswith("step-"))
    expect("checkpoints kept", 2, len(kept))


def check_notice(program, scratch):
    """A SIGTERM in the middle: exit code 143, and no step is recomputed."""
    directory = f"{scratch}/told"
    training = subprocess.Popen([program, directory, "100000"],
                                stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not any(name.startswith("step-") for name in
                      (os.listdir(directory) if os.path.isdir(directory)
                       else [])):
            if time.monotonic() > deadline:
                sys.exit("custom_loop: no checkpoint within 60 s")
            time.sleep(0.01)
        training.send_signal(signal.SIGTERM)
        output, _ = training.communicate(timeout=60)
    finally:
        training.kill()
    expect("exit code after SIGTERM", 143, training.returncode)
    newest = [line for line in output.splitlines()
              if line.startswith("newest checkpoint ")][0]
    step = int(newest.split("step-")[1].split("-")[0])
    resumed = run([program, directory, str(step + 1)], 0)
    expect("first line", f"went on from step {step}", resumed.splitlines()[0])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="Exit code 0: both examples passed; 1: one failed.")
    parser.add_argument("--program", help="not used: the examples stand alone")
    parser.add_argument("--fit", required=True,
                        help="the example fit_and_resume")
    parser.add_argument("--loop", required=True,
                        help="the example custom_loop")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        check_fit(options.fit, scratch)
        check_loop(options.loop, scratch)
        check_notice(options.loop, scratch)
    print("both examples end as if nothing had happened")


if __name__ == "__main__":
    main()
