# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tools of a wheel. Its commands, such as pdl-translate, call `run`."""

import os
import pathlib
import sys

from pdl import installed


def run() -> None:
    """Replaces this process by the tool under whose name it was started."""
    name = pathlib.Path(sys.argv[0]).name
    if name in ("pdl-check-serving", "pdl-top"):
        # They are written in Python, and look for other tools on PATH.
        path = str(installed.share() / name / name)
        os.execv(sys.executable, [sys.executable, path, *sys.argv[1:]])
    path = installed.program(name)
    if path is None:
        raise SystemExit(f"this package contains no {name}; install PDL's wheel for this system")
    os.execv(path, [path, *sys.argv[1:]])
