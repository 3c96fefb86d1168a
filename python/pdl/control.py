# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops with bodies: nn.scan and nn.if, whose bodies are Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pdl import bag_shapes, checks, require
from pdl.arguments import checked
from pdl.body import Body, building, current
from pdl.errors import ModelError
from pdl.text import is_whole
from pdl.types import RaggedType, TensorType
from pdl.values import Operand, Value

__all__ = ["cond", "scan"]


class _Inner(Body):
    """The body of an op. Values from outside become arguments of the body.

    `outside` has the outer value of each such argument. The bodies of one op share it.
    """

    remedy = "return it from there"

    def __init__(self, outer: Body, title: str, outside: list[Value]):
        # A name in the text means the same value in this body and in all enclosing ones.
        super().__init__(outer.model, title, outer._names)
        self.outer = outer
        self.outside = outside
        # Indexed by the id() of the outer value. `outside` keeps the value alive.
        self._arguments_of: dict[int, Value] = {}

    def value_of(self, operand: Operand, element: str, role: str) -> Value:
        if not isinstance(operand, Value) or operand.body is self:
            return super().value_of(operand, element, role)
        return self.argument_of(self.outer.value_of(operand, element, role), role)

    def argument_of(self, value: Value, role: str) -> Value:
        """Returns the argument for a value of the enclosing body."""
        if id(value) not in self._arguments_of:
            self.check(value, role)
            if not any(value is one for one in self.outside):
                self.outside.append(value)
            name = None if value.name is None or value.name.isdigit() else value.name
            argument = Value(self, self._names.take(name), value.type,
                             f"what is {value.name or value.origin} outside")
            self._arguments_of[id(value)] = argument
        return self._arguments_of[id(value)]

    def check(self, value: Value, role: str) -> None:
        """Raises an error if the value cannot be used inside of the body."""
        if isinstance(value.type, RaggedType):
            raise ModelError(f"{role} is {value!r}; {self.title} sees no bags: look up, pool and "
                             "pad outside, and use what comes of it")

    def run(self, function: Callable, arguments: Sequence[Value]) -> list[Value]:
        """Runs the Python function, which builds the body. Returns its results."""
        with building(self):
            returned = function(*arguments)
            several = returned if isinstance(returned, (tuple, list)) else (returned,)
            if not several:
                raise ModelError(f"{self.title} returns nothing; it has to return what is used "
                                 "after it")
            return [self.value_of(one, self.model.element, f"what {self.title} returns")
                    for one in several]

    def finish(self, returned: Sequence[Value]) -> None:
        """Adds arguments for all values from outside, and ends the body."""
        for value in self.outside:
            self.arguments.append(self.argument_of(value, "an argument"))
        parts = [part for value in returned for part in (", ", value)][1:]
        types = ", ".join(str(value.type) for value in returned)
        self.emit(["nn.yield ", *parts, f" : {types}"], [])


class _OfRow(_Inner):
    """The body of a scan."""

    def check(self, value: Value, role: str) -> None:
        super().check(value, role)
        if None in value.shape:
            raise ModelError(
                f"{role} is {value!r}, which has a row for each sample or id; {self.title} does "
                "one row: make it one of `rows` (pdl.segment_repeat leads from samples to rows), "
                "or begin with it by `init`")


def _listed(values: Sequence[Value]) -> list[str | Value]:
    return [part for value in values for part in (", ", value)][1:]


def _types(operands: Sequence[Value]) -> str:
    return f" : {', '.join(str(value.type) for value in operands)}"


def _several(given: object) -> list:
    return list(given) if isinstance(given, (tuple, list)) else [given]


def _parameters(function: Callable, role: str, count: int, what: str) -> list[str]:
    """Returns the names of a body's arguments."""
    parameters = checks.parameters(role, function)
    if any(one.kind == one.VAR_POSITIONAL for one in parameters):
        return [f"argument{index}" for index in range(count)]
    names = [one.name for one in parameters
             if one.default is one.empty and one.kind != one.VAR_KEYWORD]
    if len(names) != count:
        raise ModelError(f"{role} takes ({', '.join(names)}); {what}")
    return names


