//===- SpreadTables.cpp - Tables on several devices -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/SpreadTables.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/State/Model.h"

#include <algorithm>
#include <cstring>

using namespace pdlrt;

Expected<std::unique_ptr<SpreadTables>>
SpreadTables::create(std::span<Device *const> devices, const Model &model) {
  std::unique_ptr<SpreadTables> tables(
      new SpreadTables(*devices.front(), model.descriptor()));
  for (size_t d = 0; d < devices.size(); ++d) {
    Expected<std::unique_ptr<DeviceTables>> share =
        DeviceTables::create(*devices[d], model, {int(d), int(devices.size())});
    if (!share)
      return std::move(share).status();
    tables->shares.push_back(std::move(*share));
  }
  tables->parts.resize(devices.size());
  return tables;
}

bool SpreadTables::holds(int32_t symbol) const {
  return shares.front()->holds(symbol);
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

void SpreadTables::split(int32_t symbol, int64_t count, const int64_t *keys,
                         DeviceRows &lookup) const {
  lookup.symbol = symbol;
  lookup.count = count;
  lookup.parts.resize(shares.size());
  for (DeviceRows &part : lookup.parts) {
    part.ownKeys.clear();
    part.places.clear();
  }
  const int devices = int(shares.size());
  for (int64_t i = 0; i < count; ++i) {
    DeviceRows &part = lookup.parts[TableShare::ownerOf(keys[i], devices)];
    part.ownKeys.push_back(keys[i]);
    part.places.push_back(i);
  }
}

Status SpreadTables::pull(int32_t symbol, int64_t count, const int64_t *keys,
                          DeviceRows &lookup) {
  if (isOne())
    return shares.front()->pull(symbol, count, keys, lookup);
  split(symbol, count, keys, lookup);
  for (size_t d = 0; d < shares.size(); ++d) {
    DeviceRows &part = lookup.parts[d];
    PDLRT_RETURN_IF_ERROR(shares[d]->pull(symbol, int64_t(part.ownKeys.size()),
                                          part.ownKeys.data(), part));
  }
  return {};
}

Status SpreadTables::find(int32_t symbol, int64_t count, const int64_t *keys,
                          DeviceRows &lookup) {
  if (isOne())
    return shares.front()->find(symbol, count, keys, lookup);
  split(symbol, count, keys, lookup);
  PDLRT_RETURN_IF_ERROR(
      reserve(first, lookup.rowsOnHost, DeviceBuffer::Kind::OfHost,
              std::max(size_t(count) * sizeof(void *), sizeof(void *))));
  auto **rows = static_cast<void **>(lookup.rowsOnHost.data());
  for (size_t d = 0; d < shares.size(); ++d) {
    DeviceRows &part = lookup.parts[d];
    PDLRT_RETURN_IF_ERROR(shares[d]->find(symbol, int64_t(part.ownKeys.size()),
                                          part.ownKeys.data(), part));
    const auto *found = static_cast<void *const *>(part.rowsOnHost.data());
    for (size_t i = 0; i < part.places.size(); ++i)
      rows[part.places[i]] = found[i];
  }
  return {};
}

Status SpreadTables::gather(DeviceRows &lookup, bool frozen, void *out,
                            DeviceStream &compute) {
  if (isOne())
    return shares.front()->gather(lookup, frozen, out, compute);
  if (lookup.count == 0)
    return {};
  for (size_t d = 0; d < shares.size(); ++d)
    PDLRT_RETURN_IF_ERROR(shares[d]->gatherToHost(lookup.parts[d], frozen));
  const pdl_symbol &symbol = descriptor.symbols[lookup.symbol];
  const size_t each = size_t(symbol.row_width) * elementSize(symbol);
  const size_t bytes = size_t(lookup.count) * each;
  PDLRT_RETURN_IF_ERROR(
      reserve(first, lookup.valuesOnHost, DeviceBuffer::Kind::OfHost, bytes));
  auto *to = static_cast<char *>(lookup.valuesOnHost.data());
  for (size_t d = 0; d < shares.size(); ++d) {
    const DeviceRows &part = lookup.parts[d];
    if (part.count == 0)
      continue;
    PDLRT_RETURN_IF_ERROR(shares[d]->wait());
    const auto *from = static_cast<const char *>(part.valuesOnHost.data());
    for (const int64_t place : part.places) {
      std::memcpy(to + size_t(place) * each, from, each);
      from += each;
    }
  }
  return compute.copyIn(out, to, bytes);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Status SpreadTables::apply(int32_t symbol, const BlockGradient &gradient,
                           const void *scalars, int64_t update) {
  if (isOne())
    return shares.front()->apply(symbol, gradient, scalars, update);
  for (Part &part : parts) {
    part.keys.clear();
    part.gradients.clear();
  }
  for (int64_t i = 0; i < gradient.keyCount; ++i) {
    Part &part =
        parts[TableShare::ownerOf(gradient.keys[i], int(shares.size()))];
    part.keys.push_back(gradient.keys[i]);
    part.gradients.push_back(gradient.gradients[i]);
  }
  for (size_t d = 0; d < shares.size(); ++d) {
    BlockGradient own;
    own.keyCount = int64_t(parts[d].keys.size());
    own.keys = parts[d].keys.data();
    own.gradients = parts[d].gradients.data();
    PDLRT_RETURN_IF_ERROR(shares[d]->apply(symbol, own, scalars, update));
  }
  return {};
}

Expected<int32_t> SpreadTables::finish() {
  int32_t bad = -1;
  for (const std::unique_ptr<DeviceTables> &share : shares) {
    const Expected<int32_t> found = share->finish();
    if (!found)
      return found.status();
    bad = std::max(bad, *found);
  }
  return bad;
}

void SpreadTables::limitPieces(size_t bytes) {
  for (const std::unique_ptr<DeviceTables> &share : shares)
    share->limitPieces(bytes);
}

//===----------------------------------------------------------------------===//
// All rows
//===----------------------------------------------------------------------===//

void SpreadTables::quiesce(int32_t symbol, uint16_t time) {
  for (const std::unique_ptr<DeviceTables> &share : shares)
    share->quiesce(symbol, time);
}

Status SpreadTables::bringToHost() {
  for (const std::unique_ptr<DeviceTables> &share : shares)
    PDLRT_RETURN_IF_ERROR(share->bringToHost());
  return {};
}

Expected<TableSize> SpreadTables::sizeOf(int32_t symbol) {
  TableSize sum;
  for (const std::unique_ptr<DeviceTables> &share : shares) {
    const Expected<TableSize> size = share->sizeOf(symbol);
    if (!size)
      return size.status();
    sum.rows += size->rows;
    sum.bytes += size->bytes;
  }
  return sum;
}
