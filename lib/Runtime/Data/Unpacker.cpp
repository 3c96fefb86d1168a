//===- Unpacker.cpp - What a packed file holds ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Unpacker.h"

#include <iterator>

using namespace pdlrt;

static constexpr Packing gzip = {"gzip", ".gz"}, zstd = {"zstd", ".zst"};

std::string_view pdlrt::unpackedName(std::string_view path) {
  for (const Packing &packing : {gzip, zstd})
    if (path.ends_with(packing.ending))
      return path.substr(0,
                         path.size() - std::string_view(packing.ending).size());
  return path;
}

const Packing *pdlrt::packingOf(std::string_view begin) {
  if (begin.starts_with("\x1f\x8b"))
    return &gzip;
  return begin.starts_with("\x28\xb5\x2f\xfd") ? &zstd : nullptr;
}

Status Unpacker::damaged(const std::string &path, const std::string &reason) {
  return Status::invalid(path + ": cannot be decompressed: " + reason +
                         "; the file is damaged or incomplete, so fetch it "
                         "again");
}

Expected<std::unique_ptr<Unpacker>> Unpacker::create(const std::string &path,
                                                     PackedBytes packed) {
  if (path.ends_with(gzip.ending))
    return createGzipUnpacker(path, std::move(packed));
  if (path.ends_with(zstd.ending))
    return createZstdUnpacker(path, std::move(packed));
  return std::unique_ptr<Unpacker>();
}
