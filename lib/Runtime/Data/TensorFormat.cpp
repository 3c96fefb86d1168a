//===- TensorFormat.cpp - Safetensors files of columns --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileFormat.h"

using namespace pdlrt;

namespace {

class TensorFormat final : public FileFormat {
public:
  std::string_view name() const override { return "safetensors"; }
  std::string_view flag() const override { return "safetensors"; }

  std::span<const std::string_view> suffixes() const override {
    static constexpr std::string_view all[] = {".safetensors"};
    return all;
  }

  const FormatTraits &traits() const override {
    static constexpr FormatTraits none;
    return none;
  }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    const bool forText = data.header || data.quote || data.delimiter ||
                         !data.columns.empty() || !data.copyColumns.empty();
    if (!data.pipe.empty())
      return Status::invalidArgument(path +
                                     ": safetensors are read from a file, not "
                                     "through --data-pipe; unpack the file "
                                     "first");
    return forText
               ? Status::invalidArgument(
                     path + ": its tensors have names: --header, --delimiter, "
                            "--quote, --columns and --copy-column are for "
                            "delimited text; --id lets a field of them through")
               : Status();
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    return openTensorReader(path, fileIndex, options);
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    (void)options;
    return openRawTensors(path);
  }
};

} // namespace

namespace pdlrt {

const FileFormat &tensorFormat() {
  static const TensorFormat format;
  return format;
}

} // namespace pdlrt
