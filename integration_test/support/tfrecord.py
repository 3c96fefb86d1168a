# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TFRecord files and messages of Protocol Buffers, in pure Python."""

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


def read(path):
    """Returns the records of a file. Checks their checksums."""
    data, records, begin = path.read_bytes(), [], 0
    while begin < len(data):
        size, of_size = struct.unpack_from("<QI", data, begin)
        record = data[begin + 12:begin + 12 + size]
        (of_record,) = struct.unpack_from("<I", data, begin + 12 + size)
        if of_size != masked_crc(data[begin:begin + 8]) or of_record != masked_crc(record):
            raise ValueError(f"{path}: wrong checksum of the record at byte {begin}")
        records.append(record)
        begin += 16 + size
    return records


def read_varint(data, begin):
    """Returns a number and the position after it."""
    number, shift = 0, 0
    while True:
        byte = data[begin]
        number |= (byte & 0x7F) << shift
        begin, shift = begin + 1, shift + 7
        if byte < 0x80:
            return number, begin


def fields(data):
    """Returns the lists of values of a message by the number of their field. The value is an
    integer, a float or bytes."""
    found, begin = {}, 0
    while begin < len(data):
        tag, begin = read_varint(data, begin)
        kind = tag & 7
        if kind == 0:
            value, begin = read_varint(data, begin)
        elif kind == 2:
            size, begin = read_varint(data, begin)
            value, begin = data[begin:begin + size], begin + size
        elif kind in (1, 5):
            form, size = ("<d", 8) if kind == 1 else ("<f", 4)
            (value,), begin = struct.unpack_from(form, data, begin), begin + size
        else:
            raise ValueError(f"wire type {kind}")
        found.setdefault(tag >> 3, []).append(value)
    return found


def write(path, examples):
    with open(path, "wb") as file:
        for features in examples:
            data = example(features)
            size = struct.pack("<Q", len(data))
            file.write(size + struct.pack("<I", masked_crc(size)) + data +
                       struct.pack("<I", masked_crc(data)))
