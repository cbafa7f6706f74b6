#!/usr/bin/env python3
"""generate.py OUT: writes the sources of the build with mutants, and the list
of mutants, OUT/mutants.json. Unchanged files are not written again."""

import pathlib
import sys

from bank import HERE, BankError, listing, mutated_sources, read_bank


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(out):
    mutants, sources = read_bank(HERE.parent.parent)
    made = {"mutants.json": listing(mutants)}
    made.update(mutated_sources(mutants, sources))
    for path in out.rglob("*"):
        if path.is_file() and str(path.relative_to(out)) not in made:
            path.unlink()
    for name, text in made.items():
        write(out / name, text)
    mechanical = sum(mutant.is_mechanical() for mutant in mutants)
    print(f"mutants: {len(mutants) - mechanical} modelled, "
          f"{mechanical} mechanical")


if __name__ == "__main__":
    try:
        main(pathlib.Path(sys.argv[1]))
    except BankError as error:
        sys.exit(f"generate.py: {error}")
