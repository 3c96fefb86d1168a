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
from pdl.text import Names, is_number, number, string
from pdl.types import TensorType, Type
from pdl.values import Operand, Value

if TYPE_CHECKING:
    from pdl.model import Model
    from pdl.symbols import Dense

_bodies: contextvars.ContextVar[tuple[Body, ...]] = contextvars.ContextVar(
    "bodies", default=())


class Statement(NamedTuple):
    """An op: its results, its text behind them, and who wrote it.

    Operands are parts of the text by themselves: a value may be named later.
    """

    results: tuple[Value, ...]
    parts: tuple[str | Value, ...]
    place: Place


class Body:
    """Ops in the order in which they are built, and the names of their values."""

    def __init__(self, model: Model, title: str):
        self.model = model
        self.title = title
        self.arguments: list[Value] = []
        self.statements: list[Statement] = []
        self.trains = False
        self._names = Names()
        self._reads: dict[str, Value] = {}
        self._constants: dict[tuple[str, str], Value] = {}

    def argument(self, name: str, type: Type) -> Value:
        """One more argument."""
        value = Value(self, self._names.take(name), type, f"argument '{name}'")
        self.arguments.append(value)
        return value

    def emit(self, parts: Sequence[str | Value], types: Sequence[Type],
             names: Sequence[str | None] | None = None) -> list[Value]:
        """Appends an op; its results have `names`, else those of the user's variables."""
        if names is None:
            names = assigned_names(len(types)) if types else []
        origin = f"the result of {str(parts[0]).split()[0]}"
        results = [Value(self, self._names.take(name), type, origin)
                   for name, type in zip(names, types)]
        self.statements.append(Statement(tuple(results), tuple(parts), Place.of_user()))
        return results

    def rename(self, value: Value, name: str) -> None:
        """Calls a value otherwise from its op on."""
        self._names.give_back(value.name)
        value.name = self._names.take(name)

    def value_of(self, operand: Operand, element: str, role: str) -> Value:
        """The value of an operand: of a parameter what it has when the program begins, of
        a number a constant."""
        if isinstance(operand, Value):
            if operand.body is not self:
                raise ModelError(
                    f"{role} is {operand!r} of {operand.body.title}, which {self.title} "
                    "cannot see; hand it over as an argument")
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

    def lines(self, locations: bool) -> Iterator[str]:
        """The ops, one a line; values without a name are numbered."""
        unnamed = (value for value in self.arguments + [
            value for statement in self.statements for value in statement.results]
            if value.name is None or value.name.isdigit())
        for index, value in enumerate(unnamed):
            value.name = str(index)
        for statement in self.statements:
            line = "".join(map(str, statement.parts))
            if statement.results:
                line = f"{', '.join(map(str, statement.results))} = {line}"
            yield line + (location(statement.place) if locations else "")


def location(place: Place) -> str:
    """What stands behind an op to say who wrote it."""
    return f" loc({string(place.file)}:{place.line}:{place.column})"


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__}, which pdl.constant would make a tensor of"
    return f"of type {type(value).__name__}"


def current(what: str) -> Body:
    """The body whose Python function runs."""
    bodies = _bodies.get()
    if not bodies:
        raise ModelError(f"{what} stands in no program; write it in a Python function under "
                         "@model.program or @model.function")
    return bodies[-1]


@contextlib.contextmanager
def building(body: Body) -> Iterator[None]:
    """Makes `body` the one that ops are appended to."""
    bodies = _bodies.get()
    if any(outer.title == body.title and outer.model is body.model for outer in bodies):
        raise ModelError(f"{body.title} calls itself, which no model can; use a Python loop "
                         "in it")
    token = _bodies.set(bodies + (body,))
    try:
        yield
    finally:
        _bodies.reset(token)


def assigned(value: Value) -> Value:
    """What a layer returns, called as the variable that its caller assigns it to."""
    [name] = assigned_names()
    return value.named(name) if name else value
