#!/usr/bin/env python3
"""Checks that docs/images has the pictures that reports show today.

Takes the swim lane of a simulated case out of report.html and makes an SVG
file of it that needs no page: one for light and one for dark backgrounds. A
simulated run is the same everywhere, and so is its picture.
--write replaces the files in docs/images.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import document

IMAGES = document.ROOT / "docs" / "images"
TUTORIAL = document.ROOT / "docs" / "tutorial.md"
NAMES_WIDTH = 92
LEGEND_ROW = 22
LEGEND_COLUMNS = 6


def scenarios():
    """Returns the text of each picture's scenario, by the picture's name."""
    smoke = document.ROOT / "scenarios/smoke/crash-in-a-shard.yaml"
    bug, = (block for block in document.read_blocks(TUTORIAL)
            if (block.marker, block.value) == ("file", "bug.yaml"))
    return {"swim-lane": smoke.read_text(), "tutorial": bug.text()}


def report_of(program, text, folder):
    """Returns the report of a simulated run, whether it passed or failed."""
    folder.mkdir()
    (folder / "scenario.yaml").write_text(text)
    subprocess.run([program, "run", "scenario.yaml", "--world", "sim"],
                   cwd=folder, stdout=subprocess.DEVNULL, check=False)
    return (folder / ".gauntlet/runs/latest/report.html").read_text()


def colours(style):
    """Returns the two palettes, each as {variable: colour}."""
    palettes = re.findall(r":root \{(.*?)\}", style, re.S)
    light, dark = (dict(re.findall(r"(--[\w-]+): ([^;]+);", text))
                   for text in palettes[:2])
    return light, {**light, **dark}


def rules_for(style, body):
    """Returns the page's rules for classes that the picture has."""
    used = set(re.findall(r'class="([^"]+)"', body))
    used = {name for names in used for name in names.split()}
    rules = []
    for selector, text in re.findall(r"^([^\n{@}]+) \{([^}]*)\}", style, re.M):
        kept = [one.strip() for one in selector.split(",")
                if re.fullmatch(r"(\.swim )?(text|\.[\w.-]+)", one.strip())]
        kept = [one.removeprefix(".swim ") for one in kept
                if one == ".swim text" or
                set(re.findall(r"\.([\w-]+)", one.removeprefix(".swim "))) <= used]
        if kept:
            rules.append(f"{','.join(kept)}{{{' '.join(text.split())}}}")
    return "\n".join(rules)


def legend(figure, top):
    rows, entries = [], re.findall(
        r'<use href="#(m-\w+)"/></svg>([^<]+)</li>', figure)
    for at, (symbol, text) in enumerate(entries):
        x = 20 + (at % LEGEND_COLUMNS) * 180
        y = top + (at // LEGEND_COLUMNS) * LEGEND_ROW
        rows.append(f'<use href="#{symbol}" x="{x}" y="{y}"/>'
                    f'<text x="{x + 14}" y="{y + 4}">{text}</text>')
    height = LEGEND_ROW * -(-len(entries) // LEGEND_COLUMNS)
    return "".join(rows), height


def picture(report, palette):
    style = re.search(r"<style>(.*?)</style>", report, re.S).group(1)
    figure = re.search(r'<figure class="swim">.*?</figure>', report, re.S).group()
    symbols = re.search(r'class="symbols".*?(<defs>.*?</defs>)', report,
                        re.S).group(1)
    names = re.search(r'<svg class="names".*?>(.*?)</svg>', figure).group(1)
    run = re.search(r'<svg class="run".*?>(.*?)</svg>', figure).group(1)
    width, height = map(int, re.search(
        r'class="run".*?viewBox="0 0 (\d+) (\d+)"', figure).groups())
    below, below_height = legend(figure, height + 8)
    body = (f'{symbols}<g transform="translate(8 8)"><g>{names}</g>'
            f'<g transform="translate({NAMES_WIDTH} 0)">{run}</g>{below}</g>')
    # Browsers show no titles in an SVG that is embedded as an image.
    body = re.sub(r"<title>.*?</title>", "", body)
    rules = rules_for(style, body)
    rules = re.sub(r"var\((--[\w-]+)\)", lambda one: palette[one.group(1)], rules)
    width, height = width + NAMES_WIDTH + 16, height + below_height + 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="system-ui,\'DejaVu Sans\',sans-serif">\n'
        f"<style>\n{rules}\n</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" '
        f'fill="{palette["--page"]}"/>\n'
        + body.replace("><", ">\n<") + "\n</svg>\n")


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True, type=pathlib.Path)
    options.add_argument("--write", action="store_true")
    options = options.parse_args()
    differ = []
    for name, text in scenarios().items():
        with tempfile.TemporaryDirectory(prefix="gauntlet-pictures-") as scratch:
            report = report_of(options.program.resolve(), text,
                               pathlib.Path(scratch) / "run")
        style = re.search(r"<style>(.*?)</style>", report, re.S).group(1)
        for suffix, palette in zip(("light", "dark"), colours(style)):
            file = IMAGES / f"{name}-{suffix}.svg"
            drawn = picture(report, palette)
            if options.write:
                IMAGES.mkdir(parents=True, exist_ok=True)
                file.write_text(drawn)
            elif not file.is_file() or file.read_text() != drawn:
                differ.append(file.name)
    for name in differ:
        print(f"FAILED docs/images/{name} is not what a report shows: run this "
              "with --write, and look at it")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
