//===- TFRecordFile.cpp - Records of a TFRecord file ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/TFRecordFile.h"

#include <cstring>
#include <immintrin.h>

using namespace pdlrt;

static constexpr size_t headerBytes = 12, checksumBytes = 4;
static constexpr size_t firstBufferBytes = size_t(1) << 20;
// A record is one example. A larger length is not one.
static constexpr uint64_t maxRecordBytes = uint64_t(64) << 20;

uint32_t pdlrt::maskedCrc32c(std::string_view bytes) {
  uint64_t crc = 0xffffffff;
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    crc = _mm_crc32_u64(crc, word);
    bytes.remove_prefix(sizeof(word));
  }
  auto low = uint32_t(crc);
  for (const char byte : bytes)
    low = _mm_crc32_u8(low, static_cast<unsigned char>(byte));
  low = ~low;
  return ((low >> 15) | (low << 17)) + 0xa282ead8;
}

static uint32_t crcAt(const char *bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

Status TFRecordFile::damaged(const std::string &what) const {
  return Status::dataLoss(path + ": record " +
                          std::to_string(recordNumber + 1) + ", at byte " +
                          std::to_string(nextBegin) + ", " + what);
}

Status TFRecordFile::open(const std::string &name,
                          const InputOptions &options) {
  path = inputName(name);
  buffer.resize(firstBufferBytes);
  return file.open(name, options);
}

/// Reads until the buffer has `size` unread bytes. Returns false at the end.
Expected<bool> TFRecordFile::fill(size_t size) {
  while (end - begin < size && !atEnd) {
    if (begin > 0 && begin + size > buffer.size()) {
      std::memmove(buffer.data(), buffer.data() + begin, end - begin);
      end -= begin;
      begin = 0;
    }
    if (size > buffer.size())
      buffer.resize(size);
    auto count = file.read(buffer.data() + end, buffer.size() - end);
    PDLRT_RETURN_IF_ERROR(count.status());
    end += *count;
    atEnd = *count == 0;
  }
  return end - begin >= size;
}

Expected<bool> TFRecordFile::next(std::string_view &record) {
  auto hasHeader = fill(headerBytes);
  PDLRT_RETURN_IF_ERROR(hasHeader.status());
  if (!*hasHeader && begin == end)
    return false;
  if (!*hasHeader)
    return damaged("is cut; write the file again");
  const char *const header = buffer.data() + begin;
  uint64_t size;
  std::memcpy(&size, header, sizeof(size));
  if (crcAt(header + sizeof(size)) != maskedCrc32c({header, sizeof(size)}))
    return damaged("has a wrong checksum of its length; is this a TFRecord "
                   "file, and undamaged? (a packed one ends in .gz or .zst)");
  if (size > maxRecordBytes)
    return damaged("has " + std::to_string(size) +
                   " bytes; at most 64 MiB are read");
  const size_t total = headerBytes + size_t(size) + checksumBytes;
  auto hasAll = fill(total);
  PDLRT_RETURN_IF_ERROR(hasAll.status());
  if (!*hasAll)
    return damaged("is cut; write the file again");
  const std::string_view bytes(buffer.data() + begin + headerBytes,
                               size_t(size));
  if (crcAt(bytes.data() + bytes.size()) != maskedCrc32c(bytes))
    return damaged("has a wrong checksum; write the file again");
  record = bytes;
  begin += total;
  recordBegin = nextBegin;
  nextBegin += int64_t(total);
  ++recordNumber;
  return true;
}

Expected<bool> TFRecordFile::moveTo(int64_t byte, int64_t number) {
  // The current record is still in the buffer.
  if (byte == recordBegin && recordNumber > 0) {
    begin -= size_t(nextBegin - recordBegin);
    nextBegin = recordBegin;
  }
  if (byte < nextBegin)
    return false;
  const auto distance = uint64_t(byte - nextBegin);
  const uint64_t buffered = std::min<uint64_t>(distance, end - begin);
  begin += size_t(buffered);
  if (distance > buffered) {
    auto passed = file.pass(distance - buffered);
    PDLRT_RETURN_IF_ERROR(passed.status());
    if (!*passed)
      return false;
  }
  recordBegin = nextBegin = byte;
  recordNumber = number - 1;
  auto hasHeader = fill(headerBytes);
  PDLRT_RETURN_IF_ERROR(hasHeader.status());
  // The position may be the end of the file.
  const char *const header = buffer.data() + begin;
  return *hasHeader ? crcAt(header + sizeof(uint64_t)) ==
                          maskedCrc32c({header, sizeof(uint64_t)})
                    : begin == end;
}
