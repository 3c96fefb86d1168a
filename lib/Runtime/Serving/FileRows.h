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

/// Some rows of a table, in a file that is open.
struct FileRows {
  std::string file;
  const TensorView *keys, *values;
  /// Of a checkpoint: what the order of its keys has to be.
  std::optional<KeyPlaces> places = {};
};

/// A table of a checkpoint of which one part is read: 0 the value, or slot
/// `part` - 1.
TableOptions optionsOfPart(const CheckpointSymbol &symbol, size_t part);

/// A table of these rows, in the form in which frozen programs read them. An
/// error names the file. Throws std::bad_alloc.
Expected<FrozenTable> freezeRows(const TableOptions &options,
                                 const std::vector<FileRows> &sources);

/// The same of all rows that a table has in a checkpoint, and in what it
/// follows if it is a delta: of tensor `tensor`, which has that type.
Expected<FrozenTable> freezeTable(const TableOptions &options,
                                  const Checkpoint &checkpoint,
                                  const std::string &table,
                                  const std::string &tensor, TensorType type);

/// The same of what a delta alone changes; erased keys are removed ones.
Expected<FrozenTable> freezeChanges(const TableOptions &options,
                                    const Checkpoint &delta,
                                    const std::string &table,
                                    const std::string &tensor, TensorType type);

/// `count` elements of a file, widened to f64 where that is asked for.
Status copyElements(const TensorView &tensor, int64_t first, int64_t count,
                    int32_t elementType, void *out);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVING_FILEROWS_H
