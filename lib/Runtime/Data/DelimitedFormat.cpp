//===- DelimitedFormat.cpp - CSV, TSV and similar text files --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellSyntax.h"
#include "Data/FileFormat.h"

using namespace pdlrt;

namespace {

class DelimitedFormat final : public FileFormat {
public:
  std::string_view name() const override { return "delimited text"; }
  std::string_view flag() const override { return "text"; }

  std::span<const std::string_view> suffixes() const override {
    return delimitedSuffixes();
  }

  const FormatTraits &traits() const override {
    static constexpr FormatTraits all = {.hasCells = true,
                                         .hasIdTexts = true,
                                         .mayBePacked = true,
                                         .isCached = true};
    return all;
  }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    // checkDataFlags has checked --delimiter itself.
    const std::optional<char> delimiter = delimiterByName(path);
    if (data.delimiter || !delimiter)
      return {};
    return checkQuote(data, *delimiter).withContext(path);
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    return openDelimitedReader(path, fileIndex, options);
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    return openRawCells(path, options);
  }
};

} // namespace

namespace pdlrt {

const FileFormat &delimitedFormat() {
  static const DelimitedFormat format;
  return format;
}

} // namespace pdlrt
