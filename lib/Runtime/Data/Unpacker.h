//===- Unpacker.h - What a packed file holds --------------------*- C++ -*-===//
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
#include <string>
#include <string_view>

namespace pdlrt {

/// What has packed a file, and the end of its name that says so.
struct Packing {
  const char *name, *ending;
  /// What it begins with.
  std::string_view mark;
};

/// Gives the unpacked bytes of a file, from its begin to its end. One thread at
/// a time.
class Unpacker {
public:
  /// Reads up to `size` of the packed bytes; 0 at their end.
  using PackedBytes = std::function<Expected<size_t>(char *bytes, size_t size)>;

  /// For a file of that name: by its end, .gz or .zst. Null: it is not packed.
  /// Errors begin with the path.
  static Expected<std::unique_ptr<Unpacker>> create(const std::string &path,
                                                    PackedBytes packed);
  /// For bytes of that packing (null: they are not packed), which `path` is the
  /// name of in errors.
  static Expected<std::unique_ptr<Unpacker>>
  create(const Packing *packing, const std::string &path, PackedBytes packed);
  virtual ~Unpacker() = default;

  /// Reads up to `size` > 0 bytes; 0 at the end, which is that of a whole
  /// member, or frame, with the right checksum.
  virtual Expected<size_t> read(char *destination, size_t size) = 0;

  /// For each of them.
  static Status damaged(const std::string &path, const std::string &reason);
};

/// `path` without the end that says what has packed the file.
std::string_view unpackedName(std::string_view path);

/// What has packed bytes that begin so; null: nothing that is known.
const Packing *packingOf(std::string_view begin);
/// Whether more bytes behind these may make a beginning of that kind.
bool mayBecomePacked(std::string_view begin);

/// Those for each packing.
Expected<std::unique_ptr<Unpacker>>
createGzipUnpacker(const std::string &path, Unpacker::PackedBytes packed);
Expected<std::unique_ptr<Unpacker>>
createZstdUnpacker(const std::string &path, Unpacker::PackedBytes packed);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_UNPACKER_H
