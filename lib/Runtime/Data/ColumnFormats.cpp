//===- ColumnFormats.cpp - Parquet and Arrow IPC files --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnReader.h"
#include "Data/FileFormat.h"
#include "Data/KafkaAddress.h"
#include "Data/MessageReader.h"
#include "Data/RawColumns.h"
#include "Data/RowReader.h"

using namespace pdlrt;

namespace {

/// A format that libpdl-arrow.so reads.
class ColumnFileFormat final : public FileFormat {
public:
  ColumnFileFormat(PdlColumnFormat format, std::string_view ownName,
                   std::string_view ownFlag,
                   std::span<const std::string_view> ownSuffixes,
                   bool hasMessages)
      : format(format), ownName(ownName), ownFlag(ownFlag),
        ownSuffixes(ownSuffixes), ownTraits{.hasNames = true,
                                            .hasIdTexts = true,
                                            .marksLists = true,
                                            .isCached = true,
                                            .hasMessages = hasMessages} {}

  std::string_view name() const override { return ownName; }
  std::string_view flag() const override { return ownFlag; }
  std::span<const std::string_view> suffixes() const override {
    return ownSuffixes;
  }

  const FormatTraits &traits() const override { return ownTraits; }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    if (!data.pipe.empty())
      return Status::invalidArgument(
          path + ": " + std::string(ownName) +
          " files are read from their end, not through --data-pipe; let the "
          "command write a file first");
    return refuseCellFlags(path, data, "its columns have names");
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    if (isKafkaAddress(path))
      return openMessageReader(path, fileIndex, ownName, options);
    return openColumnReader(path, fileIndex, format, ownName, options);
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    if (isKafkaAddress(path))
      return openRawMessages(path, options);
    return openRawColumns(path, format);
  }

private:
  PdlColumnFormat format;
  std::string_view ownName, ownFlag;
  std::span<const std::string_view> ownSuffixes;
  FormatTraits ownTraits;
};

} // namespace

namespace pdlrt {

const FileFormat &parquetFormat() {
  static constexpr std::string_view suffixes[] = {".parquet", ".pq"};
  static const ColumnFileFormat format(PdlParquetFile, "Parquet", "parquet",
                                       suffixes, /*hasMessages=*/false);
  return format;
}

const FileFormat &arrowFormat() {
  static constexpr std::string_view suffixes[] = {".arrow", ".feather", ".ipc"};
  static const ColumnFileFormat format(PdlArrowFile, "Arrow IPC", "arrow",
                                       suffixes, /*hasMessages=*/true);
  return format;
}

} // namespace pdlrt
