"""Calls `gauntlet crash-test --json`."""

import json
import os
import subprocess

VERDICTS = (0, 1)  # exit codes: no finding, findings


class NoVerdict(Exception):
    """A test without a verdict, as one line. `result`: what it printed as JSON;
    None: nothing."""

    def __init__(self, reason, result=None):
        super().__init__(reason)
        self.result = result


def crash_test(program, options, command, *, environment=None, cwd=None):
    """Crash-tests the command and returns the result, as
    docs/schemas/crash-test.schema.json describes it. Raises NoVerdict.

    `environment`: variables that the command has in addition to this process's.
    """
    done = subprocess.run(
        [program, "crash-test", "--json", *options, "--", *command], cwd=cwd,
        env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = None
    if result is not None and done.returncode in VERDICTS:
        return result
    reason = (result or {}).get("no_verdict")
    if not reason:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
    raise NoVerdict(f"exit code {done.returncode}: {reason}", result)
