# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operation of Python on values and on scalars of rules appends the op with the same meaning,
or raises a ModelError that names the op to use. No operation has another meaning, such as
identity."""

import fractions
import math
import operator
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import in_program, parsed, pdl

# All functions of `operator` with one or two operands, and built-in functions that call a special
# method. For each, the text of the resulting ops, or a part of the error message.
NUMBERS = {
    "abs": ["nn.abs %x"],
    "add": ["nn.add %x, %y"],
    "and_": "pdl.min(a, b)",
    "concat": ["nn.add %x, %y"],
    "contains": "pdl.equal(x, y)",
    "countOf": "pdl.scan goes from row to row",
    "delitem": "pdl.select chooses",
    "eq": ["nn.equal %x, %y"],
    "floordiv": "pdl.floor(x / n)",
    "ge": ["nn.greater_equal %x, %y"],
    "getitem": "pdl.gather takes",
    "gt": ["nn.greater %x, %y"],
    "index": "pdl.gather takes",
    "indexOf": "pdl.scan goes from row to row",
    "inv": "1 - a",
    "invert": "1 - a",
    "le": ["nn.less_equal %x, %y"],
    "length_hint": "x.shape has the sizes",
    "lshift": "pdl.id_arithmetic",
    "lt": ["nn.greater %y, %x"],
    "matmul": "add over the samples",
    "mod": "pdl.floor(x / n)",
    "mul": ["nn.mul %x, %y"],
    "ne": ["nn.not_equal %x, %y"],
    "neg": ["nn.neg %x"],
    "not_": "1 - a",
    "or_": "pdl.max(a, b)",
    "pos": [],
    "pow": "pdl.exp(y * pdl.log(x))",
    "rshift": "pdl.id_arithmetic",
    "setitem": "pdl.select chooses",
    "sub": ["nn.sub %x, %y"],
    "truediv": ["nn.div %x, %y"],
    "truth": "1 - a",
    "xor": "pdl.not_equal",
    "bool()": "1 - a",
    "float()": "`predict` writes it",
    "int()": "pdl.floor rounds down",
    "complex()": "pdl.ops lists",
    "len()": "x.shape has the sizes",
    "iter()": "pdl.scan goes from row to row",
    "reversed()": "pdl.take",
    "hash()": "pdl.equal to compare",
    "round()": "pdl.floor(x + 0.5)",
    "divmod()": "pdl.floor(x / n)",
    "range()": "pdl.gather takes",
    "math.floor()": ["nn.floor %x"],
    "math.ceil()": "-pdl.floor(-x)",
    "math.trunc()": "pdl.sign(x)",
    "x in {}": "pdl.equal to compare",
    "x in []": "pdl.min (and)",
    "x and y": "pdl.min (and)",
    "0 < x < 1": "pdl.min (and)",
    "x == 1": ["nn.constant dense<1.0>", "nn.equal %x, %"],
    "1 != x": ["nn.constant dense<1.0>", "nn.not_equal %x, %"],
    "x ** 2": ["nn.mul %x, %x"],
    "x ** 3": ["nn.pow %x"],
    "2 ** x": "math.log(b)",
    "x % 2": "pdl.floor(x / n)",
    "2 % x": "pdl.floor(x / n)",
    "2 // x": "pdl.floor(x / n)",
    "2 & x": "pdl.min(a, b)",
    "x ^ True": "pdl.not_equal",
    "max()": "pdl.max",
    "sorted()": "pdl.max",
    "x[:, y:]": "pdl.gather takes",
    "x[y]": "pdl.gather takes",
}
CALLS = {
    "bool()": lambda x, y: bool(x),
    "float()": lambda x, y: float(x),
    "int()": lambda x, y: int(x),
    "complex()": lambda x, y: complex(x),
    "len()": lambda x, y: len(x),
    "iter()": lambda x, y: [one for one in x],
    "reversed()": lambda x, y: reversed(x),
    "hash()": lambda x, y: {x: y},
    "round()": lambda x, y: round(x),
    "divmod()": divmod,
    "range()": lambda x, y: range(x),
    "math.floor()": lambda x, y: math.floor(x),
    "math.ceil()": lambda x, y: math.ceil(x),
    "math.trunc()": lambda x, y: math.trunc(x),
    "x in {}": lambda x, y: x in {1.0, 2.0},
    "x in []": lambda x, y: x in [y],
    "x and y": lambda x, y: x and y,
    "0 < x < 1": lambda x, y: 0 < x < 1,
    "x == 1": lambda x, y: x == 1,
    "1 != x": lambda x, y: 1 != x,
    "x ** 2": lambda x, y: x ** 2,
    "x ** 3": lambda x, y: x ** 3,
    "2 ** x": lambda x, y: 2 ** x,
    "x % 2": lambda x, y: x % 2,
    "2 % x": lambda x, y: 2 % x,
    "2 // x": lambda x, y: 2 // x,
    "2 & x": lambda x, y: 2 & x,
    "x ^ True": lambda x, y: x ^ True,
    "max()": max,
    "sorted()": lambda x, y: sorted([x, y]),
    "x[:, y:]": lambda x, y: x[:, y:],
    "x[y]": lambda x, y: x[y],
}
# Functions of `operator` that compute nothing from their operands.
NO_OPERATION = {"attrgetter", "itemgetter", "methodcaller", "call", "is_", "is_not",
                "is_none", "is_not_none"}

# The same for ids.
IDS = {
    "ids + 3": (lambda i, j: i + 3, ["nn.id_arithmetic add %i with 3"]),
    "3 + ids": (lambda i, j: 3 + i, ["nn.id_arithmetic add %i with 3"]),
    "ids - 3": (lambda i, j: i - 3, ["nn.id_arithmetic add %i with -3"]),
    "ids * 3": (lambda i, j: i * 3, ["nn.id_arithmetic multiply %i with 3"]),
    "ids // 3": (lambda i, j: i // 3, ["nn.id_arithmetic quotient %i with 3"]),
    "ids % 3": (lambda i, j: i % 3, ["nn.id_arithmetic remainder %i with 3"]),
    "ids % fraction": (lambda i, j: i % 0.5, "pdl.id_arithmetic"),
    "ids + ids": (lambda i, j: i + j, "pdl.id_arithmetic computes with ids"),
    "ids + 0.5": (lambda i, j: i + 0.5, "pdl.cast makes numbers of ids"),
    "3 - ids": (lambda i, j: 3 - i, "pdl.id_arithmetic computes with ids"),
    "ids / 3": (lambda i, j: i / 3, "pdl.id_arithmetic computes with ids"),
    "ids == 3": (lambda i, j: i == 3, "pdl.accidental_hits"),
    "ids != ids": (lambda i, j: i != j, "pdl.accidental_hits"),
    "ids in {}": (lambda i, j: i in {3, 4}, "pdl.equal to compare"),
    "ids % 0": (lambda i, j: i % 0, "is above 0"),
}

# The same for scalars of rules.
SCALARS = {
    "==": (lambda a, b: pdl.scalars.select(a == b, a, b), "arith.cmpf oeq, %a, %b : f32"),
    "!=": (lambda a, b: pdl.scalars.select(a != 0, a, b), "arith.cmpf une, %a, %c : f32"),
    "** 2": (lambda a, b: a ** 2, "arith.mulf %a, %a : f32"),
    "+": (lambda a, b: +a, "nn.yield %a"),
    "** 3": (lambda a, b: a ** 3, None),
    "2 **": (lambda a, b: 2 ** a, None),
    "and": (lambda a, b: a > 0 and b, None),
    "not": (lambda a, b: not a > 0, None),
    "in": (lambda a, b: a if a in (b, 1.0) else b, None),
    "in {}": (lambda a, b: a if a in {0.0, 1.0} else b, None),
    "in b": (lambda a, b: a if a in b else b, None),
    "&": (lambda a, b: (a > 0) & (b > 0), None),
    "|": (lambda a, b: (a > 0) | (b > 0), None),
    "~": (lambda a, b: ~(a > 0), None),
    "^": (lambda a, b: a ^ b, None),
    "%": (lambda a, b: a % b, None),
    "//": (lambda a, b: a // b, None),
    "@": (lambda a, b: a @ b, None),
    "<<": (lambda a, b: a << 1, None),
    ">>": (lambda a, b: a >> 1, None),
    "float()": (lambda a, b: float(a), None),
    "int()": (lambda a, b: int(a), None),
    "round()": (lambda a, b: round(a), None),
    "len()": (lambda a, b: len(a), None),
    "iter()": (lambda a, b: list(a), None),
    "[]": (lambda a, b: a[0], None),
    "max()": (lambda a, b: max(a, b), None),
    "math.floor()": (lambda a, b: math.floor(a), None),
}


class Operators(unittest.TestCase):

    def lines_of(self, build, **fields):
        """Returns the ops that `build` appends to a program."""
        lines = []

        def program(model, **arguments):
            body = pdl.body.current("the test")
            build(*arguments.values())
            lines.extend(str(line) for line in body.lines(False))
        in_program(program, **fields)
        return lines

    def check(self, build, expected, **fields):
        if isinstance(expected, str):
            with self.assertRaises(pdl.ModelError) as caught:
                self.lines_of(build, **fields)
            self.assertIn(expected, str(caught.exception))
            return
        lines = self.lines_of(build, **fields)
        self.assertEqual(len(lines), len(expected), lines)
        for line, text in zip(lines, expected):
            self.assertIn(text, line)

    def test_the_table_is_complete(self):
        """If a later Python has a further operation, it must be added here. `x += y` is `x = x +
        y`."""
        in_place = {f"i{name.rstrip('_')}" for name in operator.__all__}
        named = set(operator.__all__) - NO_OPERATION - in_place
        self.assertEqual(named - set(NUMBERS), set())
        self.assertEqual(set(NUMBERS) - set(CALLS), named)

    def test_numbers(self):
        one_operand = ("abs", "index", "inv", "invert", "length_hint", "neg", "not_", "pos",
                       "truth")
        for name, expected in NUMBERS.items():
            call = CALLS.get(name)
            if call is None:
                function = getattr(operator, name)
                call = (lambda x, y, f=function: f(x)) if name in one_operand else function
            if name in ("setitem", "delitem"):
                call = {"setitem": lambda x, y: operator.setitem(x, 0, y),
                        "delitem": lambda x, y: operator.delitem(x, 0)}[name]
            with self.subTest(name=name):
                self.check(call, expected, x=3, y=3 if name != "matmul" else 4)

    def test_parameters_are_values(self):
        def build(model, x):
            w = model.param("w", (3,), init=pdl.init.zeros())
            body = pdl.body.current("the test")
            mask = w == 0.0
            self.assertIsInstance(mask, pdl.Value)
            self.assertIn("nn.equal %w, ", "\n".join(body.lines(False)))
            for wrong in (lambda: w in [mask], lambda: hash(w), lambda: bool(w), lambda: len(w)):
                with self.assertRaisesRegex(pdl.ModelError, "known when the program runs"):
                    wrong()
        in_program(build, x=3)

    def test_masks_compile(self):
        model = pdl.Model("masks")
        model.record("r").floats("y", 1)
        model.only_record().floats("x", 2)
        group = model.group("g", rule="sgd", rate=0.1)

        @model.program
        def train(y, x):
            weights = 1.0 + 9.0 * (y == 1.0)
            mask = 1.0 * (x[:, :1] != 0.0)
            z = pdl.layers.dense(x, 1, "z", group=group)
            pdl.minimize(mask * pdl.squared_error(z, y), [group], weights=weights)
        text = str(model)
        self.assertEqual(text.count("nn.equal"), 1)
        self.assertEqual(text.count("nn.not_equal"), 1)
        parsed(text, "--pdl-pipeline=to=gradient")

    def test_ids(self):
        for name, (build, expected) in IDS.items():
            def program(model, x, build=build):
                body = pdl.body.current("the test")
                i, j = (pdl.bucketize(x, [0.0]).named(name) for name in "ij")
                build(i, j)
                return list(body.lines(False))[2:]
            with self.subTest(name=name):
                if isinstance(expected, str):
                    with self.assertRaises(pdl.ModelError) as caught:
                        in_program(program, x=3)
                    self.assertIn(expected, str(caught.exception))
                else:
                    [line] = in_program(program, x=3)
                    self.assertIn(expected[0], line)

    def test_scalars(self):
        written = []
        for name, (function, expected) in SCALARS.items():
            model = pdl.Model("m")

            def declare(model=model, function=function):
                model.rule("r", once=lambda step, rate: rate,
                           each=lambda a, b, rate: function(a, b))
            with self.subTest(name=name):
                if expected is None:
                    with self.assertRaisesRegex(pdl.ModelError, "known at an update"):
                        declare()
                    continue
                declare()
                self.assertIn(expected, str(model))
                written.append(str(model))
        # Parse all models in one process.
        parsed("\n".join(f"module {{\n{text}}}" for text in written))

    def test_values_know_themselves(self):
        """A body distinguishes its values without comparing them."""
        def build(model, x, y):
            before = len(pdl.body.current("the test").statements)
            both = pdl.cond(pdl.constant(1.0), lambda: x + y + x, lambda: y + x)
            ops = pdl.body.current("the test").statements[before:]
            self.assertEqual(len(ops), 2)
            return both
        in_program(build, x=3, y=3)

    def test_numbers_of_other_types(self):
        """NumPy's scalars are accepted as numbers, and so is every object that is a number for
        Python."""
        number = fractions.Fraction(1, 2)
        self.check(lambda x, y: number * x, ["nn.constant dense<0.5>", "nn.mul"], x=3, y=3)
        self.check(lambda x, y: x ** number, ["nn.pow %x exponent 0.5"], x=3, y=3)
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        for given in (numpy.float32(0.5), numpy.float64(0.5)):
            self.check(lambda x, y: given * x - y, ["dense<0.5>", "nn.mul", "nn.sub"], x=3, y=3)
            self.check(lambda x, y: x == given, ["dense<0.5>", "nn.equal"], x=3, y=3)
        with self.assertRaisesRegex(pdl.ModelError, "a NumPy array cannot use it"):
            self.lines_of(lambda x, y: numpy.asarray(x), x=3, y=3)


if __name__ == "__main__":
    unittest.main()
