# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each function of the builder accepts valid arguments and raises a ModelError for others.
Whatever one argument is, there is no other exception, and the compiler accepts each model that the
builder accepts."""

import contextlib
import inspect
import io
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import pdl
from programs import PDL_OPT

WRONG = [None, "text", 3, 0.5, 10**400, 2**70, True, [], ["a"], (), {}, {"a": "b"}, object(),
         lambda: 0, [None]]
OF_MODEL = ["param", "table", "group", "x", "ids", "record", "model"]
FIELDS = ["y", "x", "ids", "bags"]
# Numbers and words outside most ranges.
OUT_OF_RANGE = [-1, 0, -0.5, 1.5, 1e300, float("nan"), float("inf"), float("-inf"), 2**63, 10**12,
                "Adam", "f16", {"beta1": -1.0}, [-1, 0], [2.0, 1.0], [float("nan")], (0, 3)]
# Conditions that concern several declarations of a model, a type or another argument. The compiler
# checks them, and its error message has the Python line.
LEFT_TO_THE_COMPILER = r"more than 1099511627776 elements|needs a score exactly if it shrinks"
# Methods that the test leaves out, because users do not call them to declare or compute something.
NOT_ASKED = {"declare", "write", "all_or_nothing", "lines", "text", "only_record"}


class Given:
    """Model with a program under construction, and valid arguments."""

    def __init__(self):
        self.model = pdl.Model("m")
        self.record = self.model.record("r")
        self.record.floats("y", 1)
        self.record.floats("x", 4)
        self.record.ids("ids", 4)
        self.record.bags("bags", 2)
        self.group = self.model.group("g", rule="sgd", rate=0.1)
        self.table = self.model.table("t", 3, init=pdl.init.zeros(), group=self.group)
        self.param = self.model.param("p", (4, 5), init=pdl.init.zeros(), group=self.group)
        self.metric = self.model.metric("metric", pdl.metrics.auc())
        self.body = pdl.body.Body(self.model, "program @of_test")
        for name, field in self.record.fields.items():
            setattr(self, name, self.body.argument(name, field.type))

    def functions(self):
        """Returns all functions that users may call, by name."""
        modules = (pdl.ops, pdl.layers, pdl.init, pdl.decay, pdl.metrics)
        found = {f"{module.__name__}.{name}": one for module in modules
                 for name, one in vars(module).items() if inspect.isfunction(one)
                 and one.__module__ == module.__name__ and not name.startswith("_")}
        found |= {name: getattr(pdl, name) for name in
                  ("constant", "count", "cond", "scan", "rule", "schedule", "attribute", "xxh64",
                   "key")}
        for kind, one in (("model", self.model), ("record", self.record)):
            found |= {f"{kind}.{name}": method
                      for name, method in inspect.getmembers(one, inspect.ismethod)
                      if not name.startswith("_") and name not in NOT_ASKED}
        return found

    def fitting(self, parameter):
        """Returns an argument that is valid in most cases."""
        if parameter.default is not parameter.empty:
            return parameter.default
        words = {"ids": self.ids, "bags": self.bags, "table": self.table, "weight": self.param,
                 "group": self.group, "name": "name", "width": 3, "pooling": "sum", "axis": 1,
                 "element": "f32", "groups": [self.group], "losses": self.y, "labels": self.y,
                 "predictions": self.y, "logits": self.y, "metric": self.metric, "shape": (4,),
                 "init": pdl.init.zeros(), "rule": "sgd", "rate": 0.1,
                 "kind": pdl.metrics.auc(), "widths": [3, 1], "inputs": [self.x, self.x],
                 "axes": [1], "boundaries": [0.5], "number": 3, "count": 1, "first": 0,
                 "behind": 3, "distribution": "uniform", "classes": 3}
        return words.get(parameter.name, self.x)

    def call(self, name, wrong, value):
        """Calls the function `name` with valid arguments, except for `value` as the argument
        `wrong`."""
        function = self.functions()[name]
        value = getattr(self, value) if value in OF_MODEL else value
        positional, named = [], {}
        for parameter in inspect.signature(function).parameters.values():
            given = value if parameter.name == wrong else self.fitting(parameter)
            if parameter.kind == parameter.VAR_KEYWORD:
                named["more"] = given
            elif parameter.kind == parameter.KEYWORD_ONLY:
                named[parameter.name] = given
            else:
                positional.append(given)
        with pdl.body.building(self.body):
            made = function(*positional, **named)
        if isinstance(made, (pdl.Attribute, pdl.symbols.Named)):
            self.use(made)
        return self.text()

    def use(self, made):
        """Uses an attribute, or a rule or schedule with hyper-parameters, in the model."""
        if isinstance(made, pdl.symbols.Named):
            clause = "schedule" if pdl.standard.STANDARD.get(made.name, (
                "",))[0] == "schedule" else "rule"
            self.model.group("user", **{"rule": "sgd", "rate": 0.1, clause: made})
        elif made.family == "init":
            self.model.param("user", (2, 3), init=made)
        elif made.family == "decay":
            self.model.group("user", rule="sgd", rate=0.1, decay=made)
        elif made.family == "metric":
            self.model.metric("user", made)
        elif made.family == "hash":
            self.record.ids("user", 1, hash=made)

    def text(self):
        """Returns the text of the model, including the program under construction."""
        arguments = ", ".join(f"{one}: {one.type}" for one in self.body.arguments)
        known = ", ".join(f"@{name}" for name in self.record.fields
                          if name not in FIELDS)
        left_out = f" except [{known}]" if known else ""
        return (str(self.model).rstrip().removesuffix("}")
                + f"nn.program @of_test frozen reads(@r{left_out}) {{\n^bb0({arguments}):\n"
                + "\n".join(self.body.lines(False)) + "\n}\n}\n")


class Arguments(unittest.TestCase):

    def test_booleans_of_numpy(self):
        for name in ("bool", "bool_"):
            for value in (False, True):
                # The scalar types of NumPy 2 and NumPy 1 have this form.
                kind = type(name, (), {"__module__": "numpy", "__bool__": lambda _, v=value: v})
                self.assertIs(pdl.arguments.check("`x`", kind(), bool), value)
        with self.assertRaisesRegex(pdl.ModelError, "`x` is .*; it has to be True or False"):
            pdl.arguments.check("`x`", type("bool", (), {})(), bool)

    def test_one_of_another_kind(self):
        for name, function in Given().functions().items():
            for wrong in inspect.signature(function).parameters:
                with self.subTest(name, argument=wrong):
                    for value in WRONG + OF_MODEL:
                        with contextlib.suppress(pdl.ModelError), \
                                contextlib.redirect_stdout(io.StringIO()):
                            Given().call(name, wrong, value)

    def test_the_compiler_takes_what_the_builder_takes(self):
        calls, texts = [], []
        for name, function in Given().functions().items():
            for wrong, parameter in inspect.signature(function).parameters.items():
                kind = str(parameter.annotation)
                if re.search("Operand|Arithmetic", kind) or not re.search("int|float|str", kind):
                    continue
                for value in OUT_OF_RANGE:
                    with contextlib.suppress(pdl.ModelError):
                        texts.append(Given().call(name, wrong, value))
                        calls.append(f"{name}({wrong}={value!r})")
        done = subprocess.run([PDL_OPT, "-", "--split-input-file", "-o", "/dev/null"],
                              input="\n// -----\n".join(texts), capture_output=True, text=True,
                              check=False)
        ends = []
        for text in texts:
            ends.append((ends[-1] if ends else 0) + text.count("\n") + 2)
        refused = {}
        for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", done.stderr, re.M):
            index = next(index for index, end in enumerate(ends) if int(line) <= end)
            if not re.search(LEFT_TO_THE_COMPILER, message):
                refused.setdefault(calls[index], message)
        self.assertEqual(refused, {})


if __name__ == "__main__":
    unittest.main()
