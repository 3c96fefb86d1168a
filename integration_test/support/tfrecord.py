# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TFRecord files of tf.train.Example, written in pure Python."""

import struct


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def feature(values):
    """A feature of texts, floats or integers, by the type of the first value."""
    if values and isinstance(values[0], str):
        return message(1, b"".join(message(1, value.encode()) for value in values))
    if values and isinstance(values[0], float):
        return message(2, message(1, struct.pack(f"<{len(values)}f", *values)))
    return message(3, message(1, b"".join(map(varint, values))))


def example(features):
    """The bytes of an example with these lists of values, by name."""
    entries = (message(1, name.encode()) + message(2, feature(values))
               for name, values in features.items())
    return message(1, b"".join(message(1, entry) for entry in entries))


def write(path, examples):
    with open(path, "wb") as file:
        for features in examples:
            data = example(features)
            size = struct.pack("<Q", len(data))
            file.write(size + struct.pack("<I", masked_crc(size)) + data +
                       struct.pack("<I", masked_crc(data)))
