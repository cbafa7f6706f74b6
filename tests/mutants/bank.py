"""The bug bank: modelled bugs from tables, mechanical mutants found by pattern,
and copies of the sources with each mutant behind a switch (switch.h).

The engine's sources hold no mutation code. A mutant is one or more edits of
them. An edit replaces a span of the source by a template, in which BUG stands
for "this mutant is on" and ORIGINAL for the text of the span. Edits may nest.
"""

import functools
import json
import pathlib
import re
import tomllib
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
MECHANICAL_FOLDERS = ("engine/ckpt/", "engine/cluster/", "engine/train/")
SWITCH = "tests/mutants/switch.h"
SEEN_BYTES = 4096  # switch.h: kSeenBytes


class BankError(Exception):
    """An error in a table: one line with the table, the entry and the error."""


@dataclass
class Edit:
    file: str
    begin: int
    end: int
    template: str


@dataclass
class Mutant:
    name: str
    kind: str  # modelled, planted, or the kind of a mechanical mutant
    what: str
    guard: str = ""
    like: str = ""
    base: str = ""
    planted: str = ""
    why: str = ""  # explanation from explained.toml: why nothing can find it
    edits: list = field(default_factory=list)
    number: int = 0

    def is_mechanical(self):
        return self.kind not in ("modelled", "planted")


# ---- Text ----------------------------------------------------------------

@functools.cache
def squeeze(text):
    """Returns the text without white space, and each character's position."""
    places = [i for i, c in enumerate(text) if not c.isspace()]
    return "".join(text[i] for i in places), places


def find_once(text, wanted):
    """Returns the span of `wanted` in `text`, ignoring white space."""
    squeezed, places = squeeze(text)
    needle, _ = squeeze(wanted)
    count = squeezed.count(needle)
    if not needle or count != 1:
        raise BankError(f"found {count} times, expected once")
    at = squeezed.index(needle)
    return places[at], places[at + len(needle) - 1] + 1


def closing(text, at):
    """Returns the position after the parenthesis that closes that at `at`."""
    depth = 0
    while at < len(text):
        c = text[at]
        if c in "\"'":
            at = end_of_literal(text, at)
            continue
        depth += (c == "(") - (c == ")")
        at += 1
        if depth == 0:
            return at
    raise BankError("unbalanced parentheses")


def end_of_literal(text, at):
    quote, at = text[at], at + 1
    while text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def without_comments(text):
    """Returns the text with its comments replaced by spaces."""
    return re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)


def find_entry(entry, sources):
    """Returns the span of the source text that a table's entry names."""
    text = sources.get(entry["file"])
    if text is None:
        raise BankError(f"{entry['file']}: no such source")
    try:
        # `in` is a longer text that occurs once and contains `find`.
        begin, end = find_once(text, entry.get("in", entry["find"]))
        if "in" in entry:
            first, last = find_once(text[begin:end], entry["find"])
            begin, end = begin + first, begin + last
    except BankError as error:
        raise BankError(
            f"{entry['file']}: {error}: {entry['find'].strip()!r}") from None
    return begin, end


# ---- Modelled bugs -------------------------------------------------------

def read_edits(bug, sources):
    for edit in bug.get("edit", [bug] if "find" in bug else []):
        begin, end = find_entry(edit, sources)
        yield Edit(edit["file"], begin, end, edit["with"])


def read_planted(sources):
    """Returns the names of the planted bugs that scenarios can switch on."""
    return re.findall(r'PlantedBug::k\w+,\s*"([a-z-]+)"',
                      sources["engine/world/fault_point.cc"])


def read_table(path, sources):
    for bug in tomllib.loads(path.read_text())["bug"]:
        planted = bug.get("planted", "")
        mutant = Mutant(name=bug["name"], kind="planted" if planted else
                        "modelled", what=bug["what"], guard=bug["guard"],
                        like=bug.get("like", ""), base=bug.get("base", ""),
                        planted=planted)
        try:
            mutant.edits = list(read_edits(bug, sources))
        except BankError as error:
            raise BankError(f"{path.name}: {bug['name']}: {error}") from None
        switched = any(re.search(r"\bBUG\b", edit.template)
                       for edit in mutant.edits)
        if switched == (planted in read_planted(sources)):
            raise BankError(f"{path.name}: {bug['name']}: expected an edit "
                            "that contains BUG, or the name of a planted bug")
        yield mutant


def read_modelled(tables, sources):
    mutants = []
    for path in sorted(tables.glob("*.toml")):
        mutants += read_table(path, sources)
    names = [mutant.name for mutant in mutants]
    for name in names:
        if names.count(name) > 1:
            raise BankError(f"{name}: two bugs of this name")
    return mutants


# ---- Mechanical mutants --------------------------------------------------

OBJECT = r"\b[A-Za-z_]\w*(?:(?:\.|->)\w+)*(?:\.|->)"
OK = "(BUG ? ::gauntlet::OkStatus() : ORIGINAL)"
CONDITION = re.compile(r"\bif \(")
COMPARED = re.compile(r"(?i)digest[^;]*?[=!]=|[=!]=[^;]*?digest")
NOT_A_DIGEST = re.compile(r"\.size\(\) [=!]=|kDigestKey|\b\w+_\s*== nullptr")
STATUS = re.compile(r"(!?)[A-Za-z_][\w.>-]*(?:\.|->)ok\(\)")


def status_checks(text):
    for match in re.finditer(r"\bRETURN_IF_ERROR\(", text):
        begin = match.start()
        if text.rfind("#define", text.rfind("\n", 0, begin) + 1, begin) >= 0:
            continue
        end = closing(text, match.end() - 1)
        yield "status", begin, match.end(), "MUTANT_RETURN_IF_ERROR(BUG, ", end


