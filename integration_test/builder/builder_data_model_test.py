# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests each special method of Python's data model, for each class of the builder. The method
appends an op, or does the same as in `object`, or raises a ModelError. The message then has the
user's line and suggests an alternative."""

import collections.abc
import contextlib
import inspect
import os
import pathlib
import random
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import pdl, with_fields

from pdl import attributes, model, scalars, symbols, values
from pdl import types as value_types

# Methods of Python's own types that `object` lacks, and methods that no type of this Python
# version has.
_TYPES = (int, float, complex, str, bytes, list, dict, tuple, set, range, memoryview,
          contextlib.AbstractContextManager, contextlib.AbstractAsyncContextManager,
          *(getattr(collections.abc, name) for name in collections.abc.__all__))
_LATER = {"__matmul__", "__rmatmul__", "__fspath__", "__instancecheck__", "__subclasscheck__",
          "__mro_entries__", "__buffer__", "__release_buffer__", "__lt__", "__le__", "__gt__",
          "__ge__", "__array__"}
# Methods of classes, or for copies, which are no operations on an object. `+=` is computed by `+`.
_OF_CLASSES = {"__abstractmethods__", "__class_getitem__", "__dict__", "__getformat__",
               "__getnewargs__", "__module__", "__setstate__", "__slots__", "__weakref__"}
OPERATIONS = sorted(
    {name for one in _TYPES for name in dir(one)
     if name.startswith("__") and name.endswith("__") and name not in dir(object)
     and name not in _OF_CLASSES and not (name[2] == "i" and f"__{name[3:]}" in dir(int)
                                          and f"__r{name[3:]}" in dir(int))} | _LATER)

_ARITHMETIC = {f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "matmul")
               for side in ("", "r")}
_ORDER = {"__lt__", "__le__", "__gt__", "__ge__"}
# Operations that each class supports, by class.
MEANT = {
    values.Value: _ARITHMETIC | _ORDER | {"__abs__", "__floor__", "__getitem__", "__neg__",
                                          "__pos__", "__pow__"},
    symbols.Dense: _ARITHMETIC | _ORDER | {"__abs__", "__floor__", "__getitem__", "__neg__",
                                           "__pos__", "__pow__"},
    scalars.Scalar: (_ARITHMETIC - {"__matmul__", "__rmatmul__"}) | _ORDER | {
        "__abs__", "__neg__", "__pos__", "__pow__"},
    model.Function: {"__bool__", "__call__"},
    symbols.Scalars: {"__bool__", "__call__"},
}


def objects():
    """Returns one object of each class, in a program under construction."""
    whole = with_fields(x=3)
    body = pdl.body.Body(whole, "program @p")
    x = body.argument("x", whole.only_record().fields["x"].type)
    group = whole.group("g", rule="sgd", rate=0.1)
    given = [whole, whole.only_record(), next(iter(whole.only_record().fields.values())), group,
             whole.table("t", 2, init=pdl.init.zeros(), group=group),
             whole.param("w", (3,), init=pdl.init.zeros(), group=group),
             whole.state("s", (3,), init=pdl.init.zeros()),
             whole.clip("c", global_norm=1.0), whole.metric("m", pdl.metrics.auc()),
             pdl.rule("adam", beta1=0.8), pdl.init.zeros(), x, x.type,
             pdl.RaggedType(2),
             whole.rule("own", each=lambda value, gradient, rate: value),
             whole.schedule("d", lambda step, rate: rate)]

    @whole.function
    def function(x):
        return x

    @whole.program
    def train(x):
        pdl.minimize(x[:, :1] * whole.param("v", (1,), init=pdl.init.zeros(), group=group), [group])
    seen = []

    def each(value, gradient, rate):
        seen.append(value)
        return value
    whole.rule("seen", each=each)
    return [*given, function, train, whole.cycle("turns", train), *seen], body


