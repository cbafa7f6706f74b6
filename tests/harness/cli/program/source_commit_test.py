#!/usr/bin/env python3
"""source_commit_test.py CMAKE: tests which commit a build records."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parents[4] / "harness/cli/program"
OUTPUT = "source_commit.cc"
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b")


def commit_of(cmake, source):
    """Returns the text in the file that a build of `source` writes."""
    output = source.parent / OUTPUT
    subprocess.run(
        [cmake, f"-DSOURCE={source}",
         f"-DTEMPLATE={FOLDER / 'source_commit.cc.in'}",
         f"-DOUTPUT={output}", "-P", FOLDER / "source_commit.cmake"],
        check=True)
    return re.search(r'return "(.*)";', output.read_text())[1]


def git(source, *arguments):
    return subprocess.run(
        ["git", "-C", source, *arguments], check=True, text=True,
        stdout=subprocess.PIPE).stdout.strip()


def check(cmake, source):
    assert commit_of(cmake, source) == "", "a tarball has no commit"
    git(source, "init", "--quiet")
    assert commit_of(cmake, source) == "", "nothing is committed"
    (source / "file").write_text("one")
    git(source, "add", "file")
    git(source, *AUTHOR, "commit", "--quiet", "-m", "one")
    git(source, "tag", "v1")
    commit = f"commit {git(source, 'rev-parse', '--short=8', 'HEAD')}"
    assert commit_of(cmake, source) == commit
    output = source.parent / OUTPUT
    os.utime(output, (1, 1))
    commit_of(cmake, source)
    assert output.stat().st_mtime == 1, "the same commit compiles nothing"
    (source / "file").write_text("two")
    assert commit_of(cmake, source) == f"{commit}, with local changes"


def main():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "source"
        source.mkdir()
        check(sys.argv[1], source)


if __name__ == "__main__":
    main()
