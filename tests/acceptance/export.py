#!/usr/bin/env python3
"""A run whose model cannot be exported is not done, and says so in a line."""

import resource
import signal
import subprocess
import sys

from observed_training import Cases, expect, expect_equal, parser

# Enough for the other files of a small run, but not for the model.
FILE_LIMIT = 1 << 20
JOB = ("train", "--preset", "mlp", "--steps", "2", "--validation-steps", "1",
       "--no-progress")


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))


def train(run, target, preexec=None):
    return subprocess.run(
        [run.program, *JOB, "--export", str(target)], preexec_fn=preexec,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        check=False)


def disk_fills_up(run):
    target = run.directory / "model"
    ended = train(run, target, limited)
    expect_equal(f"exit code ({ended.stderr!r})", ended.returncode, 1)
    expect("training finished, but the export failed" in ended.stderr,
           f"another reason: {ended.stderr!r}")
    left = sorted(path.name for path in run.directory.iterdir()
                  if path.name.startswith("model"))
    expect_equal("left behind", left, [])


def earlier_export_stays(run):
    target = run.directory / "model"
    expect_equal("exit code", train(run, target).returncode, 0)
    before = (target / "model.safetensors").read_bytes()
    expect_equal("exit code", train(run, target, limited).returncode, 1)
    expect((target / "model.safetensors").read_bytes() == before,
           "the earlier export is another one")


def place_is_tried_first(run):
    ended = train(run, "/proc/nowhere/model")
    expect_equal(f"exit code ({ended.stderr!r})", ended.returncode, 2)
    expect("export: /proc/nowhere: mkdir" in ended.stderr,
           f"another reason: {ended.stderr!r}")


def main():
    cases = Cases(parser(__doc__, 1, "unused").parse_args())
    cases.run_all([("disk-fills-up", disk_fills_up),
                   ("earlier-export-stays", earlier_export_stays),
                   ("place-is-tried-first", place_is_tried_first)])
    return cases.exit_code()


if __name__ == "__main__":
    sys.exit(main())
