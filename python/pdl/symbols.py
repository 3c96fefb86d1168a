# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model declares: records, tables, parameters, groups and the like.

`pdl.Model` makes all of these; they are handed to ops and to each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pdl import checks
from pdl.errors import ModelError
from pdl.source import Place
from pdl.text import (Attribute, did_you_mean, dictionary, is_number, number, sequence,
                      string, symbol)
from pdl.types import RaggedType, TensorType, Type
from pdl.values import Arithmetic

if TYPE_CHECKING:
    from pdl.model import Model


def location(place: Place) -> str:
    """What stands after an op to say who wrote it."""
    return f" loc({string(place.file)}:{place.line}:{place.column})"


class Symbol:
    """A declaration of a model; `kind` is its op, `text` what stands behind its name."""

    kind = ""

    def __init__(self, model: Model, name: str, text: str = ""):
        self.model = model
        self.name = name
        self.text = text
        self.place = Place.of_user()
        model.declare(self)

    def lines(self, locations: bool = False) -> list[str]:
        """The declaration, without indentation and its own place."""
        return [f"{self.kind} {self}{self.text}"]

    def __str__(self) -> str:
        return symbol(self.name)

    def __repr__(self) -> str:
        return f"{self} ({self.kind})"


class Field:
    """One field of a record."""

    def __init__(self, name: str, type: Type, clauses: Sequence[str]):
        self.name = name
        self.type = type
        self.place = Place.of_user()
        self.text = "".join([f"nn.field {symbol(name)} : {type}",
                             *(f" {clause}" for clause in clauses)])


class Record(Symbol):
    """What one sample is: its fields, in file order."""

    kind = "nn.record"

    def __init__(self, model: Model, name: str, missing_texts: Sequence[str] | None = None):
        self.fields: dict[str, Field] = {}
        if isinstance(missing_texts, str):
            raise ModelError(f"missing_texts is the text {missing_texts!r}; give a list of "
                             f"texts, such as [{missing_texts!r}]")
        for text in missing_texts or ():
            if not isinstance(text, str) or not text or text != text.strip(" \t\r"):
                raise ModelError(f"missing_texts has {text!r}; give texts that are not empty "
                                 "and have no blank at their ends, since cells have none "
                                 "and an empty cell is missing anyway")
        self.missing_texts = None if missing_texts is None else tuple(missing_texts)
        super().__init__(model, name)

    def floats(self, name: str, width: int, *, missing: float | None = None,
               values: Mapping[str, float] | None = None,
               columns: Sequence[int] | Sequence[str] | None = None,
               element: str | None = None) -> Field:
        """A field of `width` numbers.

        `missing` stands for a missing number (without it the row is bad), `values` has
        texts that stand for numbers, `columns` positions from 0 or header names.
        """
        width = _width(name, width)
        type = TensorType((None, width), element or self.model.element)
        clauses = _number_clauses(name, type.element, missing, values)
        return self._add(name, width, type, clauses, columns)

    def ids(self, name: str, width: int, *, hash: Attribute | None = None,
            missing: str | int | None = None,
            columns: Sequence[int] | Sequence[str] | None = None) -> Field:
        """A field of `width` ids that are always present.

        `hash` says how a text becomes an id (`pdl.xxh64`); without it a decimal integer
        is the id. `missing` stands for a missing one: a text, or without `hash` an
        integer.
        """
        width = _width(name, width)
        clauses = _id_clauses(name, hash, missing)
        return self._add(name, width, TensorType((None, width), "i64"), clauses, columns)

    def bags(self, name: str, width: int, *, hash: Attribute | None = None,
             missing: str | int | None = None,
             missing_element: str | int | None = None,
             columns: Sequence[int] | Sequence[str] | None = None,
             separator: str | None = None) -> Field:
        """A field of `width` bags of ids; a missing one is empty.

        `separator` is what stands between several ids of one cell. `missing_element`
        stands for a missing id among others, which is left out otherwise.
        """
        width = _width(name, width)
        clauses = _id_clauses(name, hash, missing, missing_element)
        after = [] if separator is None else [f"separator({string(separator)})"]
        return self._add(name, width, RaggedType(width), clauses, columns, after)

    def float_bags(self, name: str, width: int, *, missing: float | None = None,
                   missing_element: float | None = None,
                   values: Mapping[str, float] | None = None,
                   columns: Sequence[int] | Sequence[str] | None = None,
                   separator: str | None = None, element: str | None = None) -> Field:
        """A field of `width` bags of numbers; a missing one is empty.

        `missing` is the number that stands for a missing bag, `missing_element` stands for
        a missing number among others, `values` has texts that stand for numbers,
        `separator` is what stands between several numbers of one cell.
        `pdl.cast` makes a row of each number, `pdl.same_bags` joins them to the ids that
        they belong to.
        """
        width = _width(name, width)
        type = RaggedType(width, element or self.model.element)
        clauses = _number_clauses(name, type.element, missing, values, missing_element)
        after = [] if separator is None else [f"separator({string(separator)})"]
        return self._add(name, width, type, clauses, columns, after)

    def _add(self, name: str, width: int, type: Type, clauses: list[str],
             columns: Sequence[int] | Sequence[str] | None, after: Sequence[str] = ()) -> Field:
        if name in self.fields:
            raise ModelError(f"{self} has a field '{name}' already, of line "
                             f"{self.fields[name].place.line}; give this one another name")
        if width < 1:
            raise ModelError(f"field '{name}' has {width} columns; it needs one at least")
        if columns is not None:
            if len(columns) != width:
                raise ModelError(f"field '{name}' has {width} columns, and columns= lists "
                                 f"{len(columns)}; list one for each")
            clauses.append("columns(" + sequence(
                string(column) if isinstance(column, str) else column
                for column in columns) + ")")
        self.fields[name] = Field(name, type, [*clauses, *after])
        return self.fields[name]

    def lines(self, locations: bool = False) -> list[str]:
        """The declaration, without indentation; fields have the places of their Python lines
        with `locations`."""
        missing = ("" if self.missing_texts is None else
                   " missing_texts(" + sequence(map(string, self.missing_texts)) + ")")
        return [f"{self.kind} {self}{missing} {{",
                *(f"  {field.text}{location(field.place) if locations else ''}"
                  for field in self.fields.values()), "}"]


