//===- KeyValueExport.h - Exports for key-value stores ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An export for key-value stores is a folder. It contains the rows of each
// table as files of keys and values, sorted by key within and across files; the
// parameters as one safetensors file; and a manifest, `key-values.json`. Rows
// are written and compared in bounded memory.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_KEYVALUEEXPORT_H
#define PDLRT_SERVING_KEYVALUEEXPORT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Serving/KeyValueFiles.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

inline constexpr const char *keyValueManifestName = "key-values.json";

/// Returns true if the folder is such an export.
bool isKeyValueExport(const std::string &folder);

/// A file of a table, with at least one row.
struct KeyValueFile {
  std::string file; ///< Name in the folder.
  int64_t rows = 0;
  int64_t firstKey = 0, lastKey = 0;
  FileDigest digest;
};

struct KeyValueTable {
  std::string name;
  /// Exported part of the rows: "values", or "slot.<slot>".
  std::string part;
  RowElements elements;
  std::vector<KeyValueFile> files;
  /// Description of how keys are made from fields, one way per line. Empty if
  /// the checkpoint does not contain it.
  std::string keys = {};

  int64_t rows() const;
};

/// Contents of an export.
struct KeyValueManifest {
  std::string format; ///< Format of its tables
  std::string model;
  int64_t steps = 0;
  /// Slot that is exported instead of the values of symbols that have it.
  std::string slot;
  std::vector<KeyValueTable> tables;
  /// Digest of the file of parameters, if there is one.
  std::optional<FileDigest> parameters;
};

/// Encode and decode the manifest as text. An invalid text is an error that
/// begins with `path`. Safe for arbitrary bytes.
std::string encodeKeyValues(const KeyValueManifest &manifest);
Expected<KeyValueManifest> decodeKeyValues(const std::string &text,
                                           const std::string &path);

struct KeyValueOptions {
  /// Slot to export instead of the values of symbols that have it; "": values.
  std::string slot;
  /// A file ends with the row at which it reaches this size.
  uint64_t bytesInFile = UINT64_MAX;
  /// Maximum bytes of rows in memory.
  size_t memory = size_t(256) << 20;
};

/// Exports a checkpoint to the folder `path`, which appears complete or not at
/// all. Values that are stored in 16 bits are widened to F32, without loss.
/// Throws std::bad_alloc.
Status exportKeyValues(const Checkpoint &checkpoint,
                       const KeyValueFormat &format,
                       const KeyValueOptions &options, const std::string &path);

/// Verifies an export by reading all of it, with the format in `formats` that
/// wrote it, and returns its contents. An error says what is missing or
/// changed. Throws std::bad_alloc.
Expected<KeyValueManifest>
verifyKeyValues(const std::string &path,
                std::span<const KeyValueFormat *const> formats);

/// Compares an export with a checkpoint, bit by bit, tables in order of keys.
/// Creates at most `limit` messages, in which the export comes first. Returns
/// an error if one of the two cannot be read. `memory` as in the options.
/// Throws std::bad_alloc.
Expected<StateDifferences>
compareKeyValues(const std::string &path,
                 std::span<const KeyValueFormat *const> formats,
                 const Checkpoint &checkpoint, size_t limit,
                 size_t memory = KeyValueOptions().memory);

} // namespace pdlrt

#endif // PDLRT_SERVING_KEYVALUEEXPORT_H
