//===- ChunkFuzzer.cpp - Fuzzes messages divided into chunks --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "Transport/Grpc/Chunks.h"

#include <algorithm>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

static constexpr uint64_t largestMessage = 1000;

static grpc::ByteBuffer asBuffer(const std::string &bytes) {
  const Message pieces = inSlices(bytes);
  std::vector<grpc::Slice> slices;
  for (const MessageSlice &piece : pieces.slices())
    slices.emplace_back(piece.data, piece.size);
  return {slices.data(), slices.size()};
}

std::vector<std::string> fuzzSeeds() {
  const std::string size = {5, 0, 0, 0, 0, 0, 0, 0};
  // The size of a chunk, then its bytes.
  return {'\15' + size + "abcde", '\11' + size + "a\4bcde",
          '\10' + size + "\5abcde", '\10' + std::string(8, '\0')};
}

/// Fuzzes the front of a request, and the following chunks.
static void fuzzFront(const std::string &bytes) {
  ChunkReader reader(largestMessage);
  if (reader.begin(bytes) && (reader.soFar().size() > reader.wholeSize() ||
                              reader.wholeSize() > largestMessage))
    __builtin_trap();
  Message request = inSlices(bytes);
  ChunkReader again(uint64_t(1) << 20);
  if (!again.begin(encodeFront(request)))
    __builtin_trap();
  ChunkWriter writer = ChunkWriter::ofRequest(request);
  while (!writer.finished()) {
    grpc::ByteBuffer buffer = writer.next();
    if (!again.add(buffer))
      __builtin_trap();
  }
  if (!again.complete() || again.take().toString() != bytes)
    __builtin_trap();
}

void fuzzOne(const std::string &bytes) {
  fuzzFront(bytes);
  ChunkReader reader(largestMessage);
  std::string sent;
  for (size_t at = 0; at < bytes.size() && !reader.complete();) {
    const size_t wanted = uint8_t(bytes[at++]);
    const std::string chunk = bytes.substr(at, wanted);
    at += chunk.size();
    grpc::ByteBuffer buffer = asBuffer(chunk);
    if (!reader.add(buffer))
      return;
    sent += chunk;
  }
  if (!reader.complete())
    return;
  // A complete message must equal what was sent, and must not exceed the limit.
  const std::string message = reader.take().toString();
  if (message.size() > largestMessage || sent.substr(8) != message)
    __builtin_trap();
  ChunkWriter writer = ChunkWriter::ofResponse(inSlices(message));
  ChunkReader again(largestMessage);
  while (!writer.finished()) {
    grpc::ByteBuffer buffer = writer.next();
    if (!again.add(buffer))
      __builtin_trap();
  }
  if (!again.complete() || again.take().toString() != message)
    __builtin_trap();
}
