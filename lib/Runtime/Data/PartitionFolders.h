//===- PartitionFolders.h - Values in the names of folders ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_PARTITIONFOLDERS_H
#define LIB_RUNTIME_DATA_PARTITIONFOLDERS_H

#include <map>
#include <optional>
#include <string>

namespace pdlrt {

/// Values of columns that folders of a path name, in the manner of Hive:
/// `day=2026-11-29/hour=7/part.parquet` has the columns `day` and `hour`.
/// Characters that are encoded as `%3A` are decoded. None: the value is
/// missing. The innermost folder with a name counts.
std::map<std::string, std::optional<std::string>>
partitionValuesOf(const std::string &path);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_PARTITIONFOLDERS_H
