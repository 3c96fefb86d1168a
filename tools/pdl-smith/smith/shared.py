# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions with symbols as arguments (`nn.func ... with(...)`), which the builder cannot write.
"""

import pdl
from pdl.body import Body, current
from pdl.model import Function
from pdl.symbols import Parameter, Table


class _Shared(Function):
    """Function whose last arguments are parameters or tables, which can differ between calls."""

    # The builder does not allow users to change declarations, so use the method of `object`.
    __setattr__ = object.__setattr__

    def __call__(self, value, with_):
        caller = current(f"a call of {self}")
        if self._types is None:
            self._types = (value.type,)
            self.body = Body(self.model, f"function {self}")
            self._own = [_own(self.model, f"{self.name}.{i}", one)
                         for i, one in enumerate(with_)]
            self._value = self.body.argument("value", value.type)
            inner = self._function
            self.run(lambda given: inner(given, *self._own), [self._value])
        [result] = self.returned
        names = ", ".join(map(str, with_))
        return caller.emit([f"nn.call {self}(", value, f") with({names}) : ({value.type}) -> "
                            f"{result.type}"], [result.type])[0]

    def head(self):
        symbols = ", ".join(
            f"{one}: " + (f"i64 -> {one.row}" if isinstance(one, Table) else str(one.type))
            for one in self._own)
        return [f"nn.func private {self}({self._value}: {self._value.type}) with({symbols}) -> "
                f"{self.returned[0].type} {{"]


class _OwnParameter(Parameter):
    """Name in a function for the parameter that each call passes. It is not declared in the model.
    """

    def lines(self, locations=False):
        return []


class _OwnTable(Table):
    """Name in a function for the table that each call passes. It is not declared in the model."""

    def lines(self, locations=False):
        return []


def _own(model, name, given):
    if isinstance(given, Table):
        return _OwnTable(model, name, given.row, "")
    return _OwnParameter(model, name, given.type, "")


def shared_function(model: pdl.Model, name: str, function):
    """Returns a function of a value and of parameters or tables, called as `f(value, with_=[p,
    ...])`."""
    function.__name__ = function.__qualname__ = name
    return _Shared(model, function)
