//===- FileCache.h - Copies of stored files on this host --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that are mapped into memory, or loaded as libraries, must be on this
// host. A cache downloads them from object stores to a folder of limited size.
//
// FOLDER/files/ contains one file for each version of a stored file. Its name
// contains a checksum of the content. A later process uses the copy again after
// it has compared the content with this checksum.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_FILECACHE_H
#define PDLRT_FILES_FILECACHE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Files/Store.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

struct CacheState;
struct CacheEntry;

/// A copy of a stored file. The copy stays on the disk while the object exists.
/// Immutable and thread-safe.
class CachedCopy {
public:
  /// Takes over a user that is already counted in `entry`. Only `FileCache`
  /// calls this.
  CachedCopy(std::shared_ptr<CacheState> state, CacheEntry &entry);
  CachedCopy(const CachedCopy &) = delete;
  CachedCopy &operator=(const CachedCopy &) = delete;
  ~CachedCopy();

  const std::string &path() const;
  /// Removes the copy as soon as no object refers to it. For content that has
  /// turned out to be wrong.
  void discard() const;

private:
  const std::shared_ptr<CacheState> state;
  CacheEntry &entry;
};

/// A folder with copies of stored files. One process at a time uses a folder.
/// Thread-safe. Copies may outlive the object.
class FileCache {
public:
  /// Opens the folder, which is created if necessary. Removes incomplete
  /// copies, and those that were not used for longest if there are more than
  /// `maxBytes`. Returns an error if another process uses the folder, or if it
  /// has files but is no cache.
  static Expected<std::unique_ptr<FileCache>> open(const std::string &folder,
                                                   uint64_t maxBytes);

  const std::string &folder() const { return path; }
  /// Returns a copy of the version of a file that `file` describes. Downloads
  /// it if there is none, and removes copies that are not in use to make room.
  /// If several threads need the same file, one of them downloads it. If the
  /// content does not have the digest `expected`, returns PDL_DATA_LOSS and
  /// keeps the copy only as long as it has other users. Returns
  /// PDL_RESOURCE_EXHAUSTED if the file does not fit besides the copies in use,
  /// and PDL_CANCELLED soon after `cancel` is true.
  Expected<std::shared_ptr<const CachedCopy>>
  fetch(const StoredFileInfo &file,
        const std::optional<FileDigest> &expected = std::nullopt,
        const std::atomic<bool> *cancel = nullptr);

  /// Returns the number of bytes of all copies, including those that are being
  /// downloaded.
  uint64_t usedBytes() const;

private:
  FileCache(std::string path, std::shared_ptr<CacheState> state)
      : path(std::move(path)), state(std::move(state)) {}

  const std::string path;
  const std::shared_ptr<CacheState> state;
};

/// Returns the cache that the environment variables PDL_STORE_CACHE (a folder)
/// and PDL_STORE_CACHE_BYTES name. It lives as long as the program. Returns an
/// error with a remedy if they are not set or not valid. Thread-safe.
Expected<FileCache *> processFileCache();

} // namespace pdlrt

#endif // PDLRT_FILES_FILECACHE_H
