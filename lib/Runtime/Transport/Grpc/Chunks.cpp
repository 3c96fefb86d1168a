//===- Chunks.cpp - Messages in gRPC buffers ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/Chunks.h"

#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Transport.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the wire is little-endian");

/// Maximum size of pieces that are joined by copying. For so few bytes, a copy
/// costs less than an entry in the system's scatter list and an owner.
static constexpr size_t smallPiece = 2048;

using Owner = std::shared_ptr<const void>;

static void letGo(void *owner) { delete static_cast<Owner *>(owner); }

std::string grpcimpl::encodeFront(Message &request) {
  const uint64_t size = request.size();
  std::string value(reinterpret_cast<const char *>(&size), sizeof(size));
  const size_t front = size <= largestFront ? size : minFront;
  return value + takeFront(request, front).toString();
}

bool ChunkReader::begin(std::string_view value) {
  if (value.size() < sizeFieldSize)
    return false;
  std::memcpy(&size, value.data(), sizeFieldSize);
  value.remove_prefix(sizeFieldSize);
  if (size > largestMessage || value.size() > size ||
      value.size() < std::min<uint64_t>(size, minFront))
    return false;
  sizeKnown = true;
  message = Message::ofString(std::string(value));
  return true;
}

grpc::ByteBuffer ChunkWriter::next() {
  std::vector<grpc::Slice> pieces;
  std::string small;
  const auto flush = [&] {
    if (!small.empty())
      pieces.emplace_back(small.data(), small.size());
    small.clear();
  };
  if (!started) {
    const uint64_t size = message.size();
    small.append(reinterpret_cast<const char *>(&size), sizeof(size));
    started = true;
  }
  size_t room = chunkSize;
  while (room > 0 && slice < message.slices().size()) {
    const MessageSlice &from = message.slices()[slice];
    const size_t count = std::min(room, from.size - offset);
    const std::byte *data = from.data + offset;
    if (count <= smallPiece) {
      small.append(reinterpret_cast<const char *>(data), count);
    } else if (!from.owner) {
      flush();
      pieces.emplace_back(data, count);
    } else {
      flush();
      pieces.emplace_back(const_cast<std::byte *>(data), count, letGo,
                          new Owner(from.owner));
    }
    sent += count;
    room -= count;
    offset += count;
    if (offset == from.size) {
      ++slice;
      offset = 0;
    }
  }
  flush();
  return {pieces.data(), pieces.size()};
}

bool ChunkReader::add(grpc::ByteBuffer &chunk) {
  auto pieces = std::make_shared<std::vector<grpc::Slice>>();
  const bool dumped = chunk.Dump(pieces.get()).ok();
  chunk.Clear();
  if (!dumped)
    return false;
  size_t skip = 0;
  if (!sizeKnown) {
    // The size may span several slices.
    for (const grpc::Slice &piece : *pieces) {
      const size_t count =
          std::min(piece.size(), sizeFieldSize - std::min(skip, sizeFieldSize));
      std::memcpy(reinterpret_cast<char *>(&size) + skip, piece.begin(), count);
      skip += count;
    }
    if (skip != sizeFieldSize || size > largestMessage)
      return false;
    sizeKnown = true;
  }
  const size_t before = message.size();
  const size_t sizeField = skip;
  for (const grpc::Slice &piece : *pieces) {
    const size_t past = std::min(skip, piece.size());
    skip -= past;
    if (piece.size() > past)
      message.append({reinterpret_cast<const std::byte *>(piece.begin()) + past,
                      piece.size() - past, pieces});
  }
  return message.size() <= size && (message.size() > before || sizeField > 0);
}
