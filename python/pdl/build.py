# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds an op from its syntax in the dialect's reference and its arguments.

`pdl.ops`, which is generated, has one call of `op` for each op.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pdl import require, shapes
from pdl.arguments import POSITIVE, Want, check
from pdl.body import Body, current
from pdl.errors import ModelError
from pdl.symbols import Symbol
from pdl.text import did_you_mean, number, sequence
from pdl.types import TensorType
from pdl.values import Arithmetic, Operand, Value


# Indexed by op and argument: requirements on numbers. A number without a requirement must be finite
# in the type of the op's elements.
_SHIFT = Want(least=1 - 2**31, most=2**31 - 1)
_WANTS = {
    ("clamp", "lower"): Want(infinite=True), ("clamp", "upper"): Want(infinite=True),
    ("huber_loss", "delta"): POSITIVE, ("log_loss", "epsilon"): POSITIVE,
    ("rotate", "by"): _SHIFT, ("segment_shift", "by"): _SHIFT,
}
_FINITE, _ANY_NUMBER = Want(), Want(infinite=True)


class Argument(NamedTuple):
    """An argument of an op, with its kind."""

    kind: str
    given: Any
    choices: Sequence[str] = ()


def operand(given: Operand | None) -> Argument:
    """Returns an operand that is a value. None: it is left out."""
    return Argument("operand", given)


def operands(given: Sequence[Operand]) -> Argument:
    """Returns an operand that is any number of values."""
    return Argument("operands", given)


def symbol(given: Symbol | None) -> Argument:
    """Returns an argument that is a declaration. None: it is left out."""
    return Argument("symbol", given)


def symbols(given: Sequence[Symbol]) -> Argument:
    """Returns an argument that is a list of declarations."""
    return Argument("symbols", given)


def integer(given: int | None) -> Argument:
    """Returns an argument that is a whole number. None: it is left out."""
    return Argument("integer", given)


def real(given: float | None) -> Argument:
    """Returns an argument that is a number. None: it is left out."""
    return Argument("real", given)


def integers(given: Sequence[int] | None) -> Argument:
    """Returns an argument that is a list of whole numbers. None: it is left out."""
    return Argument("integers", given)


def id_tensor(given: Sequence[int] | None) -> Argument:
    """Returns an argument that is a constant tensor [n] of whole numbers. None: it is left out."""
    return Argument("id_tensor", given)


def reals(given: Sequence[float] | None) -> Argument:
    """Returns an argument that is a list of numbers. None: it is left out."""
    return Argument("reals", given)


def flag(given: bool) -> Argument:
    """Returns an argument that is a keyword, which is present or absent."""
    return Argument("flag", given)


def word(given: str | None, choices: Sequence[str]) -> Argument:
    """Returns an argument that is one of several words. None: it is left out."""
    return Argument("word", given, choices)


def plain(given: Any) -> Argument:
    """Returns an argument that is not part of the op's text; only its type rule uses it."""
    return Argument("plain", given)


def op(name: str, syntax: str, results: int, /, **arguments: Argument) -> list[Value]:
    """Appends `nn.name` to the body that is being built, and returns its results.

    `syntax` is that of the dialect's reference. The arguments have the names of the syntax, and
    operands are in the order of the op. The rule in `pdl.shapes` computes the types of the
    results.
    """
    body = current(f"nn.{name}")
    element = _element(body, arguments)
    rule: Callable = shapes.RULES.get(name, shapes.same if results else shapes.nothing)
    optional = _optional(_parse(syntax)) | _left_out(rule)
    given = {}
    for key, argument in arguments.items():
        role = f"`{key.rstrip('_')}` of nn.{name}"
        if argument.given is None and key.rstrip("_") not in optional:
            raise ModelError(f"{role} is None, and cannot be left out")
        want = _WANTS.get((name, key), _FINITE)
        given[key] = _checked(body, role, argument, element, want)
    _count_axes_from_first(given)
    try:
        require.one_float_type(name, given)
        type = rule(**given)
    except require.Misfit as misfit:
        raise ModelError(f"nn.{name}: {misfit}") from None
    parts = _Writer(arguments, given, type).write(_parse(syntax))
    # A program that minimizes something is not frozen.
    body.trains = body.trains or name == "minimize"
    return body.emit([f"nn.{name} ", *parts], [type] if results else [])