@checked(own=("bags",))
def scan(rows: Operand | Sequence[Operand], bags: Value, body: Callable, *,
         init: Operand | int | Sequence[Operand | int],
         from_end: bool = False) -> Value | tuple[Value, ...]:
    """Processes the rows of each bag in order, with a state.

    `body(row, state)` processes one row and returns the state after it. With several `rows` and
    states, it takes one row of each, then the states. It returns the states, then any further
    rows. The scan returns all of these, for the rows of all bags.

    `init` gives the state before the first row of a bag. A number of columns means zeros. A value
    has the shape [batch, slots, ...], as `pdl.segment_last` returns it. With `from_end`, rows are
    processed from the last to the first.

    The body may use parameters, and values without a batch dimension. Compute whatever does not
    depend on the state before the scan, as one op for all rows.
    """
    outer = current("nn.scan")
    element = outer.model.element
    inputs = [outer.value_of(one, element, "`rows` of pdl.scan") for one in _several(rows)]
    if not inputs:
        raise ModelError("`rows` of pdl.scan is empty; give the rows of bags")
    if not isinstance(bags, Value) or not isinstance(bags.type, RaggedType):
        raise ModelError(f"`bags` of pdl.scan is {bags!r}; it has to be bags of ids, as "
                         "record.bags declares them")
    outer.value_of(bags, element, "`bags` of pdl.scan")
    for value in inputs:
        if isinstance(value.type, RaggedType) or not value.type.is_float or (
                value.type.rank < 2 or value.shape[0] is not None):
            raise ModelError(f"`rows` of pdl.scan has {value!r}; it has to be the rows of bags, "
                             '[ids, ...], as pdl.lookup(table, bags, "none") gives them')
    states, firsts = _states(outer, _several(init), bags, inputs[0].type)
    count = len(inputs) + len(states)
    names = _parameters(body, "`body` of pdl.scan", count,
                        f"it has to take {count}: a row of each of `rows`, then the states")
    inner = _OfRow(outer, "the body of pdl.scan", [])
    arguments = [inner.argument(name, type) for name, type in
                 zip(names, [value.type for value in inputs] + states)]
    returned = inner.run(body, arguments)
    if len(returned) < len(states):
        raise ModelError(f"`body` of pdl.scan returns {len(returned)} values; it has to return "
                         f"the {len(states)} states after the row, then any further rows")
    for value, type, name in zip(returned, states, names[len(inputs):]):
        if value.type != type:
            raise ModelError(f"`body` of pdl.scan returns {value!r} for state '{name}', which is "
                             f"{type}; a state keeps its type from row to row")
    for value in returned[len(states):]:
        if not value.shape or value.shape[0] is not None:
            raise ModelError(f"`body` of pdl.scan returns {value!r}, which is no row [?, ...]")
    inner.finish(returned)
    shared = inner.arguments[count:]
    outside = inner.outside
    parts: list = ["nn.scan ", *_listed(inputs), " of ", bags]
    if from_end:
        parts.append(" from_end")
    if firsts:
        parts += [" init(", *_listed(firsts), ")"]
    if shared:
        parts += [" with(", *_listed(outside), ")"]
    parts += [" ", inner, _types([*inputs, bags, *firsts, *outside])]
    results = outer.emit(parts, [value.type for value in returned])
    return results[0] if len(results) == 1 else tuple(results)


def _states(outer: Body, init: Sequence[Operand | int], bags: Value,
            like: TensorType) -> tuple[list[TensorType], list[Value]]:
    """Returns the types of the states and their initial values; no value for zeros."""
    is_zero = [is_whole(one) for one in init]
    if not init or (any(is_zero) and not all(is_zero)):
        raise ModelError("`init` of pdl.scan has to give all states the same way: how many columns "
                         "each has, to begin with zeros, or what each begins with; "
                         "pdl.broadcast(0.0, h.shape, like=h) is zeros like h")
    if all(is_zero):
        if any(one < 1 for one in init):
            raise ModelError(f"`init` of pdl.scan is {init!r}; a state has 1 column or more")
        return [like.with_shape([None, one]) for one in init], []
    firsts = [outer.value_of(one, like.element, "`init` of pdl.scan") for one in init]
    try:
        return [bag_shapes.first_state(value, bags) for value in firsts], firsts
    except require.Misfit as misfit:
        raise ModelError(f"pdl.scan: {misfit}") from None


@checked
def cond(condition: Operand, then: Callable, otherwise: Callable) -> Value | tuple[Value, ...]:
    """Computes one of two branches, depending on one number of the program.

    If the condition is not 0, the result is that of `then()`, otherwise that of `otherwise()`.
    Both are Python functions without arguments, which may use values from outside. They return
    the same number of values, of the same types. The branch that is not selected costs nothing.
    To select for each sample, use `pdl.select`.
    """
    outer = current("nn.if")
    element = outer.model.element
    chosen = outer.value_of(condition, element, "`condition` of pdl.cond")
    if isinstance(chosen.type, RaggedType) or not chosen.type.is_float or any(
            size != 1 for size in chosen.shape):
        raise ModelError(f"`condition` of pdl.cond is {chosen!r}; it has to be one number: "
                         "pdl.select chooses for each sample")
    outside: list[Value] = []
    bodies, returned = [], []
    for function, name in ((then, "then"), (otherwise, "otherwise")):
        role = f"`{name}` of pdl.cond"
        _parameters(function, role, 0, "it takes nothing, and uses what is outside")
        bodies.append(_Inner(outer, role, outside))
        returned.append(bodies[-1].run(function, []))
    taken, other = ([value.type for value in values] for values in returned)
    if taken != other:
        raise ModelError(f"`then` of pdl.cond returns ({', '.join(map(str, taken))}), and "
                         f"`otherwise` ({', '.join(map(str, other))}); they have to return the "
                         "same types")
    for body, values in zip(bodies, returned):
        body.finish(values)
    within = [" with(", *_listed(outside), ")"] if outside else []
    results = outer.emit(["nn.if ", chosen, *within, " ", bodies[0], " else ", bodies[1],
                          _types([chosen, *outside])], taken)
    return results[0] if len(results) == 1 else tuple(results)
