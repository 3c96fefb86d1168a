//===- PackedFactors.cpp - Constant factors, packed once ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/PackedFactors.h"

#include "pdlrt/Core/Finite.h"
#include "pdlrt/Gemm/Int8Gemm.h"
#include "pdlrt/Gemm/TileGemm.h"

#include <memory>
#include <new>
#include <utility>

using namespace pdlrt;

/// Larger factors are packed by each product: they would be in memory twice,
/// and their products take long anyway.
static constexpr size_t maxBytes = size_t(16) << 20;

PackedFactors::~PackedFactors() {
  for (const Entry *entry = first.load(); entry;)
    delete std::exchange(entry, entry->next);
}

void PackedFactors::addConstant(const void *begin, size_t bytes) {
  constants.push_back({static_cast<const char *>(begin), bytes});
}

/// Returns the size of B in memory, including gaps, in bytes.
static size_t extentOfB(const GemmCall &call) {
  const int64_t rows = call.transposeB ? call.n : call.k;
  const int64_t columns = call.transposeB ? call.k : call.n;
  return size_t((rows - 1) * call.strideOfB() + columns) *
         elementSize(call.type);
}

static bool isSameFactor(const GemmCall &a, const GemmCall &b) {
  return a.b == b.b && a.type == b.type && a.transposeB == b.transposeB &&
         a.n == b.n && a.k == b.k && a.strideOfB() == b.strideOfB();
}

const PackedFactors::Entry *PackedFactors::lookUp(const GemmCall &call,
                                                  int parts) const {
  const Entry *entry = first.load(std::memory_order_acquire);
  while (entry && (entry->parts != parts || !isSameFactor(entry->call, call)))
    entry = entry->next;
  return entry;
}

const PackedFactor *PackedFactors::find(const GemmCall &call, int parts) {
  if (call.n < 2 || call.k < 1)
    return nullptr;
  if (const Entry *entry = lookUp(call, parts))
    return &entry->factor;
  const size_t extent = extentOfB(call);
  if (extent > maxBytes)
    return nullptr;
  const auto *begin = static_cast<const char *>(call.b);
  for (size_t i = 0; i < constants.size(); ++i) {
    const Constant &constant = constants[i];
    if (!constant.begin || begin < constant.begin ||
        begin + extent > constant.begin + constant.bytes)
      continue;
    try {
      return &add(call, parts, i)->factor;
    } catch (const std::bad_alloc &) {
      // The product can use B itself.
      return nullptr;
    }
  }
  return nullptr;
}

/// Packs for the strict kernels, and returns the number of bytes.
static size_t packStrict(const GemmCall &call, PackedFactor &factor) {
  const GemmIsa isa = nativeGemmIsa();
  const int64_t count = packStrictFactor(isa, call, nullptr);
  const size_t bytes = size_t(count) * elementSize(call.type);
  void *const packed = factor.packed.reserve(bytes);
  packStrictFactor(isa, call, packed);
  factor.isFinite = allFinite(call.type, count, packed);
  return bytes;
}

/// Packs for AMX, and returns the number of bytes.
static size_t packTiles(const GemmCall &call, int parts, PackedFactor &factor) {
  const auto bytes = size_t(packTileFactor(parts, call, nullptr));
  packTileFactor(parts, call, factor.packed.reserve(bytes));
  return bytes;
}

/// Quantizes to int8, and returns the number of bytes.
static size_t packInt8(const GemmCall &call, PackedFactor &factor) {
  const auto bytes = size_t(packInt8Factor(call, nullptr));
  packInt8Factor(call, factor.packed.reserve(bytes));
  return bytes;
}

const PackedFactors::Entry *PackedFactors::add(const GemmCall &call, int parts,
                                               size_t constant) {
  const MutexLock lock(mutex);
  // Another thread may have added it.
  if (const Entry *entry = lookUp(call, parts))
    return entry;
  auto entry = std::make_unique<Entry>();
  entry->call = call;
  entry->parts = parts;
  entry->constant = constant;
  entry->offset =
      size_t(static_cast<const char *>(call.b) - constants[constant].begin);
  const size_t bytes = parts == int8Layout ? packInt8(call, entry->factor)
                       : parts ? packTiles(call, parts, entry->factor)
                               : packStrict(call, entry->factor);
  entry->next = first.load(std::memory_order_relaxed);
  packedBytes.fetch_add(bytes, std::memory_order_relaxed);
  first.store(entry.get(), std::memory_order_release);
  return entry.release();
}

void PackedFactors::packAs(const PackedFactors &other) {
  isInt8 = other.isInt8;
  for (const Entry *entry = other.first.load(std::memory_order_acquire); entry;
       entry = entry->next) {
    if (entry->constant >= constants.size() ||
        !constants[entry->constant].begin)
      continue;
    GemmCall call = entry->call;
    call.b = constants[entry->constant].begin + entry->offset;
    if (entry->offset + extentOfB(call) <= constants[entry->constant].bytes &&
        !lookUp(call, entry->parts))
      add(call, entry->parts, entry->constant);
  }
}
