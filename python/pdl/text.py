# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of the dialect: numbers, strings, names."""

import difflib
import math
import numbers
import re
import struct
from collections.abc import Iterable, Mapping, Sequence

from pdl.errors import ModelError


def is_number(value: object) -> bool:
    """Returns true for a number, of Python's or of NumPy's types, except True and False."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: object) -> bool:
    """Returns true for an integer, of Python's or of NumPy's types, except True and False."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def as_float(value: float) -> float:
    """Converts a number to f64."""
    try:
        return float(value)
    except OverflowError:
        raise ModelError("a number is beyond 1.8e308, the largest of f64; use a smaller one or "
                         "float('inf')") from None


def number(value: float, element: str = "f64") -> str:
    """Returns the text of a number, with a decimal point and all digits, so that the dialect
    reads the same number."""
    if not is_number(value):
        raise ModelError(f"{value!r} stands in the place of a number")
    value = as_float(value)
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
    """Returns a string in quotes, with escapes."""
    escaped = []
    for byte in value.encode("utf-8"):
        is_plain = 0x20 <= byte < 0x7F and byte not in b'"\\'
        escaped.append(chr(byte) if is_plain else f"\\{byte:02X}")
    return f'"{"".join(escaped)}"'


def unescaped(text: str) -> str:
    """Returns the text that `string` escaped."""
    data = re.sub(rb"\\([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()),
                  text.encode("utf-8"))
    return data.decode("utf-8", "replace")


def symbol(name: str) -> str:
    """Returns `@name`, in quotes if it is not a plain word."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$.]*", name)
    return f"@{name}" if is_plain else f"@{string(name)}"


def sequence(parts: Iterable[object]) -> str:
    """`[a, b]`."""
    return f"[{', '.join(map(str, parts))}]"


def dictionary(entries: Mapping[str, float], quoted: bool = False) -> str:
    """Returns `{name = number, ...}`. With `quoted`, the keys are in quotes, because they may be
    any text."""
    return "{" + ", ".join(
        f"{string(key) if quoted else key} = {number(value)}"
        for key, value in entries.items()) + "}"


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Returns `; did you mean 'relu'?`, or a list of the known names if none is similar."""
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return f"; did you mean '{near[0]}'?"
    return f"; there are {', '.join(known)}" if known else "; there are none"


class Names:
    """Allocates unique names for values."""

    def __init__(self):
        self._taken: set[str] = set()

    def take(self, name: str | None) -> str | None:
        """Returns `name`, or a similar one that is free. Returns None if a value cannot have such
        a name."""
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
