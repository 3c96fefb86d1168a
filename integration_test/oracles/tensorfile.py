#===- tensorfile.py - Safetensors in pure Python --------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Reads and writes safetensors with the standard library only, so that tests need neither NumPy
nor PyTorch. Numbers are stored in `array.array`s."""

import array
import json
import struct
import sys
from dataclasses import dataclass

_CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "U64": "Q", "U8": "B",
          # 16-bit floats are represented by their bits.
          "BF16": "H", "F16": "H"}


@dataclass
class Tensor:
    """Tensor. `data`: its elements in row-major order."""
    type: str
    shape: list
    data: array.array

    def rows(self):
        """Returns the elements by first dimension; one row for a scalar."""
        count = self.shape[0] if self.shape else 1
        width = len(self.data) // count if count else 0
        return [self.data[i * width:(i + 1) * width] for i in range(count)]


def read(path):
    """Returns {name: Tensor} of the file at `path`."""
    with open(path, "rb") as file:
        content = file.read()
    if len(content) < 8:
        raise ValueError(f"{path}: too short for a safetensors file")
    (header_size,) = struct.unpack("<Q", content[:8])
    if header_size > len(content) - 8:
        raise ValueError(f"{path}: the header passes the end of the file")
    header = json.loads(content[8:8 + header_size])
    body = content[8 + header_size:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        data = array.array(_CODES[entry["dtype"]])
        begin, end = entry["data_offsets"]
        data.frombytes(body[begin:end])
        if sys.byteorder == "big":
            data.byteswap()
        tensors[name] = Tensor(entry["dtype"], list(entry["shape"]), data)
    return tensors


def write(path, tensors):
    """Writes {name: Tensor}, in the order of the names."""
    header, body = {}, b""
    for name in sorted(tensors):
        tensor = tensors[name]
        data = array.array(tensor.data.typecode, tensor.data)
        if sys.byteorder == "big":
            data.byteswap()
        content = data.tobytes()
        header[name] = {"dtype": tensor.type, "shape": list(tensor.shape),
                        "data_offsets": [len(body), len(body) + len(content)]}
        body += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def from_numpy(value):
    """Returns a NumPy array of one of the types above as a Tensor."""
    names = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64",
             "uint64": "U64"}
    kind = names[value.dtype.name]
    data = array.array(_CODES[kind])
    data.frombytes(value.astype(value.dtype.newbyteorder("=")).tobytes())
    return Tensor(kind, list(value.shape), data)


def to_numpy(tensor):
    import numpy
    return numpy.array(tensor.data, dtype={"F32": "float32", "F64": "float64",
                                           "I32": "int32", "I64": "int64",
                                           "U64": "uint64"}[tensor.type]
                       ).reshape(tensor.shape)
