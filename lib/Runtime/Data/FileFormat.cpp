//===- FileFormat.cpp - Formats of data files -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileFormat.h"

#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "Data/Unpacker.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace pdlrt;

// The registry: one line for each format. `NAMEFormat` is a function that the
// format's file defines.
#define PDLRT_FILE_FORMATS(FORMAT)                                             \
  FORMAT(delimited)                                                            \
  FORMAT(jsonLines)                                                            \
  FORMAT(multiSlot)                                                            \
  FORMAT(slotFirst)                                                            \
  FORMAT(slotLast)                                                             \
  FORMAT(libsvm)                                                               \
  FORMAT(libffm)                                                               \
  FORMAT(tfRecord)                                                             \
  FORMAT(parquet)                                                              \
  FORMAT(arrow)                                                                \
  FORMAT(tensor)

#define PDLRT_DECLARE_FORMAT(NAME) const FileFormat &NAME##Format();
namespace pdlrt {
PDLRT_FILE_FORMATS(PDLRT_DECLARE_FORMAT)
} // namespace pdlrt

Expected<std::unique_ptr<RawRows>>
FileFormat::openRaw(const std::string &path,
                    const RecordReaderOptions &options) const {
  (void)options;
  return Status::invalidArgument(
      inputName(path) + ": files of " + std::string(name()) +
      " can be read only for the record of a model; give its program");
}

std::span<const FileFormat *const> pdlrt::fileFormats() {
#define PDLRT_FORMAT_ADDRESS(NAME) &NAME##Format(),
  static const FileFormat *const formats[] = {
      PDLRT_FILE_FORMATS(PDLRT_FORMAT_ADDRESS)};
  return formats;
}

const FileFormat &pdlrt::fileFormatOf(const std::string &path,
                                      const DataOptions &data) {
  const std::span<const FileFormat *const> formats = fileFormats();
  for (const FileFormat *format : formats)
    if (format->flag() == data.format)
      return *format;
  if (isStandardInput(path))
    return *formats.front();
  if (isKafkaAddress(path)) {
    const std::string named = kafkaFormat(path);
    for (const FileFormat *format : formats)
      if (format->flag() == named)
        return *format;
    return *formats.front();
  }
  // `checkDataFlags` refuses packed files of formats that cannot be packed.
  const std::string_view name = unpackedName(path);
  for (const FileFormat *format : formats)
    if (std::ranges::any_of(format->suffixes(), [&](std::string_view suffix) {
          return name.ends_with(suffix);
        }))
      return *format;
  return *formats.front();
}

/// Joins words as "a, b or c".
static std::string joinWords(const std::vector<std::string> &words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

std::string pdlrt::fileFormatsText() {
  std::vector<std::string> flags;
  for (const FileFormat *format : fileFormats())
    flags.emplace_back(format->flag());
  return joinWords(flags);
}

Expected<std::string> pdlrt::parseFileFormat(const std::string &text) {
  for (const FileFormat *format : fileFormats())
    if (format->flag() == text)
      return text;
  return Status::invalidArgument("'" + text + "' is no format; give " +
                                 fileFormatsText());
}

std::string pdlrt::fileSuffixesText() {
  std::vector<std::string> packed, others, packings;
  for (const FileFormat *format : fileFormats())
    for (const std::string_view suffix : format->suffixes())
      (format->traits().mayBePacked ? packed : others).emplace_back(suffix);
  for (const Packing *packing : allPackings())
    packings.emplace_back(packing->ending);
  return joinWords(packed) + " (with or without " + joinWords(packings) + ")" +
         (others.empty() ? "" : ", or ") + joinWords(others);
}
