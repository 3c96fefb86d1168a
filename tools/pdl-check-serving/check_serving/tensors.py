# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Safetensors files, read with the standard library only."""

import array
import json
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "U8": "B"}


def read(path):
    """Returns {name: (shape, array.array)} of a file that a trainer wrote."""
    content = path.read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    body, found = 8 + size, {}
    for name, entry in json.loads(content[8:body]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        data = array.array(CODES[entry["dtype"]])
        data.frombytes(content[body + begin:body + end])
        if sys.byteorder == "big":
            data.byteswap()
        found[name] = (entry["shape"], data)
    return found
