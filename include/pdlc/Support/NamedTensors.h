//===- NamedTensors.h - Named tensors in one file ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes safetensors files (pdlabi/safetensors.h) for the
// interpreter. The runtime uses the same functions for headers, so both accept
// the same files and write the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_NAMEDTENSORS_H
#define PDLC_SUPPORT_NAMEDTENSORS_H

#include "pdlabi/safetensors.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pdlc {

/// One tensor of an open file. Valid as long as the reader.
struct TensorInFile : pdlabi::TensorEntry {
  /// Row-major, little-endian data without alignment. Read it with memcpy.
  const char *data = nullptr;
};

/// Reader of one file. Immutable, so any thread may read.
class NamedTensorsReader {
public:
  /// Opens `path` and checks the header (`pdlabi::readSafetensorsHeader`).
  /// Elements must be F32, F64, I32 or I64. The error message names the file
  /// and, if there is one, the tensor.
  static llvm::Expected<NamedTensorsReader> open(llvm::StringRef path);

  llvm::StringRef path() const { return filePath; }
  /// Returns the tensors by name.
  const std::map<std::string, TensorInFile> &tensors() const { return entries; }
  /// Returns the tensor called `name`; null if there is none.
  const TensorInFile *find(const std::string &name) const;
  /// Returns the texts of the metadata by name.
  const std::map<std::string, std::string> &metadata() const { return texts; }

private:
  std::string filePath;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::map<std::string, TensorInFile> entries;
  std::map<std::string, std::string> texts;
};

/// Collects tensors and writes them as one file. Not thread-safe.
class NamedTensorsWriter {
public:
  /// Adds a tensor. The caller must keep the data alive until `write`. A tensor
  /// replaces an earlier one of the same name.
  void add(std::string name, pdlabi::TensorType type,
           std::vector<int64_t> shape, const void *data);
  void setMetadata(std::string key, std::string value);
  /// Writes the file. Returns an error if `checkReplaceable` or
  /// `pdlabi::layOutSafetensors` fails, or if the file cannot be written. In
  /// these cases, no partly written file of that name exists.
  llvm::Error write(llvm::StringRef path) const;

private:
  std::map<std::string, TensorInFile> entries;
  std::map<std::string, std::string> texts;
};

/// Checks that a new file may replace `path`, if it exists. Fails for a device,
/// a pipe, a folder, a link and the standard output.
llvm::Error checkReplaceable(llvm::StringRef path);

} // namespace pdlc

#endif // PDLC_SUPPORT_NAMEDTENSORS_H
