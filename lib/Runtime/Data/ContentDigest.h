//===- ContentDigest.h - Compares copies of data files ----------*- C++ -*-===//
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

/// Files of which several processes have copies.
class CopiedFiles {
public:
  CopiedFiles() = default;
  /// Records the current sizes of the files. Pipes are skipped.
  explicit CopiedFiles(const std::vector<std::string> &files);

  bool isEmpty() const { return files.empty(); }
  /// Returns the file names without folders, for messages.
  std::string names() const;
  /// Returns a digest of the files' current contents. It has 48 bits, so that
  /// the sum over 32,768 processes fits into 63 bits. Returns none if a file
  /// cannot be read or has changed its size.
  ///
  /// The digest covers all bytes of a file of up to 8 MiB. For larger files it
  /// covers the first and last bytes and blocks at equal distances between
  /// them, 8 MiB in total. With more than 32 files it covers less of each, but
  /// at least 256 KiB. For an object of a store it covers the size and the
  /// ETag. The computation takes some tenths of a second and detects copies
  /// with other labels, rows or columns.
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
