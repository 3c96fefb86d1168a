# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Declarations of a model: records, tables, parameters, groups and others.

`pdl.Model` creates all of them. Pass them to ops and to other declarations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pdl.arguments import ELEMENT, Want, check, checked
from pdl.attributes import Attribute
from pdl.errors import ModelError
from pdl.later import Declared
from pdl.source import Place
from pdl.text import (did_you_mean, dictionary, is_number, number, sequence, string, symbol)
from pdl.types import RaggedType, TensorType, Type
from pdl.values import Arithmetic

if TYPE_CHECKING:
    from pdl.model import Model


def location(place: Place) -> str:
    """Returns the text after an op that gives its place in the Python source."""
    return f" loc({string(place.file)}:{place.line}:{place.column})"


_COLUMNS = Want(least=1, most=2**20)
# Positions of columns in files. Names of columns may be any text.
_POSITIONS = Want(least=0, most=2**31 - 1)
# An id, or a text that replaces a missing id. The text may be empty.
_ID = Want(least=-2**63, most=2**64 - 1, empty=True)
_SEPARATOR = Want(pattern="[\x00-\x7f]", example="one ASCII character, such as separator=\"|\"")
_HASH = Want(family="hash", example="hash=pdl.xxh64()")
_FIELD = {"title": "field '{name}'", "width": _COLUMNS, "columns": _POSITIONS}


class Symbol(Declared):
    """A declaration of a model. `kind` is its op, `text` the text after its name."""

    kind = ""

    def __init__(self, model: Model, name: str, text: str = ""):
        self.model = model
        self.name = check(f"the name of an {self.kind}", name, str)
        self.text = text
        self.place = Place.of_user()
        model.declare(self)

    def lines(self, locations: bool = False) -> list[str]:
        """Returns the text of the declaration, without indentation and without its own place."""
        return [f"{self.kind} {self}{self.text}"]

    def __str__(self) -> str:
        return symbol(self.name)

    def __repr__(self) -> str:
        return f"{self} ({self.kind})"


class Field(Declared):
    """One field of a record."""

    DEFAULT = "programs take its values as the argument of its name"

    def __init__(self, name: str, type: Type, clauses: Sequence[str]):
        self.name = name
        self.type = type
        self.place = Place.of_user()
        self.text = "".join([f"nn.field {symbol(name)} : {type}",
                             *(f" {clause}" for clause in clauses)])

    def __str__(self) -> str:
        return symbol(self.name)

    def __repr__(self) -> str:
        return f"{self} (nn.field)"


