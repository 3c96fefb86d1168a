//===- CachedReader.cpp - Reads parsed rows from a cache ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CachedReader.h"

#include "Data/CacheBlock.h"
#include "Data/CacheFile.h"
#include "Data/FileFormat.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

using namespace pdlrt;

namespace {

/// Reads the rows of blocks from any source.
class BlockReader : public RecordReader {
public:
  explicit BlockReader(int32_t fileIndex) : fileIndex(fileIndex) {}

  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override;

protected:
  /// Loads the block after the current one. Sets `preface` if the source finds
  /// it only while it reads. Returns false at the end.
  virtual Expected<bool> loadBlock() = 0;
  /// Skips up to `count` rows after the current block without reading them.
  /// Returns their number.
  virtual int64_t jump(int64_t count) = 0;

  CacheBlock block;
  int64_t blockRow = 0; ///< Next row of the block.
  /// Digest of the text before the rows, such as a header line
  /// (RowLog::preface). It is reported with the first row, and then reset.
  std::optional<uint64_t> preface;

private:
  Expected<int64_t> rowsAhead(int64_t count);
  void notePreface(PassedRows &passed);

  int32_t fileIndex;
};

/// Returns how many of the next `count` rows are in the current block. Loads
/// the next block with rows if necessary. Returns 0 at the end.
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
    return Status::dataLoss(cache->path() +
                            ": is damaged: its bytes are not those that were "
                            "written; remove the file, and it is written anew "
                            "from the data");
  ++nextBlock;
  blockRow = 0;
  return true;
}

int64_t CachedReader::jump(int64_t count) {
  const int64_t row = cache->firstRow(nextBlock);
  // Moves to the end, or to the start of a block.
  const int64_t to = row + std::min(count, cache->rowCount() - row);
  nextBlock =
      to == cache->rowCount() ? cache->blockCount() : cache->blockOf(to);
  return cache->firstRow(nextBlock) - row;
}

/// Parses text and writes the result as a cache.
class CacheWritingReader final : public BlockReader {
public:
  CacheWritingReader(std::unique_ptr<RecordReader> text,
                     std::unique_ptr<CacheWriter> writer, CacheKey key,
                     std::string path, int32_t fileIndex,
                     const RecordReaderOptions &options)
      : BlockReader(fileIndex), text(std::move(text)),
        writer(std::move(writer)), key(key), path(std::move(path)),
        options(options), fields(fieldsOf(options.descriptor, options.program)),
        records(fields), reported(log) {}

  Status checkNext() override;
  void finish() override;

protected:
  Expected<bool> loadBlock() override;
  int64_t jump(int64_t) override { return 0; }

private:
  // A block fits into a processor's cache, or is slightly larger if rows are
  // long.
  static constexpr int64_t longestBlock = 4096, rowsAtOnce = 16;
  static constexpr size_t blockBytes = size_t(1) << 20;

  void note(const Status &status);
  void publish();

  std::unique_ptr<RecordReader> text;
  /// Error that ended the text after the current block.
  Status failure;
  /// Null if the cache is complete, or cannot be written.
  std::unique_ptr<CacheWriter> writer;
  CacheKey key;
  std::string path;
  RecordReaderOptions options;
  std::vector<const pdl_field *> fields;
  RecordColumns records;
  RowLog log;
  PassedRows reported;
  AlignedVector<std::byte> bytes;
  std::optional<uint64_t> header;
};

/// If writing fails, for instance because the disk is full, continues without a
/// cache.
void CacheWritingReader::note(const Status &status) {
  if (status.ok())
    return;
  writer.reset();
  logWarningOnce(status.message() + "; going on without a cache of " + path);
}

/// Completes the cache, unless the data file has changed during reading.
void CacheWritingReader::publish() {
  if (writer && CacheKey::of(path, options) == key)
    note(writer->finish(header));
  writer.reset();
}

Expected<bool> CacheWritingReader::loadBlock() {
  PDLRT_RETURN_IF_ERROR(failure);
  records.clear();
  log.clear();
  reported.clear();
  size_t size = 0;
  bool atEnd = false;
  while (!atEnd && reported.count() < longestBlock && size < blockBytes) {
    auto moved = text->read(rowsAtOnce, records, reported);
    // Rows that were read before the error are returned first.
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
  if (reported.count() > 0) {
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
  if (reported.count() > 0)
    return true;
  PDLRT_RETURN_IF_ERROR(failure);
  return false;
}

/// The text reader is already after the current block. Rows of the current
/// block are checked when they are read.
Status CacheWritingReader::checkNext() {
  if (blockRow < block.rowCount())
    return {};
  PDLRT_RETURN_IF_ERROR(failure);
  return text->checkNext();
}

void CacheWritingReader::finish() {
  // A user who stops the program should not wait for rows that are not trained
  // on.
  while (writer && stopSignal() == 0) {
    // An error after the requested rows only prevents the cache.
    auto loaded = loadBlock();
    note(loaded.status());
  }
  writer.reset();
}

} // namespace

Expected<std::unique_ptr<RecordReader>>
pdlrt::openCachedReader(const FileFormat &format, const std::string &path,
                        int32_t fileIndex, const RecordReaderOptions &options) {
  const std::optional<CacheKey> key = CacheKey::of(path, options);
  if (!key)
    return format.open(path, fileIndex, options);
  const std::string name = key->fileIn(options.data.cache, path);
  if (auto cache = CacheFile::open(name, *key))
    return std::unique_ptr<RecordReader>(
        std::make_unique<CachedReader>(std::move(cache), fileIndex, options));
  auto text = format.open(path, fileIndex, options);
  PDLRT_RETURN_IF_ERROR(text.status());
  std::error_code error;
  std::filesystem::create_directories(options.data.cache, error);
  auto writer = CacheWriter::create(name, *key);
  if (!writer)
    logWarningOnce(writer.status().message() +
                   "; going on without a cache of " + path);
  // Another group or program is writing the cache; it can be used in the next
  // pass.
  if (!writer || !*writer)
    return text;
  return std::unique_ptr<RecordReader>(std::make_unique<CacheWritingReader>(
      *std::move(text), *std::move(writer), *key, path, fileIndex, options));
}
