#!/usr/bin/env python3
"""Prints docs/Reference/CommandLine.md: the flags of all programs, from their --help texts.

Usage: flag_reference.py BUILD MODEL

BUILD is the build folder, MODEL the model whose programs are asked.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

INTRODUCTION = """<!-- Written by scripts/update_docs.sh; do not edit. -->
# Command lines

This page lists the flags of every program, as `--help` of the program shows them. Trainers and
servers of one mode lack some flags of other modes. The column "Programs" then names those that have
the flag: modes of `pdl-translate --mode`, or `cuda` for a trainer of `--target=cuda`. Without an
entry all have it. A flag that needs or excludes another one says so.
[Exit codes](ExitCodes.md) lists the exit statuses.
"""

# The programs that are asked: one for each mode, and one that computes on GPUs.
PROGRAMS = {mode: [f"--mode={mode}"] for mode in
            ("local", "sync", "async", "half-async", "quorum", "collective", "hybrid", "geo")}
PROGRAMS["cuda"] = ["--target=cuda"]


def help_of(*command):
    # The width of the terminal must not change the text.
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([*map(str, command), "--help"], capture_output=True, text=True,
                          check=True, env=environment)
    return done.stdout


def entries(text):
    """Yields (section, flag, description) of a help text of CLI11, LLVM or argparse."""
    section, flag, words = "", None, []
    # A single space follows a flag that ends directly before the column of the descriptions.
    starts = [found.end() for found in re.finditer(r"^  -\S.*?  +(?=\S)", text, re.MULTILINE)]
    starts = [start - text.rfind("\n", 0, start) - 1 for start in starts]
    column = max(starts, key=starts.count, default=0)
    for line in text.splitlines() + ["end:"]:
        heading = re.match(r"(\S.*):$", line)
        found = re.match(r"  (-\S.*)$", line)
        if heading or found or not line.strip():
            if flag:
                yield section, flag, " ".join(words)
            flag, words = None, []
        if heading:
            section = heading.group(1)
        elif found:
            flag, _, rest = found.group(1).partition("  ")
            # Otherwise the description begins on the next line, because the flag is longer.
            if not rest and line[column - 1:column] == " " and not re.match(
                    "--|REQUIRED|Needs:|Excludes:", line[column:]):
                flag, rest = line[2:column - 1], line[column:]
            words = [rest.strip().removeprefix("- ")] if rest.strip() else []
        elif flag and line.strip():
            words.append(line.strip())


def cell(text):
    return text.replace("|", "\\|")


def union(texts):
    """Returns the entries of help texts by program, and the programs that have each flag.

    The first program that has a flag gives its description."""
    found, order = {}, []
    for program, text in texts.items():
        for section, flag, words in entries(text):
            entry = found.setdefault((section, flag.split()[0]), (section, flag, words, []))
            entry[3].append(program)
            if section not in order:
                order.append(section)
    return sorted(found.values(), key=lambda entry: order.index(entry[0]))


def names(having, asked):
    """Returns the text that says which of the programs have a flag."""
    if having == asked:
        return ""
    missing = [program for program in asked if program not in having]
    return f"all but {', '.join(missing)}" if len(missing) < 3 else ", ".join(having)


def show(title, found, left_out=(), asked=None):
    print(f"\n## {title}\n")
    last = None
    for section, flag, words, *having in found:
        if flag.startswith(("-h", "--help")) or section in left_out:
            continue
        # This default depends on the machine.
        flag = re.sub(r"^(--threads N)=\d+", r"\1", flag)
        if section != last:
            print(("" if last is None else "\n") + f"**{section}**\n\n| Flag | Meaning |"
                  + (" Programs |\n|---|---|---|" if asked else "\n|---|---|"))
            last = section
        programs = f" {names(having[0], asked)} |" if asked else ""
        print(f"| `{cell(flag)}` | {cell(words)} |{programs}")


def own_passes(text):
    """Yields (section, flag, description) of the passes of PDL in the help text of pdl-opt."""
    name = ""
    for line in text.splitlines():
        # Passes are indented by six spaces, and their options by eight.
        found = re.match(r"( {6}| {8})--(\S+) +- +(.*)$", line)
        if not found:
            continue
        is_pass = len(found[1]) == 6
        if is_pass:
            name = found[2]
        if re.match(r"(nn|ps|rt|pdl)-|math-to-pdlabi", name):
            option = "" if is_pass else f'="{found[2]}"'
            yield "Passes and pipelines", f"--{name}{option}", found[3]


def main():
    build, model = map(pathlib.Path, sys.argv[1:])
    tools = build / "bin"
    with tempfile.TemporaryDirectory() as folder:
        for name, flags in PROGRAMS.items():
            subprocess.run([tools / "pdl-translate", model, *flags, "-o", f"{folder}/{name}",
                            f"--object-cache={folder}/objects"], check=True, capture_output=True)

        def texts(program, *command):
            paths = {name: pathlib.Path(folder) / name / program for name in PROGRAMS}
            return {name: help_of(path, *command) for name, path in paths.items() if path.exists()}

        print(INTRODUCTION, end="")
        for title in ("trainer train", "trainer evaluate", "trainer predict", "pserver",
                      "pserver replay"):
            found = texts(*title.split())
            show(title, union(found), asked=list(found))
    show("pdl-translate", entries(help_of(tools / "pdl-translate")), ["Generic Options"])
    show("pdl-opt", own_passes(help_of(tools / "pdl-opt")))
    print("\nThe references of passes in this folder describe them. Other flags are those of MLIR.")
    for program in ("pdl-launch", "pdl-top", "pdl-serve", "pdl-check-serving", "pdl-measure",
                    "pdl-simulate"):
        show(program, entries(help_of(tools / program)))
    for command in ("head", "count", "describe", "check", "infer", "sample", "convert", "generate"):
        show(f"pdl-data {command}", entries(help_of(tools / "pdl-data", command)))
    for command in ("inspect", "row", "neighbors", "stats", "projector", "dump", "export", "diff",
                    "merge", "shrink", "prune"):
        show(f"pdl-checkpoint {command}", entries(help_of(tools / "pdl-checkpoint", command)))


if __name__ == "__main__":
    main()
