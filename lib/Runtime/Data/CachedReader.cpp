//===- CachedReader.cpp - Rows that are parsed but once -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CachedReader.h"

#include "Data/CacheBlock.h"
#include "Data/CacheFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

using namespace pdlrt;

namespace {

/// Goes through blocks, wherever they come from.
class BlockReader : public RecordReader {
public:
  explicit BlockReader(int32_t fileIndex) : fileIndex(fileIndex) {}

  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override;

protected:
  /// Makes the block behind the current one the current one, and its preface,
  /// if it is the first; false at the end.
  virtual Expected<bool> loadBlock() = 0;
  /// Passes up to `count` rows without a look at them, from the end of the
  /// current block on; how many.
  virtual int64_t jump(int64_t count) = 0;

  CacheBlock block;
  int64_t blockRow = 0; ///< the next row of the block
  /// Until the first row is passed.
  std::optional<uint64_t> preface;

private:
  Expected<int64_t> rowsAhead(int64_t count);
  void notePreface(PassedRows &passed);

  int32_t fileIndex;
};

/// How many of the next `count` rows the current block has, once one is there
/// that has any; 0 at the end.
Expected<int64_t> BlockReader::rowsAhead(int64_t count) {
  while (blockRow == block.rowCount()) {
    auto loaded = loadBlock();
    PDLRT_RETURN_IF_ERROR(loaded.status());
    if (!*loaded)
      return int64_t(0);
  }
  return std::min(count, block.rowCount() - blockRow);
}

void BlockReader::notePreface(PassedRows &passed) {
  if (preface)
    passed.addPreface(*preface);
  preface.reset();
}

Expected<int64_t> BlockReader::read(int64_t count, RecordColumns &into,
                                    PassedRows &passed) {
  for (int64_t done = 0; done < count;) {
    auto ahead = rowsAhead(count - done);
    PDLRT_RETURN_IF_ERROR(ahead.status());
    if (*ahead == 0)
      return done;
    notePreface(passed);
    PDLRT_RETURN_IF_ERROR(
        block.replay(blockRow, *ahead, fileIndex, into, passed));
    blockRow += *ahead;
    done += *ahead;
  }
  return count;
}

Expected<int64_t> BlockReader::skip(int64_t count, PassedRows *passed) {
  for (int64_t done = 0; done < count;) {
    if (!passed && blockRow == block.rowCount()) {
      done += jump(count - done);
      if (done == count)
        break;
    }
    auto ahead = rowsAhead(count - done);
    PDLRT_RETURN_IF_ERROR(ahead.status());
    if (*ahead == 0)
      return done;
    if (passed) {
      notePreface(*passed);
      for (int64_t row = 0; row < *ahead; ++row)
        passed->beginRow(block.content(blockRow + row));
    }
    blockRow += *ahead;
    done += *ahead;
  }
  return count;
}

Expected<bool> BlockReader::moveTo(const RowPlace &place) {
  auto skipped = skip(place.row, nullptr);
  PDLRT_RETURN_IF_ERROR(skipped.status());
  preface.reset();
  return *skipped == place.row;
}

/// Reads a cache.
class CachedReader final : public BlockReader {
public:
  CachedReader(std::unique_ptr<CacheFile> opened, int32_t fileIndex,
               const RecordReaderOptions &options)
      : BlockReader(fileIndex), cache(std::move(opened)),
        fields(fieldsOf(options.descriptor, options.program)) {
    preface = cache->preface();
  }

protected:
  Expected<bool> loadBlock() override;
  int64_t jump(int64_t count) override;

private:
  std::unique_ptr<CacheFile> cache;
  const std::vector<const pdl_field *> fields;
  size_t nextBlock = 0;
};

Expected<bool> CachedReader::loadBlock() {
  if (nextBlock == cache->blockCount())
    return false;
  const int64_t rows =
      cache->firstRow(nextBlock + 1) - cache->firstRow(nextBlock);
  if (!block.view(fields, cache->block(nextBlock)) || block.rowCount() != rows)
    return Status::invalid(cache->path() +
                           ": is damaged: its bytes are not those that were "
                           "written; remove the file, and it is written anew "
                           "from the data");
  ++nextBlock;
  blockRow = 0;
  return true;
}

int64_t CachedReader::jump(int64_t count) {
  const int64_t row = cache->firstRow(nextBlock);
  // To the end, or to the begin of a block.
  const int64_t to = row + std::min(count, cache->rowCount() - row);
  nextBlock =
      to == cache->rowCount() ? cache->blockCount() : cache->blockOf(to);
  return cache->firstRow(nextBlock) - row;
}

/// Parses text and writes what it has as a cache.
class CacheWritingReader final : public BlockReader {
public:
  CacheWritingReader(std::unique_ptr<RecordReader> text,
                     std::unique_ptr<CacheWriter> writer, CacheKey key,
                     std::string path, int32_t fileIndex,
                     const RecordReaderOptions &options)
      : BlockReader(fileIndex), text(std::move(text)),
        writer(std::move(writer)), key(key), path(std::move(path)),
        options(options), fields(fieldsOf(options.descriptor, options.program)),
        records(fields), told(log) {}

