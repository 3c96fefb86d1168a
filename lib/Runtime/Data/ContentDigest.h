//===- ContentDigest.h - Whether copies of files are alike ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CONTENTDIGEST_H
#define LIB_RUNTIME_DATA_CONTENTDIGEST_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Files that several processes have copies of.
class CopiedFiles {
public:
  CopiedFiles() = default;
  /// Notes how large the files are now. Pipes are passed over.
  explicit CopiedFiles(const std::vector<std::string> &files);

  bool isEmpty() const { return files.empty(); }
  /// Their names without folders, for sentences.
  std::string names() const;
  /// Returns a digest of what the files contain now, in 48 bits, so that the
  /// sum over 32,768 processes fits into 63 bits. Returns nothing if a file
  /// cannot be read, or has another size than before.
  ///
  /// The digest covers all bytes of a file of at most 8 MiB. Of a larger file
  /// it covers the first and the last bytes and blocks at equal distances
  /// between them, 8 MiB in all; with more than 32 files it covers less of
  /// each, but at least 256 KiB. So it takes some tenths of a second, and tells
  /// copies with other labels, rows or columns apart.
  std::optional<int64_t> digest() const;

private:
  struct File {
    std::string path;
    uint64_t size = 0;
  };
  std::vector<File> files;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CONTENTDIGEST_H
