# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the tools, models and data that an installed package contains next to this package."""

from __future__ import annotations

import pathlib

from pdl.errors import CompileError

# Folder with `bin`, `lib` and `share`. A checkout has none.
_FOLDER = pathlib.Path(__file__).resolve().parent / "installed_files"


def program(name: str) -> str | None:
    """Returns the path of a tool of this wheel, such as "pdl-translate"; None in a checkout."""
    path = _FOLDER / "bin" / name
    return str(path) if path.exists() else None


def share() -> pathlib.Path:
    """Returns the folder with `models` and `data`: that of this wheel, of the Debian package, or of
    the checkout or tarball."""
    here = pathlib.Path(__file__).resolve()
    choices = [_FOLDER / "share" / "pdl", here.parents[2]]
    if len(here.parents) > 4:
        # Debian: /usr/lib/python3/dist-packages/pdlrec/installed.py
        choices.append(here.parents[4] / "share" / "pdl")
    for folder in choices:
        if (folder / "models").is_dir():
            return folder
    raise CompileError(f"there are no models of PDL next to {here.parent}; install the package "
                       "again, with pdl-compiler on Debian")