@functools.cache
def _left_out(rule: Callable) -> set[str]:
    """Returns the arguments that a type rule does not require."""
    return {name for name, parameter in inspect.signature(rule).parameters.items()
            if parameter.default is None}


def _element(body: Body, arguments: dict[str, Argument]) -> str:
    """Returns the float type of constants in an op: that of the first operand with a float type."""
    for kind, given, _ in arguments.values():
        if kind == "operands" and isinstance(given, Sequence):
            found = list(given)
        else:
            found = [given] if kind == "operand" else []
        for one in found:
            type = getattr(one, "type", None)
            if isinstance(type, TensorType) and type.is_float:
                return type.element
    return body.model.element


def _count_axes_from_first(arguments: dict[str, Any]) -> None:
    """Replaces negative axes, which count from the last dimension, by axes that count from the
    first."""
    value = arguments.get("input")
    if arguments.get("inputs"):
        value = arguments["inputs"][0]
    if not isinstance(value, Value):
        return
    rank = len(value.shape)

    def from_first(axis: int) -> int:
        return axis + rank if -rank <= axis < 0 else axis

    for name in ("axis", "from_"):
        if name in arguments:
            arguments[name] = from_first(arguments[name])
    for name in ("axes", "permutation"):
        if name in arguments:
            arguments[name] = [from_first(axis) for axis in arguments[name]]
    if "axes" in arguments:
        arguments["axes"].sort()


def _checked(body: Body, role: str, argument: Argument, element: str, want: Want) -> Any:
    """Checks an argument and converts it for type rules and text: to a value, a symbol or a
    number."""
    kind, given, choices = argument
    if given is None or kind == "plain":
        return given
    if kind == "operand":
        return body.value_of(given, element, role)
    if kind in ("operands", "symbols", "integers", "id_tensor", "reals"):
        if isinstance(given, (str, Arithmetic, Symbol)) or not isinstance(given, Sequence):
            raise ModelError(f"{role} is {given!r}; it has to be a list")
    if kind == "operands":
        return [body.value_of(one, element, role) for one in given]
    if kind in ("symbol", "symbols"):
        for one in given if kind == "symbols" else [given]:
            if not isinstance(one, Symbol):
                raise ModelError(f"{role} is {one!r}; it has to be what the model's method "
                                 "has returned, such as model.table(...)")
            if one.model is not body.model:
                raise ModelError(f"{role} is {one} of another model, "
                                 f"'{one.model.name}'; declare one in this model")
    elif kind == "integer":
        return check(role, given, int, want)
    elif kind in ("integers", "id_tensor"):
        return [check(role, one, int) for one in given]
    elif kind == "real":
        # Raises an error if the number is infinite in the type of the elements.
        number(check(role, given, float, want), element)
    elif kind == "reals":
        for one in given:
            check(role, one, float, _ANY_NUMBER)
    elif kind == "word" and (not isinstance(given, str) or given not in choices):
        raise ModelError(f"{role} is {given!r}" + did_you_mean(str(given), choices))
    return given


class _Optional(NamedTuple):
    """Elements of a syntax that are present if the element at `anchor` is."""

    elements: list
    anchor: int


@functools.cache
def _parse(syntax: str) -> list[str | _Optional]:
    """Parses a syntax in the notation of MLIR's reference into its elements."""
    inside = r"\((?:[^()]|\([^()]*\))*\)"
    tokens = re.findall(rf"`[^`]*`|\$\w+|[\w-]+(?:<\w+>)?{inside}|attr-dict|\^|\(|\)\?",
                        syntax)
    stack: list[list] = [[]]
    anchors = [0]
    for token in tokens:
        if token == "(":
            stack.append([])
            anchors.append(0)
        elif token == ")?":
            elements = stack.pop()
            stack[-1].append(_Optional(elements, anchors.pop()))
        elif token == "^":
            anchors[-1] = len(stack[-1]) - 1
        elif token != "attr-dict":
            stack[-1].append(token)
    return stack[0]


