# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs pdl-translate."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from pdl import installed
from pdl.arguments import checked
from pdl.errors import CompileError
from pdl.model import Model
from pdl.text import unescaped


def find_translate() -> str:
    """Returns the path of pdl-translate: that in PDL_TRANSLATE, otherwise that of this wheel,
    otherwise the first on PATH."""
    named = os.environ.get("PDL_TRANSLATE")
    found = shutil.which(named or installed.program("pdl-translate") or "pdl-translate")
    if found is None:
        raise CompileError(
            f"PDL_TRANSLATE is {named}, where there is no program; set it to build/bin/"
            "pdl-translate of PDL's build folder" if named else
            "pdl-translate is not on PATH; add PDL's folder build/bin to PATH, or set "
            "PDL_TRANSLATE to its path")
    return found


def _with_python_lines(said: str, source: pathlib.Path, text: str) -> str:
    """Replaces positions in the text of a model, at which the parser has stopped, by the Python
    lines that wrote this text."""
    lines = text.splitlines()

    def python_line(found: re.Match) -> str:
        # The location of an op is at the end of its last line.
        for line in lines[int(found[1]) - 1:]:
            place = re.search(r' loc\("((?:[^"\\]|\\.)*)":(\d+):(\d+)\)$', line)
            if place:
                return f"{unescaped(place[1])}:{place[2]}:{place[3]}"
        return f"model {found[1]}:{found[2]}"

    return re.sub(rf"{re.escape(str(source))}:(\d+):(\d+)", python_line, said)


def _errors_first(said: str) -> str:
    """Returns the diagnostics with all errors and their notes before warnings and remarks."""
    parts = re.split(r"^(?=\S.*?: (?:error|warning|remark): )", said, flags=re.M)
    is_error = [re.match(r"\S.*?: error: ", part) is not None for part in parts]
    return "".join([part for part, first in zip(parts, is_error) if first] +
                   [part for part, first in zip(parts, is_error) if not first])


@checked(own=("out",))
def compile(model: Model, out: str | os.PathLike, *, mode: str = "local",
            numerics: str = "fast", compute: str | None = None,
            element_type: str | None = None, target_cpu: str | None = None,
            options: Sequence[str] = ()) -> pathlib.Path:
    """Compiles a model into the folder `out`, which it returns.

    The folder has `trainer`, and with mode "sync" or "async" also `pserver`. `options` are
    further flags of pdl-translate. If it refuses the model, raises a CompileError that names the
    Python lines. Warnings are printed to standard error.
    """
    flags = [f"--mode={mode}", f"--numerics={numerics}"]
    if compute is not None:
        flags.append(f"--compute={compute}")
    if element_type is not None:
        flags.append(f"--element-type={element_type}")
    if target_cpu is not None:
        flags.append(f"--target-cpu={target_cpu}")
    program = find_translate()
    with tempfile.TemporaryDirectory(prefix="pdl") as folder:
        source = pathlib.Path(folder, "model.mlir")
        text = model.text(locations=True)
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([program, source, "-o", os.fspath(out), *flags, *options],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False)
    said = _with_python_lines(done.stderr, source, text)
    if done.returncode != 0:
        raise CompileError(_errors_first(said).strip() or
                           f"{program} ended with status {done.returncode}")
    sys.stderr.write(said)
    return pathlib.Path(out)
