#!/usr/bin/env python3
"""Checks pages, comments, messages and names against the rules of CONTRIBUTING.md.

Usage: check_words.py [ROOT] [--all] [--update]

Reports, with file and line:
  word      a word that the glossary replaces by the field's own
  spelling  British spelling, in names of code, of IR and of files too
  opening   a doc comment or docstring that opens with a fragment such as "What" or "Whether"
  long      a sentence of more than 35 words

Checks the text of pages, and comments of C++, Python, MLIR and lit tests, with docstrings. Of the
C++ of the product, also checks messages. Does not check the lines that lit and FileCheck read.

Files in scripts/words_pending.txt are not rewritten yet: only their spelling is checked. A
file that passes must leave that list, so the list only gets shorter: --update removes such files.
--all checks all files. scripts/words_allowed.txt lists exceptions with their reasons.
Exits with 1 if there are findings.
"""

import argparse
import ast
import functools
import io
import os
import pathlib
import re
import sys
import tokenize

MAX_SENTENCE_WORDS = 35

# What to write instead of a word, by a pattern for the word.
GLOSSARY = {
    r"behind": "after; if it means a place, name the place",
    r"beside": "next to; concurrently with; in addition to",
    r"life ?signs?": "heartbeat",
    r"bookmarks?": "recovery record",
    r"tak(?:e|es|en|ing) up|took up": "pull, snapshot",
    r"sentences?": "message, error message",
    r"whoever": "the process that, the user who",
    r"com(?:e|es|ing) back": "restart, recover, rejoin",
    r"put aside": "store, defer",
    r"is due": "pending, scheduled",
    r"pushers?": "worker, sender",
    r"hangs? on": "depends on",
    r"nobody": "no process, no user",
    r"somebody": "a process, a user",
    r"settled order": "fixed summation order",
}
BRITISH = {
    r"behaviou?r(?<=our)\w*": "behavior",
    r"colour\w*": "color",
    r"neighbour\w*": "neighbor",
    r"favour\w*": "favor",
    r"centre[ds]?": "center",
    r"licence[sd]?": "license",
    r"catalogue[sd]?": "catalog",
    r"learnt": "learned",
    r"modell(?:ed|ing|er)": "modeled, modeling",
    r"(?:un)?labell(?:ed|ing)": "labeled, labeling",
    r"cancell(?:ed|ing)": "canceled, canceling",
    r"artefacts?": "artifact",
    r"analys(?:e|ed|es|ing)(?<!analyses)": "analyze",
    r"(?:un|re|de)?(?:initial|normal|standard|optim|quant|synchron|serial|general|regular|recogn|organ|summar|"
    r"minim|maxim|parallel|vector|special|random|equal|memor|final|util|custom|canonical|"
    r"tokenn?|factor|linear|character|penal|priorit|visual|local|real|emphas|discret|"
    r"binar|stabil|monet|central)is(?:e[drs]?|ing|ation|ations)\b": "-ize, -ization",
}
OPENING = re.compile(
    r"(What|Whether|How|Where|Who|Whose|Which|Of|By|As|Those|That|For|With|Behind|Beside|Once|"
    r"All|None|Nothing|Such)\b")
WORD_RULES = [
    (rule, re.compile(rf"\b(?:{pattern})\b", re.I), advice)
    for rule, table in (("word", GLOSSARY), ("spelling", BRITISH))
    for pattern, advice in table.items()
]

# A part of a name, and a word of it: `isNormalized`, `l2_normalize` and `HTTPServer` have two.
NAME = re.compile(r"[A-Za-z]+")
WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
BRITISH_WORDS = [(re.compile(pattern, re.I), advice) for pattern, advice in BRITISH.items()]

# Generated files, records of the past, and data.
SKIPPED = ("docs/Reference/", "docs/phases/", "docs/Obligations.md", "bench/records/",
           "integration_test/models/found/", "integration_test/oracles/goldens/", "data/", "build")
# Folders whose C++ messages users see.
CODE = ("include/", "lib/", "tools/")
# Folders whose MLIR is checked. In lib/Std, comments are formulas.
WITH_MLIR = ("bench/", "examples/", "integration_test/", "models/", "test/")
# Lines of comments that lit and FileCheck read, and separators of files.
DIRECTIVE = re.compile(r"[A-Z][A-Z0-9_-]*(\{[A-Z,]+\})?:( |$)|(expected|---|===)")
# Files whose names are checked, in all folders.
NAMED = (".md", ".h", ".cpp", ".td", ".c", ".cu", ".py", ".mlir", ".test", ".sh", ".cmake", ".json",
         ".toml", ".yml", ".txt", ".in")
# Except records of the past, and files that list words.
UNNAMED = ("bench/records/", "build", "scripts/check_words.py", "scripts/words_allowed.txt")


