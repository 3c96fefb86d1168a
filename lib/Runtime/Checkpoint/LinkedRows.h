//===- LinkedRows.h - Locations of a table's rows in files ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_LINKEDROWS_H
#define LIB_RUNTIME_CHECKPOINT_LINKEDROWS_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Calls visit(link, index) for each part of a table in a checkpoint and its
/// predecessors, oldest first. `link` is the checkpoint that contains the part,
/// and `index` the part's index in it. Stops at the first error.
template <typename Visit>
Status forEachTablePart(const Checkpoint &checkpoint, const std::string &symbol,
                        Visit visit) {
  return checkpoint.forEachLink([&](const Checkpoint &link) -> Status {
    const std::vector<CheckpointPart> &parts = link.manifest().parts;
    for (size_t p = 0; p < parts.size(); ++p)
      if (parts[p].kind == PartKind::Table && parts[p].symbol == symbol)
        PDLRT_RETURN_IF_ERROR(visit(link, p));
    return {};
  });
}

/// The rows of a table in a checkpoint and its predecessors. Each row refers to
/// the file that contains its newest version.
struct LinkedRows {
  struct Row {
    int64_t key;
    size_t file;
    int64_t index; ///< Row number in the file.
  };
  struct File {
    const Checkpoint *of;
    const SafetensorsFile *content;
    int64_t rows;
  };
  /// Ascending by key.
  std::vector<Row> rows;
  std::vector<File> files;
};

/// Finds the newest version of each row. Reads keys only. The checkpoint must
/// outlive the result. Throws std::bad_alloc.
Expected<LinkedRows> linkRows(const Checkpoint &checkpoint,
                              const std::string &symbol);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_LINKEDROWS_H
