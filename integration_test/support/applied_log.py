# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reader of the logs of applied requests that servers write (docs/Protocol.md): the records of a
log, the head of messages and the payloads of steps. It does not use PDL."""

import struct

# Types of records: REQUEST is a request that was handled by itself; REQUESTS are all types of
# requests, including those in a round, late ones and dropped ones.
REQUEST, REQUESTS, LATE, CLOSED, ANSWERED = 2, range(2, 6), 4, 6, 7
CONTRIBUTES, HAS_NEXT_BATCH, ALL_VALUES, OWN_KEYS = 1, 2, 8, 128


def records(log):
    """Yields the type and the body of each record of a log."""
    data = log.read_bytes()
    at = 16
    while at < len(data):
        kind, size, _ = struct.unpack_from("<QQQ", data, at)
        yield kind, data[at + 24:at + 24 + size]
        at += 24 + size


def sender_of(head):
    """Returns the trainer and the worker in the head of a message."""
    return struct.unpack_from("<II", head, 8)


def flags_of(body):
    """Returns the flags of a request of a step."""
    return struct.unpack_from("<I", body, 40)[0]


def push_of(body):
    """Returns the number of steps of a push, its weight, and its only gradient, which has five
    numbers."""
    _, _, steps, channels = struct.unpack_from("<IIII", body, 40)
    begin = 56 + 8 * channels
    sections = {}
    for section in struct.unpack_from(f"<{channels}Q", body, 56):
        if section:
            sections[section] = body[begin:begin + section]
        begin += (section + 7) // 8 * 8
    weight = struct.unpack("<dd", sections[16])[1]
    return steps, weight, struct.unpack("<5f", sections[20])
