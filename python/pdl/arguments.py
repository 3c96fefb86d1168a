# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the arguments of each function that a user calls.

`@checked` reads the annotations of a function. A call with a missing or unknown argument, or with
one of another type or out of its range, raises a ModelError at the user's line.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import re
import string
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, ParamSpec, TypeVar

from pdl import hints
from pdl.errors import ModelError
from pdl.text import as_float, did_you_mean, is_number, is_whole

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


@dataclasses.dataclass(frozen=True)
class Want:
    """Requirement on an argument beyond the type in its annotation.

    `least` and `most` are bounds of a number, and `above` and `below` bounds that it must not
    reach. Numbers are finite unless `infinite`. A text is one of `choices`, if there are some,
    matches `pattern`, a regular expression, and is not empty unless `empty`. An attribute is one of
    `family`, such as "init". `example` is a correct argument, for messages.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    infinite: bool = False
    choices: tuple[str, ...] = ()
    pattern: str = ""
    empty: bool = False
    family: str = ""
    example: str = ""

    def range(self) -> str:
        """Returns a text about the bounds, for messages."""
        if self.least is not None and self.most is not None:
            return f"from {self.least} to {self.most}"
        lower = (f"at least {self.least}" if self.least is not None else
                 f"above {self.above}" if self.above is not None else "")
        upper = (f"at most {self.most}" if self.most is not None else
                 f"below {self.below}" if self.below is not None else "")
        return " and ".join(part for part in (lower, upper) if part)

    def contains(self, number: float) -> bool:
        """Returns true if a number is within all bounds."""
        return ((self.least is None or number >= self.least)
                and (self.above is None or number > self.above)
                and (self.most is None or number <= self.most)
                and (self.below is None or number < self.below))


# 64-bit integers with and without a sign.
_INTEGERS = Want(least=-2**63, most=2**63 - 1)
ID = Want(least=-2**63, most=2**64 - 1)
UNSIGNED = Want(least=0, most=2**64 - 1)
COUNT = Want(least=1)
# Columns of a row of a table.
ROW = Want(least=1, most=2**20)
POSITIVE = Want(above=0)
NOT_NEGATIVE = Want(least=0)
ELEMENT = Want(choices=("f32", "f64"), example="one of 'f32' and 'f64'")
ELEMENT_OR_ID = Want(choices=("f32", "f64", "i64"))
# Numbers that programs draw, or set at the start, have type f32.
_LARGEST = (2 - 2**-23) * 2.0**127
F32 = Want(least=-_LARGEST, most=_LARGEST)
INIT = Want(family="init", example="init=pdl.init.zeros()")
_ANY = Want()


def checked(function: Callable | None = None, /, *, title: str | None = None,
            own: Sequence[str] = (), **wants: Want) -> Any:
    """Decorates a function that users call, so that its arguments are checked.

    `title` names the function in messages; it may contain arguments, as in "group @{name}".
    `own` are arguments that the function checks by itself. `wants` are requirements by argument.
    """
    if function is None:
        return functools.partial(checked, title=title, own=own, **wants)
    signature = inspect.signature(function)
    called = _called(function)
    find_types = functools.cache(lambda: typing.get_type_hints(function))

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        bound = _bound(signature, called, positional, named)
        place = called if title is None else _titled(title, bound.arguments, called)
        for name, value in bound.arguments.items():
            if name in own or name not in find_types():
                continue
            bound.arguments[name] = _checked_parameter(
                f"of {place}", signature.parameters[name], value, find_types()[name],
                wants.get(name, _ANY))
        return function(*bound.args, **bound.kwargs)

    return call


def bound(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Decorates a function that checks its arguments by itself, as ops do. A call with a missing
    or unknown argument raises a ModelError."""
    signature = inspect.signature(function)
    called = _called(function)

    @functools.wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        _bound(signature, called, args, kwargs)
        return function(*args, **kwargs)

    return call


# Begin of the names of this package's modules. Installed packages have another name than a checkout.
_PACKAGE = __name__.partition(".")[0] + "."


