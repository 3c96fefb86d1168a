//===- FileFormat.h - Formats of data files ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The registry of data formats. A format defines how the bytes of a file become
// rows; docs/Extending.md shows how to add one.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_FILEFORMAT_H
#define LIB_RUNTIME_DATA_FILEFORMAT_H

#include "Data/RawRows.h"
#include "Data/RecordReader.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pdlrt {

/// Abilities of a format. The other code queries these, never a format's name.
struct FormatTraits {
  /// Rows are lines of cells. --header, --delimiter, --quote, --columns and
  /// --copy-column apply to such files, and their headers can be compared.
  bool hasCells = false;
  /// Values have names, which --copy-column takes.
  bool hasNames = false;
  /// Ids are available as the texts that the file contains
  /// (`DataOptions::copyTexts`).
  bool hasIdTexts = false;
  /// Files may be compressed as a whole. The suffix of the compression format
  /// follows that of the file format (Unpacker.h).
  bool mayBePacked = false;
  /// Files tell a list from a single value.
  bool marksLists = false;
  /// Parsing takes so long that --cache stores parsed rows.
  bool isCached = false;
  /// A message of a topic may be such a file. Formats whose rows are lines can
  /// be read from topics in any case.
  bool hasMessages = false;
};

/// A format of data files. Formats are constants: all functions are
/// thread-safe.
class FileFormat {
public:
  virtual ~FileFormat() = default;

  /// Returns the name in messages, such as "safetensors".
  virtual std::string_view name() const = 0;
  /// Returns the value of --format, such as "safetensors".
  virtual std::string_view flag() const = 0;
  /// Returns the suffixes of file names, each with its dot.
  virtual std::span<const std::string_view> suffixes() const = 0;
  virtual const FormatTraits &traits() const = 0;

  /// Returns an error if flags are wrong for a file of this format. Considers
  /// the name of the file, not its content.
  virtual Status checkFlags(const std::string &path,
                            const DataOptions &data) const = 0;

  /// Opens a file at its first row. Its records are marked with `fileIndex`.
  /// The reader refers to `options`. If the format has an index of rows or of
  /// row groups, `RecordReader::skip` and `moveTo` use it instead of reading.
  virtual Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const = 0;

  /// Opens a file without a record (RawRows.h). Uses only the flags in
  /// `options`. Returns an error unless the format overrides this function.
  virtual Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path, const RecordReaderOptions &options) const;
};

/// Returns all formats, in the order in which messages list them. The first one
/// is the format of files whose names have no known suffix, and of the standard
/// input.
std::span<const FileFormat *const> fileFormats();

/// Returns the format of a file of `data`: that of --format, otherwise the one
/// that the name of the file indicates.
const FileFormat &fileFormatOf(const std::string &path,
                               const DataOptions &data);

/// Returns an error if `text` is not a value of --format.
Expected<std::string> parseFileFormat(const std::string &text);

/// Returns the values of --format as text, such as "text or safetensors".
std::string fileFormatsText();

/// Returns the suffixes of all formats as text, such as ".csv, .tsv or .txt
/// (with or without .gz or .zst), or .safetensors".
std::string fileSuffixesText();

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FILEFORMAT_H
