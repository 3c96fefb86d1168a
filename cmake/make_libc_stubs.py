#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes interface stubs of the C library: shared libraries with the same names, versions, types
and sizes of symbols, but without code. pdl-translate links programs with them. So a host needs no
development files of its C library, and a model compiles to the same program on every host."""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess

SYMBOL = re.compile(r"^\s*\d+:\s+([0-9a-f]+)\s+(\d+)\s+(FUNC|IFUNC|OBJECT)\s+(GLOBAL|WEAK)\s+DEFAULT"
                    r"\s+(\d+)\s+(\S+?)(@@?)(\S+)$", re.M)


def symbols_of(readelf: str, library: pathlib.Path) -> list[re.Match]:
    listed = subprocess.run([readelf, "--dyn-syms", "--wide", library], check=True,
                            capture_output=True, text=True).stdout
    # Private symbols are for the C library's own parts.
    found = [symbol for symbol in SYMBOL.finditer(listed) if symbol[8] != "GLIBC_PRIVATE"]
    if not found:
        raise SystemExit(f"{library} exports no symbol with a version; is it a C library?")
    return found


def assembly(symbols: list[re.Match]) -> str:
    """Returns definitions of all symbols. Names of one object keep one address, because a program
    that copies the object copies it under all of its names."""
    places: dict[tuple, list[str]] = {}
    lines = []
    for number, symbol in enumerate(symbols):
        value, size, kind, binding, _, name, default, version = symbol.groups()
        label = f"stub_{number}"
        is_object = kind == "OBJECT"
        places.setdefault((value, size) if is_object else (label, "1"), []).append(label)
        lines += [f".{'weak' if binding == 'WEAK' else 'globl'} {label}",
                  f".type {label}, @{'object' if is_object else 'function'}",
                  f".size {label}, {size if is_object else 1}",
                  f".symver {label}, {name}{default}{version}, remove"]
    for (value, size), labels in places.items():
        is_object = not value.startswith("stub_")
        lines.append(".bss\n.balign 32" if is_object else ".text")
        lines += [f"{label}:" for label in labels]
        lines.append(f".space {max(int(size), 1)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--linker", required=True)
    parser.add_argument("--readelf", required=True)
    parser.add_argument("--output", required=True, type=pathlib.Path, help="folder")
    parser.add_argument("libraries", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for library in arguments.libraries:
        symbols = symbols_of(arguments.readelf, library)
        stub = arguments.output / library.name
        source, script, made = (stub.with_name(stub.name + end) for end in (".s", ".map", ".o"))
        source.write_text(assembly(symbols), encoding="ascii")
        versions = dict.fromkeys(symbol[8] for symbol in symbols)
        script.write_text("".join(f"{version} {{}};\n" for version in versions), encoding="ascii")
        subprocess.run([arguments.clang, "--target=x86_64-linux-gnu", "-c", source, "-o", made],
                       check=True)
        subprocess.run([arguments.linker, "-shared", "--strip-all", "--hash-style=gnu", "-soname",
                        library.name, "--version-script", script, "-o", stub, made], check=True)
        for temporary in (source, script, made):
            temporary.unlink()


if __name__ == "__main__":
    main()
