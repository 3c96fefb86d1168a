//===- KeyValueFiles.cpp - Rows as files of keys and values ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/KeyValueFiles.h"

#include "Files/StreamedFile.h"
#include "pdlrt/Files/FileBytes.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <system_error>

using namespace pdlrt;

static_assert(std::endian::native == std::endian::little);

KeyValueWriter::~KeyValueWriter() = default;
KeyValueReader::~KeyValueReader() = default;
KeyValueFormat::~KeyValueFormat() = default;

std::string pdlrt::bytesOfKey(int64_t key) {
  const uint64_t turned = __builtin_bswap64(uint64_t(key));
  return {reinterpret_cast<const char *>(&turned), sizeof(turned)};
}

int64_t pdlrt::keyOfBytes(const void *bytes) {
  uint64_t turned;
  std::memcpy(&turned, bytes, sizeof(turned));
  return int64_t(__builtin_bswap64(turned));
}

namespace {

/// Writes a file sequentially.
class PlainWriter : public KeyValueWriter {
public:
  PlainWriter(const std::string &path, const RowElements &elements)
      : elements(elements), file(path) {}

  Status create() { return file.create(); }
  uint64_t bytes() const override { return written; }
  Expected<FileDigest> finish() override {
    PDLRT_RETURN_IF_ERROR(file.commit());
    return file.digest();
  }

protected:
  Status write(std::string_view piece) {
    written += piece.size();
    return file.write(piece.data(), piece.size());
  }

  const RowElements elements;

private:
  StreamedFile file;
  uint64_t written = 0;
};

/// Reads a file sequentially.
class PlainReader : public KeyValueReader {
public:
  PlainReader(FileBytes opened, const RowElements &elements)
      : elements(elements), rowValues(elements.bytes()),
        file(std::move(opened)) {}

  int64_t key() const override { return rowKey; }
  const std::byte *values() const override { return rowValues.data(); }

protected:
  /// Skips `used` bytes of the text that the previous call returned. Returns
  /// the text after them: at least `atLeast` bytes, or the rest of the file if
  /// it is shorter.
  Expected<std::string_view> more(size_t used, size_t atLeast);
  const std::string &path() const { return file.path(); }

  const RowElements elements;
  int64_t rowKey = 0;
  std::vector<std::byte> rowValues;

private:
  FileBytes file;
  /// Position in the file of the bytes after `piece`.
  uint64_t offset = 0;
  std::string piece;
  size_t begin = 0;
};

} // namespace

Expected<std::string_view> PlainReader::more(size_t used, size_t atLeast) {
  constexpr size_t atOnce = size_t(1) << 18;
  begin += used;
  if (piece.size() - begin < atLeast && offset < file.size()) {
    piece.erase(0, begin);
    begin = 0;
    const size_t before = piece.size();
    const auto count = size_t(std::min<uint64_t>(
        std::max(atOnce, atLeast - before), file.size() - offset));
    piece.resize(before + count);
    PDLRT_RETURN_IF_ERROR(file.readAt(offset, count, piece.data() + before));
    offset += count;
  }
  return std::string_view(piece).substr(begin);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

class TsvWriter final : public PlainWriter {
public:
  using PlainWriter::PlainWriter;
  Status add(int64_t key, const std::byte *values) override;

private:
  template <typename Number> void append(const std::byte *values);

  std::string line;
};

class TsvReader final : public PlainReader {
public:
  using PlainReader::PlainReader;
  Expected<bool> next() override;

private:
  template <typename Number> bool parse(std::string_view cells);

  size_t used = 0;
  int64_t lineNumber = 0;
};

class TsvFormat final : public KeyValueFormat {
public:
  std::string_view name() const override { return "tsv"; }
  KeyOrder order() const override { return KeyOrder::Signed; }
  Expected<std::unique_ptr<KeyValueWriter>>
  create(const std::string &path, const RowElements &elements) const override;
  Expected<std::unique_ptr<KeyValueReader>>
  open(const std::string &path, const RowElements &elements) const override;
};

/// Maximum length of a number in its shortest decimal form.
constexpr size_t longestNumber = 32;

} // namespace

template <typename Number> void TsvWriter::append(const std::byte *values) {
  for (int64_t i = 0; i < elements.width; ++i, values += sizeof(Number)) {
    Number number;
    std::memcpy(&number, values, sizeof(number));
    char text[longestNumber];
    const auto [end, error] =
        std::to_chars(std::begin(text), std::end(text), number);
    line += '\t';
    line.append(text, size_t(end - text));
  }
}

Status TsvWriter::add(int64_t key, const std::byte *values) {
  line = std::to_string(key);
  if (elements.type == TensorType::F32)
    append<float>(values);
  else
    append<double>(values);
  line += '\n';
  return write(line);
}

