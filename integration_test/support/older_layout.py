# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dumps in the form of earlier PDL versions, which do not describe how keys are computed from
fields."""

import json
import struct


def without_layout(dump, to):
    """Writes the dump to `to` without the description of how keys are computed from fields."""
    content = dump.read_bytes()
    [size] = struct.unpack("<Q", content[:8])
    head = json.loads(content[8:8 + size])
    head["__metadata__"] = {name: text for name, text in head["__metadata__"].items()
                            if name != "layout_version" and not name.startswith("keys.")}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    to.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + size:])
