# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of texts, as fields with `hash(#nn.hash<xxh64, salt = ...>)` have them."""

from pdl.arguments import UNSIGNED, checked
from pdl.errors import ModelError

_MASK = 2 ** 64 - 1
_P1, _P2, _P3, _P4, _P5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5)


def _rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & _MASK


def _round(lane, word):
    return _rotate((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _xxh64(data, seed):
    """Returns the XXH64 hash of bytes."""
    at, end = 0, len(data)
    if end >= 32:
        lanes = [(seed + _P1 + _P2) & _MASK, (seed + _P2) & _MASK, seed, (seed - _P1) & _MASK]
        while at + 32 <= end:
            for lane in range(4):
                word = int.from_bytes(data[at:at + 8], "little")
                lanes[lane] = _round(lanes[lane], word)
                at += 8
        value = sum(_rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & _MASK
        for lane in lanes:
            value = ((value ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        value = (seed + _P5) & _MASK
    value = (value + end) & _MASK
    while at + 8 <= end:
        value ^= _round(0, int.from_bytes(data[at:at + 8], "little"))
        value = (_rotate(value, 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= end:
        value ^= int.from_bytes(data[at:at + 4], "little") * _P1 & _MASK
        value = (_rotate(value, 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        value = _rotate(value ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    value = (value ^ value >> 33) * _P2 & _MASK
    value = (value ^ value >> 29) * _P3 & _MASK
    return value ^ value >> 32


@checked(own=("text",), salt=UNSIGNED)
def key(text: str | bytes, salt: int = 0) -> int:
    """Returns the key of a text (str or bytes) in a field that hashes texts with `salt`.

    If the field has salt="slot", `salt` is the position of the text's column in the field, from 0.
    Blanks around the text are ignored, as in data files. The key is an int from 0 to 2**64 - 1. It
    can be used in uint64 arrays of `serving.Model.run`, UINT64 tensors of `pdl-serve` and U64
    tensors of data files.
    """
    if not isinstance(text, (str, bytes, bytearray, memoryview)):
        raise ModelError(f"`text` of pdl.key is {text!r}; it has to be a str or bytes")
    data = text.encode() if isinstance(text, str) else bytes(text)
    return _xxh64(data.strip(b" \t\r"), salt)
