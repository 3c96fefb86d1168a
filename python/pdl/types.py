# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of values."""

import dataclasses
from collections.abc import Iterable

from pdl.later import Strict

FLOATS = ("f32", "f64")


class _Type(Strict):
    DEFAULT = "x.shape has the sizes, with None for the batch, and x.type.element the kind of " \
              "numbers"

    def _described(self) -> str:
        return f"{self} is a type"


@dataclasses.dataclass(unsafe_hash=True)
class TensorType(_Type):
    """A tensor. In its shape, None is the batch size; only the first size may be None."""

    shape: tuple[int | None, ...]
    element: str

    @property
    def rank(self) -> int:
        """Returns the number of dimensions."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """True if the elements are numbers, not ids."""
        return self.element in FLOATS

    def with_shape(self, shape: Iterable[int | None]) -> "TensorType":
        """Returns the type with the same elements and another shape."""
        return TensorType(tuple(shape), self.element)

    def __str__(self) -> str:
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.shape)
        return f"tensor<{sizes}{self.element}>"


@dataclasses.dataclass(unsafe_hash=True)
class RaggedType(_Type):
    """Bags of ids or of numbers: `width` bags for each sample, each of any length."""

    width: int
    element: str = "i64"

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Returns the shape: the batch, and the number of bags of a sample."""
        return (None, self.width)

    @property
    def is_float(self) -> bool:
        """True if the elements are numbers, not ids."""
        return self.element != "i64"

    def __str__(self) -> str:
        return f"!nn.ragged<?x{self.width}x*x{self.element}>"


Type = TensorType | RaggedType
