//===- TemporaryFile.h - A file that comes whole or not at all --*- C++ -*-===//
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

#include <cstddef>
#include <cstdint>
#include <string>

namespace pdlrt {

/// A file under a temporary name that disappears unless it is committed. Not
/// thread-safe.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string finalPath);
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile();

  Status create();
  Status write(const void *data, size_t size);
  /// Flushes the bytes to the disk and gives the file its name.
  Status commit();
  /// Of what was written so far.
  FileDigest digest() const { return written.digest(); }

private:
  Status failure(const char *what) const;

  std::string finalPath;
  std::string path;
  RunningDigest written;
  int file = -1;
};

/// Flushes the names in a folder to the disk, so that they survive a crash. No
/// error where the file system cannot do that at all.
Status flushFolder(const std::string &path);

/// Gives a file or folder another name, which nothing may have, and flushes
/// that to the disk: an error if something does, or if that cannot be done.
Status renameToNew(const std::string &from, const std::string &to);

/// The sum that checkpoints keep of their files.
uint64_t hashBytes(const void *data, size_t size);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_TEMPORARYFILE_H