class DataModel(unittest.TestCase):

    def setUp(self):
        self.objects, body = objects()
        self.enterContext(pdl.body.building(body))

    def test_all_classes(self):
        """Checks that the test has one object of each class that users can get."""
        public = {one for module in (attributes, model, symbols, value_types, values)
                  for name, one in vars(module).items()
                  if inspect.isclass(one) and one.__module__ == module.__name__
                  and not name.startswith("_")}
        bases = {symbols.Symbol, symbols.Dense, symbols.Scalars, values.Arithmetic}
        self.assertEqual(public - bases - {type(one) for one in self.objects}, set())

    def refused(self, call, *parts):
        line = inspect.currentframe().f_back.f_lineno
        with self.assertRaises(pdl.ModelError) as caught:
            call()
        message = str(caught.exception)
        self.assertTrue(message.startswith(f"{__file__}:{line}: "), message)
        for part in parts:
            self.assertIn(part, message)
        return message

    def test_operations(self):
        for one in self.objects:
            meant = set().union({"__bool__"} if not isinstance(one, pdl.later.KnownLater) else (),
                                *(names for kind, names in MEANT.items()
                                  if isinstance(one, kind)))
            for name in OPERATIONS:
                with self.subTest(type(one).__name__, operation=name):
                    method = getattr(type(one), name)
                    count = len(inspect.signature(method).parameters) - 1
                    refuses = "_refusal" in method.__qualname__ or name == "__bool__"
                    if name in meant:
                        self.assertFalse("_refusal" in method.__qualname__)
                        continue
                    self.assertTrue(refuses or name in ("__pow__", "__floordiv__", "__mod__"), method)
                    message = self.refused(lambda: method(one, *[one] * max(count, 0)))
                    self.assertIn("; ", message)

    def test_as_users_write_them(self):
        for one in self.objects:
            is_later = isinstance(one, pdl.later.KnownLater)
            with self.subTest(type(one).__name__):
                self.refused(lambda: sum(one))
                self.refused(lambda: f"{one:.3f}", "the format '.3f'")
                self.refused(lambda: 0 in one)
                self.refused(lambda: random.choice(one))
                self.refused(lambda: os.fspath(one))
                self.refused(lambda: isinstance(3, one))
                self.refused(lambda: types.resolve_bases((one,)))
                self.refused(lambda: one.nothing, "has no 'nothing'")
                self.assertFalse(hasattr(one, "nothing"))
                self.assertNotIn("%None", f"{one} {one!r}")
                with self.assertRaises(pdl.ModelError):
                    with one:
                        pass
                if not isinstance(one, (model.Function, symbols.Scalars)):
                    self.refused(lambda: one(), "`x()`")
                if not isinstance(one, pdl.Model):
                    self.refused(lambda: setattr(one, "name", "other"), "its 'name' stays")
                    self.refused(lambda: delattr(one, "name"), "its 'name' stays")
                if is_later:
                    self.refused(lambda: {one: 1})
                    self.refused(lambda: bool(one))
                else:
                    self.assertTrue(one)
                    self.assertEqual({one: 1}[one], 1)
                    self.assertTrue(one == one)

    def test_advice(self):
        by_class = {type(one): one for one in self.objects}
        table = by_class[pdl.Table]
        self.refused(lambda: table[3], "@t (nn.table)", "pdl.lookup(table, ids")
        self.refused(lambda: table + 1, "so `+` cannot use it", "pdl.lookup(table, ids")
        self.refused(lambda: by_class[symbols.Field] * 2, "as the argument of its name")
        self.refused(lambda: by_class[pdl.Group] < 2, "pdl.minimize lists it")
        self.refused(lambda: by_class[pdl.Attribute] + 2, "decay=[...] lists")
        self.refused(lambda: by_class[pdl.Model].tabel("t"), "did you mean 'table'?")
        value = by_class[pdl.Value]
        self.refused(lambda: value in [value * 2], "pdl.equal with each of a list")
        self.refused(lambda: sum(value), "pdl.reduce adds up an axis")
        self.refused(lambda: value + 10**400, "beyond 1.8e308")
        self.refused(lambda: value ** 10**400, "beyond 1.8e308")
        self.refused(lambda: value[:, 0.5:], "a bound of a range is 0.5")
        ids = pdl.bucketize(value, [0.0])
        for given in (2**64, 2**63, -2**63 - 1):
            self.refused(lambda: ids % given, "has to be from -9223372036854775808 to "
                                              "9223372036854775807")

    def test_text_of_a_value_without_a_name(self):
        value = next(one for one in self.objects if isinstance(one, pdl.Value))
        self.assertEqual(str(value == value), "the result of nn.equal : tensor<?x3xf32>")
        self.assertEqual(f"{value}", "%x")

    def test_numpy(self):
        """NumPy finds the operations of an object by the names of its own functions."""
        value = next(one for one in self.objects if isinstance(one, pdl.Value))
        ask = value.__array_ufunc__

        def function(name):
            return types.SimpleNamespace(__name__=name)
        before = len(pdl.body.current("the test").statements)
        ask(function("multiply"), "__call__", 0.5, value)
        ask(function("less"), "__call__", 0.5, value)
        written = [str(one.parts[0]) for one in pdl.body.current("the test").statements[before:]]
        self.assertEqual([text.split()[0] for text in written],
                         ["nn.constant", "nn.mul", "nn.greater"])
        self.refused(lambda: ask(function("exp"), "__call__", value), "numpy.exp cannot use it",
                     "such as pdl.exp")
        self.refused(lambda: ask(function("add"), "reduce", value), "numpy.add")
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        self.refused(lambda: numpy.exp(value), "such as pdl.exp")
        self.refused(lambda: numpy.sum(value), "numpy.add")
        self.refused(lambda: numpy.concatenate([value, value]), "a NumPy array")
        self.assertIsInstance(numpy.float32(0.5) * value, pdl.Value)
        self.refused(lambda: numpy.ones(3) * value, "pdl.constant would make a tensor")


if __name__ == "__main__":
    unittest.main()
