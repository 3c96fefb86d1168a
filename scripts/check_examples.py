#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses every ```mlir block of the documentation with pdl-opt.

  check_examples.py PDL-OPT FILE.md ...

A block is one of three things:
  - a model: it declares a program, and is verified as a whole;
  - a fragment: ops that use values and symbols from elsewhere. It is put into a region whose
    arguments are the values that it does not define, with the types of their uses. It must parse.
    Then each of its ops is verified separately. Errors about things that are elsewhere are
    ignored, such as missing symbols or the op around the fragment;
  - a sketch: it has an ellipsis (`...`) for code that is left out, not only in a comment or a
    string. It is skipped. A block that is not meant to be compiled begins with ```text.
Prints `file:line: message` for each block that fails, and exits with 1 if one does."""

import bisect
import concurrent.futures
import os
import re
import subprocess
import sys

FENCE = re.compile(r"^([ ]*)```mlir[ ]*$")
VALUE = re.compile(r"%[A-Za-z0-9_$.-]+")
# Errors of the verifier, and errors about the surroundings, which a fragment lacks.
VERIFIER = re.compile(r"'[\w.]+' op ")
SURROUNDINGS = re.compile(r"(which|@\S+) is (not an? |neither )|expects parent op|"
                          r"does not reference|that nn\.\w+ did not make|of one nn\.\w+,")
ERROR = re.compile(r"<stdin>:(\d+):\d+: error: (.*)")
EXPECTS = re.compile(r"<stdin>:(\d+):\d+: error: use of value '(%[^']+)' expects different type than prior "
                     r"uses: '(.*)' vs 'none'")


def blocks(path):
    """Yields the number of the first line and the text of each block."""
    text, begin, indent = [], 0, 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fence = FENCE.match(line)
            if fence and not begin:
                text, begin, indent = [], number + 1, len(fence.group(1))
            elif begin and line.strip() == "```":
                yield begin, "".join(text)
                begin = 0
            elif begin:
                text.append(line[indent:] if line[:indent].isspace() else line)


def run(program, text, flags):
    return subprocess.run(
        [program, "-", "-o", os.devnull] + flags, input=text, text=True,
        capture_output=True, check=False).stderr


def without_comments(text):
    return re.sub(r"//.*", "", text)


def defined_values(text):
    """Returns the values on the left of an equals sign, as variables of a loop or in a list of
    arguments."""
    found = set()
    for line in text.splitlines():
        results = re.match(r"\s*((%[\w$.-]+(:\d+)?\s*,?\s*)+)=", line)
        if results:
            found.update(VALUE.findall(re.sub(r":\d+", "", results.group(1))))
    for variables in re.findall(
            r"(?:scf\.for\s|scf\.parallel\s*\(|iter_args\()([^=]*)=", text):
        found.update(VALUE.findall(variables))
    for arguments in re.findall(r"(?:\^\w+|@\w+)\(((?:\s*%[\w$.-]+\s*:[^%]*)+)\)", text):
        found.update(VALUE.findall(arguments))
    return found


def holder(types, text):
    """Returns ops within a region whose arguments have the types, and the number of lines before
    them."""
    arguments = ", ".join(f"{name}: {type}" for name, type in types.items())
    head = f"^bb0({arguments}):\n" if types else ""
    return f'"test.holder"() ({{\n{head}{text}\n}}) : () -> ()\n', 1 + bool(head)


def learn(errors, types_at):
    """Adds the types that errors mention to the types at their lines. Returns true if some are
    new."""
    is_new = False
    for number, name, type in EXPECTS.findall(errors):
        types = types_at(int(number))
        if types.get(name) == "none":
            types[name] = type
            is_new = True
    return is_new


