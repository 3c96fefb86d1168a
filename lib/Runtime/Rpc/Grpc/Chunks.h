//===- Chunks.h - Messages in gRPC's buffers --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the wire a message is 8 bytes, little-endian, with its size, then its
// bytes; that sequence is cut into chunks, one gRPC message each.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RPC_GRPC_CHUNKS_H
#define LIB_RUNTIME_RPC_GRPC_CHUNKS_H

#include "pdlrt/Rpc/Message.h"

#include <cstdint>
#include <grpcpp/support/byte_buffer.h>
#include <vector>

namespace pdlrt::grpcimpl {

/// Bytes of the message in one chunk; the first one has the size besides.
inline constexpr size_t chunkSize = size_t(64) << 20;
inline constexpr size_t sizeFieldSize = sizeof(uint64_t);
inline constexpr size_t largestChunk = chunkSize + sizeFieldSize;

/// Cuts a message into chunks.
class ChunkWriter {
public:
  ChunkWriter() = default;
  explicit ChunkWriter(Message whole) : message(std::move(whole)) {}
  /// The next chunk; not called after the last one.
  grpc::ByteBuffer next();
  /// Whether `next` has returned all of the message.
  bool finished() const { return started && sent == message.size(); }

private:
  Message message;
  bool started = false;
  size_t sent = 0;
  size_t slice = 0;
  size_t offset = 0;
};

/// Joins chunks to a message that refers to the bytes in gRPC's buffers.
class ChunkReader {
public:
  explicit ChunkReader(uint64_t largest) : largestMessage(largest) {}
  /// Takes a chunk, and empties it; false where the chunks so far are no part
  /// of a message: it is too large, exceeds the size that it claims, or does
  /// not grow.
  bool add(grpc::ByteBuffer &chunk);
  bool complete() const { return sizeKnown && message.size() == size; }
  Message take() { return std::move(message); }

private:
  uint64_t largestMessage;
  Message message;
  uint64_t size = 0;
  bool sizeKnown = false;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_RPC_GRPC_CHUNKS_H
