//===- TemporaryFile.h - Atomically written files ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_TEMPORARYFILE_H
#define LIB_RUNTIME_FILES_TEMPORARYFILE_H

#include "Files/RunningDigest.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Store.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pdlrt {

/// A file with a temporary name, which `commit` renames to its final name. In
/// an object store, the file appears with `commit`. The destructor removes the
/// file unless it is committed. Not thread-safe.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string finalPath);
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();

  Status create();
  Status write(const void *data, size_t size);
  /// Syncs the bytes to disk and gives the file its final name.
  Status commit();
  /// Returns the digest of the bytes written so far.
  FileDigest digest() const { return written.digest(); }

private:
  Status failure(const char *what) const;

  std::string finalPath;
  std::string path;
  RunningDigest written;
  int file = -1;
  /// The file if it is in an object store; otherwise null.
  std::unique_ptr<StoreWriter> stored;
};

/// Syncs the names in a folder to disk, so that they survive a crash. If the
/// file system does not support this, does nothing and returns no error.
Status flushFolder(const std::string &path);

/// Renames a file or folder and syncs the change to disk. Returns an error if
/// the name `to` exists already, or if renaming fails.
Status renameToNew(const std::string &from, const std::string &to);

/// Returns the checksum that checkpoints store for their files.
uint64_t hashBytes(const void *data, size_t size);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_TEMPORARYFILE_H