def parse_fragment(program, text, types):
    """Returns the line and the text of an error in a fragment, or None if it parses. Adds the types
    of values from elsewhere to `types`."""
    plain = without_comments(text)
    names = sorted(set(VALUE.findall(plain)) - defined_values(plain))
    # A result of an op with several results is written as %a#1.
    types.update({name: "none" for name in names})
    while True:
        source, before = holder(types, text)
        errors = run(program, source, [
            "--allow-unregistered-dialect", "--verify-each=false",
            "--mlir-very-unsafe-disable-verifier-on-parsing"])
        if not learn(errors, lambda line: types):
            error = ERROR.search(errors)
            return (int(error.group(1)) - before, error.group(2)) if error else None


def ops_of(text, first_line=1):
    """Yields the line and the text of each op of a fragment, then of ops inside of it, because the
    verifier of an op without its surroundings does not check them. An op ends where brackets are
    closed and no line is indented deeper."""
    ops, depth = [], 0
    for number, line in enumerate(text.splitlines(), first_line):
        plain = re.sub(r'"[^"]*"', "", without_comments(line)).replace("->", "")
        indent = len(line) - len(line.lstrip())
        if not plain.strip() or plain.lstrip().startswith("^") and depth == 0:
            line = ""  # a line without a part of an op
        elif depth == 0 and (not ops or indent <= ops[-1][1]):
            ops.append((number, indent, []))
        if ops:
            ops[-1][2].append(line)
        depth += len(re.findall(r"[({\[]", plain)) - len(re.findall(r"[)}\]]", plain))
    for number, indent, lines in ops:
        yield number, "\n".join(lines)
        begin = next((i for i, line in enumerate(lines) if line.endswith("{")), None)
        end = next((i for i, line in enumerate(lines) if line[indent:indent + 1] == "}"), None)
        if begin is not None and end is not None:
            yield from ops_of("\n".join(lines[begin + 1:end]), number + begin + 1)


def verify_fragment(program, text, types):
    """Returns the line and the text of the verifier's error about an op of a fragment, or None.
    `types` are those of values from elsewhere."""
    # Results of other ops are arguments here.
    ops = [(line, re.sub(r"(%[\w$.-]+)#(\d+)", r"\1_result\2", op))
           for line, op in ops_of(text)]
    used = [sorted(set(VALUE.findall(without_comments(op))) -
                   defined_values(without_comments(op))) for _, op in ops]
    arguments = [{name: types.get(name, "none") for name in names} for names in used]
    while True:
        source, before = "", []
        for (_, op), own in zip(ops, arguments):
            chunk, lines = holder(own, op)
            before.append(source.count("\n") + lines)
            source += chunk + "// -----\n"
        errors = run(program, source,
                     ["--allow-unregistered-dialect", "--split-input-file"])
        if not learn(errors, lambda line: arguments[bisect.bisect(before, line) - 1]):
            break
    for number, error in ERROR.findall(errors):
        # A text that does not parse here is within brackets and is not an op.
        if not VERIFIER.match(error) or SURROUNDINGS.search(error):
            continue
        at = bisect.bisect_left(before, int(number)) - 1
        return ops[at][0] + int(number) - before[at] - 1, error
    return None


def check(program, place):
    path, line, text = place
    if "..." in re.sub(r'"[^"]*"', "", without_comments(text)):
        return ""
    if re.search(r"^\s*nn\.program\b", text, re.M) and "nn.record" in text:
        found = ERROR.search(run(program, text, []))
        error = found and (int(found.group(1)), found.group(2))
    else:
        types = {}
        error = parse_fragment(program, text, types) or verify_fragment(program, text, types)
    return f"{path}:{line + error[0] - 1}: {error[1]}" if error else ""


def main():
    program, *paths = sys.argv[1:]
    places = [(path, line, text) for path in paths for line, text in blocks(path)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [error for error in pool.map(lambda place: check(program, place), places) if error]
    for error in found:
        print(error)
    print(f"{len(places)} examples, {len(found)} wrong")
    return 1 if found or not places else 0


if __name__ == "__main__":
    sys.exit(main())
