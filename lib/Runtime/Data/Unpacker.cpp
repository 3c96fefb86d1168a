//===- Unpacker.cpp - Decompresses data files -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Unpacker.h"

#include <algorithm>

using namespace pdlrt;

static constexpr Packing gzip = {"gzip", ".gz", "\x1f\x8b"},
                         zstd = {"zstd", ".zst", "\x28\xb5\x2f\xfd"};
static constexpr const Packing *packings[] = {&gzip, &zstd};

std::span<const Packing *const> pdlrt::allPackings() { return packings; }

std::string_view pdlrt::unpackedName(std::string_view path) {
  for (const Packing *packing : packings)
    if (path.ends_with(packing->ending))
      return path.substr(0, path.size() -
                                std::string_view(packing->ending).size());
  return path;
}

const Packing *pdlrt::packingOf(std::string_view begin) {
  for (const Packing *packing : packings)
    if (begin.starts_with(packing->mark))
      return packing;
  return nullptr;
}

bool pdlrt::mayBecomePacked(std::string_view begin) {
  return std::ranges::any_of(packings, [&](const Packing *packing) {
    return begin.size() < packing->mark.size() &&
           packing->mark.starts_with(begin);
  });
}

Status Unpacker::damaged(const std::string &path, const std::string &reason) {
  return Status::dataLoss(path + ": cannot be decompressed: " + reason +
                          "; the file is damaged or incomplete, so fetch it "
                          "again");
}

Expected<std::unique_ptr<Unpacker>> Unpacker::create(const std::string &path,
                                                     PackedBytes packed) {
  for (const Packing *packing : packings)
    if (path.ends_with(packing->ending))
      return create(packing, path, std::move(packed));
  return std::unique_ptr<Unpacker>();
}

Expected<std::unique_ptr<Unpacker>> Unpacker::create(const Packing *packing,
                                                     const std::string &path,
                                                     PackedBytes packed) {
  if (packing == &gzip)
    return createGzipUnpacker(path, std::move(packed));
  if (packing == &zstd)
    return createZstdUnpacker(path, std::move(packed));
  return std::unique_ptr<Unpacker>();
}
