#!/usr/bin/env python3
"""Executes the Dockerfile's steps without Docker, in bare root file systems.

For machines on which Docker cannot run. As root, and by hand, as it takes as
long as a build of the image:
  mmdebstrap --variant=minbase bookworm base.tar
  tests/docs/dockerfile_steps.py --base base.tar --root FOLDER
Each stage is unpacked into FOLDER/STAGE; a COPY copies, and a RUN is executed
by `sh -c` in a chroot. --cache DIR shows a compiler cache to the first stage.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import document


def instructions():
    """Returns (NAME, ARGUMENTS) of each instruction, with continued lines
    joined."""
    lines = [line for line in
             (document.ROOT / "Dockerfile").read_text().splitlines()
             if not line.startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [line.split(maxsplit=1) for line in text.splitlines() if line]


def tracked_files():
    done = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"],
                          cwd=document.ROOT, capture_output=True, check=True)
    ignored = ("docs/", "tests/")
    return [name for name in done.stdout.decode().split("\0")
            if name and not name.startswith(ignored) and name[-3:] != ".md"]


class Build:
    def __init__(self, options):
        self._options = options
        self._stages = {}
        self._root = None
        self._directory = "/"
        self._variables = {}

    def take(self, name, arguments):
        print(f"== {name} {arguments}", flush=True)
        begin = time.monotonic()
        getattr(self, f"_{name.lower()}")(arguments)
        print(f"   {time.monotonic() - begin:.0f} s", flush=True)

    def _from(self, arguments):
        words = arguments.split()
        stage = words[2] if len(words) > 2 else "final"
        self._root = self._options.root / stage
        self._directory = "/"
        self._stages[stage] = self._root
        self._root.mkdir(parents=True)
        subprocess.run(["tar", "-C", self._root, "-xf", self._options.base],
                       check=True)
        shutil.copy("/etc/resolv.conf", self._root / "etc/resolv.conf")

    def _workdir(self, arguments):
        self._directory = arguments
        (self._root / arguments.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def _copy(self, arguments):
        words = arguments.split()
        if words[0].startswith("--from="):
            source = self._stages[words[0].removeprefix("--from=")]
            subprocess.run(["cp", "-a", f"{source}{words[1]}.", self._root],
                           check=True)
            return
        target = self._root / self._directory.lstrip("/")
        for name in tracked_files():
            if words[0] == "." or name.startswith(words[0]):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(document.ROOT / name, target / name)

    def _run(self, arguments):
        # Uses a mount namespace of its own, so that no mount is left.
        script = 'mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev"'
        if self._options.cache and self._root.name != "final":
            # These variables are part of the key of a cached result, so they
            # are set as outside the chroot.
            self._variables.update(
                {name: value for name, value in os.environ.items()
                 if name.startswith(("LANG", "LC_"))},
                CCACHE_BASEDIR=self._directory, CCACHE_NOHASHDIR="1")
            script += (' && mkdir -p "$0/root/.cache/ccache" && mount --bind '
                       f'{self._options.cache} "$0/root/.cache/ccache"')
        script += ' && exec chroot "$0" sh -c "cd $1 && $2"'
        subprocess.run(["unshare", "-m", "sh", "-c", script, self._root,
                        self._directory, arguments], check=True,
                       env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:"
                                    "/usr/bin:/sbin:/bin",
                            "HOME": "/root", **self._variables})

    def _arg(self, arguments):
        name, value = arguments.split("=")
        self._variables[name] = dict(self._options.build_arg).get(name, value)

    def _cmd(self, arguments):
        print("   (what a container starts)")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--base", required=True, type=pathlib.Path)
    options.add_argument("--root", required=True, type=pathlib.Path)
    options.add_argument("--cache", type=pathlib.Path)
    options.add_argument("--build-arg", action="append", default=[],
                         type=lambda text: text.split("="))
    options = options.parse_args()
    options.root = options.root.resolve()
    build = Build(options)
    for name, arguments in instructions():
        build.take(name, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
