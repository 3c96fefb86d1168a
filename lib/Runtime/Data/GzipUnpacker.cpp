//===- GzipUnpacker.cpp - Decompresses gzip -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Unpacker.h"

#include <algorithm>
#include <utility>
#include <vector>
#include <zlib.h>

using namespace pdlrt;

namespace {

/// First byte of every member of a gzip file.
constexpr Bytef memberMark = 0x1f;

/// Decompresses all members of a file. Zeros after them, as written by tape
/// drives, are ignored; any other bytes are an error.
class GzipUnpacker final : public Unpacker {
public:
  GzipUnpacker(std::string path, PackedBytes packed)
      : path(std::move(path)), packed(std::move(packed)),
        input(size_t(1) << 18) {
    // 15: the largest window; 16: only a gzip header and trailer.
    usable = inflateInit2(&stream, 15 + 16) == Z_OK;
  }
  GzipUnpacker(const GzipUnpacker &) = delete;
  GzipUnpacker &operator=(const GzipUnpacker &) = delete;
  ~GzipUnpacker() override { inflateEnd(&stream); }

  bool isUsable() const { return usable; }
  Expected<size_t> read(char *destination, size_t size) override;

private:
  Status refill();
  Expected<bool> beginMember();
  Status damaged(const std::string &reason) const {
    return Unpacker::damaged(path, reason);
  }

  std::string path;
  PackedBytes packed;
  z_stream stream = {};
  bool usable;
  std::vector<Bytef> input;
  bool inMember = false;
  bool isFull = false; ///< True if the last output buffer was filled.
  int64_t members = 0;
};

/// Reads compressed bytes when all previous ones are used. None at the end.
Status GzipUnpacker::refill() {
  auto count = packed(reinterpret_cast<char *>(input.data()), // NOLINT
                      input.size());
  PDLRT_RETURN_IF_ERROR(count.status());
  stream.next_in = input.data();
  stream.avail_in = static_cast<uInt>(*count);
  return {};
}

/// Starts the next member. Returns false at the end of the file. There must be
/// input.
Expected<bool> GzipUnpacker::beginMember() {
  if (members > 0) {
    while (stream.avail_in > 0 && *stream.next_in == 0) {
      ++stream.next_in;
      if (--stream.avail_in > 0)
        continue;
      PDLRT_RETURN_IF_ERROR(refill());
    }
    if (stream.avail_in == 0)
      return false;
  }
  if (*stream.next_in != memberMark && members == 0)
    return Status::invalidArgument(
        path + ": its name ends in .gz, but gzip has not packed it; rename it "
               "to what it is, such as .csv or .tsv, or pack it");
  if (*stream.next_in != memberMark)
    return damaged("bytes that gzip has not written follow its member " +
                   std::to_string(members));
  inflateReset(&stream);
  inMember = true;
  return true;
}

Expected<size_t> GzipUnpacker::read(char *destination, size_t size) {
  const size_t room = std::min<size_t>(size, size_t(1) << 30);
  while (true) {
    // zlib may hold back output that did not fit into the buffer. It is
    // requested before more input is read.
    const bool holdsBack = std::exchange(isFull, false);
    if (stream.avail_in == 0 && !holdsBack)
      PDLRT_RETURN_IF_ERROR(refill());
    if (stream.avail_in == 0 && !holdsBack) {
      if (inMember)
        return damaged("it ends in the middle of member " +
                       std::to_string(members + 1));
      if (members == 0)
        return damaged("it is empty");
      return size_t(0);
    }
    if (!inMember) {
      auto begun = beginMember();
      PDLRT_RETURN_IF_ERROR(begun.status());
      if (!*begun)
        return size_t(0);
    }
    stream.next_out = reinterpret_cast<Bytef *>(destination); // NOLINT
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR)
      return Status::outOfMemory(path + ": no memory to decompress it");
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return damaged(stream.msg ? stream.msg : "its content is no gzip");
    if (code == Z_STREAM_END) {
      inMember = false;
      ++members;
    }
    isFull = inMember && stream.avail_out == 0;
    if (const size_t produced = room - stream.avail_out)
      return produced;
  }
}

} // namespace

Expected<std::unique_ptr<Unpacker>>
pdlrt::createGzipUnpacker(const std::string &path,
                          Unpacker::PackedBytes packed) {
  auto unpacker = std::make_unique<GzipUnpacker>(path, std::move(packed));
  if (!unpacker->isUsable())
    return Status::outOfMemory(path + ": no memory to decompress it");
  return std::unique_ptr<Unpacker>(std::move(unpacker));
}
