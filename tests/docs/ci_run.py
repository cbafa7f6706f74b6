#!/usr/bin/env python3
"""Checks the messages of ci/run.sh while it compiles, and on a wrong command,
with stubs in place of ninja and cmake."""
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUBS = {
    "cmake": "mkdir -p build/release && touch build/release/build.ninja",
    "dpkg-query": 'shift 2; printf "installed %s\\n" "$@"',
    "ninja": """
case "$*" in *commands*) printf 'cc -o a.o -c a.cc\\ncc -o b.o -c b.cc\\n'; exit;; esac
touch build/release/a.o
sleep 4
printf '#!/bin/sh\\n' >build/release/gauntlet
chmod +x build/release/gauntlet
""",
}


def run(folder, *arguments):
    environment = {**os.environ, "GAUNTLET_PROGRESS_SECONDS": "2",
                   "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    return subprocess.run([folder / "ci/run.sh", *arguments], text=True,
                          capture_output=True, env=environment, check=False)


def expect(holds, found):
    if not holds:
        raise SystemExit(f"ci_run.py: {found}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "ci", folder / "ci")
        (folder / "bin").mkdir()
        for program, text in STUBS.items():
            path = folder / "bin" / program
            path.write_text(f"#!/bin/bash\n{text}\n")
            path.chmod(0o755)
        demo = run(folder, "demo")
        expect(demo.returncode == 0, demo.stderr)
        expect("compiled 1 of 2, after 0 min\n"
               in demo.stderr, demo.stderr)
        wrong = run(folder, "tset")
        expect(wrong.returncode == 2, wrong.stderr)
        last = wrong.stderr.splitlines()[-1]
        expect("unknown command 'tset'" in last, wrong.stderr)


main()
