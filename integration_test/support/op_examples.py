# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Examples of ops in a page of the documentation, and how one is run.

An example is a block ```mlir example. Its lines are

    // %x : tensor<?x2xf32> = [[1.0, 2.0]]     a value that is given: sample by sample,
                                               for bags slot by slot
    #name = dense<...> : tensor<4xi64>         what the file calls by a name
    nn.param ..., nn.table ..., nn.state ...   symbols of the module
    %y = nn.relu %x : tensor<?x2xf32>          the program
    // %y = [[1.0, 2.0]]                       a value that it computes, sample by sample,
                                               to as many digits as are written

A given value is a field of the record; the program returns what it computes, and the
interpreter runs it.
"""

import array
import ast
import math
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracles"))

import tensorfile

GIVEN = re.compile(r"// %(\w+) : (\S+) = (.*)")
EXPECTED = re.compile(r"// %([\w#]+) = (.*)")
ALIAS = re.compile(r"#\w+ = ")
SYMBOL = re.compile(r"nn\.(param|table|state|group) ")
ELEMENTS = {"f32": "F32", "f64": "F64", "i64": "I64"}
CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q"}


def examples(text):
    """Returns the lines of each example of a page, with the number of the first line."""
    found = []
    for match in re.finditer(r"^```mlir example\n(.*?)^```$", text, flags=re.M | re.S):
        found.append((text.count("\n", 0, match.start()) + 2, match.group(1).splitlines()))
    return found


def flat(value):
    """Returns the numbers in nested lists."""
    return [number for part in value for number in flat(part)] if isinstance(value, list) \
        else [value]


class Example:
    """Example: its module, its data, and the values that it must compute."""

    def __init__(self, lines):
        self.given, self.expected, self.aliases = [], [], []
        self.symbols, self.body = [], []
        for line in lines:
            if match := GIVEN.fullmatch(line):
                self.given.append((match[1], match[2], ast.literal_eval(match[3])))
            elif match := EXPECTED.fullmatch(line):
                self.expected.append((match[1], match[2]))
            elif ALIAS.match(line):
                self.aliases.append(line)
            elif SYMBOL.match(line):
                self.symbols.append(line)
            else:
                self.body.append(line)

    def types(self, pdl_opt):
        """Returns the types of the values that the program computes: a list for each name. The
        text does not contain all types, but the generic form that the compiler prints does."""
        text = self.module([])
        run = subprocess.run([pdl_opt, "-", "--mlir-print-op-generic"], input=text,
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise AssertionError(run.stderr)
        names = re.findall(r"^%([\w.]+)(?::\d+)? = ", text, flags=re.M)
        # Ops of the program are indented by four spaces, ops in their bodies by more.
        lines = iter(re.findall(r"^    [%}].*$", run.stdout.partition('"nn.program"')[2],
                                flags=re.M))
        found = {}
        for name in names:
            line = next(line for line in lines if line.startswith("    %"))
            if line.endswith("({"):
                line = next(line for line in lines if " -> " in line)
            found[name] = re.findall(r"tensor<[^>]*>|!nn\.ragged<[^>]*>",
                                     line.rpartition(" -> ")[2])
        return found

    def returned_types(self, pdl_opt):
        """Returns the type of each expected value."""
        types = self.types(pdl_opt)
        return [types[name.partition("#")[0]][int(name.partition("#")[2] or 0)]
                for name, _ in self.expected]

    def module(self, types):
        """Returns the text of the module. The program returns the expected values, which have the
        types `types`; if `types` is empty, it returns nothing."""
        fields, arguments, reshapes = [], [], []
        for name, type, _ in self.given:
            shape = re.fullmatch(r"tensor<\?x([\dx]+)x(f32|f64|i64)>", type)
            if shape and "x" in shape[1]:
                # Fields are matrices, so reshape them.
                width = math.prod(map(int, shape[1].split("x")))
                matrix = f"tensor<?x{width}x{shape[2]}>"
                reshapes.append(f"%{name} = nn.reshape %{name}.matrix : ({matrix}) -> {type}")
                fields.append(f"nn.field @{name} : {matrix}")
                arguments.append(f"%{name}.matrix: {matrix}")
            else:
                fields.append(f"nn.field @{name} : {type}")
                arguments.append(f"%{name}: {type}")
        returned = ", ".join("%" + name for name, _ in self.expected)
        lines = [*self.aliases, "module {", "nn.record @r {", *fields, "}",
                 "nn.group @g rule(@sgd) rate(0.1)" if self.uses_group() else "", *self.symbols,
                 "nn.program @predict frozen reads(@r) {", f"^bb0({', '.join(arguments)}):",
                 *reshapes, *self.body,
                 f"nn.return {returned} : {', '.join(types)}" if types else "", "}", "}"]
        return "\n".join(lines) + "\n"

    def uses_group(self):
        return any("in @g" in line for line in self.symbols)

    def tensors(self):
        """Returns the fields as tensors of a safetensors file."""
        made = {}

        def add(name, element, shape, numbers):
            made[name] = tensorfile.Tensor(element, shape, array.array(CODES[element], numbers))

        for name, type, value in self.given:
            element = ELEMENTS[re.search(r"(f32|f64|i64)>", type)[1]]
            if type.startswith("tensor"):
                add(name, element, [len(value), len(flat(value[0]))], flat(value))
                continue
            bags = [bag for sample in value for bag in sample]
            splits = [0]
            for bag in bags:
                splits.append(splits[-1] + len(bag))
            add(f"{name}.values", element, [splits[-1]], flat(bags))
            add(f"{name}.splits", "I32", [len(splits)], splits)
        return made

    def run(self, pdl_opt, folder):
        """Runs the program. Returns the computed values by name: a list of numbers for each
        sample."""
        model, data = folder / "example.mlir", folder / "example.safetensors"
        types = self.returned_types(pdl_opt)
        model.write_text(self.module(types))
        tensorfile.write(data, self.tensors())
        run = subprocess.run(
            [pdl_opt, model, f"--nn-interpret=program=predict data={data} outputs=-", "-o",
             "/dev/null"], capture_output=True, text=True, check=False)
        if run.returncode:
            raise AssertionError(run.stderr)
        rows = [[float(cell) for cell in line.split("\t")]
                for line in run.stdout.splitlines()[1:]]
        computed, begin = {}, 0
        for (name, _), type in zip(self.expected, types):
            width = math.prod(int(size) for size in
                              re.findall(r"\d+(?=x)", type.removeprefix("tensor")))
            computed[name] = [row[begin:begin + width] for row in rows]
            begin += width
        return computed

    def lower(self, pdl_opt, folder):
        """Compiles the example to the LLVM dialect."""
        (folder / "example.mlir").write_text(self.module(self.returned_types(pdl_opt)))
        run = subprocess.run([pdl_opt, folder / "example.mlir", "--pdl-pipeline=to=llvm", "-o",
                              "/dev/null"], capture_output=True, text=True, check=False)
        if run.returncode:
            raise AssertionError(run.stderr)


def agrees(written, computed):
    """Returns true if a number equals the written one, to as many digits as are written."""
    digits = len(written.partition(".")[2])
    return abs(float(written) - computed) <= 0.5001 * 10.0 ** -digits
