//===- ExportedParts.h - What exports have in common ------------*- C++ -*-===//
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

/// A folder that is made under another name, and goes with the object unless it
/// got its own.
class NewFolder {
public:
  explicit NewFolder(const std::string &finalPath);
  ~NewFolder();
  NewFolder(const NewFolder &) = delete;
  NewFolder &operator=(const NewFolder &) = delete;

  /// An error where there is something of the final name.
  Status create();
  /// Flushes the names in it to the disk, and gives it its own.
  Status commit();

  const std::string path;

private:
  Status cannotWrite(std::error_code error) const;

  const std::string finalPath;
};

/// The place of the slot among those of the symbol, as a part; 0: it has none
/// of that name and of its value's size.
size_t slotPartOf(const CheckpointSymbol &symbol, const std::string &slot);

/// An error where no symbol has such a slot; "" is none that is asked for.
Status checkSlot(const Checkpoint &checkpoint, const std::string &slot);

/// The name of a parameter's tensor in a checkpoint's dense files, and in that
/// of an export.
std::string fullTensorName(const CheckpointSymbol &symbol, size_t part);

/// Reads a part of a parameter. Throws std::bad_alloc.
Expected<std::vector<std::byte>> readParameter(const Checkpoint &checkpoint,
                                               const CheckpointSymbol &symbol,
                                               size_t part);

inline constexpr const char *parametersName = "dense.safetensors";

/// Writes the parameters, or their slot `slot` where they have it, as one file
/// in `folder`, and returns its digest; none where there are no parameters.
/// Throws std::bad_alloc.
Expected<std::optional<FileDigest>>
writeParameters(const Checkpoint &checkpoint, const std::string &slot,
                const std::string &folder);

/// An error where the file does not have that digest. All of it is read.
Status checkFile(const std::string &path, const FileDigest &digest);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVING_EXPORTEDPARTS_H
