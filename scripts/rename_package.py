#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the Python package `pdl` under the name `pdlrec`, which it has in installed packages. PyPI's
`pdl` is another project."""

from __future__ import annotations

import argparse
import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python" / "pdl"
NAME = "pdlrec"


def renamed(text: str) -> str:
    """Returns a module of the package `pdl` with imports of a package named NAME."""
    return re.sub(r"^(\s*(?:from|import) )pdl\b", rf"\1{NAME}", text, flags=re.M)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version-file", type=pathlib.Path, required=True,
                        help="file of the build with the version")
    parser.add_argument("output", type=pathlib.Path, help="folder of the renamed package")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for module in sorted(PACKAGE.iterdir()):
        if module.is_file():
            text = module.read_text(encoding="utf-8")
            (arguments.output / module.name).write_text(renamed(text), encoding="utf-8")
    version = arguments.version_file.read_text(encoding="utf-8")
    (arguments.output / "version.txt").write_text(version, encoding="utf-8")


if __name__ == "__main__":
    main()
