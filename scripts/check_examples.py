#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses every ```mlir block of the documentation with pdl-opt.

  check_examples.py PDL-OPT FILE.md ...

A block is one of three things:
  - a model: it declares a program, and is verified whole;
  - a fragment: ops that use values and symbols from elsewhere. It is put into a
    region whose arguments are the values that it does not define, each with the
    type that it is used with, and has to parse;
  - a sketch: it has an ellipsis (`...`) where something is left out, and is
    passed over. A block of a page that wants to be read, not compiled, is fenced
    as ```text.
Prints `file:line: sentence` for each block that fails and exits with 1 if one
does."""

import concurrent.futures
import os
import re
import subprocess
import sys

FENCE = re.compile(r"^([ ]*)```mlir[ ]*$")
VALUE = re.compile(r"%[A-Za-z0-9_$.-]+")
EXPECTS = re.compile(r"use of value '(%[^']+)' expects different type than prior "
                     r"uses: '(.*)' vs 'none'")


def blocks(path):
    """The number of the first line and the text of each block."""
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
    """The values that stand left of an equals sign, as variables of a loop or in a
    list of arguments."""
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


def check_fragment(program, text):
    """What is wrong with a fragment; empty if nothing is."""
    plain = without_comments(text)
    names = sorted(set(VALUE.findall(plain)) - defined_values(plain))
    # A result of an op with several is written %a#1.
    types = {name: "none" for name in names}
    flags = ["--allow-unregistered-dialect", "--verify-each=false",
             "--mlir-very-unsafe-disable-verifier-on-parsing"]
    while True:
        arguments = ", ".join(f"{name}: {type}" for name, type in types.items())
        head = f"^bb0({arguments}):\n" if types else ""
        errors = run(program, f'"test.holder"() ({{\n{head}{text}\n}}) : () -> ()\n', flags)
        learnt = EXPECTS.search(errors)
        if not learnt or types.get(learnt.group(1)) != "none":
            return errors, 1 + bool(head)
        types[learnt.group(1)] = learnt.group(2)


def check(program, place):
    path, line, text = place
    if "..." in text:
        return ""
    if re.search(r"^\s*nn\.program\b", text, re.M) and "nn.record" in text:
        errors, before = run(program, text, []), 0
    else:
        errors, before = check_fragment(program, text)
    error = re.search(r"<stdin>:(\d+):\d+: error: (.*)", errors)
    if error:
        return f"{path}:{line + int(error.group(1)) - 1 - before}: {error.group(2)}"
    return f"{path}:{line}: {errors}" if "error" in errors else ""


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
