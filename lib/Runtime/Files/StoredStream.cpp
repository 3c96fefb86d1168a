//===- StoredStream.cpp - Reads a stored file from begin to end -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/StoredStream.h"

#include <algorithm>
#include <cstring>
#include <utility>

using namespace pdlrt;

StoredStream::StoredStream(std::shared_ptr<const StoredFile> file)
    : file(std::move(file)) {}

StoredStream::~StoredStream() { dropPieces(); }

void StoredStream::dropPieces() {
  isCancelled = true;
  pieces.clear();
  isCancelled = false;
  isFrontReady = false;
}

/// Requests ranges until there are enough in advance.
void StoredStream::request() {
  const uint64_t size = file->info().bytes;
  while (pieces.size() < ahead && requested < size) {
    auto piece = std::make_unique<Piece>();
    piece->offset = requested;
    piece->bytes.resize(std::min<uint64_t>(pieceBytes, size - requested));
    requested += piece->bytes.size();
    pieceBytes = std::min(2 * pieceBytes, maxPieceBytes);
    Piece *const filled = piece.get();
    piece->task =
        std::make_unique<BackgroundTask>("read range", [this, filled] {
          return file->readAt(filled->offset, filled->bytes.size(),
                              filled->bytes.data(), &isCancelled);
        });
    pieces.push_back(std::move(piece));
  }
}

Expected<size_t> StoredStream::read(char *destination, size_t size) {
  request();
  if (pieces.empty())
    return size_t(0);
  Piece &front = *pieces.front();
  if (!isFrontReady) {
    if (failure.ok())
      failure = front.task->wait();
    PDLRT_RETURN_IF_ERROR(failure);
    isFrontReady = true;
  }
  const size_t begin = position - front.offset;
  const size_t count = std::min(size, front.bytes.size() - begin);
  std::memcpy(destination, front.bytes.data() + begin, count);
  position += count;
  if (begin + count == front.bytes.size()) {
    pieces.pop_front();
    isFrontReady = false;
    ahead = std::min(ahead + 1, maxPieces);
    request();
  }
  return count;
}

void StoredStream::skip(uint64_t count) {
  position += count;
  while (!pieces.empty() &&
         pieces.front()->offset + pieces.front()->bytes.size() <= position) {
    isCancelled = true;
    pieces.pop_front();
    isFrontReady = false;
  }
  // The flag has also ended the requests that are left.
  if (isCancelled)
    dropPieces();
  if (pieces.empty())
    requested = position;
}
