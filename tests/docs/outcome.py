"""Ends a script that checks the tree or the documents."""


def report(wrong, checked):
    """Prints each violation, then what was checked. Returns the exit code.
    `checked` is a text, such as "17 links checked"."""
    for text in wrong:
        print(f"FAILED {text}")
    print(f"{checked}, {len(wrong)} failed")
    return 1 if wrong else 0
