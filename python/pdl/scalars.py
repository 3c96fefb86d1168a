# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalars of rules and schedules, and functions on them with exactly defined numerics.

`+`, `-`, `*`, `/`, unary minus, `abs` and comparisons work on scalars. Each is one rounded
operation. A number as an operand becomes a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pdl import checks
from pdl.arguments import bound
from pdl.errors import ModelError
from pdl.later import KnownLater
from pdl.source import assigned_names, place_of
from pdl.text import Names, is_number, number


class Region:
    """Ops on scalars, in the order in which they are built. `type` is the type of an op whose
    operands are all numbers."""

    def __init__(self, title: str, type: str):
        self.title = title
        self.type = type
        self.lines: list[str] = []
        self.constants: list[str] = []
        self._names = Names()
        self._unnamed = 0
        self._constants: dict[tuple[str, str], Scalar] = {}

    def scalar(self, name: str | None, type: str) -> Scalar:
        """Returns a new scalar with a unique name."""
        name = self._names.take(name)
        if name is None:
            name = str(self._unnamed)
            self._unnamed += 1
        return Scalar(self, name, type)

    def emit(self, text: str, type: str) -> Scalar:
        """Appends an op. Its result is named after the user's variable."""
        [name] = assigned_names()
        result = self.scalar(name, type)
        self.lines.append(f"{result} = {text}")
        return result

    def number(self, value: Number, op: str, type: str | None = None) -> Scalar:
        """Returns an operand of the given type. For a number, this is a constant, which is
        declared once, at the top."""
        type = type or self.type
        if is_number(value):
            text = number(value, type)
            if (text, type) not in self._constants:
                result = self.scalar("c", type)
                self.constants.append(f"{result} = arith.constant {text} : {type}")
                self._constants[text, type] = result
            return self._constants[text, type]
        if not isinstance(value, Scalar):
            raise ModelError(f"an operand of {op} is of type {value.__class__.__name__}; it has "
                             "to be a scalar of the rule or a number")
        if value.region is not self:
            raise ModelError(f"{value!r} is of {value.region.title}, which {self.title} "
                             "cannot see; let `once` return it, or `row` or `param` what they "
                             "make of sums, and take it as an argument")
        if value.type == "i1":
            raise ModelError(f"{op} cannot take {value!r}, which is a condition; "
                             "pdl.scalars.select makes a number of it")
        if value.type != type:
            raise ModelError(f"{op} takes {type} here and {value!r} is not; pdl.scalars."
                             f"{'wide' if type == 'f64' else 'narrow'} makes it one")
        return value


