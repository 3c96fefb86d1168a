//===- RowScanner.cpp - The rows of a text file ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RowScanner.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

using namespace pdlrt;

namespace {

constexpr size_t firstBufferSize = size_t(1) << 20;
// A longer line is not text; growing on would only hide that.
constexpr size_t longestRow = size_t(64) << 20;
// A quote that is open for longer was never meant as one.
constexpr size_t longestQuotedRow = size_t(1) << 20;

} // namespace

RowScanner::~RowScanner() {
  if (compressed)
    gzclose(compressed);
  if (file >= 0)
    ::close(file);
}

Status RowScanner::open(const std::string &name, char cellDelimiter) {
  path = name;
  delimiter = cellDelimiter;
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return Status::invalid(path +
                           ": cannot be opened: " + std::strerror(errno));
  if (path.ends_with(".gz")) {
    compressed = gzdopen(file, "rb");
    if (!compressed)
      return Status::outOfMemory(path + ": no memory to decompress it");
    file = -1; // gzclose closes it
    gzbuffer(compressed, 1u << 18);
  }
  buffer.resize(firstBufferSize);
  PDLRT_RETURN_IF_ERROR(refill());
  // The mark that some editors put before UTF-8 text is not part of a cell.
  if (limit >= 3 && std::memcmp(buffer.data(), "\xef\xbb\xbf", 3) == 0)
    cursor = 3;
  return {};
}

Expected<size_t> RowScanner::readInto(char *destination, size_t size) {
  if (compressed) {
    const int count =
        gzread(compressed, destination,
               static_cast<unsigned>(std::min<size_t>(size, size_t(1) << 30)));
    int code = Z_OK;
    const char *reason = gzerror(compressed, &code);
    if (count < 0 || (count == 0 && code == Z_BUF_ERROR))
      return Status::invalid(
          path + ": cannot be decompressed: " +
          (code == Z_ERRNO ? std::strerror(errno) : reason) +
          "; the file is damaged or incomplete, so fetch it again");
    return static_cast<size_t>(count);
  }
  while (true) {
    const ssize_t count = ::read(file, destination, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Status::invalid(path +
                             ": cannot be read: " + std::strerror(errno));
    return static_cast<size_t>(count);
  }
}

/// Moves the unread bytes to the front and reads behind them.
Status RowScanner::refill() {
  if (cursor > 0) {
    std::memmove(buffer.data(), buffer.data() + cursor, limit - cursor);
    limit -= cursor;
    cursor = 0;
  }
  if (limit == buffer.size()) {
    if (limit >= longestRow)
      return Status::invalid(path + ":" + std::to_string(nextLine) +
                             ": the line is longer than 64 MiB; is this a text "
                             "file with one record a line?");
    buffer.resize(2 * limit);
  }
  auto count = readInto(buffer.data() + limit, buffer.size() - limit);
  PDLRT_RETURN_IF_ERROR(count.status());
  limit += *count;
  atEnd = *count == 0;
  return {};
}

/// Without a line break in sight, the end of the file ends the row.
RowScanner::Search RowScanner::findRowEnd(const char *&end) const {
  const char *begin = buffer.data() + cursor;
  const size_t size = limit - cursor;
  const char *newline =
      static_cast<const char *>(std::memchr(begin, '\n', size));
  const size_t lineSize = newline ? static_cast<size_t>(newline - begin) : size;
  if (delimiter == ',' && std::memchr(begin, '"', lineSize)) {
    if (findQuotedRowEnd(end) == Search::Found)
      return Search::Found;
    if (!atEnd && size < longestQuotedRow)
      return Search::NeedsMore;
    // The quote is never closed: take the line, and let its parser say so.
  }
  if (!newline && !atEnd)
    return Search::NeedsMore;
  end = newline ? newline : begin + size;
  return Search::Found;
}

RowScanner::Search RowScanner::findQuotedRowEnd(const char *&end) const {
  const char *p = buffer.data() + cursor;
  const char *last = buffer.data() + limit;
  while (true) {
    while (p < last && (*p == ' ' || *p == '\t'))
      ++p;
    if (p < last && *p == '"') {
      ++p;
      while (true) {
        p = static_cast<const char *>(
            std::memchr(p, '"', static_cast<size_t>(last - p)));
        if (!p || (p + 1 == last && !atEnd))
          return Search::NeedsMore;
        ++p;
        if (p == last || *p != '"')
          break;
        ++p; // a doubled quote stands for one
      }
    }
    while (p < last && *p != delimiter && *p != '\n')
      ++p;
    if (p == last && !atEnd)
      return Search::NeedsMore;
    if (p == last || *p == '\n') {
      end = p;
      return Search::Found;
    }
    ++p;
  }
}

bool RowScanner::isBlank(std::string_view row) const {
  return std::all_of(row.begin(), row.end(), [&](char c) {
    return (c == ' ' || c == '\t') && c != delimiter;
  });
}

Expected<bool> RowScanner::next(std::string_view &row) {
  while (true) {
    const char *end = nullptr;
    while (findRowEnd(end) == Search::NeedsMore)
      PDLRT_RETURN_IF_ERROR(refill());
    const char *begin = buffer.data() + cursor;
    const size_t size = static_cast<size_t>(end - begin);
    const bool endOfFile = end == buffer.data() + limit;
    if (endOfFile && size == 0)
      return false;
    rowLine = nextLine;
    nextLine += 1;
    if (delimiter == ',')
      nextLine += std::count(begin, end, '\n');
    cursor += size + (endOfFile ? 0 : 1);
    row = std::string_view(begin, size);
    if (row.ends_with('\r'))
      row.remove_suffix(1);
    if (!isBlank(row))
      return true;
  }
}
