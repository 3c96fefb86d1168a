# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of the dialect, such as initializers, regularizers and hash functions."""

import dataclasses

from pdl.arguments import UNSIGNED, Want, checked
from pdl.errors import ModelError
from pdl.later import Declared
from pdl.text import is_whole, number


# Any number; `_part` checks integers.
_FREE = Want(infinite=True)


@dataclasses.dataclass(unsafe_hash=True)
class Attribute(Declared):
    """An attribute of the dialect, such as `#nn.l2<1.0e-6>`.

    `family` is the purpose of the attribute, such as "init" for initial values. It is empty if the
    user made the attribute with `pdl.attribute`.
    """

    ADVICE = {**Declared.ADVICE, "`+`": "decay=[...] lists several decays of a group"}
    DEFAULT = "it says how a declaration is made, as in model.table(..., init=pdl.init.zeros())"

    text: str
    family: str = dataclasses.field(default="", compare=False)

    def _described(self) -> str:
        return f"{self} is an attribute of the dialect"

    def __str__(self) -> str:
        return self.text


@checked(positional=_FREE, named=_FREE)
def attribute(name: str, *positional: int | float | str,
              **named: int | float | str) -> Attribute:
    """Returns the attribute `#nn.name<...>`, with numbers and words by position or by name."""
    return of_family("", name, *positional, **named)


def of_family(family: str, name: str, /, *positional: float | str,
              **named: float | str) -> Attribute:
    """Returns an attribute for a function of this package. `family` names its purpose."""
    parts = [_part(value) for value in positional]
    parts += [f"{key} = {_part(value)}" for key, value in named.items()]
    return Attribute(f"#nn.{name}<{', '.join(parts)}>" if parts else f"#nn.{name}", family)


def _part(value: float | str) -> str:
    if isinstance(value, str):
        return value
    if not is_whole(value):
        return number(value)
    if not -2**63 <= value < 2**64:
        raise ModelError(f"{value} is none of the whole numbers of 64 bits")
    return str(value)


@checked(salt=dataclasses.replace(UNSIGNED, choices=("slot",)))
def xxh64(salt: int | str = 0) -> Attribute:
    """Returns the hash function for texts: xxh64 of the trimmed bytes.

    `salt` is the seed. With salt="slot", the seed is the position of the feature slot, so that
    one text in two slots gives two ids.
    """
    return of_family("hash", "hash", "xxh64", salt=salt)
