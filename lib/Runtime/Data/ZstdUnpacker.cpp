//===- ZstdUnpacker.cpp - Decompresses zstd -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Unpacker.h"

#include <algorithm>
#include <vector>
#include <zstd.h>
#include <zstd_errors.h>

using namespace pdlrt;

namespace {

/// Decompresses all frames of a file, and ignores skippable frames.
class ZstdUnpacker final : public Unpacker {
public:
  ZstdUnpacker(std::string path, PackedBytes packed)
      : path(std::move(path)), packed(std::move(packed)),
        stream(ZSTD_createDStream(), ZSTD_freeDStream),
        bytes(ZSTD_DStreamInSize()) {}

  bool isUsable() const { return stream != nullptr; }
  Expected<size_t> read(char *destination, size_t size) override;

private:
  Status refuse(size_t code) const;

  std::string path;
  PackedBytes packed;
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream *)> stream;
  std::vector<char> bytes;
  ZSTD_inBuffer input = {nullptr, 0, 0};
  bool inFrame = false;
  bool isFull = false;
  int64_t frames = 0;
};

Status ZstdUnpacker::refuse(size_t code) const {
  switch (ZSTD_getErrorCode(code)) {
  case ZSTD_error_memory_allocation:
    return Status::outOfMemory(path + ": no memory to decompress it");
  case ZSTD_error_frameParameter_windowTooLarge:
    return Status::invalidArgument(path +
                                   ": needs more than 128 MiB to be "
                                   "decompressed; pack it without --long, or "
                                   "with --long=27 at most");
  case ZSTD_error_prefix_unknown:
    if (frames == 0)
      return Status::invalidArgument(
          path + ": its name ends in .zst, but zstd has not packed "
                 "it; rename it to what it is, such as .csv or "
                 ".tsv, or pack it");
    return damaged(path, "bytes that zstd has not written follow its frame " +
                             std::to_string(frames));
  default:
    return damaged(path, ZSTD_getErrorName(code));
  }
}

Expected<size_t> ZstdUnpacker::read(char *destination, size_t size) {
  ZSTD_outBuffer output = {destination, size, 0};
  while (true) {
    // zstd may hold back output that did not fit into the buffer. It is
    // requested before more input is read.
    if (!isFull && input.pos == input.size) {
      auto count = packed(bytes.data(), bytes.size());
      PDLRT_RETURN_IF_ERROR(count.status());
      input = {bytes.data(), *count, 0};
    }
    const bool atEnd = input.size == 0;
    if (atEnd && !inFrame) {
      if (frames == 0)
        return damaged(path, "it is empty");
      return size_t(0);
    }
    const size_t before = input.pos;
    const size_t code = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(code))
      return refuse(code);
    inFrame = code != 0;
    // A complete frame holds nothing back.
    isFull = inFrame && output.pos == output.size;
    if (code == 0)
      ++frames;
    if (output.pos > 0)
      return output.pos;
    if (atEnd && inFrame && input.pos == before)
      return damaged(path, "it ends in the middle of frame " +
                               std::to_string(frames + 1));
  }
}

} // namespace

Expected<std::unique_ptr<Unpacker>>
pdlrt::createZstdUnpacker(const std::string &path,
                          Unpacker::PackedBytes packed) {
  auto unpacker = std::make_unique<ZstdUnpacker>(path, std::move(packed));
  if (!unpacker->isUsable())
    return Status::outOfMemory(path + ": no memory to decompress it");
  return std::unique_ptr<Unpacker>(std::move(unpacker));
}
