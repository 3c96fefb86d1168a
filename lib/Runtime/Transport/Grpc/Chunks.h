//===- Chunks.h - Messages in gRPC's buffers --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the wire a response is 8 bytes, little-endian, with its size, then its
// bytes; that sequence is cut into chunks, one gRPC message each. Of a request
// the size and the first bytes, its front, are metadata of the call, so that a
// server knows who sends what before it reads any chunk; chunks have the rest.
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

/// Bytes of the message in one chunk; the first one has the size besides.
inline constexpr size_t chunkSize = size_t(64) << 20;
inline constexpr size_t sizeFieldSize = sizeof(uint64_t);
inline constexpr size_t largestChunk = chunkSize + sizeFieldSize;

/// The key of a request's front in the metadata of its call. gRPC keeps such
/// values as they are.
inline constexpr const char *frontKey = "pdl-front-bin";
/// A request up to this size travels as its front alone. What a server takes
/// of a process that has not joined is no larger.
inline constexpr size_t largestFront = 8192;
/// The limit of a call's metadata, with room for the system's own.
inline constexpr int largestMetadata = 32768;

/// The front of a request, taken off it: the value of `frontKey`.
std::string encodeFront(Message &request);

/// Cuts a message into chunks.
class ChunkWriter {
public:
  ChunkWriter() = default;
  /// A response, with its size.
  static ChunkWriter ofResponse(Message whole) {
    return {std::move(whole), false};
  }
  /// What is left of a request behind its front.
  static ChunkWriter ofRequest(Message rest) { return {std::move(rest), true}; }
  /// The next chunk; not called after the last one.
  grpc::ByteBuffer next();
  /// Whether `next` has returned all of the message.
  bool finished() const { return started && sent == message.size(); }

private:
  ChunkWriter(Message content, bool sizeIsKnown)
      : message(std::move(content)), started(sizeIsKnown) {}

  Message message;
  /// Whether the size has been written, or need not be.
  bool started = false;
  size_t sent = 0;
  size_t slice = 0;
  size_t offset = 0;
};

/// Joins chunks to a message that refers to the bytes in gRPC's buffers.
class ChunkReader {
public:
  explicit ChunkReader(uint64_t largest) : largestMessage(largest) {}
  /// Takes the front of a request, before all chunks; false where it is none,
  /// or the request is too large.
  bool begin(std::string_view value);
  /// What has come so far, and the size of the whole.
  const Message &soFar() const { return message; }
  uint64_t wholeSize() const { return size; }
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

#endif // LIB_RUNTIME_TRANSPORT_GRPC_CHUNKS_H
