# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The body of a function or program while its Python function runs."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pdl.errors import ModelError
from pdl.source import Place, assigned_names
from pdl.symbols import location
from pdl.text import Names, is_number, number
from pdl.types import TensorType, Type
from pdl.values import Operand, Value

if TYPE_CHECKING:
    from pdl.model import Model
    from pdl.symbols import Dense

_bodies: contextvars.ContextVar[tuple[Body, ...]] = contextvars.ContextVar(
    "bodies", default=())


class Statement(NamedTuple):
    """An op: its results, the text after them, and the place of the user's line.

    `parts` is that text. Operands and bodies of the op are separate parts, because their values may
    be named later.
    """

    results: tuple[Value, ...]
    parts: tuple[str | Value | Body, ...]
    place: Place


class Body:
    """Ops in the order in which they are built, and the names of their values."""

    # What to do about a value of this one that another one needs.
    remedy = "hand it over as an argument"

    def __init__(self, model: Model, title: str, names: Names | None = None):
        self.model = model
        self.title = title
        self.arguments: list[Value] = []
        self.statements: list[Statement] = []
        self.trains = False
        self._names = names or Names()
        self._reads: dict[str, Value] = {}
        self._constants: dict[tuple[str, str], Value] = {}

    def argument(self, name: str, type: Type) -> Value:
        """Adds an argument."""
        value = Value(self, self._names.take(name), type, f"argument '{name}'")
        self.arguments.append(value)
        return value

    def emit(self, parts: Sequence[str | Value | Body], types: Sequence[Type],
             names: Sequence[str | None] | None = None) -> list[Value]:
        """Appends an op. Its results are called `names`, or else like the user's variables."""
        if names is None:
            names = assigned_names(len(types)) if types else []
        origin = f"the result of {str(parts[0]).split()[0]}"
        results = [Value(self, self._names.take(name), type, origin)
                   for name, type in zip(names, types)]
        self.statements.append(Statement(tuple(results), tuple(parts), Place.of_user()))
        return results

    def rename(self, value: Value, name: str) -> None:
        """Renames a value."""
        self._names.give_back(value.name)
        value.name = self._names.take(name)

    def value_of(self, operand: Operand, element: str, role: str) -> Value:
        """Returns the value of an operand. A parameter gives its value at the start of the
        program, a number gives a constant."""
        if isinstance(operand, Value):
            if operand.body is not self:
                raise ModelError(
                    f"{role} is {operand!r} of {operand.body.title}, which {self.title} "
                    f"cannot see; {operand.body.remedy}")
            return operand
        if is_number(operand):
            return self._constant(operand, element)
        if not hasattr(operand, "type") or not hasattr(operand, "kind"):
            raise ModelError(
                f"{role} is {_described(operand)}; it has to be a value of the model, a "
                "parameter, a state or a number")
        return self._read(operand)

    def _read(self, symbol: Dense) -> Value:
        if symbol.model is not self.model:
            raise ModelError(f"{symbol} is of model '{symbol.model.name}', and {self.title} "
                             f"of '{self.model.name}'; declare one in this model")
        if symbol.name not in self._reads:
            [self._reads[symbol.name]] = self.emit(
                [f"nn.read {symbol} : {symbol.type}"], [symbol.type], [symbol.name])
        return self._reads[symbol.name]

    def _constant(self, value: float, element: str) -> Value:
        text = number(value, element)
        if (text, element) not in self._constants:
            type = TensorType((), element)
            [self._constants[text, element]] = self.emit(
                [f"nn.constant dense<{text}> : {type}"], [type], [None])
        return self._constants[text, element]

    def values(self) -> Iterator[Value]:
        """Iterates over all named values, in the order of the text."""
        yield from self.arguments
        for statement in self.statements:
            for part in statement.parts:
                if isinstance(part, Body):
                    yield from part.values()
            yield from statement.results

    def lines(self, locations: bool) -> Iterator[str]:
        """Returns the lines of the ops. Values without a name are numbered."""
        unnamed = (value for value in self.values()
                   if value.name is None or value.name.isdigit())
        for index, value in enumerate(unnamed):
            value.name = str(index)
        return self._lines(locations)

    def _lines(self, locations: bool) -> Iterator[str]:
        for statement in self.statements:
            text = "".join(part.block(locations) if isinstance(part, Body) else str(part)
                           for part in statement.parts)
            if statement.results:
                text = f"{', '.join(map(str, statement.results))} = {text}"
            text += location(statement.place) if locations else ""
            yield from text.split("\n")

    def block(self, locations: bool) -> str:
        """Returns the text of a body that belongs to an op."""
        lines = list(self._lines(locations))
        arguments = ", ".join(f"{value}: {value.type}" for value in self.arguments)
        head = [f"^bb0({arguments}):"] if arguments else []
        return "\n".join(["{", *head, *(f"  {line}" for line in lines), "}"])


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__}, which pdl.constant would make a tensor of"
    return f"of type {type(value).__name__}"


def current(what: str) -> Body:
    """Returns the body whose Python function is running."""
    bodies = _bodies.get()
    if not bodies:
        raise ModelError(f"{what} stands in no program; write it in a Python function under "
                         "@model.program or @model.function")
    return bodies[-1]


@contextlib.contextmanager
def building(body: Body) -> Iterator[None]:
    """Makes `body` the one to which ops are appended."""
    bodies = _bodies.get()
    if any(outer.title == body.title and outer.model is body.model and
           type(body) is Body for outer in bodies):
        raise ModelError(f"{body.title} calls itself, which no model can; use a Python loop "
                         "in it")
    token = _bodies.set(bodies + (body,))
    try:
        yield
    finally:
        _bodies.reset(token)


def assigned(value: Value) -> Value:
    """Names the result of a layer after the variable to which the caller assigns it."""
    [name] = assigned_names()
    return value.named(name) if name else value
