#!/usr/bin/env python3
"""Shows what a power loss leaves of a trainer's files on a real ext4.

Runs a trainer of the survey in a file system that is mounted from an image, with
ext4's default options. From the trainer's end on (or its SIGKILL, once a file
appears), the image is copied each few seconds while it is mounted: a copy is
the disk as a power loss at that moment leaves it. Then the trainer resumes from
each copy. Needs root and loop devices.

Exit code 0: done; 2: the call is wrong, or there is no loop device.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import survey
import trainer_list

IMAGE_BYTES = 128 << 20


@contextlib.contextmanager
def mounted(image, place):
    subprocess.run(["mount", "-o", "loop", image, place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", place], check=True)


class Trial:
    def __init__(self, trainer, program, folder):
        self.image = folder / "disk.img"
        self.place = folder / "disk"
        self.place.mkdir()
        with self.image.open("wb") as file:
            file.truncate(IMAGE_BYTES)
        subprocess.run(["mkfs.ext4", "-q", self.image], check=True)
        places = {"{python}": sys.executable, "{program}": program,
                  "{out}": str(self.place / "out"), "{port}": "29511"}
        self.command = [re.sub(r"\{\w+\}", lambda m: places[m[0]], word)
                        for word in trainer.command]
        self.step = re.compile(dict(zip(trainer.options, trainer.options[1:]))[
            "--step-regex"])

    def start(self):
        (self.place / "out").mkdir(exist_ok=True)
        return subprocess.Popen(
            self.command, cwd=survey.ROOT,
            env={**os.environ, **survey.ENVIRONMENT, "PYTHONHASHSEED": "0"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def run_to_crash(self, kill_at):
        """Runs the trainer to its end, or kills it once a file that matches the
        pattern appears."""
        process = self.start()
        while True:
            if kill_at and list((self.place / "out").glob(kill_at)):
                os.killpg(process.pid, signal.SIGKILL)
            try:
                process.communicate(timeout=0.0005)
                return
            except subprocess.TimeoutExpired:
                pass

    def copies(self, seconds, every):
        """Yields (SECONDS, IMAGE) from now on."""
        begin = time.monotonic()
        for at in range(0, seconds + 1, every):
            time.sleep(max(0, begin + at - time.monotonic()))
            copy = self.image.with_name(f"after-{at}.img")
            shutil.copyfile(self.image, copy)
            yield at, copy

    def files(self):
        return [f"{path.relative_to(self.place / 'out')} {path.stat().st_size}"
                for path in sorted((self.place / "out").rglob("*"))
                if path.is_file()]

    def resume(self):
        """Resumes from a copy. Returns one line on how the run ends."""
        process = self.start()
        output, _ = process.communicate()
        step = self.step.search(output)
        last = (output.strip().splitlines() or [""])[-1]
        return (f"exit code {process.returncode}, "
                f"{step[0] if step else 'no step resumed'}"
                + (f": {last}" if process.returncode else ""))


def parse(arguments):
    by_name = {trainer.name: trainer for trainer in trainer_list.ALL}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trainer", choices=by_name, metavar="TRAINER",
                        help=f"one of {', '.join(by_name)}")
    parser.add_argument("--program", default="build/release/gauntlet",
                        help=argparse.SUPPRESS)
    parser.add_argument("--kill-at", metavar="PATTERN",
                        help="kill it once such a file is below {out} (its end)")
    parser.add_argument("--seconds", type=int, default=40,
                        help="from the crash to the last copy (40)")
    parser.add_argument("--every", type=int, default=4,
                        help="seconds from copy to copy (4)")
    parser.add_argument("--files", action="store_true",
                        help="list the files of each copy, with their sizes")
    args = parser.parse_args(arguments)
    args.trainer = by_name[args.trainer]
    args.program = os.path.abspath(args.program)
    if os.geteuid() != 0 or not os.path.exists("/dev/loop-control"):
        parser.error("expected root and loop devices, to mount an image")
    return args


def main():
    args = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(args.trainer, args.program, pathlib.Path(name))
        with mounted(trial.image, trial.place):
            trial.run_to_crash(args.kill_at)
            copies = list(trial.copies(args.seconds, args.every))
        for at, copy in copies:
            with mounted(copy, trial.place):
                if args.files:
                    print(*trial.files(), sep="\n")
                print(f"power loss after {at} s: {trial.resume()}", flush=True)


if __name__ == "__main__":
    main()
