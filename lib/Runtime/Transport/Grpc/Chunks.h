//===- Chunks.h - Messages in gRPC buffers ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A response is sent as its size (8 bytes, little-endian) and its bytes. This
// sequence is split into chunks, and each chunk is one gRPC message. The size
// of a request and its first bytes, its front, are sent as metadata of the
// call. So a server can check the sender and the kind before it reads any
// chunk. The chunks contain the rest of the request.
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

/// Maximum number of bytes of the message in a chunk. The first chunk also
/// contains the size.
inline constexpr size_t chunkSize = size_t(64) << 20;
inline constexpr size_t sizeFieldSize = sizeof(uint64_t);
inline constexpr size_t largestChunk = chunkSize + sizeFieldSize;

/// Metadata key of a request's front. gRPC sends the values of keys in "-bin"
/// unchanged.
inline constexpr const char *frontKey = "pdl-front-bin";
/// Maximum number of bytes of a request that are sent in the call's metadata,
/// as its front. From a process that has not joined, a server accepts no larger
/// requests.
inline constexpr size_t largestFront = 8192;
/// Maximum size of the metadata of a call, including gRPC's own metadata.
inline constexpr int largestMetadata = 32768;

/// Removes the front from a request. Returns it as the value for `frontKey`.
std::string encodeFront(Message &request);

/// Splits a message into chunks.
class ChunkWriter {
public:
  ChunkWriter() = default;
  /// Creates a writer for a response. The first chunk contains the size.
  static ChunkWriter ofResponse(Message whole) {
    return {std::move(whole), false};
  }
  /// Creates a writer for the part of a request that follows its front.
  static ChunkWriter ofRequest(Message rest) { return {std::move(rest), true}; }
  /// Returns the next chunk. Must not be called after the last chunk.
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

/// Joins chunks into a message that refers to gRPC's buffers.
class ChunkReader {
public:
  explicit ChunkReader(uint64_t largest) : largestMessage(largest) {}
  /// Parses the front of a request, which arrives before all chunks. Returns
  /// false if it is malformed, or if the request is too large.
  bool begin(std::string_view value);
  /// Returns the bytes received so far, and the total size.
  const Message &soFar() const { return message; }
  uint64_t wholeSize() const { return size; }
  /// Adds the content of a chunk to the message, and clears the chunk. Returns
  /// false if the message is too large or larger than announced, or if the
  /// chunk is empty.
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