class Scalar(KnownLater):
    """A number of a rule or schedule, known when an update runs. If its type is i1, it is a
    condition."""

    KNOWN = "a scalar is known at an update, not while the rule is written"
    DEFAULT = "pdl.scalars lists the functions of scalars"
    ADVICE = {
        "bool()": "Python cannot branch on it or join it with `and`, `or` and `not`; use "
                  "pdl.scalars.select, or pdl.scalars.maximum and minimum",
        "`**`": "x ** 2 is a product; pdl.scalars.power(x, y) is a power, in `once` and in "
                "schedules",
        "`&`": "select(a, select(b, 1.0, 0.0), 0.0) of pdl.scalars is 1 where both conditions "
               "hold",
        "`|`": "select(a, 1.0, select(b, 1.0, 0.0)) of pdl.scalars is 1 where one of two "
               "conditions holds",
        "`~`": "pdl.scalars.select(a, no, yes) chooses the other way round",
        "hash()": "sets and the keys of dicts would compare identity; a == b is the condition "
                  "that two are equal",
        "`in`": "a == b is the condition that two are equal",
        "iteration": "`each`, `sum` and `row` run for one number at a time",
        "an attribute": "scalars do not change: an operation gives another one",
        "len()": "`row` and `param` get the number of elements as `width`",
    }

    def __init__(self, region: Region, name: str, type: str):
        self.region = region
        self.name = name
        self.type = type

    def __str__(self) -> str:
        return f"%{self.name}"

    def __repr__(self) -> str:
        return f"%{self.name} : {self.type}"

    def __add__(self, other: Number) -> Scalar:
        return _apply("arith.addf", self, other)

    def __radd__(self, other: Number) -> Scalar:
        return _apply("arith.addf", other, self)

    def __sub__(self, other: Number) -> Scalar:
        return _apply("arith.subf", self, other)

    def __rsub__(self, other: Number) -> Scalar:
        return _apply("arith.subf", other, self)

    def __mul__(self, other: Number) -> Scalar:
        return _apply("arith.mulf", self, other)

    def __rmul__(self, other: Number) -> Scalar:
        return _apply("arith.mulf", other, self)

    def __truediv__(self, other: Number) -> Scalar:
        return _apply("arith.divf", self, other)

    def __rtruediv__(self, other: Number) -> Scalar:
        return _apply("arith.divf", other, self)

    def __neg__(self) -> Scalar:
        return _apply("arith.negf", self)

    def __abs__(self) -> Scalar:
        return _apply("math.absf", self)

    def __lt__(self, other: Number) -> Scalar:
        return _apply("arith.cmpf olt,", self, other, gives="i1")

    def __le__(self, other: Number) -> Scalar:
        return _apply("arith.cmpf ole,", self, other, gives="i1")

    def __gt__(self, other: Number) -> Scalar:
        return _apply("arith.cmpf ogt,", self, other, gives="i1")

    def __ge__(self, other: Number) -> Scalar:
        return _apply("arith.cmpf oge,", self, other, gives="i1")

    def __eq__(self, other: Number) -> Scalar:  # type: ignore[override]
        return _apply("arith.cmpf oeq,", self, other, gives="i1")

    def __ne__(self, other: Number) -> Scalar:  # type: ignore[override]
        return _apply("arith.cmpf une,", self, other, gives="i1")

    # Python removes the hash of a class that defines __eq__, so set it again.
    __hash__ = KnownLater.__hash__

    def __pow__(self, exponent: Number, modulus: object = None) -> Scalar:
        if modulus is None and is_number(exponent) and exponent == 2:
            return _apply("arith.mulf", self, self)
        return super().__pow__(exponent)

    def __pos__(self) -> Scalar:
        return self


Number = Scalar | int | float


def _region_of(op: str, *operands: Number) -> Region:
    for operand in operands:
        if isinstance(operand, Scalar):
            return operand.region
    raise ModelError(f"{op} of numbers alone; compute it in Python")


def _type_of(region: Region, *operands: Number) -> str:
    """Returns the type of the first scalar. Numbers among the operands get this type."""
    for operand in operands:
        if isinstance(operand, Scalar) and operand.type != "i1":
            return operand.type
    return region.type


def _apply(op: str, *operands: Number, gives: str | None = None) -> Scalar:
    name = op.split()[0]
    region = _region_of(name, *operands)
    type = _type_of(region, *operands)
    texts = [str(region.number(operand, name, type)) for operand in operands]
    return region.emit(f"{op} {', '.join(texts)} : {type}", gives or type)


def _convert(name: str, op: str, value: Scalar, type: str) -> Scalar:
    region = _region_of(name, value)
    given = region.number(value, name, _type_of(region, value))
    if given.type == type:
        return given
    return region.emit(f"{op} {given} : {given.type} to {type}", type)


@bound
def wide(value: Scalar) -> Scalar:
    """Converts a number to f64, the type in which `sum` adds. A number in f64 stays as it is."""
    return _convert("wide", "arith.extf", value, "f64")


@bound
def narrow(value: Scalar) -> Scalar:
    """Rounds a number to the type of the model's elements, f64 or f32."""
    return _convert("narrow", "arith.truncf", value, _region_of("narrow", value).type)


@bound
def sqrt(value: Scalar) -> Scalar:
    """Returns the square root, correctly rounded."""
    return _apply("math.sqrt", value)


