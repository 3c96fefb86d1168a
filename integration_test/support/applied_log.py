# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What servers log of the requests that they apply (docs/Protocol.md), read without PDL: the
log, the head of messages, the payloads of a step."""

import struct

# One by itself; all requests: in a round, late or dropped, too.
REQUEST, REQUESTS, LATE, CLOSED, ANSWERED = 2, range(2, 6), 4, 6, 7
CONTRIBUTES, HAS_NEXT_BATCH, ALL_VALUES, OWN_KEYS = 1, 2, 8, 128


def records(log):
    """Type and body of each record of a log."""
    data = log.read_bytes()
    at = 16
    while at < len(data):
        kind, size, _ = struct.unpack_from("<QQQ", data, at)
        yield kind, data[at + 24:at + 24 + size]
        at += 24 + size


def sender_of(head):
    """Trainer and worker of the head of a message."""
    return struct.unpack_from("<II", head, 8)


def flags_of(body):
    """Of a request of a step."""
    return struct.unpack_from("<I", body, 40)[0]


def push_of(body):
    """The steps of a push, its weight, and its one gradient, of five numbers."""
    _, _, steps, channels = struct.unpack_from("<IIII", body, 40)
    begin = 56 + 8 * channels
    sections = {}
    for section in struct.unpack_from(f"<{channels}Q", body, 56):
        if section:
            sections[section] = body[begin:begin + section]
        begin += (section + 7) // 8 * 8
    weight = struct.unpack("<dd", sections[16])[1]
    return steps, weight, struct.unpack("<5f", sections[20])
