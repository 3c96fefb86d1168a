//===- RowScanner.cpp - The rows of a text file ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RowScanner.h"

#include "Data/FileKind.h"
#include "Data/KafkaAddress.h"
#include "Data/KafkaRows.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

namespace {

constexpr size_t firstBufferSize = size_t(1) << 20;
constexpr size_t firstMessageSize = size_t(4) << 10;
// A longer line is not text. A larger buffer would only hide that.
constexpr size_t longestRow = size_t(64) << 20;
// A quote that stays open for longer is not a quote.
constexpr size_t longestQuotedRow = size_t(1) << 20;
// Longer sequences of blanks are not regarded as the end of a file.
constexpr size_t longestBlank = size_t(32) << 20;

// The byte order mark before UTF-8 text is not part of a cell.
constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";

/// Returns true if more bytes may show that a file begins with a mark.
bool mayBecomeMark(std::string_view begin) {
  return mayBecomePacked(begin) || mayBecomeOther(begin) ||
         (begin.size() < byteOrderMark.size() &&
          byteOrderMark.starts_with(begin));
}

} // namespace

RowScanner::RowScanner() = default;
RowScanner::~RowScanner() = default;

Status RowScanner::open(const std::string &name, CellSyntax cellSyntax,
                        const InputOptions &options) {
  path = inputName(name);
  syntax = cellSyntax;
  if (isKafkaAddress(name)) {
    auto opened = KafkaRows::open(name, options.wait);
    PDLRT_RETURN_IF_ERROR(opened.status());
    messages = *std::move(opened);
    return {};
  }
  PDLRT_RETURN_IF_ERROR(file.open(name, options));
  buffer.resize(firstBufferSize);
  std::memset(buffer.data(), 0, rowMargin);
  // A pipe may deliver fewer bytes than the marks have, and nothing after a
  // short row.
  const auto begin = [&] {
    return std::string_view(buffer.data() + cursor, limit - cursor);
  };
  while (!atEnd && mayBecomeMark(begin()))
    PDLRT_RETURN_IF_ERROR(refill());
  if (const Packing *packing = packingOf(begin()))
    return Status::invalidArgument(
        path + ": " + packing->name +
        " has packed what it holds, but its name does not "
        "end in " +
        packing->ending + "; rename it, or unpack it");
  PDLRT_RETURN_IF_ERROR(checkFileBeginning(path, begin()));
  if (begin().starts_with(byteOrderMark))
    cursor += byteOrderMark.size();
  return {};
}

/// Moves the unread bytes to the front of the buffer and reads after them.
Status RowScanner::refill() {
  if (cursor > rowMargin) {
    const size_t passed = cursor - rowMargin;
    std::memmove(buffer.data() + rowMargin, buffer.data() + cursor,
                 limit - cursor);
    limit -= passed;
    bufferByte += int64_t(passed);
    cursor = rowMargin;
  }
  if (limit == buffer.size()) {
    if (limit >= longestRow)
      return Status::invalidArgument(
          path + ":" + std::to_string(nextLine) +
          ": the line is longer than 64 MiB; is this a text "
          "file with one record a line?");
    buffer.resize(2 * limit);
  }
  auto count = file.read(buffer.data() + limit, buffer.size() - limit);
  PDLRT_RETURN_IF_ERROR(count.status());
  limit += *count;
  atEnd = *count == 0;
  return {};
}

/// Finds the end of the row: a line break, or the end of the file.
RowScanner::Search RowScanner::findRowEnd(const char *&end) const {
  const char *begin = buffer.data() + cursor;
  const size_t size = limit - cursor;
  const char *newline =
      static_cast<const char *>(std::memchr(begin, '\n', size));
  const size_t lineSize = newline ? static_cast<size_t>(newline - begin) : size;
  if (syntax.quote && std::memchr(begin, syntax.quote, lineSize)) {
    if (findQuotedRowEnd(end) == Search::Found)
      return Search::Found;
    if (!atEnd && size <= longestQuotedRow)
      return Search::NeedsMore;
    // The quote is never closed. Take the line, and let the parser report the
    // error.
  }
  if (!newline && !atEnd)
    return Search::NeedsMore;
  end = newline ? newline : begin + size;
  return Search::Found;
}

// The result must not depend on how much is in the buffer.
RowScanner::Search RowScanner::findQuotedRowEnd(const char *&end) const {
  const char *p = buffer.data() + cursor;
  const size_t size = std::min(limit - cursor, longestQuotedRow);
  const char *last = p + size;
  const bool endsFile = atEnd && cursor + size == limit;
  while (true) {
    while (p < last && (*p == ' ' || *p == '\t') && *p != syntax.delimiter)
      ++p;
    if (p < last && *p == syntax.quote) {
      ++p;
      while (true) {
        p = static_cast<const char *>(
            std::memchr(p, syntax.quote, static_cast<size_t>(last - p)));
        if (!p || (p + 1 == last && !endsFile))
          return Search::NeedsMore;
        ++p;
        if (p == last || *p != syntax.quote)
          break;
        ++p; // Two quotes stand for one.
      }
    }
    while (p < last && *p != syntax.delimiter && *p != '\n')
      ++p;
    if (p == last && !endsFile)
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
    return (c == ' ' || c == '\t') && c != syntax.delimiter;
  });
}

