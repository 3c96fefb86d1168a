//===- SstFiles.cpp - Rows as SST files of RocksDB ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SstFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>

using namespace pdlrt;

namespace {

/// Returns options without compression: the numbers of a model can hardly be
/// compressed, and readers then need no library for it.
rocksdb::Options optionsOfFiles() {
  rocksdb::Options options;
  options.compression = rocksdb::kNoCompression;
  return options;
}

Status failed(const std::string &path, const char *what,
              const rocksdb::Status &status) {
  return Status::ioError(path + ": " + what + ": " + status.ToString());
}

class SstWriter final : public KeyValueWriter {
public:
  SstWriter(const std::string &path, size_t valueBytes)
      : path(path), valueBytes(valueBytes),
        writer(rocksdb::EnvOptions(), optionsOfFiles()) {}

  Status create() { return check(writer.Open(path)); }
  Status add(int64_t key, const std::byte *values) override {
    added += sizeof(key) + valueBytes;
    return check(writer.Put(
        bytesOfKey(key), {reinterpret_cast<const char *>(values), valueBytes}));
  }
  // The writer's size does not include the current block.
  uint64_t bytes() const override { return std::max(added, size()); }
  Expected<FileDigest> finish() override;

private:
  uint64_t size() const {
    return const_cast<rocksdb::SstFileWriter &>(writer).FileSize();
  }
  Status check(const rocksdb::Status &status) const {
    return status.ok() ? Status() : failed(path, "cannot be written", status);
  }

  const std::string path;
  const size_t valueBytes;
  rocksdb::SstFileWriter writer;
  uint64_t added = 0;
};

class SstReader final : public KeyValueReader {
public:
  SstReader(const std::string &path, size_t valueBytes)
      : path(path), valueBytes(valueBytes), reader(optionsOfFiles()) {}

  Status open();
  Expected<bool> next() override;
  int64_t key() const override { return keyOfBytes(rows->key().data()); }
  const std::byte *values() const override {
    return reinterpret_cast<const std::byte *>(rows->value().data());
  }

private:
  const std::string path;
  const size_t valueBytes;
  rocksdb::SstFileReader reader;
  std::unique_ptr<rocksdb::Iterator> rows;
  bool hasBegun = false;
};

class SstFormat final : public KeyValueFormat {
public:
  std::string_view name() const override { return "sst"; }
  KeyOrder order() const override { return KeyOrder::Unsigned; }
  Expected<std::unique_ptr<KeyValueWriter>>
  create(const std::string &path, const RowElements &elements) const override {
    auto writer = std::make_unique<SstWriter>(path, elements.bytes());
    PDLRT_RETURN_IF_ERROR(writer->create());
    return std::unique_ptr<KeyValueWriter>(std::move(writer));
  }
  Expected<std::unique_ptr<KeyValueReader>>
  open(const std::string &path, const RowElements &elements) const override {
    auto reader = std::make_unique<SstReader>(path, elements.bytes());
    PDLRT_RETURN_IF_ERROR(reader->open());
    return std::unique_ptr<KeyValueReader>(std::move(reader));
  }
};

} // namespace

Expected<FileDigest> SstWriter::finish() {
  PDLRT_RETURN_IF_ERROR(check(writer.Finish()));
  return digestOfFile(path);
}

Status SstReader::open() {
  if (const rocksdb::Status status = reader.Open(path); !status.ok())
    return failed(path, "cannot be read", status);
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.readahead_size = size_t(1) << 20;
  // Each block is read only once.
  options.fill_cache = false;
  rows.reset(reader.NewIterator(options));
  return {};
}

Expected<bool> SstReader::next() {
  if (hasBegun)
    rows->Next();
  else
    rows->SeekToFirst();
  hasBegun = true;
  if (!rows->status().ok())
    return failed(path, "cannot be read", rows->status());
  if (!rows->Valid())
    return false;
  if (rows->key().size() != sizeof(int64_t) ||
      rows->value().size() != valueBytes)
    return Status::dataLoss(fmt::format(
        "{}: has a key of {} bytes with a value of {}, where 8 and "
        "{} belong; export the checkpoint again",
        path, rows->key().size(), rows->value().size(), valueBytes));
  return true;
}

const KeyValueFormat &sstFormat() {
  static const SstFormat format;
  return format;
}
