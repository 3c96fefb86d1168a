//===- Store.h - Places that hold files by name -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are in folders of this host, or in an object store that an address with
// a scheme names, such as s3://bucket/clicks/day.csv. A store has no folders of
// its own: a folder is a prefix of names that ends at a slash.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_STORE_H
#define PDLRT_FILES_STORE_H

#include "pdlrt/Core/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// A file in a store.
struct StoredFileInfo {
  /// Full address or path.
  std::string path;
  uint64_t bytes = 0;
  /// Text that differs if the content differs: the ETag of an object, or the
  /// inode and time of a file.
  std::string version;
  /// Time of the last change, in seconds since 1970.
  int64_t modified = 0;
};

/// A file of a store, open for reading. Immutable and thread-safe.
class StoredFile {
public:
  virtual ~StoredFile();
  virtual const StoredFileInfo &info() const = 0;
  /// Reads the bytes [offset, offset + count) to `out`. They must exist.
  /// Returns an error with the address if they cannot be read, or if the file
  /// has been changed since it was opened. If `cancel` is not null, may return
  /// PDL_CANCELLED once it is true.
  virtual Status readAt(uint64_t offset, size_t count, void *out,
                        const std::atomic<bool> *cancel = nullptr) const = 0;
};

/// A new file of a store. It appears as a whole with `commit`, and replaces a
/// file with the same name. The destructor drops a file that is not committed.
/// Memory is bounded, independent of the file's size. Not thread-safe.
class StoreWriter {
public:
  virtual ~StoreWriter();
  /// Appends bytes. May return the error of an earlier write.
  virtual Status write(const void *data, size_t size) = 0;
  /// Makes the file visible and durable. Nothing may be written after it.
  virtual Status commit() = 0;
};

/// Condition of `Store::publish`.
struct PublishCondition {
  /// The version that is replaced; none: there must be no file of that name.
  std::optional<std::string> replaced;
};

/// A place of files. Thread-safe.
class Store {
public:
  virtual ~Store();
  /// Returns the files in `folder`, in byte order of their paths; with
  /// `isRecursive` also those in its subfolders. A missing folder has no files.
  virtual Expected<std::vector<StoredFileInfo>> list(const std::string &folder,
                                                     bool isRecursive) = 0;
  /// Returns the direct subfolders of `folder`: their full paths without a
  /// slash at the end, in byte order.
  virtual Expected<std::vector<std::string>>
  listFolders(const std::string &folder) = 0;
  /// Returns none if there is no such file.
  virtual Expected<std::optional<StoredFileInfo>>
  find(const std::string &path) = 0;
  /// Opens a file. `known`: its information if the caller has it, which saves a
  /// request; a file with another version is then refused when it is read.
  virtual Expected<std::shared_ptr<const StoredFile>>
  open(const std::string &path, const StoredFileInfo *known = nullptr) = 0;
  /// Begins a file. `expectedBytes` is a hint for the size of its parts.
  virtual Expected<std::unique_ptr<StoreWriter>>
  create(const std::string &path, uint64_t expectedBytes) = 0;
  /// Writes a small file if the condition holds, in one atomic step. If it does
  /// not hold, returns PDL_FAILED_PRECONDITION and changes nothing.
  virtual Status publish(const std::string &path, std::string_view bytes,
                         const PublishCondition &condition) = 0;
  /// Removes a file. A missing file is no error.
  virtual Status remove(const std::string &path) = 0;
};

/// Returns the scheme of an address, such as `s3`; empty for a path of this
/// host.
std::string_view schemeOf(std::string_view address);

/// Returns true if a store other than this host's folders holds the file.
bool isInObjectStore(std::string_view address);

/// Returns the store that holds a path or an address. It lives as long as the
/// program. Returns an error that lists the known schemes if none does, or if
/// the store's settings or its library cannot be used. Thread-safe.
Expected<Store *> storeOf(const std::string &address);

/// Returns the store of this host's folders.
Store &localStore();

/// Returns the absolute path of a file of this host. Returns the address of an
/// object in a store unchanged, except that slashes at its end are removed.
std::string absolutePlace(const std::string &path);

/// Returns true if there is a file, and false for a folder. Returns an error if
/// the store cannot tell, or if there is no store for `path` (`storeOf`).
Expected<bool> isStored(const std::string &path);

/// Removes all files of a folder in an object store.
Status removeStoredFolder(const std::string &folder);

/// Reads a whole file, of at most `maxBytes`.
Expected<std::string> readStoredFile(const std::string &path,
                                     uint64_t maxBytes);

/// Returns the information that this program had about the file when it was
/// first asked for or listed, so that all epochs and threads read the same
/// version. Returns an error if there is no such file. Thread-safe.
Expected<StoredFileInfo> pinnedInfo(const std::string &path);

/// Pins a listed file, unless it has been pinned before. Thread-safe.
void pinFile(const StoredFileInfo &info);

/// Opens the version of a file that is pinned (`pinnedInfo`). Thread-safe.
Expected<std::shared_ptr<const StoredFile>> openPinned(const std::string &path);

} // namespace pdlrt

#endif // PDLRT_FILES_STORE_H
