//===- ReadAhead.cpp - Reads ahead on a separate thread -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ReadAhead.h"

#include "pdlrt/Core/BlockedSignals.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>

using namespace pdlrt;

std::unique_ptr<ReadAhead> ReadAhead::start(Source source) {
  std::unique_ptr<ReadAhead> ahead(new ReadAhead(std::move(source)));
  for (Piece &piece : ahead->pieces)
    piece.bytes.resize(pieceBytes);
  try {
    const BlockedSignals blocked;
    ahead->thread = std::thread([self = ahead.get()] { self->run(); });
  } catch (const std::system_error &) {
    ahead.reset();
  }
  return ahead;
}

ReadAhead::~ReadAhead() {
  if (!thread.joinable())
    return;
  {
    const MutexLock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void ReadAhead::run() {
  Trace::nameThread("unpacker");
  MutexLock lock(mutex);
  while (true) {
    changed.wait(lock, [&]() PDLRT_REQUIRES(mutex) {
      return stopping || filled - used < pieces.size();
    });
    if (stopping)
      return;
    Piece &piece = pieces[filled % pieces.size()];
    lock.unlock();
    piece.size = 0;
    piece.status = {};
    bool atEnd = false;
    const TraceSpan span("decompress");
    try {
      while (!atEnd && piece.size < pieceBytes && piece.status.ok()) {
        auto count =
            source(piece.bytes.data() + piece.size, pieceBytes - piece.size);
        piece.status = count.status();
        if (!count.ok())
          break;
        piece.size += *count;
        atEnd = *count == 0;
      }
    } catch (const std::bad_alloc &) {
      piece.status = Status::outOfMemory(
          "there is no memory to read data ahead; give --threads 1");
    }
    const bool isLast = atEnd || !piece.status.ok();
    lock.lock();
    ++filled;
    changed.notify_all();
    if (isLast)
      return;
  }
}

Expected<size_t> ReadAhead::read(char *destination, size_t size) {
  MutexLock lock(mutex);
  while (true) {
    changed.wait(lock, [&]() PDLRT_REQUIRES(mutex) { return filled > used; });
    const Piece &piece = pieces[used % pieces.size()];
    if (offset < piece.size) {
      // The piece does not change until it is consumed, so no lock is needed.
      lock.unlock();
      const size_t count = std::min(size, piece.size - offset);
      std::memcpy(destination, piece.bytes.data() + offset, count);
      offset += count;
      return count;
    }
    // There is no piece after the last one, so its status is returned again.
    PDLRT_RETURN_IF_ERROR(piece.status);
    if (piece.size < pieceBytes)
      return size_t(0);
    ++used;
    offset = 0;
    changed.notify_all();
  }
}
