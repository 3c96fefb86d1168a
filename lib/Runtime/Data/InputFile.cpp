//===- InputFile.cpp - The bytes of a data file ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/InputFile.h"

#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

using namespace pdlrt;

/// The first byte of every member of a gzip file.
static constexpr Bytef memberMark = 0x1f;

struct InputFile::Inflater {
  Inflater() : input(size_t(1) << 18) {
    // 15: the largest window; 16: a gzip header and trailer, and no other.
    usable = inflateInit2(&stream, 15 + 16) == Z_OK;
  }
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream = {};
  bool usable;
  std::vector<Bytef> input;
  bool inMember = false;
  int64_t members = 0;
};

InputFile::InputFile() = default;

InputFile::~InputFile() {
  if (file >= 0)
    ::close(file);
}

Status InputFile::open(const std::string &name) {
  path = name;
  // Without waiting for a writer: that is for `await`.
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  if (file < 0 || ::fstat(file, &info) != 0)
    return Status::invalid(path +
                           ": cannot be opened: " + std::strerror(errno));
  mayWait = !S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode);
  // The system's own files, such as those of /proc, say that they are empty.
  if (S_ISREG(info.st_mode) && info.st_size > 0)
    length = left = static_cast<uint64_t>(info.st_size);
  if (path.ends_with(".gz")) {
    inflater = std::make_unique<Inflater>();
    if (!inflater->usable)
      return Status::outOfMemory(path + ": no memory to decompress it");
  }
  return {};
}

Expected<size_t> InputFile::read(char *destination, size_t size) {
  return inflater ? unpack(destination, size) : readFile(destination, size);
}

/// Until there are bytes, or nobody is left who could write some.
Status InputFile::await() const {
  pollfd events[] = {{file, POLLIN, 0}, {stopDescriptor(), POLLIN, 0}};
  while (true) {
    const int count = ::poll(events, std::size(events), -1);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Status::invalid(path +
                             ": cannot be read: " + std::strerror(errno));
    // What is there is read: a stop loses nothing.
    if (events[0].revents != 0)
      return {};
    if (events[1].revents != 0)
      return Status::invalid(path + ": was not read to its end, because the "
                                    "process was told to stop");
  }
}

Expected<size_t> InputFile::readFile(char *destination, size_t size) {
  if (length)
    size = std::min<uint64_t>(size, left);
  if (size == 0)
    return size_t(0);
  while (true) {
    if (mayWait)
      PDLRT_RETURN_IF_ERROR(await());
    const ssize_t count = ::read(file, destination, size);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (count < 0)
      return Status::invalid(path +
                             ": cannot be read: " + std::strerror(errno));
    if (length && count == 0)
      return Status::invalid(
          path + ": ends at byte " + std::to_string(*length - left) +
          ", but had " + std::to_string(*length) +
          " when it was opened; nobody may change a file that is read");
    left -= length ? static_cast<uint64_t>(count) : 0;
    return static_cast<size_t>(count);
  }
}

Status InputFile::damaged(const std::string &reason) const {
  return Status::invalid(path + ": cannot be decompressed: " + reason +
                         "; the file is damaged or incomplete, so fetch it "
                         "again");
}

/// The next packed bytes, once all before are used; none at the end.
Status InputFile::refill() {
  auto count =
      readFile(reinterpret_cast<char *>(inflater->input.data()), // NOLINT
               inflater->input.size());
  PDLRT_RETURN_IF_ERROR(count.status());
  inflater->stream.next_in = inflater->input.data();
  inflater->stream.avail_in = static_cast<uInt>(*count);
  return {};
}

/// Between two members: false at the end of the file. There is input.
Expected<bool> InputFile::beginMember() {
  z_stream &stream = inflater->stream;
  if (inflater->members > 0) {
    while (stream.avail_in > 0 && *stream.next_in == 0) {
      ++stream.next_in;
      if (--stream.avail_in > 0)
        continue;
      PDLRT_RETURN_IF_ERROR(refill());
    }
    if (stream.avail_in == 0)
      return false;
  }
  if (*stream.next_in != memberMark && inflater->members == 0)
    return Status::invalid(
        path + ": its name ends in .gz, but gzip has not packed it; rename it "
               "to what it is, such as .csv or .tsv, or pack it");
  if (*stream.next_in != memberMark)
    return damaged("bytes that gzip has not written follow its member " +
                   std::to_string(inflater->members));
  inflateReset(&stream);
  inflater->inMember = true;
  return true;
}

Expected<size_t> InputFile::unpack(char *destination, size_t size) {
  z_stream &stream = inflater->stream;
  const size_t room = std::min<size_t>(size, size_t(1) << 30);
  while (true) {
    if (stream.avail_in == 0)
      PDLRT_RETURN_IF_ERROR(refill());
    if (stream.avail_in == 0) {
      if (inflater->inMember)
        return damaged("it ends in the middle of member " +
                       std::to_string(inflater->members + 1));
      if (inflater->members == 0)
        return damaged("it is empty");
      return size_t(0);
    }
    if (!inflater->inMember) {
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
      inflater->inMember = false;
      ++inflater->members;
    }
    if (const size_t produced = room - stream.avail_out)
      return produced;
  }
}