class Record(Symbol):
    """The format of one sample: its fields, in file order."""

    kind = "nn.record"
    DEFAULT = "programs take its fields as arguments, and record.fields has them by name"

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

    @checked(element=ELEMENT, **_FIELD)
    def floats(self, name: str, width: int, *, missing: float | None = None,
               values: Mapping[str, float] | None = None,
               columns: Sequence[int | str] | None = None,
               element: str | None = None) -> Field:
        """Adds a field of `width` numbers.

        `missing` replaces a missing number; without it, a row with a missing number is bad.
        `values` maps texts to numbers. `columns` are positions from 0 or header names.
        """
        type = TensorType((None, width), element or self.model.element)
        clauses = _number_clauses(type.element, missing, values)
        return self._add(name, width, type, clauses, columns)

    @checked(hash=_HASH, missing=_ID, **_FIELD)
    def ids(self, name: str, width: int, *, hash: Attribute | None = None,
            missing: str | int | None = None,
            columns: Sequence[int | str] | None = None) -> Field:
        """Adds a field of `width` ids that are always present.

        `hash` defines how a text becomes an id (`pdl.xxh64`). Without it, ids are decimal
        integers. `missing` replaces a missing id: it is a text, or without `hash` an integer.
        """
        clauses = _id_clauses(name, hash, missing)
        return self._add(name, width, TensorType((None, width), "i64"), clauses, columns)

    @checked(hash=_HASH, missing=_ID, missing_element=_ID, separator=_SEPARATOR, **_FIELD)
    def bags(self, name: str, width: int, *, hash: Attribute | None = None,
             missing: str | int | None = None,
             missing_element: str | int | None = None,
             columns: Sequence[int | str] | None = None,
             separator: str | None = None) -> Field:
        """Adds a field of `width` bags of ids. A missing bag is empty.

        `separator` separates several ids in one cell. `missing_element` replaces a missing id
        among others; without it, such an id is left out.
        """
        clauses = _id_clauses(name, hash, missing, missing_element)
        after = _separator(separator)
        return self._add(name, width, RaggedType(width), clauses, columns, after)

    @checked(element=ELEMENT, separator=_SEPARATOR, **_FIELD)
    def float_bags(self, name: str, width: int, *, missing: float | None = None,
                   missing_element: float | None = None,
                   values: Mapping[str, float] | None = None,
                   columns: Sequence[int | str] | None = None,
                   separator: str | None = None, element: str | None = None) -> Field:
        """Adds a field of `width` bags of numbers. A missing bag is empty, unless `missing` is
        given.

        `missing` is the number for a missing bag. `missing_element` replaces a missing number
        among others. `values` maps texts to numbers. `separator` separates several numbers in one
        cell. `pdl.cast` makes one row of each number, and `pdl.same_bags` declares that the
        numbers belong to the ids of another field.
        """
        type = RaggedType(width, element or self.model.element)
        clauses = _number_clauses(type.element, missing, values, missing_element)
        after = _separator(separator)
        return self._add(name, width, type, clauses, columns, after)

    def _add(self, name: str, width: int, type: Type, clauses: list[str],
             columns: Sequence[int | str] | None, after: Sequence[str] = ()) -> Field:
        if name in self.fields:
            raise ModelError(f"{self} has a field '{name}' already, of line "
                             f"{self.fields[name].place.line}; give this one another name")
        if columns is not None:
            if len(columns) != width:
                raise ModelError(f"field '{name}' has {width} columns, and columns= lists "
                                 f"{len(columns)}; list one for each")
            if len({isinstance(column, str) for column in columns}) > 1:
                raise ModelError(f"`columns` of field '{name}' is {list(columns)}, with positions "
                                 "and names; use one of the two")
            clauses.append("columns(" + sequence(
                string(column) if isinstance(column, str) else column
                for column in columns) + ")")
        self.fields[name] = Field(name, type, [*clauses, *after])
        return self.fields[name]

    def lines(self, locations: bool = False) -> list[str]:
        """Returns the text of the declaration, without indentation. With `locations`, each field
        has its Python line."""
        missing = ("" if self.missing_texts is None else
                   " missing_texts(" + sequence(map(string, self.missing_texts)) + ")")
        return [f"{self.kind} {self}{missing} {{",
                *(f"  {field.text}{location(field.place) if locations else ''}"
                  for field in self.fields.values()), "}"]


def _separator(separator: str | None) -> list[str]:
    return [] if separator is None else [f"separator({string(separator)})"]


def _number_clauses(element: str, missing: float | None,
                    values: Mapping[str, float] | None,
                    missing_element: float | None = None) -> list[str]:
    """Returns the clauses of a field that replace missing numbers and texts by numbers."""
    stand_ins = {"missing": missing, "missing_element": missing_element}
    for value in [*stand_ins.values(), *(values or {}).values()]:
        if value is not None:
            # Refuses a number that is infinite in the field's type. The text has all digits.
            number(value, element)
    clauses = [f"{clause}({number(value)})" for clause, value in stand_ins.items()
               if value is not None]
    if values is not None:
        clauses.append(f"values({dictionary(values, quoted=True)})")
    return clauses