def files(root):
    """Yields (path, whether its prose is checked) of the files, relative to the root. Works
    without Git, so that an unpacked archive can be checked too."""
    for folder, folders, names in os.walk(root):
        here = pathlib.Path(folder).relative_to(root)
        folders[:] = sorted(name for name in folders
                            if not name.startswith((".", "build")) and name != "__pycache__")
        for name in sorted(names):
            path = (here / name).as_posix()
            if (path.startswith(UNNAMED) or name == "check_words_test.py"
                    or not name.endswith(NAMED)):
                continue
            yield path, not path.startswith(SKIPPED) and (
                name.endswith((".md", ".py", ".h", ".cpp", ".td"))
                or name.endswith((".mlir", ".test")) and path.startswith(WITH_MLIR))


def without_code(text):
    """Returns the text with code spans and link targets replaced by a word."""
    text = re.sub(r"`[^`]*`", "x", text)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def paragraphs_of_page(text):
    """Yields (line, text, is a sentence) of the paragraphs, table rows and headings of a page."""
    text = re.sub(r"(?s)```.*?```", lambda found: "\n" * found.group(0).count("\n"), text)
    paragraph, start = [], 1
    for number, line in enumerate(text.splitlines() + [""], 1):
        separate = line.lstrip().startswith(("|", "#"))
        ends = not line.strip() or separate or re.match(r"\s*([-*]|\d+[.)])\s", line)
        if ends and paragraph:
            yield start, " ".join(paragraph), True
            paragraph = []
        if separate:
            yield number, line, False
        elif line.strip():
            start = start if paragraph else number
            paragraph.append(line.strip())


def comments_of_code(text):
    """Yields (line, text, is a doc comment) of blocks of line comments."""
    block, start, doc = [], 0, False
    for number, line in enumerate(text.splitlines() + [""], 1):
        found = re.match(r"\s*(///?)<?(?: (.*)|$)", line)
        # The banner of a file, and its license, are not prose.
        if found and not re.search(r"===-|SPDX|LICENSE|Apache License", line):
            if block and doc != (found.group(1) == "///"):
                yield start, block, doc
                block = []
            start = start if block else number
            doc = found.group(1) == "///"
            block.append(found.group(2) or "")
        elif block:
            yield start, block, doc
            block = []


def comments_of_test(text, mark):
    """Yields (line, text) of blocks of comments in MLIR or in a lit test."""
    block, start = [], 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        found = re.match(rf"\s*{mark}( (.*)|$)", line)
        if found and not re.search(r"SPDX|See LICENSE|Apache License",
                                   line) and not DIRECTIVE.match(found.group(2) or ""):
            start = start if block else number
            block.append(found.group(2) or "")
        elif block:
            yield start, block
            block = []


def prose_of_python(text):
    """Yields (line, text, is the docstring of a class or function) of docstrings and comments.
    Docstrings of tests are statements about the tested program, so they may open with a condition.
    Yields nothing for a file that is not valid Python."""
    try:
        module = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(module):
        if (isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
                and ast.get_docstring(node) is not None):
            name = getattr(node, "name", "test")
            yield (node.body[0].lineno, ast.get_docstring(node).splitlines(),
                   not name.lower().startswith("test"))
    block, start = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type != tokenize.COMMENT or token.line[:token.start[1]].strip():
            continue
        if block and line != start + len(block):
            yield start, block, False
            block = []
        if not re.search(r"#!|===-|SPDX|See LICENSE|Apache License", token.string):
            start = start if block else line
            block.append(token.string[1:].removeprefix(" "))
    if block:
        yield start, block, False


def blocks_of_code(path, text):
    """Yields (line, text, is a doc comment) of the comments of a file that is not a page."""
    if path.endswith(".py"):
        yield from prose_of_python(text)
    elif path.endswith((".mlir", ".test")):
        for line, block in comments_of_test(text, "//" if path.endswith(".mlir") else "#"):
            yield line, block, False
    else:
        yield from comments_of_code(text)


def without_tables(block):
    """Returns the lines of a comment with its indented lines, which are code or tables, left
    empty. The lines of a list item are no table."""
    in_list, lines = False, []
    for line in block:
        if re.match(r"\s*([-*]|\d+[.)])\s", line):
            in_list = True
        elif not line.startswith(" "):
            in_list = False
        lines.append("" if line.startswith("  ") and not in_list else line)
    return lines