def _called(function: Callable) -> str:
    """Returns the name that users write for a function: `pdl.init.zeros`, or `model.table` for a
    method."""
    owner, _, name = function.__qualname__.rpartition(".")
    if owner:
        return f"pdl.{owner}" if name == "__init__" else f"{owner.lower()}.{name}"
    module = function.__module__.removeprefix(_PACKAGE)
    return f"pdl.{module}.{name}" if module in ("init", "decay", "layers", "metrics", "scalars") \
        else f"pdl.{name}"


def _titled(title: str, arguments: Mapping[str, Any], called: str) -> str:
    """Returns the title with the values of the arguments that it names, if these are texts."""
    names = [field for _, field, _, _ in string.Formatter().parse(title) if field]
    if all(isinstance(arguments.get(name), str) and arguments[name] for name in names):
        return title.format(**arguments)
    return called


def _bound(signature: inspect.Signature, called: str, positional: Sequence,
           named: Mapping[str, Any]) -> inspect.BoundArguments:
    """Returns the arguments of a call by name."""
    try:
        return signature.bind(*positional, **named)
    except TypeError:
        raise ModelError(_unbound(signature, called, positional, named)) from None


def _unbound(signature: inspect.Signature, called: str, positional: Sequence,
             named: Mapping[str, Any]) -> str:
    """Says which argument of a call is unknown, missing, given twice or too many."""
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    given = positional[1:] if "self" in signature.parameters else positional
    by_place = [one.name for one in parameters
                if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    by_name = [one.name for one in parameters
               if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    takes = f"; it takes {', '.join(map(_declared, parameters))}" if parameters else ""
    takes_any = any(one.kind == one.VAR_KEYWORD for one in parameters)
    for name in () if takes_any else named:
        if name not in by_name:
            return (f"{called} has no argument '{name}'"
                    + hints.for_argument(called, name, by_name))
    for name in by_place[:len(given)]:
        if name in named:
            return f"{called} gets '{name}' twice, by its place and by its name; give it once"
    if len(given) > len(by_place):
        return (f"{called} gets {len(given)} arguments without names, and takes {len(by_place)}"
                f"; give the others by name{takes}")
    missing = [one.name for one in parameters
               if one.default is one.empty and one.name not in named
               and one.name not in by_place[:len(given)]
               and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return f"{called} lacks '{missing[0]}'" + hints.for_missing(missing[0]) + takes


def _declared(parameter: inspect.Parameter) -> str:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return str(parameter).partition(":")[0]
    # "..." stands for arguments that may be left out.
    return parameter.name if parameter.default is parameter.empty else f"{parameter.name}=..."


def _checked_parameter(place: str, parameter: inspect.Parameter, value: Any, kind: Any,
                       want: Want) -> Any:
    if parameter.kind == parameter.VAR_KEYWORD:
        return {name: check(f"`{name}` {place}", one, kind, want) for name, one in value.items()}
    if parameter.kind == parameter.VAR_POSITIONAL:
        return tuple(check(f"`{parameter.name}` {place}", one, kind, want) for one in value)
    return check(f"`{parameter.name}` {place}", value, kind, want)


def check(role: str, value: Any, kind: Any, want: Want = _ANY) -> Any:
    """Returns an argument of the type `kind` that fulfills `want`. `role` names it in messages.
    Numbers become those of Python. Types that are not known here are not checked."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _check_union(role, value, inner, want)
    if origin is Literal:
        return _word(role, value, inner)
    if origin in (Sequence, list, tuple):
        return _check_list(role, value, inner[0], want)
    if origin is Mapping:
        return _check_mapping(role, value, inner[1], want)
    if origin is Callable or kind is Callable:
        return _require(callable(value), role, value, want, "a Python function")
    if kind is bool:
        # The type of NumPy 2 is called bool, and that of NumPy 1 bool_.
        is_flag = isinstance(value, bool) or (
            type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))
        return bool(_require(is_flag, role, value, want, "True or False"))
    if kind is int:
        return _whole(role, value, want)
    if kind is float:
        return _real(role, value, want)
    if kind is str:
        if want.choices:
            return _word(role, value, want.choices, want.example)
        fits = isinstance(value, str) and (bool(value) or want.empty) and (
            not want.pattern or re.fullmatch(want.pattern, value, re.S))
        return _require(bool(fits), role, value, want, "a text")
    if isinstance(kind, type) and kind.__module__.startswith(_PACKAGE):
        return _object(role, value, kind, want)
    return value


def _check_union(role: str, value: Any, kinds: Sequence, want: Want) -> Any:
    if value is None and type(None) in kinds:
        return value
    kinds = [kind for kind in kinds if kind is not type(None)]
    chosen = next((kind for kind in kinds if _resembles(value, kind)), kinds[0])
    if len(kinds) > 1 and want.example and not _resembles(value, chosen):
        raise ModelError(f"{role} is {value!r}; write {want.example}")
    return check(role, value, chosen, want)


def _resembles(value: Any, kind: Any) -> bool:
    """Returns true if an error message should treat `value` as meant to be of type `kind`."""
    origin = typing.get_origin(kind)
    if origin in (Sequence, list, tuple):
        return isinstance(value, (list, tuple))
    if kind is int:
        return is_whole(value)
    if kind is float:
        return is_number(value)
    if kind is Callable or origin is Callable:
        return callable(value)
    return isinstance(kind, type) and isinstance(value, kind)


def _check_list(role: str, value: Any, kind: Any, want: Want) -> Any:
    # NumPy's arrays are lists too.
    is_list = isinstance(value, Sequence) and not isinstance(value, str) or hasattr(
        value, "tolist") and getattr(value, "shape", ())
    if not is_list:
        _refuse(role, value, want, "a list")
    return [check(f"an entry of {role}", one, kind, dataclasses.replace(want, example=""))
            for one in value]


def _check_mapping(role: str, value: Any, kind: Any, want: Want) -> Any:
    if not isinstance(value, Mapping):
        _refuse(role, value, want, 'numbers by names, such as {"beta": 0.9}')
    for name in value:
        _require(isinstance(name, str) and bool(name), f"a name of {role}", name, _ANY, "a text")
    return {name: check(f"{name!r} of {role}", one, kind, want) for name, one in value.items()}


def _whole(role: str, value: Any, want: Want) -> int:
    if not is_whole(value):
        # A number in quotes is an easy mistake.
        quoted = isinstance(value, str) and value.strip().isdigit()
        _refuse(role, value, want,
                f"a whole number, without quotes: {value}" if quoted else "a whole number")
    if not want.contains(value):
        raise ModelError(f"{role} is {value}; it has to be {want.range()}")
    if want.most is None and not want.infinite and not _INTEGERS.contains(value):
        raise ModelError(f"{role} is {value}; it has to be {_INTEGERS.range()}")
    return int(value)


def _real(role: str, value: Any, want: Want) -> float:
    if not is_number(value):
        _refuse(role, value, want, "a number")
    number = as_float(value)
    if math.isnan(number) or math.isinf(number) and not want.infinite:
        raise ModelError(f"{role} is {number}; it has to be a "
                         f"{'number' if want.infinite else 'finite number'}")
    if not want.contains(number):
        raise ModelError(f"{role} is {value}; it has to be {want.range()}")
    return number


def _word(role: str, value: Any, choices: Sequence[str], example: str = "") -> str:
    if not isinstance(value, str) or value not in choices:
        raise ModelError(f"{role} is {value!r}" + (
            f"; write {example}" if example else did_you_mean(str(value), choices)))
    return value


def _object(role: str, value: Any, kind: type, want: Want) -> Any:
    if not isinstance(value, kind):
        _refuse(role, value, want, hints.MADE_BY.get(kind.__name__, f"a {kind.__name__}"))
    family = getattr(value, "family", "")
    if want.family and family not in ("", want.family):
        raise ModelError(f"{role} is {value}, which is no {want.family} attribute; write "
                         f"{want.example}")
    return value


def _require(holds: bool, role: str, value: Any, want: Want, expected: str) -> Any:
    if not holds:
        _refuse(role, value, want, expected)
    return value


def _refuse(role: str, value: Any, want: Want, expected: str) -> typing.NoReturn:
    remedy = f"write {want.example}" if want.example else f"it has to be {expected}"
    raise ModelError(f"{role} is {value!r}; {remedy}")
