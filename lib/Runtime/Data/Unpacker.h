//===- Unpacker.h - Decompresses data files ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_UNPACKER_H
#define LIB_RUNTIME_DATA_UNPACKER_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pdlrt {

/// A compression format and its file extension.
struct Packing {
  const char *name, *ending;
  /// The first bytes of such files.
  std::string_view mark;
};

/// Returns the decompressed bytes of a file, from start to end. Not
/// thread-safe.
class Unpacker {
public:
  /// Reads up to `size` compressed bytes; returns 0 at their end.
  using PackedBytes = std::function<Expected<size_t>(char *bytes, size_t size)>;

  /// Creates a decompressor for a file by its extension, .gz or .zst. Returns
  /// null if the file is not compressed. Errors begin with the path.
  static Expected<std::unique_ptr<Unpacker>> create(const std::string &path,
                                                    PackedBytes packed);
  /// Creates a decompressor for that format; null for uncompressed bytes.
  /// `path`: the name in errors.
  static Expected<std::unique_ptr<Unpacker>>
  create(const Packing *packing, const std::string &path, PackedBytes packed);
  virtual ~Unpacker() = default;

  /// Reads up to `size` > 0 bytes. Returns 0 at the end, if the last member or
  /// frame is complete and has the right checksum.
  virtual Expected<size_t> read(char *destination, size_t size) = 0;

  /// Returns the error about damaged data, for all formats.
  static Status damaged(const std::string &path, const std::string &reason);
};

/// Returns all compression formats.
std::span<const Packing *const> allPackings();

/// Returns `path` without the extension of the compression format.
std::string_view unpackedName(std::string_view path);

/// Returns the format that begins with these bytes, or null if it is unknown.
const Packing *packingOf(std::string_view begin);
/// Returns true if `begin` is an incomplete beginning of such a format.
bool mayBecomePacked(std::string_view begin);

/// Create the decompressor of each format.
Expected<std::unique_ptr<Unpacker>>
createGzipUnpacker(const std::string &path, Unpacker::PackedBytes packed);
Expected<std::unique_ptr<Unpacker>>
createZstdUnpacker(const std::string &path, Unpacker::PackedBytes packed);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_UNPACKER_H