def _id_clauses(name: str, hash: Attribute | None, missing: str | int | None,
                missing_element: str | int | None = None) -> list[str]:
    """Returns the clauses of a field for hashing texts to ids and for missing ids."""
    clauses = [] if hash is None else [f"hash({hash})"]
    for clause, id in (("missing", missing), ("missing_element", missing_element)):
        if id is None:
            continue
        if isinstance(id, str) != (hash is not None):
            needed = ("is an id; the field hashes texts, so write the text that stands for a "
                      f'missing one, such as {clause}="none"' if hash is not None else
                      "is a text; write a number, or hash=pdl.xxh64(), which makes ids of texts")
            raise ModelError(f"`{clause}` of field '{name}' is {id!r}, which {needed}")
        clauses.append(f"{clause}({string(id) if isinstance(id, str) else id})")
    return clauses


class Dense(Arithmetic, Symbol):
    """A dense tensor. As an operand, it stands for its value at the start of the program."""

    ADVICE = {**Arithmetic.ADVICE, **Symbol.ADVICE}

    def __init__(self, model: Model, name: str, type: TensorType, text: str):
        self.type = type
        super().__init__(model, name, f" : {type}{text}")

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the sizes of the dimensions."""
        return self.type.shape

    def __repr__(self) -> str:
        return f"{self} : {self.type}"


class Parameter(Dense):
    """A dense tensor that is trained by the optimizer rule of its group."""

    kind = "nn.param"


class State(Dense):
    """A dense tensor that is not trained."""

    kind = "nn.state"


class Table(Symbol):
    """An embedding table: one row of numbers for each 64-bit key."""

    kind = "nn.table"
    DEFAULT = 'pdl.lookup(table, ids, "sum") gives the rows of ids as a value'

    def __init__(self, model: Model, name: str, row: TensorType, text: str):
        self.row = row
        super().__init__(model, name, f" : i64 -> {row}{text}")


class Clip(Symbol):
    """Gradient clipping for the groups that name it."""

    kind = "nn.clip"
    DEFAULT = "groups name it, as in model.group(..., clip=limit)"


class Metric(Symbol):
    """A metric, computed over many batches."""

    kind = "nn.metric"
    DEFAULT = "pdl.observe(metric, predictions, labels) adds samples to it"


class Group(Symbol):
    """Parameters and tables that are trained in the same way."""

    kind = "nn.group"
    DEFAULT = "tables and parameters name it with group=..., and pdl.minimize lists it"


_OF_SCALARS = "groups name it, as in model.group(..., rule=rule, schedule=schedule)"


class Named(Declared):
    """A rule or schedule of the standard library with given hyper-parameters."""

    DEFAULT = _OF_SCALARS

    def __init__(self, name: str, hyper: Mapping[str, float]):
        self.name = name
        self.hyper = dict(hyper)

    def __str__(self) -> str:
        numbers = f" {dictionary(self.hyper)}" if self.hyper else ""
        return f"{symbol(self.name)}{numbers}"

    def __repr__(self) -> str:
        return str(self)


class Scalars(Symbol):
    """Common base of rules and schedules, which have hyper-parameters and a text of several
    lines.

    A call returns the rule or schedule with other hyper-parameters: `rule(scale=2.0)`.
    """

    DEFAULT = _OF_SCALARS

    def __init__(self, model: Model, name: str, hyper: Mapping[str, float], purpose: str,
                 lines: Sequence[str]):
        self.hyper = dict(hyper)
        # The purpose of a rule, such as "gradients". That of a schedule is "schedule".
        self.purpose = purpose
        self._lines = list(lines)
        super().__init__(model, name)

    @checked(title="a call of a rule or schedule")
    def __call__(self, **hyper: float) -> Named:
        for name in hyper:
            if name not in self.hyper:
                raise ModelError(f"{self} has no hyper-parameter '{name}'"
                                 + did_you_mean(name, list(self.hyper)))
        return Named(self.name, hyper)

    def lines(self, locations: bool = False) -> list[str]:
        """Returns the text of the declaration, without indentation and without its own place."""
        return list(self._lines)


class Rule(Scalars):
    """An optimizer rule that the model defines."""

    kind = "nn.rule"


class Schedule(Scalars):
    """A learning rate schedule that the model defines."""

    kind = "nn.schedule"
