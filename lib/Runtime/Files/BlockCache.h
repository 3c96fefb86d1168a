//===- BlockCache.h - Keeps blocks of stored files in memory ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_BLOCKCACHE_H
#define LIB_RUNTIME_FILES_BLOCKCACHE_H

#include "pdlrt/Files/Store.h"

#include <memory>

namespace pdlrt {

/// Returns a view of a file that turns small reads into requests for blocks of
/// 4 MiB. All files of the process share up to 128 MiB of blocks; the ones that
/// were used last stay. Larger reads are passed on. Thread-safe.
std::shared_ptr<const StoredFile>
cacheBlocks(std::shared_ptr<const StoredFile> file);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_BLOCKCACHE_H
