# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the user's source line that builds something, and the variable it is assigned to."""

import dis
import functools
import inspect
import itertools
import os
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import NamedTuple

# Path of this package as frames have it. It contains a link if Python found the package by it.
_PACKAGE = os.path.dirname(sys._getframe().f_code.co_filename) + os.sep
# Folders of Python and of NumPy, whose code may call this package for the user.
_STANDARD = sysconfig.get_path("stdlib") + os.sep
_SITES = ("site-packages", "dist-packages")
# Code of layers counts as code of users: its values are named after its variables.
_LAYERS = _PACKAGE + "layers.py"
# Frames of this file are between a checked function and its caller.
_ARGUMENTS = _PACKAGE + "arguments.py"


class Place(NamedTuple):
    """A place in a source file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    @property
    def is_of_notebook(self) -> bool:
        """True if the source is a cell of a notebook, which may run several times."""
        return "ipykernel" in self.file or self.file.startswith("<ipython-input")

    @staticmethod
    def of_user() -> "Place":
        """Returns the innermost running line of the user's code. Skips this package and libraries
        that call it, such as Python's `random`."""
        frame: types.FrameType | None = sys._getframe()
        while frame.f_back and _is_package(frame):
            frame = frame.f_back
        of_user: types.FrameType | None = frame
        while of_user and (_is_package(of_user) or _is_library(of_user)):
            of_user = of_user.f_back
        frame = of_user or frame
        # An instruction has two bytes, and each instruction has a position.
        positions = frame.f_code.co_positions()
        found = next(itertools.islice(positions, frame.f_lasti // 2, None), None)
        column = found[2] if found and found[2] is not None else 0
        return Place(frame.f_code.co_filename, frame.f_lineno, column + 1)


def place_of(function: Callable) -> Place:
    """Returns the place where a function is defined. For callables without code, returns the
    user's running line."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Place(code.co_filename, code.co_firstlineno, 1) if code else Place.of_user()


def is_called_by_user() -> bool:
    """Returns true if code outside of this package called the calling method."""
    # Compare modules, not files: a method that `dataclasses` has made has no real file.
    return _module_of(sys._getframe(2)).partition(".")[0] != __name__.partition(".")[0]


def _module_of(frame: types.FrameType) -> str:
    # Code that is run by exec() may have any module name, or none.
    return str(frame.f_globals.get("__name__"))


def _is_package(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def _is_library(frame: types.FrameType) -> bool:
    file = frame.f_code.co_filename
    if _module_of(frame).startswith("numpy."):
        return True
    return file.startswith(_STANDARD) and not any(site in file for site in _SITES)


@functools.cache
def _instructions(code: types.CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


def _following(frame: types.FrameType) -> list[dis.Instruction]:
    """Returns the instructions after the one that runs in a frame."""
    return [one for one in _instructions(frame.f_code) if one.offset > frame.f_lasti]


def _stored(instruction: dis.Instruction) -> list[str]:
    """Returns the variables that an instruction assigns to; empty for other instructions."""
    name = instruction.opname
    if name.startswith("STORE_FAST_LOAD"):
        return [instruction.argval[0]]
    if name.startswith("STORE_FAST_STORE"):
        return list(instruction.argval)
    if name in ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"):
        return [instruction.argval]
    return []


def assigned_names(count: int = 1) -> list[str | None]:
    """Returns the names of the variables to which the user assigns the `count` results of this
    call.

    The name is None for a result that is not assigned directly, as in `f(relu(x))`. If a function
    returns the result directly, the variable of its caller counts.
    """
    nobody: list[str | None] = [None] * count
    frame: types.FrameType | None = sys._getframe(1)
    while frame and (_is_builder(frame) or _is_decorator(frame)):
        frame = frame.f_back
    while frame and not _is_builder(frame):
        if _is_decorator(frame):
            frame = frame.f_back
            continue
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
    return _is_package(frame) and file not in (_LAYERS, _ARGUMENTS)


def _is_decorator(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename == _ARGUMENTS
