//===- KeyValueExport.h - A checkpoint for key-value stores -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder with the rows of each table as files of keys and values, sorted by
// key, of which each file has the keys behind those of the one before; the
// parameters as one safetensors file; and a manifest, `key-values.json`. The
// rows pass through a bounded memory, on their way in and when they are
// compared.
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

/// Whether the folder is such an export.
bool isKeyValueExport(const std::string &folder);

/// A file of a table: at least one row.
struct KeyValueFile {
  std::string file; ///< its name in the folder
  int64_t rows = 0;
  int64_t firstKey = 0, lastKey = 0;
  FileDigest digest;
};

struct KeyValueTable {
  std::string name;
  /// Which part of rows is here: "values", or "slot.<slot>".
  std::string part;
  RowElements elements;
  std::vector<KeyValueFile> files;
  /// How keys come from fields, one way a line; empty: the checkpoint does not
  /// say it.
  std::string keys = {};

  int64_t rows() const;
};

/// What an export consists of.
struct KeyValueManifest {
  std::string format; ///< of its tables
  std::string model;
  int64_t steps = 0;
  /// The slot that is here in the place of values, where symbols have it.
  std::string slot;
  std::vector<KeyValueTable> tables;
  /// Of the file of parameters, if there is one.
  std::optional<FileDigest> parameters;
};

/// The manifest as the text of a file, and back: an error, which begins with
/// `path`, where the text is none. Any bytes are safe.
std::string encodeKeyValues(const KeyValueManifest &manifest);
Expected<KeyValueManifest> decodeKeyValues(const std::string &text,
                                           const std::string &path);

struct KeyValueOptions {
  /// Exported in the place of values, where symbols have it; "": values.
  std::string slot;
  /// A file ends behind the row that brings it to as many bytes.
  uint64_t bytesInFile = UINT64_MAX;
  /// Bytes of rows that are in memory.
  size_t memory = size_t(256) << 20;
};

/// Writes the export of a checkpoint as the folder `path`, which appears whole
/// or not at all. Values that are stored in 16 bits are widened to F32,
/// exactly. Throws std::bad_alloc.
Status exportKeyValues(const Checkpoint &checkpoint,
                       const KeyValueFormat &format,
                       const KeyValueOptions &options, const std::string &path);

/// What an export is made of; all of it is read, with that of `formats` which
/// wrote it. An error names what is missing or changed. Throws std::bad_alloc.
Expected<KeyValueManifest>
verifyKeyValues(const std::string &path,
                std::span<const KeyValueFormat *const> formats);

/// Where an export differs from a checkpoint in a bit, tables in order of keys;
/// at most `limit` sentences, in which the export is the first. An error where
/// one of them cannot be read. `memory` as in the options. Throws
/// std::bad_alloc.
Expected<StateDifferences>
compareKeyValues(const std::string &path,
                 std::span<const KeyValueFormat *const> formats,
                 const Checkpoint &checkpoint, size_t limit,
                 size_t memory = KeyValueOptions().memory);

} // namespace pdlrt

#endif // PDLRT_SERVING_KEYVALUEEXPORT_H
