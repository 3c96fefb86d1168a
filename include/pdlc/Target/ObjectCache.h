//===- ObjectCache.h - What was compiled before -----------------*- C++ -*-===//
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
#include <optional>

namespace pdlc {

/// A folder of what code generation made of parts of programs, found by what it
/// was made of. Several threads and processes may use one folder.
///
/// A file holds its key and a checksum, which are verified when it is read; it
/// appears whole, under its name, or not at all. A damaged one is as if it were
/// not there. Nothing is ever stale: the key covers all that the bytes depend
/// on, down to the builds of the compiler and of the libraries that it loads.
class ObjectCache {
public:
  using Key = std::array<uint8_t, 32>;

  /// How parts fared so far.
  struct Counts {
    unsigned found = 0, made = 0, damaged = 0;
  };

  /// Opens a folder, which is created if it is not there. Fails with a sentence
  /// if it cannot be written to.
  static llvm::Expected<std::unique_ptr<ObjectCache>>
  open(llvm::StringRef folder);

  /// The key of what becomes of `part`, a module as bitcode. `kind` names what
  /// that is. Thread-safe.
  Key keyOf(llvm::ArrayRef<char> part, llvm::StringRef kind,
            const TargetSpec &spec) const;

  /// What is there under the key, if it is there and whole. Thread-safe.
  std::optional<llvm::SmallVector<char, 0>> find(const Key &key);

  /// Keeps the bytes under the key; where that fails, `complaint` says so. Who
  /// compiles has them anyway. Thread-safe.
  void keep(const Key &key, llvm::ArrayRef<char> bytes);

  /// Why some bytes could not be kept, empty if all were.
  std::string complaint() const;

  /// Removes files until the folder is within the bounds, if that was not done
  /// within their interval.
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
