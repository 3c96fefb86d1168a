# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors. Each has a message that says what to do, and the place of the user's line."""

from pdl.source import Place


class ModelError(ValueError):
    """A model is invalid: for example, shapes do not fit, or a name is in use.

    The message begins with the user's file and line. `place` has both separately.
    """

    def __init__(self, message: str, place: Place | None = None):
        self.message = message
        self.place = place or Place.of_user()
        super().__init__(f"{self.place.file}:{self.place.line}: {message}")


class UnknownNameError(ModelError, AttributeError):
    """An object or this package does not have a name."""


class CompileError(RuntimeError):
    """pdl-translate rejected the model, or was not found.

    The message contains the error messages of the compiler.
    """
