//===- Safetensors.h - Named tensors in one file ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler half's reader and writer of the safetensors format: eight bytes
// of header length, a JSON header that names each tensor's type, shape and byte
// range, then the bytes. It writes what the runtime's writer writes: 8-byte
// elements first, then by name, header keys sorted.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_SAFETENSORS_H
#define PDLC_SUPPORT_SAFETENSORS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pdlc {

/// The element types that are read and written.
enum class TensorFileType { F32, F64, I32, I64 };

/// Bytes of one element.
size_t sizeOfElement(TensorFileType type);
/// The name in the file, such as "F32".
llvm::StringRef nameOfElement(TensorFileType type);

/// One tensor of an open file; valid as long as the file object.
struct TensorInFile {
  TensorFileType type;
  std::vector<int64_t> shape;
  int64_t elementCount = 0; ///< the product of `shape`
  /// Row-major, little-endian, at any address: read it by memcpy.
  const char *data = nullptr;

  /// Such as "F32 [3, 4]".
  std::string typeAndShape() const;
};

/// A file opened for reading. Immutable: any thread may read.
class SafetensorsReader {
public:
  /// Opens `path` and checks the header: types, shapes, and that each byte
  /// range lies in the file and has the length of its tensor. An error is one
  /// sentence that names the file and, where there is one, the tensor.
  static llvm::Expected<SafetensorsReader> open(llvm::StringRef path);

  llvm::StringRef path() const { return filePath; }
  /// By name.
  const std::map<std::string, TensorInFile> &tensors() const { return entries; }
  /// Null if there is none of that name.
  const TensorInFile *find(const std::string &name) const;
  /// Texts by name; those that are none are left out.
  const std::map<std::string, std::string> &metadata() const { return texts; }

private:
  std::string filePath;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::map<std::string, TensorInFile> entries;
  std::map<std::string, std::string> texts;
};

/// Collects tensors and writes them as one file. Not thread-safe.
class SafetensorsWriter {
public:
  /// Adds a tensor whose bytes the caller keeps alive until `write`. A later
  /// tensor of the same name replaces an earlier one.
  void add(std::string name, TensorFileType type, std::vector<int64_t> shape,
           const void *data);
  void setMetadata(std::string key, std::string value);
  /// Writes the file; on failure there is no file of that name that is partly
  /// new. Fails where `checkReplaceable` does.
  llvm::Error write(llvm::StringRef path) const;

private:
  std::map<std::string, TensorInFile> entries;
  std::map<std::string, std::string> texts;
};

/// Whether a new file may take the place of what stands at `path`, if anything
/// does: not of a device, a pipe, a folder or a link, nor of the standard
/// output.
llvm::Error checkReplaceable(llvm::StringRef path);

} // namespace pdlc

#endif // PDLC_SUPPORT_SAFETENSORS_H
