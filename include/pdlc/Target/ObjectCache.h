//===- ObjectCache.h - Cache of compiled objects ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_OBJECTCACHE_H
#define PDLC_TARGET_OBJECTCACHE_H

#include "pdlc/Target/TargetSpec.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Error.h"
#include <array>
#include <atomic>
#include <mutex>
#include <optional>

namespace pdlc {

/// On-disk cache of compiled program parts, keyed by their input. Several
/// threads and processes may use one folder.
///
/// Each file contains its key and a checksum, which are verified on every read.
/// A file appears complete or not at all. A damaged file counts as missing.
/// Entries never become stale: the key covers everything that the result
/// depends on, including the builds of the compiler and of the libraries that
/// it loads.
class ObjectCache {
public:
  using Key = std::array<uint8_t, 32>;

  /// Numbers of parts that were found, compiled and found damaged so far.
  struct Counts {
    unsigned found = 0, made = 0, damaged = 0;
  };

  /// Opens a folder, and creates it if it does not exist. Fails with an error
  /// message if the folder is not writable.
  static llvm::Expected<std::unique_ptr<ObjectCache>>
  open(llvm::StringRef folder);

  /// Returns the key for the result of compiling `part`, a module as bitcode.
  /// `kind` names the kind of result. Thread-safe.
  Key keyOf(llvm::ArrayRef<char> part, llvm::StringRef kind,
            const TargetSpec &spec) const;

  /// Returns the entry of the key, if it exists and is intact. Thread-safe.
  std::optional<llvm::SmallVector<char, 0>> find(const Key &key);

  /// Stores `bytes` under the key. If this fails, the caller can continue
  /// without the cache; `complaint` returns the reason. Thread-safe.
  void keep(const Key &key, llvm::ArrayRef<char> bytes);

  /// Returns the reason why some bytes could not be stored; empty if all were.
  std::string complaint() const;

  /// Removes files until the folder is within the limits of the policy. Does
  /// nothing if the interval of the policy has not passed since the last time.
  void prune(const llvm::CachePruningPolicy &policy) const;

  Counts counts() const { return {found, made, damaged}; }

private:
  explicit ObjectCache(llvm::StringRef folder);
  std::string pathOf(const Key &key) const;
  llvm::Error write(const Key &key, llvm::ArrayRef<char> bytes);

  std::string folder, compiler;
  mutable std::mutex mutex;
  std::string firstComplaint;
  std::atomic<unsigned> found = 0, made = 0, damaged = 0;
};

} // namespace pdlc

#endif // PDLC_TARGET_OBJECTCACHE_H