def calls(text, kind, name):
    for match in re.finditer(OBJECT + name + r"\(", text):
        end = closing(text, match.end() - 1)
        yield kind, match.start(), end, OK, end


def conditions(text):
    """Yields conditions that check a digest or a status."""
    for match in CONDITION.finditer(text):
        begin = match.end()
        end = closing(text, match.end() - 1) - 1
        condition = text[begin:end]
        if COMPARED.search(condition) and not NOT_A_DIGEST.search(condition):
            equal = "==" in condition
            kind = "digest"
        elif STATUS.fullmatch(condition):
            equal = not condition.startswith("!")
            kind = "status-if"
        else:
            continue
        template = "(ORIGINAL) || BUG" if equal else "(ORIGINAL) && !BUG"
        yield kind, begin, end, template, end


def returned_digests(text):
    for match in re.finditer(r"\breturn ([^;{}]*?digest[^;{}]*?== ?[^;{}]*?|"
                             r"[^;{}]*?== ?[^;{}]*?digest[^;{}]*?);", text):
        if not NOT_A_DIGEST.search(match.group(1)):
            yield ("digest", match.start(1), match.end(1),
                   "(ORIGINAL) || BUG", match.end(1))


def find_mechanical(file, text):
    code = without_comments(text)
    found = [*status_checks(code), *calls(code, "sync", "Sync"),
             *calls(code, "sync", "SyncDirectory"),
             *calls(code, "rename", "Rename"), *conditions(code),
             *returned_digests(code)]
    names = {}
    for kind, begin, end, template, behind in sorted(
            found, key=lambda one: one[1:]):
        line = text.count("\n", 0, begin) + 1
        name = f"{file}:{line}:{kind}"
        names[name] = names.get(name, 0) + 1
        if names[name] > 1:
            name += f"-{names[name]}"
        what = " ".join(text[begin:behind].split())
        yield Mutant(name=name, kind=kind, what=what,
                     edits=[Edit(file, begin, end, template)])


# ---- Mechanical mutants that nothing can find ----------------------------

def explain(mutants, sources, table=HERE / "explained.toml"):
    """Sets the explanation of each mutant that is in the table."""
    for entry in tomllib.loads(table.read_text()).get("mutant", []):
        try:
            begin, end = find_entry(entry, sources)
            fits = [m for m in mutants if m.kind == entry["kind"] and
                    m.edits[0].file == entry["file"] and
                    begin <= m.edits[0].begin and m.edits[0].end <= end]
            if len(fits) != 1:
                raise BankError(f"{entry['file']}: found {len(fits)} mutants of "
                                f"kind {entry['kind']}, expected one: "
                                f"{entry['find'].strip()!r}")
            if fits[0].why:
                raise BankError(f"{fits[0].name}: explained twice")
        except BankError as error:
            raise BankError(f"{table.name}: {error}") from None
        fits[0].why = " ".join(entry["why"].split())


# ---- The bank ------------------------------------------------------------

def read_sources(root):
    files = sorted(p for p in (root / "engine").rglob("*")
                   if p.suffix in (".h", ".cc"))
    return {str(p.relative_to(root)): p.read_text() for p in files}


def read_bank(root, tables=HERE / "modelled"):
    """Returns all mutants, numbered from 1, modelled first, and the sources."""
    sources = read_sources(root)
    mutants = read_modelled(tables, sources)
    for file, text in sources.items():
        if file.startswith(MECHANICAL_FOLDERS):
            mutants += find_mechanical(file, text)
    explain(mutants, sources)
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    if len(mutants) >= SEEN_BYTES:
        raise BankError(f"{len(mutants)} mutants: too many for {SWITCH}")
    return mutants, sources


def fill(template, number, original):
    on = f"::gauntlet::mutants::On({number})"
    filled = " ".join(template.split())
    if filled.startswith("MUTANT_RETURN_IF_ERROR("):
        return filled.replace("BUG", str(number))
    filled = re.sub(r"\bBUG\b", lambda _: on, filled)
    filled = re.sub(r"\bORIGINAL\b", lambda _: original, filled, count=1)
    # Added line feeds keep the line numbers of the source.
    return filled + "\n" * (original.count("\n") - filled.count("\n"))


def mutate(text, edits, begin=0, end=None):
    """Returns `text` with all edits made, each a pair (Edit, number)."""
    end = len(text) if end is None else end
    edits = sorted(edits, key=lambda e: (e[0].begin, -e[0].end, e[1]))
    result, at = [], begin
    while edits:
        (edit, number), rest = edits[0], edits[1:]
        inner = [e for e in rest if e[0].begin < edit.end]
        if any(e[0].end > edit.end for e in inner) or (
                inner and "ORIGINAL" not in edit.template):
            raise BankError(f"{edit.file}: edits overlap: "
                            f"{text[edit.begin:edit.end]!r}")
        original = mutate(text, inner, edit.begin, edit.end)
        result += [text[at:edit.begin], fill(edit.template, number, original)]
        at, edits = edit.end, rest[len(inner):]
    return "".join(result) + text[at:end]


def mutated_sources(mutants, sources):
    edits = {}
    for mutant in mutants:
        for edit in mutant.edits:
            edits.setdefault(edit.file, []).append((edit, mutant.number))
    for file, of_file in edits.items():
        yield file, (f'#include "{SWITCH}"\n#line 1 "{file}"\n' +
                     mutate(sources[file], of_file))


def listing(mutants):
    """Returns the list of mutants that the runner reads, as JSON."""
    keys = ("number", "name", "kind", "what", "guard", "like", "base",
            "planted", "why")
    return json.dumps([{"file": mutant.edits[0].file if mutant.edits else "",
                        **{key: getattr(mutant, key) for key in keys}}
                       for mutant in mutants], indent=1) + "\n"