def _width(name: str, width: int) -> int:
    return checks.whole(f"the width of field '{name}'", width)


def _number_clauses(name: str, element: str, missing: float | None,
                    values: Mapping[str, float] | None,
                    missing_element: float | None = None) -> list[str]:
    """What stands for numbers of a field: finite ones, as a record has no others."""
    stand_ins = {"missing": missing, "missing_element": missing_element}
    for what, value in [*stand_ins.items(), *(("a value", v) for v in (values or {}).values())]:
        if value is None:
            continue
        if not math.isfinite(value):
            raise ModelError(f"field '{name}': {what} is {value}; it has to be a finite number")
        # Refuses what is infinite in the field's type; the text has all digits.
        number(value, element)
    clauses = [f"{clause}({number(value)})" for clause, value in stand_ins.items()
               if value is not None]
    if values is not None:
        clauses.append(f"values({dictionary(values, quoted=True)})")
    return clauses


def _id_clauses(name: str, hash: Attribute | None, missing: str | int | None,
                missing_element: str | int | None = None) -> list[str]:
    """How texts become ids of a field, and what stands for missing ones."""
    clauses = []
    if hash is not None:
        given = checks.attribute(f"hash of field {name!r}", hash, "hash=pdl.xxh64()")
        clauses.append(f"hash({given})")
    for clause, id in (("missing", missing), ("missing_element", missing_element)):
        if id is not None:
            clauses.append(f"{clause}({id if is_number(id) else string(id)})")
    return clauses


class Dense(Symbol, Arithmetic):
    """A dense tensor; as an operand, what it holds when the program begins."""

    def __init__(self, model: Model, name: str, type: TensorType, text: str):
        self.type = type
        super().__init__(model, name, f" : {type}{text}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return self.type.shape

    def __repr__(self) -> str:
        return f"{self} : {self.type}"


class Parameter(Dense):
    """A dense tensor that its group trains."""

    kind = "nn.param"


class State(Dense):
    """A dense tensor that is not trained."""

    kind = "nn.state"


class Table(Symbol):
    """Rows of `width` numbers by 64-bit keys."""

    kind = "nn.table"

    def __init__(self, model: Model, name: str, row: TensorType, text: str):
        self.row = row
        super().__init__(model, name, f" : i64 -> {row}{text}")


class Clip(Symbol):
    """A limit for the gradients of the groups that name it."""

    kind = "nn.clip"


class Metric(Symbol):
    """A figure of merit over many batches."""

    kind = "nn.metric"


class Group(Symbol):
    """Symbols that are trained alike."""

    kind = "nn.group"


class Named:
    """A rule or a schedule by its name, with hyper-parameters of one's own."""

    def __init__(self, name: str, hyper: Mapping[str, float]):
        self.name = name
        self.hyper = dict(hyper)

    def __str__(self) -> str:
        numbers = f" {dictionary(self.hyper)}" if self.hyper else ""
        return f"{symbol(self.name)}{numbers}"


class Scalars(Symbol):
    """What rules and schedules share: hyper-parameters, and text of several lines.

    Called with hyper-parameters, it is itself with those: `rule(scale=2.0)`.
    """

    def __init__(self, model: Model, name: str, hyper: Mapping[str, float],
                 lines: Sequence[str]):
        self.hyper = dict(hyper)
        self._lines = list(lines)
        super().__init__(model, name)

    def __call__(self, **hyper: float) -> Named:
        for name in hyper:
            if name not in self.hyper:
                raise ModelError(f"{self} has no hyper-parameter '{name}'"
                                 + did_you_mean(name, list(self.hyper)))
        return Named(self.name, hyper)

    def lines(self, locations: bool = False) -> list[str]:
        """The declaration, without indentation and its own place."""
        return list(self._lines)


class Rule(Scalars):
    """An optimizer of the model's own."""

    kind = "nn.rule"


class Schedule(Scalars):
    """A learning rate as a function of the step, of the model's own."""

    kind = "nn.schedule"
