# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a safetensors file without its metadata: strip_metadata.py FROM TO"""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    size, = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(size))
    data = file.read()
header.pop("__metadata__")
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
