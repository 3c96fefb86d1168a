//===- FileRows.h - Rows of a table in files --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVING_FILEROWS_H
#define LIB_RUNTIME_SERVING_FILEROWS_H

#include "Checkpoint/KeyPlaces.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Table/FrozenTable.h"
#include "pdlrt/Table/TableOptions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Some rows of a table, in an open file.
struct FileRows {
  std::string file;
  const TensorView *keys, *values;
  /// Checks the order of a checkpoint's keys.
  std::optional<KeyPlaces> places = {};
};

/// Returns options for a table that is read from a checkpoint. Frozen programs
/// read the value if `part` is 0, otherwise slot `part` - 1.
TableOptions optionsOfPart(const CheckpointSymbol &symbol, size_t part);

/// Creates a table of all rows in `sources`, in the form that frozen programs
/// read. An error names the file. Throws std::bad_alloc.
Expected<FrozenTable> freezeRows(const TableOptions &options,
                                 const std::vector<FileRows> &sources);

/// Creates a table, as `freezeRows` does, of all rows of `table` in a
/// checkpoint. If the checkpoint is a delta, includes the rows of its
/// predecessors. Values are read from the tensor `tensor`, which must have type
/// `type`.
Expected<FrozenTable> freezeTable(const TableOptions &options,
                                  const Checkpoint &checkpoint,
                                  const std::string &table,
                                  const std::string &tensor, TensorType type);

/// Creates a table from the changes in a delta only. Erased keys become removed
/// keys.
Expected<FrozenTable> freezeChanges(const TableOptions &options,
                                    const Checkpoint &delta,
                                    const std::string &table,
                                    const std::string &tensor, TensorType type);

/// Copies `count` elements of a file, widened to f64 if requested.
Status copyElements(const TensorView &tensor, int64_t first, int64_t count,
                    int32_t elementType, void *out);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVING_FILEROWS_H
