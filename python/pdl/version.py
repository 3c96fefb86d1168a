# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version of PDL, which project() in CMakeLists.txt defines."""

import importlib.metadata
import pathlib
import re

_HERE = pathlib.Path(__file__).resolve().parent


def _describe() -> str:
    """Returns the version of PDL, and that of the ABI in parentheses."""
    # The build writes this file for an installed package.
    installed = _HERE / "version.txt"
    if installed.exists():
        return installed.read_text(encoding="utf-8").strip()
    source = _HERE.parents[1]
    if not (source / "CMakeLists.txt").exists():
        return importlib.metadata.version("pdlrec")
    project = re.search(r"project\(PDL VERSION (\S+)",
                        (source / "CMakeLists.txt").read_text(encoding="utf-8"))
    abi = re.search(r"#define PDL_ABI_VERSION (\d+)",
                    (source / "include" / "pdlabi" / "abi.h").read_text(encoding="utf-8"))
    return f"{project[1]} (ABI {abi[1]})"


# Text that `--version` of a program in Python prints after the name of the program.
DESCRIPTION = _describe()
VERSION = DESCRIPTION.partition(" ")[0]
