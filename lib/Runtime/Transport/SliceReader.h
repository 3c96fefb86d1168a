//===- SliceReader.h - Reads the bytes of a message -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_SLICEREADER_H
#define LIB_RUNTIME_TRANSPORT_SLICEREADER_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Transport/Message.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace pdlrt {

/// Reads a message from its front, whatever its slices are. Does not check
/// lengths: the caller must not request more than `left` bytes.
class SliceReader {
public:
  explicit SliceReader(const Message &message)
      : slices(message.slices()), remaining(message.size()) {}

  size_t left() const { return remaining; }

  void copy(void *out, size_t bytes) {
    remaining -= bytes;
    auto *target = static_cast<std::byte *>(out);
    while (bytes > 0) {
      const MessageSlice &slice = slices[at];
      const size_t part = std::min(bytes, slice.size - offset);
      if (part > 0)
        std::memcpy(target, slice.data + offset, part);
      target += part;
      bytes -= part;
      advance(part);
    }
  }

  void skip(size_t bytes) {
    remaining -= bytes;
    while (bytes > 0) {
      const size_t part = std::min(bytes, slices[at].size - offset);
      bytes -= part;
      advance(part);
    }
  }

  /// Appends references to the next bytes to `pieces`. No piece is empty.
  void takePieces(size_t bytes,
                  std::vector<std::span<const std::byte>> &pieces) {
    remaining -= bytes;
    while (bytes > 0) {
      const MessageSlice &slice = slices[at];
      const size_t part = std::min(bytes, slice.size - offset);
      if (part > 0)
        pieces.emplace_back(slice.data + offset, part);
      bytes -= part;
      advance(part);
    }
  }

  /// Returns the next bytes at an address that is a multiple of 8. If possible,
  /// they are in the message itself. Otherwise they are copied to a buffer that
  /// is appended to `copies`.
  std::span<const std::byte> take(size_t bytes,
                                  std::vector<AlignedBuffer> &copies) {
    if (bytes == 0)
      return {};
    while (offset == slices[at].size)
      advance(0);
    const std::byte *here = slices[at].data + offset;
    if (slices[at].size - offset >= bytes &&
        reinterpret_cast<uintptr_t>(here) % sizeof(uint64_t) == 0) {
      remaining -= bytes;
      advance(bytes);
      return {here, bytes};
    }
    AlignedBuffer &buffer = copies.emplace_back();
    auto *out = static_cast<std::byte *>(buffer.reserve(bytes));
    copy(out, bytes);
    return {out, bytes};
  }

private:
  void advance(size_t bytes) {
    offset += bytes;
    if (offset == slices[at].size) {
      ++at;
      offset = 0;
    }
  }

  const std::vector<MessageSlice> &slices;
  size_t at = 0, offset = 0, remaining;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TRANSPORT_SLICEREADER_H
