# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""write_tensors.py FOLDER_OF_TENSORFILE FILE NAME TYPE SHAPE VALUES ...

Writes a safetensors file; shape and values are separated by commas."""

import array
import sys

sys.path.insert(0, sys.argv[1])
import tensorfile  # noqa: E402

CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "BF16": "H"}

arguments = sys.argv[3:]
tensors = {}
for name, kind, shape, values in zip(*(iter(arguments),) * 4):
    number = float if kind[0] == "F" else int
    tensors[name] = tensorfile.Tensor(
        kind, [int(size) for size in shape.split(",")],
        array.array(CODES[kind], [number(value) for value in values.split(",") if value]))
tensorfile.write(sys.argv[2], tensors)