def _optional(elements: Sequence[str | _Optional]) -> set[str]:
    """Returns the arguments that may be left out."""
    return {name for group in elements if isinstance(group, _Optional)
            for element in group.elements for name in re.findall(r"\$(\w+)", str(element))}


class _Writer:
    """Writes the text of an op by its syntax."""

    def __init__(self, arguments: dict[str, Argument], given: dict[str, Any], type: Any):
        self._kinds = {name.rstrip("_"): argument.kind for name, argument in arguments.items()}
        self._given = {name.rstrip("_"): value for name, value in given.items()}
        self._type = type
        self._parts: list[str | Value] = []
        # No space at the beginning, and none after an opening parenthesis.
        self._is_glued = True

    def write(self, elements: Sequence[str | _Optional]) -> list[str | Value]:
        """Returns the parts of the text. Values are separate parts."""
        for element in elements:
            if isinstance(element, _Optional):
                if self._stands(element.elements[element.anchor]):
                    self.write(element.elements)
            elif element.startswith("`"):
                literal = element.strip("`")
                self._add([literal], glues_before=literal in (",", "(", ")", "[", "]"),
                          glues_after=literal in ("(", "["))
            elif element.startswith("$"):
                self._argument(element[1:])
            elif element.startswith("custom<ObserveTypes>"):
                types = [self._given[name].type for name in ("predictions", "labels")
                         if self._given[name] is not None]
                self._add([", ".join(str(type) for type in dict.fromkeys(types))])
            elif element.startswith("custom<TypeAndLike>"):
                types = [self._given[name].type for name in ("input", "like")]
                self._add([", ".join(str(type) for type in dict.fromkeys(types))])
            elif element.startswith("custom<"):
                self._argument(re.findall(r"\$(\w+)", element)[0])
            else:
                self._add([self._types(element)])
        return self._parts

    def _add(self, parts: Sequence[str | Value], glues_before: bool = False,
             glues_after: bool = False) -> None:
        if not self._is_glued and not glues_before:
            self._parts.append(" ")
        self._parts += parts
        self._is_glued = glues_after

    def _stands(self, element: str) -> bool:
        """Returns true if the argument that an element names is given."""
        given = self._given.get(re.findall(r"\$(\w+)", element)[0])
        is_empty = isinstance(given, list) and not given
        return given is not None and given is not False and not is_empty

    def _argument(self, name: str) -> None:
        kind, given = self._kinds[name], self._given[name]
        if kind == "operand":
            self._add([given])
        elif kind == "operands":
            self._add([part for value in given for part in (", ", value)][1:])
        elif kind == "reals":
            self._add([sequence(map(number, given))])
        elif kind in ("symbols", "integers"):
            self._add([sequence(given)])
        elif kind == "id_tensor":
            self._add([f"dense<{sequence(given)}> : tensor<{len(given)}xi64>"])
        elif kind != "flag":
            self._add([number(given) if kind == "real" else str(given)])

    def _types(self, element: str) -> str:
        """`type($input)`, `qualified(type($input))` or `functional-type(...)`."""
        name = (re.findall(r"\$(\w+)", element) or ["operands"])[0]
        if element.startswith("functional-type"):
            result = "" if self._type is None else str(self._type)
            return f"({', '.join(self._operand_types(name))}) -> {result}"
        return ", ".join(self._operand_types(name))

    def _operand_types(self, name: str) -> list[str]:
        if name not in self._given and name != "operands":
            return [str(self._type)]
        values: list[Value] = []
        for one, given in self._given.items():
            if name in (one, "operands") and given is not None:
                if self._kinds[one] == "operand":
                    values.append(given)
                elif self._kinds[one] == "operands":
                    values += given
        return [str(value.type) for value in values]
