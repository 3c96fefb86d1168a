//===- FileKind.cpp - Detects unsupported file formats --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileKind.h"

#include "Data/InputFile.h"
#include "Data/Unpacker.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <vector>

using namespace pdlrt;

namespace {

/// A format that is not in the registry (FileFormat.h).
struct UnreadFormat {
  std::string_view name;
  /// File extensions, without the dot.
  std::vector<std::string_view> endings;
  /// First bytes of such files; empty if they are not characteristic.
  std::string_view mark;
  /// Advice for the user.
  std::string_view remedy;
};

} // namespace

static constexpr std::string_view asText =
    "write it as .csv or .safetensors, in Python for instance with "
    "pandas.read_";

static const std::vector<UnreadFormat> &unreadFormats() {
  static const std::vector<UnreadFormat> all = {
      {"a Parquet file", {}, "PAR1", "--format parquet"},
      {"an ORC file", {"orc"}, "ORC", "orc"},
      {"an Arrow or Feather file", {}, "ARROW1", "--format arrow"},
      {"an Excel file", {"xlsx", "xls"}, "", "excel"},
      {"an HDF5 file", {"h5", "hdf5"}, "\x89HDF", "hdf"},
      {"a pickle", {"pkl", "pickle"}, "", "pickle"},
      {"an Avro file", {"avro"}, std::string_view("Obj\1", 4), ""},
      {"NumPy arrays", {"npy", "npz"}, "\x93NUMPY", ""},
      {"packed by xz",
       {"xz", "lzma"},
       std::string_view("\xfd"
                        "7zXZ\0",
                        6),
       "xz"},
      {"packed by bzip2", {"bz2"}, "BZh", "bzip2"},
      {"packed by lz4", {"lz4"}, "\x04\x22\x4d\x18", "lz4"},
      {"a zip archive", {"zip"}, "PK\3\4", "unzip"},
      {"a tar archive", {"tar", "tgz"}, "", "tar"},
  };
  return all;
}

/// Returns the error about a file of that format.
static Status refuse(const std::string &path, const UnreadFormat &format) {
  const std::string remedy(format.remedy);
  std::string what = path + ": is " + std::string(format.name) + ", which ";
  if (format.name.starts_with("packed"))
    return Status::invalidArgument(
        what +
        "is not unpacked (only gzip and zstd are); pack it by one of "
        "these, or unpack it into a pipe: " +
        remedy + " -dc FILE | trainer ... --data - --delimiter ...");
  if (format.name.ends_with("archive"))
    return Status::invalidArgument(what + "is not unpacked; unpack it (" +
                                   remedy +
                                   "), and name the files that were in it");
  if (remedy.starts_with("--format"))
    return Status::invalidArgument(
        what + "is read with " + remedy +
        ", or if its name ends like those of its format");
  what += "is not read; ";
  if (remedy.empty())
    return Status::invalidArgument(what + "write it as .csv or .safetensors");
  return Status::invalidArgument(what + std::string(asText) + remedy +
                                 (remedy.ends_with(')') ? "" : "(...)") +
                                 ".to_csv(..., index=False)");
}

Status pdlrt::checkFileKind(const std::string &path, bool isText) {
  if (isStandardInput(path))
    return {};
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return Status::invalidArgument(
        path +
        ": is a folder; name the files in it, for instance "
        "--data " +
        path + (path.ends_with('/') ? "" : "/") + "*.csv");
  if (isText)
    return {};
  std::string name(unpackedName(path));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  for (const UnreadFormat &format : unreadFormats())
    for (const std::string_view ending : format.endings)
      if (name.ends_with("." + std::string(ending)))
        return refuse(path, format);
  return {};
}

/// Returns true if the bytes contain control characters, which text does not
/// have.
static bool hasControls(std::string_view bytes) {
  return std::ranges::any_of(
      bytes, [](unsigned char c) { return c < '\t' || (c > '\r' && c < ' '); });
}

Status pdlrt::checkFileBeginning(const std::string &path,
                                 std::string_view begin) {
  begin = begin.substr(0, detectionBytes);
  for (const UnreadFormat &format : unreadFormats())
    if (!format.mark.empty() && begin.starts_with(format.mark) &&
        hasControls(begin))
      return refuse(path, format);
  return {};
}

bool pdlrt::mayBecomeOther(std::string_view begin) {
  return std::ranges::any_of(unreadFormats(), [&](const UnreadFormat &format) {
    return begin.size() < format.mark.size() && format.mark.starts_with(begin);
  });
}
