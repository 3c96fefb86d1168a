//===- KeyValueExport.h - Exports for key-value stores ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An export for key-value stores is a folder. It contains the rows of each
// table as files of keys and values, sorted by key within a file and over all
// files of a table. It also contains the parameters as one safetensors file,
// and the manifest `key-values.json`. Rows are written and compared in bounded
// memory.
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

/// Returns true if `folder` is an export for key-value stores. Errors of an
/// object store are returned.
Expected<bool> isKeyValueExport(const std::string &folder);

/// A file with rows of a table, at least one.
struct KeyValueFile {
  std::string file; ///< Name in the folder.
  int64_t rows = 0;
  int64_t firstKey = 0, lastKey = 0;
  FileDigest digest;
};

struct KeyValueTable {
  std::string name;
  /// The part of rows that is exported: "values", or "slot.<slot>".
  std::string part;
  RowElements elements;
  std::vector<KeyValueFile> files;
  /// Description of how keys are made from fields, with one line for each way.
  /// Empty if the checkpoint does not contain it.
  std::string keys = {};

  int64_t rows() const;
};

/// Contents of an export.
struct KeyValueManifest {
  std::string format; ///< Format of its tables
  std::string model;
  int64_t steps = 0;
  /// Name of the slot that is exported in place of the value, for symbols that
  /// have this slot. Empty: values.
  std::string slot;
  std::vector<KeyValueTable> tables;
  /// Digest of the file of parameters; nullopt if there is no such file.
  std::optional<FileDigest> parameters;
};

/// `encodeKeyValues` and `decodeKeyValues` convert a manifest to text and back.
/// If the text is invalid, the latter returns an error whose message begins
/// with `path`. Safe for arbitrary bytes.
std::string encodeKeyValues(const KeyValueManifest &manifest);
Expected<KeyValueManifest> decodeKeyValues(const std::string &text,
                                           const std::string &path);

struct KeyValueOptions {
  /// Name of the slot to export in place of the value, for symbols that have
  /// this slot. Empty: values.
  std::string slot;
  /// Size in bytes at which a file ends, after the row with which it reaches
  /// the size.
  uint64_t bytesInFile = UINT64_MAX;
  /// Maximum size of rows in memory, in bytes.
  size_t memory = size_t(256) << 20;
};

/// Exports a checkpoint to the new folder `path`. After an error, there is no
/// folder `path`. Values that are stored in 16 bits are converted to F32
/// exactly. Throws std::bad_alloc.
Status exportKeyValues(const Checkpoint &checkpoint,
                       const KeyValueFormat &format,
                       const KeyValueOptions &options, const std::string &path);

/// Verifies an export by reading all its files, and returns its manifest.
/// `formats` must contain the format of its files. An error message names the
/// data that is missing or has changed. Throws std::bad_alloc.
Expected<KeyValueManifest>
verifyKeyValues(const std::string &path,
                std::span<const KeyValueFormat *const> formats);

/// Compares an export with a checkpoint, bit by bit; tables in the order of
/// keys. Creates at most `limit` messages, in which the export comes first.
/// Returns an error if the export or the checkpoint cannot be read. `memory` is
/// as in KeyValueOptions. Throws std::bad_alloc.
Expected<StateDifferences>
compareKeyValues(const std::string &path,
                 std::span<const KeyValueFormat *const> formats,
                 const Checkpoint &checkpoint, size_t limit,
                 size_t memory = KeyValueOptions().memory);

} // namespace pdlrt

#endif // PDLRT_SERVING_KEYVALUEEXPORT_H