std::string RowScanner::placeText() const {
  return messages ? messages->placeText()
                  : path + ":" + std::to_string(rowLine);
}

std::optional<int64_t> RowScanner::sample() const {
  return messages ? messages->sample() : std::nullopt;
}

std::vector<KafkaPlace> RowScanner::places() const {
  return messages ? messages->places() : std::vector<KafkaPlace>();
}

/// Copies the next row of a message into the buffer, after the margin.
Expected<bool> RowScanner::nextOfMessages(std::string_view &row,
                                          BlankLines blankLines) {
  while (true) {
    std::string_view found;
    auto more = messages->next(found);
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return false;
    if (buffer.size() < rowMargin + found.size() + rowMargin)
      buffer.resize(2 * found.size() + firstMessageSize);
    if (!found.empty())
      std::memcpy(buffer.data() + rowMargin, found.data(), found.size());
    row = {buffer.data() + rowMargin, found.size()};
    const RowPlace current = messages->current();
    const RowPlace following = messages->following();
    rowBegin = current.byte;
    rowLine = current.line;
    followingByte = following.byte;
    nextLine = following.line;
    if (blankLines != BlankLines::Ignored || !isBlank(row))
      return true;
  }
}

Expected<bool> RowScanner::moveTo(int64_t byte, int64_t line) {
  if (messages)
    return messages->moveTo({0, byte, line});
  // The byte before the position must end a line.
  const int64_t end = byte - 1;
  if (end < bufferByte)
    return false;
  const int64_t marginByte = bufferByte + int64_t(limit - rowMargin);
  if (end >= marginByte) {
    auto passed = file.pass(uint64_t(end - marginByte));
    PDLRT_RETURN_IF_ERROR(passed.status());
    if (!*passed)
      return false;
    bufferByte = end;
    cursor = limit = rowMargin;
    while (!atEnd && limit == rowMargin)
      PDLRT_RETURN_IF_ERROR(refill());
    if (limit == rowMargin)
      return false;
  }
  cursor = rowMargin + size_t(end - bufferByte);
  const bool endsLine = buffer[cursor++] == '\n';
  nextLine = line;
  // The last line may end at the end of the file.
  while (!endsLine && !atEnd && cursor == limit)
    PDLRT_RETURN_IF_ERROR(refill());
  return endsLine || cursor == limit;
}

/// Returns true if there is anything but blank lines from the next row on.
Expected<bool> RowScanner::hasTextAhead() {
  size_t offset = 0; // Relative to the cursor, which moves with the buffer.
  while (textByte < nextByte()) {
    const size_t at = cursor + offset;
    const auto *found =
        std::find_if(buffer.data() + at, buffer.data() + limit, [&](char c) {
          return c == syntax.delimiter ||
                 (c != ' ' && c != '\t' && c != '\r' && c != '\n');
        });
    offset = size_t(found - buffer.data()) - cursor;
    const bool isFound = cursor + offset < limit;
    if (!isFound && atEnd)
      return false;
    if (isFound || offset > longestBlank)
      textByte = nextByte() + int64_t(offset);
    else
      PDLRT_RETURN_IF_ERROR(refill());
  }
  return true;
}

Expected<bool> RowScanner::next(std::string_view &row, BlankLines blankLines) {
  if (messages)
    return nextOfMessages(row, blankLines);
  while (true) {
    const char *end = nullptr;
    while (findRowEnd(end) == Search::NeedsMore)
      PDLRT_RETURN_IF_ERROR(refill());
    const auto lineAt = [&] {
      std::string_view line(buffer.data() + cursor,
                            static_cast<size_t>(end - buffer.data()) - cursor);
      if (line.ends_with('\r'))
        line.remove_suffix(1);
      return line;
    };
    const size_t size = static_cast<size_t>(end - buffer.data()) - cursor;
    const bool endOfFile = end == buffer.data() + limit;
    if (endOfFile && size == 0)
      return false;
    if (blankLines == BlankLines::EndFiles && isBlank(lineAt())) {
      auto more = hasTextAhead();
      PDLRT_RETURN_IF_ERROR(more.status());
      if (!*more) {
        cursor = limit;
        return false;
      }
      // Looking ahead may have moved the buffer.
      end = buffer.data() + cursor + size;
    }
    const char *begin = buffer.data() + cursor;
    row = lineAt();
    rowLine = nextLine;
    rowBegin = nextByte();
    nextLine += 1;
    if (syntax.quote)
      nextLine += std::count(begin, end, '\n');
    cursor += size + (endOfFile ? 0 : 1);
    if (blankLines != BlankLines::Ignored || !isBlank(row))
      return true;
  }
}