  Status checkNext() override;
  void finish() override;

protected:
  Expected<bool> loadBlock() override;
  int64_t jump(int64_t) override { return 0; }

private:
  // A block is as large as caches of processors, and not larger by much where
  // rows are long.
  static constexpr int64_t longestBlock = 4096, rowsAtOnce = 16;
  static constexpr size_t blockBytes = size_t(1) << 20;

  void note(const Status &status);
  void publish();

  std::unique_ptr<RecordReader> text;
  /// What ended the text, behind the current block.
  Status failure;
  /// Null once the cache is whole, or cannot be written.
  std::unique_ptr<CacheWriter> writer;
  CacheKey key;
  std::string path;
  RecordReaderOptions options;
  std::vector<const pdl_field *> fields;
  RecordColumns records;
  RowLog log;
  PassedRows told;
  AlignedVector<std::byte> bytes;
  std::optional<uint64_t> header;
};

/// Without room for a cache there is none.
void CacheWritingReader::note(const Status &status) {
  if (status.ok())
    return;
  writer.reset();
  logWarningOnce(status.message() + "; going on without a cache of " + path);
}

/// Unless the file has become another one meanwhile.
void CacheWritingReader::publish() {
  if (writer && CacheKey::of(path, options) == key)
    note(writer->finish(header));
  writer.reset();
}

Expected<bool> CacheWritingReader::loadBlock() {
  PDLRT_RETURN_IF_ERROR(failure);
  records.clear();
  log.clear();
  told.clear();
  size_t size = 0;
  bool atEnd = false;
  while (!atEnd && told.count() < longestBlock && size < blockBytes) {
    auto moved = text->read(rowsAtOnce, records, told);
    // What was read before the defect comes before it.
    if (!moved.ok()) {
      failure = moved.status();
      writer.reset();
      break;
    }
    atEnd = *moved < rowsAtOnce;
    size = 0;
    for (size_t i = 0; i < fields.size(); ++i)
      size += records.column(i).values.size();
  }
  if (log.preface) {
    header = log.preface;
    preface = log.preface;
  }
  if (told.count() > 0) {
    CacheBlock::encode(fields, records, log, bytes);
    const std::span<const std::byte> encoded(bytes.data(), bytes.size());
    if (!block.view(fields, encoded))
      return Status::internal("a block of a cache cannot be read again");
    blockRow = 0;
    if (writer)
      note(writer->add(encoded, block.rowCount()));
  }
  if (atEnd)
    publish();
  if (told.count() > 0)
    return true;
  PDLRT_RETURN_IF_ERROR(failure);
  return false;
}

/// The text is behind the current block, whose rows are looked at when they are
/// wanted.
Status CacheWritingReader::checkNext() {
  if (blockRow < block.rowCount())
    return {};
  PDLRT_RETURN_IF_ERROR(failure);
  return text->checkNext();
}

void CacheWritingReader::finish() {
  // Who asks for the end does not wait for rows that nobody trains with.
  while (writer && stopSignal() == 0) {
    // A defect behind the rows that are wanted only costs the cache.
    auto loaded = loadBlock();
    note(loaded.status());
  }
  writer.reset();
}

} // namespace

Expected<std::unique_ptr<RecordReader>>
pdlrt::openCachedReader(const std::string &path, int32_t fileIndex,
                        const RecordReaderOptions &options) {
  const auto openText = [&] {
    return openDelimitedReader(path, fileIndex, options);
  };
  const std::optional<CacheKey> key = CacheKey::of(path, options);
  if (!key)
    return openText();
  const std::string name = key->fileIn(options.data.cache, path);
  if (auto cache = CacheFile::open(name, *key))
    return std::unique_ptr<RecordReader>(
        std::make_unique<CachedReader>(std::move(cache), fileIndex, options));
  auto text = openText();
  PDLRT_RETURN_IF_ERROR(text.status());
  std::error_code error;
  std::filesystem::create_directories(options.data.cache, error);
  auto writer = CacheWriter::create(name, *key);
  if (!writer)
    logWarningOnce(writer.status().message() +
                   "; going on without a cache of " + path);
  // Another group, or another program, is at it: it is there for the next pass.
  if (!writer || !*writer)
    return text;
  return std::unique_ptr<RecordReader>(std::make_unique<CacheWritingReader>(
      *std::move(text), *std::move(writer), *key, path, fileIndex, options));
}
