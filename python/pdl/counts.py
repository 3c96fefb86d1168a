# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nn.count, whose operands are named after the counts of the optimizer rule."""

from __future__ import annotations

from pdl import ops
from pdl.arguments import checked
from pdl.body import current
from pdl.errors import ModelError
from pdl.symbols import Table
from pdl.text import is_number
from pdl.values import Operand, Value

__all__ = ["count"]


@checked(own=("ids",))
def count(table: Table, ids: Value, **values: Operand) -> None:
    """Adds values of samples to the counts of the rows that they look up.

    The rule of the table's group defines the `counts`, such as those of `click_adagrad`:

        pdl.count(items, item_ids, show=1, click=label)

    Each row that an id of a sample selects gets the sample's values, [batch, 1]. A number is the
    same for all samples. The sums over a step are applied together with the update of the rows;
    they are not divided by the sum of the weights.
    """
    body = current("pdl.count")
    if not values:
        raise ModelError(f"pdl.count adds nothing to the rows of {table}; give each count of its "
                         "group's rule a value, such as show=1")
    ids = body.value_of(ids, body.model.element, "`ids`")
    if ids.type.is_float or len(ids.shape) != 2 or ids.shape[0] is not None:
        raise ModelError(f"`ids` is {ids!r}; ids are bags, or [batch, slots]")
    element = table.row.element
    given = {name: value if is_number(value) else body.value_of(value, element, f"`{name}`")
             for name, value in values.items()}
    column = table.row.with_shape([None, 1])
    for name, value in given.items():
        if isinstance(value, Value) and value.type != column:
            raise ModelError(f"`{name}` is {value!r}; it has to be {column}, one number for each "
                             "sample")
    like = next((value for value in given.values() if isinstance(value, Value)), None)
    if like is None:
        raise ModelError("pdl.count needs a value of samples among "
                         f"{', '.join(given)}, such as click=label, to know how many there are")
    parts: list[str | Value] = [f"nn.count {table}[", ids, "]"]
    for name, value in given.items():
        if not isinstance(value, Value):
            value = ops.broadcast(value, [None, 1], like)
        parts += [f" {name}(", value, ")"]
    body.emit([*parts, f" : {ids.type}, {column}"], [])
