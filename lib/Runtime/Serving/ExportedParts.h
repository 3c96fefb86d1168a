//===- ExportedParts.h - Common code of exports -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVING_EXPORTEDPARTS_H
#define LIB_RUNTIME_SERVING_EXPORTEDPARTS_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace pdlrt {

/// A folder that is created under a temporary name, and gets its final name by
/// `commit`. The destructor removes a folder that was not committed. A folder
/// in an object store has its final name at once: write its manifest last. Its
/// file `.pdl-export` shows other processes that one process writes to it.
class NewFolder {
public:
  explicit NewFolder(const std::string &finalPath);
  ~NewFolder();
  NewFolder(const NewFolder &) = delete;
  NewFolder &operator=(const NewFolder &) = delete;

  /// Creates the folder. Returns an error if the final name exists, or if
  /// another process writes to it.
  Status create();
  /// Syncs the names in the folder to disk, and renames the folder to its final
  /// name.
  Status commit();

  const std::string path;

private:
  Status cannotWrite(std::error_code error) const;
  Status isThere() const;
  Status claim();
  void removeFiles() const;

  const std::string finalPath;
  bool isUnfinished = false;
};

/// Returns the part number of a slot: 1 for the first slot of the symbol.
/// Returns 0, the number of the value, if no slot has this name and the size of
/// the value.
size_t slotPartOf(const CheckpointSymbol &symbol, const std::string &slot);

/// Returns an error if no symbol has a slot with the name `slot`. An empty name
/// passes.
Status checkSlot(const Checkpoint &checkpoint, const std::string &slot);

/// Returns the name of the tensor of a parameter's value (part 0) or slot
/// `part` - 1 in dense files of checkpoints and exports.
std::string fullTensorName(const CheckpointSymbol &symbol, size_t part);

/// Reads a part of a parameter. Throws std::bad_alloc.
Expected<std::vector<std::byte>> readParameter(const Checkpoint &checkpoint,
                                               const CheckpointSymbol &symbol,
                                               size_t part);

inline constexpr const char *parametersName = "dense.safetensors";

/// Writes the parameters as one file in `folder`. If `slot` is not empty,
/// writes this slot of each parameter that has it, instead of the value.
/// Returns the digest of the file, or none if there are no parameters. Throws
/// std::bad_alloc.
Expected<std::optional<FileDigest>>
writeParameters(const Checkpoint &checkpoint, const std::string &slot,
                const std::string &folder);

/// Reads the file, and returns an error if it does not have that digest.
Status checkFile(const std::string &path, const FileDigest &digest);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVING_EXPORTEDPARTS_H