def messages_of_code(text):
    """Yields (line, text) of the string literals that hold words."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(//|#include)", line):
            continue
        for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', line):
            if " " in found.group(1):
                yield number, found.group(1)


def split(text):
    return re.split(r"(?<=[.!?:;])\s+(?=[A-Z`*\[(x])", text)


def check_text(line, text):
    """Yields (line, rule, found, advice) for the words of a text."""
    plain = without_code(text)
    for rule, pattern, advice in WORD_RULES:
        for found in pattern.finditer(plain):
            yield line, rule, found.group(0), advice


def check_sentences(line, text):
    for one in split(without_code(text)):
        words = re.findall(r"[A-Za-z][A-Za-z'-]*", one)
        if len(words) > MAX_SENTENCE_WORDS:
            yield line, "long", " ".join(words[:6]) + " ...", f"{len(words)} words; split it"


def check_names(path, text):
    """Yields (line, rule, found, advice) for the words of names, in the text and in the path."""
    # Few files have any, so the lines of most need not be searched.
    is_american = not any(map(british_words, set(NAME.findall(text))))
    for number, line in enumerate([path] if is_american else [path, *text.splitlines()]):
        for name in NAME.findall(line):
            for word, advice in british_words(name):
                yield max(number, 1), "spelling", word, advice


@functools.cache
def british_words(name):
    """Returns (word, advice) of the words of a name that have British spelling."""
    return [(word, advice) for word in WORD_OF_NAME.findall(name)
            for pattern, advice in BRITISH_WORDS if pattern.fullmatch(word)]


def check_file(path, text):
    """Yields (line, rule, found, advice) for the prose of a file."""
    if path.endswith(".md"):
        for line, paragraph, is_sentence in paragraphs_of_page(text):
            yield from check_text(line, paragraph)
            if is_sentence:
                yield from check_sentences(line, paragraph)
        return
    for line, block, doc in blocks_of_code(path, text):
        if doc and OPENING.match(block[0]):
            yield line, "opening", block[0].split()[0], "open with a verb or a noun phrase"
        for offset, paragraph, is_sentence in paragraphs_of_page("\n".join(without_tables(block))):
            yield from check_text(line + offset - 1, paragraph)
            if is_sentence:
                yield from check_sentences(line + offset - 1, paragraph)
    if path.endswith((".h", ".cpp")) and path.startswith(CODE):
        for line, message in messages_of_code(text):
            yield from check_text(line, message)
    if not path.endswith(".td"):
        return
    # Descriptions, and not the C++ that other blocks hold.
    for found in re.finditer(r"(?s)(?:description\s*=|#|InterfaceMethod<)\s*\[\{(.*?)\}\]", text):
        line = text.count("\n", 0, found.start(1)) + 1
        for offset, paragraph, is_sentence in paragraphs_of_page(found.group(1)):
            yield from check_text(line + offset - 1, paragraph)
            if is_sentence:
                yield from check_sentences(line + offset - 1, paragraph)


def read_list(path):
    """Returns the lines of a list, without comments. A missing file is an empty list."""
    if not path.exists():
        return []
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def read_allowed(path):
    """Returns the set of (file or "*", rule, lower-case word) that are allowed."""
    allowed = set()
    for line in read_list(path):
        entry, separator, reason = line.partition("  # ")
        parts = entry.split(": ", 2)
        if not separator or not reason.strip() or len(parts) != 3:
            sys.exit(f"{path}: '{line}' is not 'FILE: RULE: WORD  # REASON'")
        allowed.add((parts[0], parts[1], parts[2].lower()))
    return allowed


def is_allowed(path, finding, allowed):
    _, rule, word, _ = finding
    return not allowed.isdisjoint({(path, rule, word.lower()), ("*", rule, word.lower())})


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=str(pathlib.Path(__file__).parent.parent))
    parser.add_argument("--all", action="store_true", help="check pending files too")
    parser.add_argument("--update", action="store_true",
                        help="remove files that pass from the list of pending files")
    options = parser.parse_args()
    root = pathlib.Path(options.root)
    pending_path = root / "scripts" / "words_pending.txt"
    pending = read_list(pending_path)
    allowed = read_allowed(root / "scripts" / "words_allowed.txt")

    failed, passing, seen = 0, set(), set()
    for path, has_prose in files(root):
        text = (root / path).read_text(errors="replace")
        found = []
        if has_prose:
            seen.add(path)
            found = [one for one in check_file(path, text) if not is_allowed(path, one, allowed)]
            if path in pending and not options.all:
                if not found:
                    passing.add(path)
                found = []
        for name in check_names(path, text):
            if name not in found and not is_allowed(path, name, allowed):
                found.append(name)
        for line, rule, word, advice in sorted(found, key=lambda one: one[0]):
            print(f"{path}:{line}: {rule}: '{word}': {advice}")
            failed += 1
    stale = sorted(passing | (set(pending) - seen))
    if options.update:
        lines = pending_path.read_text().splitlines() if pending_path.exists() else []
        pending_path.write_text("".join(f"{line}\n" for line in lines if line not in stale))
    else:
        for path in stale:
            reason = "passes" if path in passing else "does not exist"
            print(f"{pending_path}: '{path}' {reason}; run scripts/check_words.py --update")
            failed += 1
    if failed:
        sys.exit(f"{failed} findings; CONTRIBUTING.md has the rules")


if __name__ == "__main__":
    main()
