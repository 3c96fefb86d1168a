# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors, each with a sentence that says what to do, at the user's line."""

from pdl.source import Place


class ModelError(ValueError):
    """A model that cannot be written: shapes that do not fit, a name that is taken.

    The message begins with the user's file and line; `place` has them apart.
    """

    def __init__(self, sentence: str, place: Place | None = None):
        self.sentence = sentence
        self.place = place or Place.of_user()
        super().__init__(f"{self.place.file}:{self.place.line}: {sentence}")


class CompileError(RuntimeError):
    """What pdl-translate refused, or that there is none; the message is its own."""
