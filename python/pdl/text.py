# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of the dialect: numbers, strings, names, attributes."""

import dataclasses
import difflib
import math
import numbers
import re
import struct
from collections.abc import Iterable, Mapping, Sequence

from pdl.errors import ModelError


@dataclasses.dataclass(frozen=True)
class Attribute:
    """An attribute of the dialect, such as `#nn.l2<1.0e-6>`."""

    text: str

    def __str__(self) -> str:
        return self.text


def attribute(name: str, *positional: float | str, **named: float | str) -> Attribute:
    """`#nn.name<...>` of numbers and words, by position or by name."""
    parts = [_part(value) for value in positional]
    parts += [f"{key} = {_part(value)}" for key, value in named.items()]
    return Attribute(f"#nn.{name}<{', '.join(parts)}>" if parts else f"#nn.{name}")


def _part(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return str(value) if is_whole(value) else number(value)


def xxh64(salt: int | str = 0) -> Attribute:
    """The hash of texts: xxh64 of the trimmed bytes, seeded with a number, or by
    salt="slot" with the position of the slot, so that one text in two slots gives two
    ids."""
    return attribute("hash", "xxh64", salt=salt)


def is_number(value: object) -> bool:
    """Whether `value` is a number, of Python's or of NumPy's types; True and False are
    none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Whether `value` is an integer, of Python's or of NumPy's types; True and False are
    none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def number(value: float, element: str = "f64") -> str:
    """A number as the dialect reads it back: with a point, and with all digits."""
    value = float(value)
    if math.isnan(value):
        raise ModelError("a number is NaN, which nothing equals; a field says what stands for a "
                         "missing number with missing=...")
    code = {"f32": "<f", "f64": "<d"}[element]
    try:
        packed = struct.pack(code, value)
    except OverflowError:
        raise ModelError(f"{value} is infinite in {element}, whose largest number is 3.4e38; use "
                         "a smaller one, float('inf'), or numbers of element=\"f64\"") from None
    if not math.isfinite(value):
        return "0x" + packed[::-1].hex().upper()
    text = repr(value)
    mantissa, letter, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{letter}{exponent}"


def string(value: str) -> str:
    """A string in quotes."""
    escaped = []
    for byte in value.encode("utf-8"):
        is_plain = 0x20 <= byte < 0x7F and byte not in b'"\\'
        escaped.append(chr(byte) if is_plain else f"\\{byte:02X}")
    return f'"{"".join(escaped)}"'


def unescaped(text: str) -> str:
    """What stood in quotes before `string` escaped it."""
    data = re.sub(rb"\\([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()),
                  text.encode("utf-8"))
    return data.decode("utf-8", "replace")


def symbol(name: str) -> str:
    """`@name`, in quotes where it is no plain word."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$.]*", name)
    return f"@{name}" if is_plain else f"@{string(name)}"


def sequence(parts: Iterable[object]) -> str:
    """`[a, b]`."""
    return f"[{', '.join(map(str, parts))}]"


def dictionary(entries: Mapping[str, float], quoted: bool = False) -> str:
    """`{name = number, ...}`; the keys are quoted where they may be any text."""
    return "{" + ", ".join(
        f"{string(key) if quoted else key} = {number(value)}"
        for key, value in entries.items()) + "}"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """`; did you mean 'relu'?`, or what there is, if nothing is near."""
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; there are {', '.join(known)}" if known else "; there are none"


class Names:
    """Names of values, each of which is free when it is given out."""

    def __init__(self):
        self._taken: set[str] = set()

    def take(self, name: str | None) -> str | None:
        """`name`, or one like it that is free; None for what no value can be called."""
        if name is None or name == "_" or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            return None
        free, count = name, 0
        while free in self._taken:
            count += 1
            free = f"{name}_{count}"
        self._taken.add(free)
        return free

    def give_back(self, name: str | None) -> None:
        """Makes a name free again."""
        self._taken.discard(name)