@bound
def fma(first: Number, second: Number, third: Number) -> Scalar:
    """Returns first * second + third, rounded once."""
    return _apply("math.fma", first, second, third)


@bound
def copysign(size: Number, sign: Number) -> Scalar:
    """Returns `size` with the sign of `sign`."""
    return _apply("math.copysign", size, sign)


@bound
def maximum(first: Number, second: Number) -> Scalar:
    """Returns the larger of two numbers."""
    return _apply("arith.maximumf", first, second)


@bound
def minimum(first: Number, second: Number) -> Scalar:
    """Returns the smaller of two numbers."""
    return _apply("arith.minimumf", first, second)


@bound
def equal(first: Number, second: Number) -> Scalar:
    """Returns the condition that two numbers are equal."""
    return _apply("arith.cmpf oeq,", first, second, gives="i1")


def _only_once(op: str, *operands: Number) -> Scalar:
    for operand in operands:
        if isinstance(operand, Scalar) and operand.type != "f64":
            raise ModelError(f"{op} works in f64 only; compute it in `once`, and let `each` "
                             "take the result")
    return _apply(op, *operands)


@bound
def power(base: Number, exponent: Number) -> Scalar:
    """Returns base ^ exponent. Only in `once` and in schedules."""
    return _only_once("math.powf", base, exponent)


@bound
def cos(value: Scalar) -> Scalar:
    """Returns the cosine. Only in `once` and in schedules."""
    return _only_once("math.cos", value)


@bound
def exp(value: Scalar) -> Scalar:
    """Returns the exponential. Only in `once` and in schedules."""
    return _only_once("math.exp", value)


@bound
def log(value: Scalar) -> Scalar:
    """Returns the natural logarithm. Only in `once` and in schedules."""
    return _only_once("math.log", value)


@bound
def select(condition: Scalar, yes: Number, no: Number) -> Scalar:
    """Returns `yes` if the condition holds, else `no`."""
    if not isinstance(condition, Scalar) or condition.type != "i1":
        raise ModelError("the first operand of select has to be a condition, such as a < b")
    region = condition.region
    type = _type_of(region, yes, no)
    texts = [str(region.number(operand, "select", type)) for operand in (yes, no)]
    return region.emit(f"arith.select {condition}, {', '.join(texts)} : {type}", type)


def trace(title: str, function: Callable, type: str, arguments: Sequence[tuple[str, str]],
          results: int | None, least: int = 0, gives: str | None = None
          ) -> tuple[list[str], int]:
    """Returns the lines of a region that a Python function builds, and the number of its results.

    The function takes one scalar for each of `arguments`, which are pairs of meaning and type. It
    must return `results` scalars or, if that is None, at least `least`. Their type is `gives`,
    which is `type` by default. `type` is also the type of ops whose operands are all numbers.
    """
    region = Region(title, type)
    gives = gives or type
    names = [one.name for one in checks.parameters(title, function)]
    if len(names) != len(arguments):
        meanings = ", ".join(meaning for meaning, _ in arguments)
        raise ModelError(f"{title} takes {len(names)} arguments; it has to take "
                         f"{len(arguments)}: {meanings}", place_of(function))
    given = [region.scalar(name, kind) for name, (_, kind) in zip(names, arguments)]
    returned = function(*given)
    several = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if results is not None and len(several) != results:
        raise ModelError(f"{title} returns {len(several)} values; it has to return {results}",
                         place_of(function))
    if len(several) < least:
        raise ModelError(f"{title} returns {len(several)} values; it has to return at least "
                         f"{least}, of which the first are the new row slots",
                         place_of(function))
    yielded = [region.number(value, "return", gives) for value in several]
    head = ", ".join(f"{argument}: {argument.type}" for argument in given)
    last = f"nn.yield {', '.join(map(str, yielded))} : {', '.join([gives] * len(yielded))}"
    return [f"^bb0({head}):", *(f"  {line}" for line in [
        *region.constants, *region.lines, last])], len(yielded)
