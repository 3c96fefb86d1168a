# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in the user's source something is built, and what it is called there."""

import dis
import functools
import inspect
import itertools
import os
import sys
import types
from collections.abc import Callable
from typing import NamedTuple

# As frames name it: through a link, if that is how Python found it.
_PACKAGE = os.path.dirname(sys._getframe().f_code.co_filename) + os.sep
# Layers are made as users make theirs: values have the names of their variables.
_LAYERS = _PACKAGE + "layers.py"


class Place(NamedTuple):
    """A place in a source file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    @property
    def is_of_notebook(self) -> bool:
        """Whether the source is a cell of a notebook, which may run several times."""
        return "ipykernel" in self.file or self.file.startswith("<ipython-input")

    @staticmethod
    def of_user() -> "Place":
        """The innermost line that runs now and is not of this package."""
        frame: types.FrameType | None = sys._getframe()
        while frame.f_back and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        # An instruction is two bytes, and has a place of its own.
        positions = frame.f_code.co_positions()
        found = next(itertools.islice(positions, frame.f_lasti // 2, None), None)
        column = found[2] if found and found[2] is not None else 0
        return Place(frame.f_code.co_filename, frame.f_lineno, column + 1)


def place_of(function: Callable) -> Place:
    """Where a function is defined."""
    code = inspect.unwrap(function).__code__
    return Place(code.co_filename, code.co_firstlineno, 1)


@functools.cache
def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _following(frame: types.FrameType) -> list[dis.Instruction]:
    """The instructions behind the one that runs in a frame."""
    return [one for one in _instructions(frame.f_code) if one.offset > frame.f_lasti]


def _stored(instruction: dis.Instruction) -> list[str]:
    """The variables that an instruction assigns to, if that is what it does."""
    name = instruction.opname
    if name.startswith("STORE_FAST_LOAD"):
        return [instruction.argval[0]]
    if name.startswith("STORE_FAST_STORE"):
        return list(instruction.argval)
    if name in ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"):
        return [instruction.argval]
    return []


def assigned_names(count: int = 1) -> list[str | None]:
    """The variables that the user assigns the `count` results of this call to.

    None for each result that is not assigned at once, as in `f(relu(x))`. What a
    function returns at once is called as in its caller.
    """
    nobody: list[str | None] = [None] * count
    frame: types.FrameType | None = sys._getframe(1)
    while frame and _is_builder(frame):
        frame = frame.f_back
    while frame and not _is_builder(frame):
        following = _following(frame)
        if following and following[0].opname == "RETURN_VALUE":
            frame = frame.f_back
            continue
        if count > 1:
            first = following[0] if following else None
            if not first or first.opname != "UNPACK_SEQUENCE" or first.arg != count:
                return nobody
            following = following[1:]
        names: list[str | None] = []
        for instruction in following:
            stored = _stored(instruction)
            if not stored or len(names) >= count:
                break
            names += stored
        return names[:count] if len(names) >= count else nobody
    return nobody


def _is_builder(frame: types.FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(_PACKAGE) and file != _LAYERS
