//===- Chunks.h - Messages in gRPC buffers ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the wire, a response is its size (8 bytes, little-endian), followed by its
// bytes. This sequence is split into chunks, one gRPC message each. The size
// and the first bytes of a request, its front, are metadata of the call. A
// server can thus check the sender and the kind before it reads any chunk;
// chunks have the rest.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_CHUNKS_H
#define LIB_RUNTIME_TRANSPORT_GRPC_CHUNKS_H

#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <grpcpp/support/byte_buffer.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt::grpcimpl {

/// Bytes of the message in one chunk; the first one also has the size.
inline constexpr size_t chunkSize = size_t(64) << 20;
inline constexpr size_t sizeFieldSize = sizeof(uint64_t);
inline constexpr size_t largestChunk = chunkSize + sizeFieldSize;

/// Metadata key of a request's front. gRPC transmits such values unchanged.
inline constexpr const char *frontKey = "pdl-front-bin";
/// A request up to this size is sent only as its front. A server accepts no
/// larger requests from a process that has not joined.
inline constexpr size_t largestFront = 8192;
/// Limit of a call's metadata, including those of the system.
inline constexpr int largestMetadata = 32768;

/// Removes the front from a request, and returns it as the value of `frontKey`.
std::string encodeFront(Message &request);

/// Splits a message into chunks.
class ChunkWriter {
public:
  ChunkWriter() = default;
  /// Creates a writer for a response, with its size.
  static ChunkWriter ofResponse(Message whole) {
    return {std::move(whole), false};
  }
  /// Creates a writer for the rest of a request after its front.
  static ChunkWriter ofRequest(Message rest) { return {std::move(rest), true}; }
  /// Returns the next chunk. Must not be called after the last one.
  grpc::ByteBuffer next();
  /// Returns true if `next` has returned the whole message.
  bool finished() const { return started && sent == message.size(); }

private:
  ChunkWriter(Message content, bool sizeIsKnown)
      : message(std::move(content)), started(sizeIsKnown) {}

  Message message;
  /// True if the size has been written, or need not be.
  bool started = false;
  size_t sent = 0;
  size_t slice = 0;
  size_t offset = 0;
};

/// Joins chunks to a message that refers to gRPC's buffers.
class ChunkReader {
public:
  explicit ChunkReader(uint64_t largest) : largestMessage(largest) {}
  /// Reads the front of a request, before all chunks. Returns false if it is
  /// malformed, or the request is too large.
  bool begin(std::string_view value);
  /// Returns the bytes received so far, and the total size.
  const Message &soFar() const { return message; }
  uint64_t wholeSize() const { return size; }
  /// Adds a chunk, and clears it. Returns false if the chunks are no message:
  /// it is too large, exceeds its announced size, or does not grow.
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

#endif // LIB_RUNTIME_TRANSPORT_GRPC_CHUNKS_H