/// Parses the cells as the elements of a row. Returns false if they are not.
template <typename Number> bool TsvReader::parse(std::string_view cells) {
  std::byte *out = rowValues.data();
  for (int64_t i = 0; i < elements.width; ++i, out += sizeof(Number)) {
    if (!cells.starts_with('\t'))
      return false;
    Number number = 0;
    const char *end = cells.data() + cells.size();
    const auto [rest, error] = std::from_chars(cells.data() + 1, end, number);
    if (error != std::errc())
      return false;
    std::memcpy(out, &number, sizeof(number));
    cells.remove_prefix(size_t(rest - cells.data()));
  }
  return cells.empty();
}

Expected<bool> TsvReader::next() {
  const size_t longest = (size_t(elements.width) + 1) * longestNumber;
  const Expected<std::string_view> text = more(used, longest);
  if (!text)
    return text.status();
  used = 0;
  if (text->empty())
    return false;
  ++lineNumber;
  const size_t length = text->substr(0, longest).find('\n');
  bool isRow = length != std::string_view::npos;
  if (isRow) {
    const std::string_view line = text->substr(0, length);
    const auto [rest, error] =
        std::from_chars(line.data(), line.data() + line.size(), rowKey);
    const std::string_view cells = line.substr(size_t(rest - line.data()));
    isRow = error == std::errc() &&
            (elements.type == TensorType::F32 ? parse<float>(cells)
                                              : parse<double>(cells));
    used = length + 1;
  }
  if (!isRow)
    return Status::dataLoss(
        fmt::format("{}: line {} is no key with {} numbers after tabs; export "
                    "the checkpoint again",
                    path(), lineNumber, elements.width));
  return true;
}

namespace {

template <typename Writer>
Expected<std::unique_ptr<KeyValueWriter>>
createPlain(const std::string &path, const RowElements &elements) {
  auto writer = std::make_unique<Writer>(path, elements);
  PDLRT_RETURN_IF_ERROR(writer->create());
  return std::unique_ptr<KeyValueWriter>(std::move(writer));
}

template <typename Reader>
Expected<std::unique_ptr<KeyValueReader>>
openPlain(const std::string &path, const RowElements &elements) {
  Expected<FileBytes> file =
      FileBytes::open(path, "export the checkpoint again");
  if (!file)
    return std::move(file).status();
  return std::unique_ptr<KeyValueReader>(
      std::make_unique<Reader>(*std::move(file), elements));
}

} // namespace

Expected<std::unique_ptr<KeyValueWriter>>
TsvFormat::create(const std::string &path, const RowElements &elements) const {
  return createPlain<TsvWriter>(path, elements);
}

Expected<std::unique_ptr<KeyValueReader>>
TsvFormat::open(const std::string &path, const RowElements &elements) const {
  return openPlain<TsvReader>(path, elements);
}

const KeyValueFormat &pdlrt::tsvFormat() {
  static const TsvFormat format;
  return format;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

namespace {

class BinaryWriter final : public PlainWriter {
public:
  using PlainWriter::PlainWriter;
  Status add(int64_t key, const std::byte *values) override {
    PDLRT_RETURN_IF_ERROR(write(bytesOfKey(key)));
    return write({reinterpret_cast<const char *>(values), elements.bytes()});
  }
};

class BinaryReader final : public PlainReader {
public:
  using PlainReader::PlainReader;
  Expected<bool> next() override;

private:
  size_t used = 0;
};

class RecordFormat final : public KeyValueFormat {
public:
  std::string_view name() const override { return "records"; }
  KeyOrder order() const override { return KeyOrder::Unsigned; }
  Expected<std::unique_ptr<KeyValueWriter>>
  create(const std::string &path, const RowElements &elements) const override {
    return createPlain<BinaryWriter>(path, elements);
  }
  Expected<std::unique_ptr<KeyValueReader>>
  open(const std::string &path, const RowElements &elements) const override {
    return openPlain<BinaryReader>(path, elements);
  }
};

} // namespace

Expected<bool> BinaryReader::next() {
  const size_t bytes = sizeof(int64_t) + elements.bytes();
  const Expected<std::string_view> record = more(used, bytes);
  if (!record)
    return record.status();
  used = 0;
  if (record->empty())
    return false;
  if (record->size() < bytes)
    return Status::dataLoss(
        fmt::format("{}: ends within a record of {} bytes; export the "
                    "checkpoint again",
                    path(), bytes));
  rowKey = keyOfBytes(record->data());
  std::memcpy(rowValues.data(), record->data() + sizeof(int64_t),
              elements.bytes());
  used = bytes;
  return true;
}

const KeyValueFormat &pdlrt::recordFormat() {
  static const RecordFormat format;
  return format;
}
