#===- check_gradients.py - Gradients against differences ------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Compares the gradients of nn-autodiff with central differences of the losses, which the
interpreter computes in f64. A case with `as_written` in case.json is computed with its own types.
Needs only the Python standard library.

  check_gradients.py CASE... --pdl-opt TOOL [--directions N] [--seed N] [--stopped NAME...]

A case is a folder with model.mlir, data.safetensors and init.safetensors. @sgd trains its groups
with learning rate 1 (`goldens/ops` of README.md). Initial values are changed a little, because max,
relu and abs are not smooth at some of them. Then, for each trained tensor and some random
directions d, (L(w + h d) - L(w - h d)) / 2 h is compared with the gradient along d. One step of
@sgd shows this gradient. The losses themselves are the only oracle. `--stopped` names parameters on
which the losses depend only through nn.stop_gradient.
"""

import argparse
import array
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import tensorfile

WIDTH = 2.0**-17
# Errors of a difference: the third derivative times the square of WIDTH, and the rounding of the
# loss divided by WIDTH. Each is about 1e-10.
TOLERANCE = 1e-7
# The change of a 32-bit value in one step shows its gradient with an error of 2^-24 of the value.
NARROW_TOLERANCE = 1e-6


def is_as_written(case):
    path = os.path.join(case, "case.json")
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return json.load(file).get("as_written", False)


def interpret(options, case, folder, phase, inits, kind):
    """Runs one step of @train from each of `inits`, all in one run of the tool. Raises an
    exception on each error of the tool. Returns the written files, whose kind is dump or losses.
    """
    passes, written = [], []
    for index, init in enumerate(inits):
        path = os.path.join(folder, f"init{index}.safetensors")
        tensorfile.write(path, init)
        written.append(os.path.join(folder, f"{kind}{index}"))
        passes.append(f"--nn-interpret=program=train data={case}/data.safetensors "
                      f"init={path} steps=1 {kind}={written[-1]}")
    types = "" if is_as_written(case) else " element-type=f64"
    run = subprocess.run(
        [options.pdl_opt, os.path.join(case, "model.mlir"), "-o", os.devnull,
         f"--pdl-pipeline=to={phase}{types}", *passes],
        capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{options.pdl_opt} exited with {run.returncode}:\n{run.stderr}")
    return written


def numbers_of(after, name, init):
    """Returns the numbers of a tensor after a step. For a table, only those of rows that `init`
    has, because rows that are drawn may have been added."""
    numbers = after[name].data
    keys = name.removesuffix(".values") + ".keys"
    if keys not in init:
        return numbers
    width = len(numbers) // max(1, len(after[keys].data))
    rows = {key: row for row, key in enumerate(after[keys].data)}
    return [number for key in init[keys].data
            for number in numbers[rows[key] * width:(rows[key] + 1) * width]]


def losses_of(options, case, folder, inits):
    """Returns the loss for each of `inits`."""
    found = []
    for path in interpret(options, case, folder, "merged", inits, "losses"):
        with open(path, encoding="utf-8") as file:
            found.append(float(file.read()))
    return found


def moved(init, name, direction, width):
    """Returns `init` with `width` times `direction` added to the tensor `name`."""
    tensor = init[name]
    data = array.array(tensor.data.typecode, (value + width * step for value, step
                                              in zip(tensor.data, direction)))
    return {**init, name: tensorfile.Tensor(tensor.type, tensor.shape, data)}


def check(options, case, folder):
    """Returns a message for each gradient that differs, and the number of compared gradients."""
    generator = random.Random(options.seed)
    with open(os.path.join(case, "model.mlir"), encoding="utf-8") as file:
        trained = set(re.findall(r"nn\.(?:param|table) @(\w+)", file.read()))
    trained -= set(options.stopped)
    as_written = is_as_written(case)
    init = {}
    for name, tensor in tensorfile.read(
            os.path.join(case, "init.safetensors")).items():
        init[name] = tensor
        if tensor.type not in ("F32", "F64"):
            continue
        data = [value + generator.uniform(0.01, 0.05) for value in tensor.data]
        if as_written:
            # The values are exact in f32, and so are their differences.
            data = [round(value / WIDTH) * WIDTH for value in data]
        type = tensor.type if as_written else "F64"
        code = {"F32": "f", "F64": "d"}[type]
        init[name] = tensorfile.Tensor(type, tensor.shape, array.array(code, data))

    [dump] = interpret(options, case, folder, "gradient", [init], "dump")
    after = tensorfile.read(dump)
    asked, inits = [], []
    for name, tensor in init.items():
        if tensor.type == "I64" or name.removesuffix(".values") not in trained:
            continue
        gradient = [old - new for old, new in zip(tensor.data, numbers_of(after, name, init))]
        for _ in range(options.directions):
            direction = [generator.choice((-1.0, 1.0)) for _ in tensor.data]
            asked.append((name, gradient, direction))
            inits += [moved(init, name, direction, WIDTH), moved(init, name, direction, -WIDTH)]

    losses = losses_of(options, case, folder, inits) if inits else []
    problems = []
    for index, (name, gradient, direction) in enumerate(asked):
        slope = (losses[2 * index] - losses[2 * index + 1]) / (2 * WIDTH)
        expected = sum(part * step for part, step in zip(gradient, direction))
        scale = max(1.0, sum(abs(part) for part in gradient))
        tolerance = NARROW_TOLERANCE if init[name].type == "F32" else TOLERANCE
        if not abs(slope - expected) <= tolerance * scale:
            problems.append(f"{name}: the losses change by {slope!r} along a "
                            f"direction, the gradient says {expected!r}")
    return problems, len(asked)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--pdl-opt", required=True)
    parser.add_argument("--stopped", nargs="*", default=[])
    parser.add_argument("--directions", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed = False
    for case in options.cases:
        with tempfile.TemporaryDirectory() as folder:
            problems, compared = check(options, case, folder)
        failed |= bool(problems) or not compared
        print(f"{'FAIL' if problems or not compared else 'ok  '} {case}: "
              f"{compared} differences")
        for problem in problems:
            print(f"     {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
