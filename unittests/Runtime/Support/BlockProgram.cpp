//===- BlockProgram.cpp - State of many units, without stages -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockProgram.h"

#include "pdlabi/abi.h"
#include "pdlabi/hash.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace {

template <typename T> struct Scalars {
  T weight, factor, correction;
};

constexpr pdl_scalar scalarsOfGroups[] = {
    {"sum of weights", 1}, {"factor", 0}, {"correction", 1}};

constexpr double clipLimit = 0.5;

template <typename T, bool clipped>
void once(const pdl_once_arguments *arguments, void *scalars) {
  const double norm = std::sqrt(arguments->squared_norm);
  // The groups divide by the number of pushing workers.
  const double factor =
      (clipped && norm > clipLimit ? clipLimit / norm : 1) / arguments->senders;
  *static_cast<Scalars<T> *>(scalars) = {T(arguments->weight), T(factor),
                                         T(1 - std::pow(0.9, arguments->step))};
}

/// Updates one element: a first and, with two slots, a second moment. With one
/// slot, values decay, so that rows without a gradient change too. `seen` is
/// the value from which the gradient was computed; null: the current one.
template <typename T>
void update(T &value, T *first, T *second, T gradient, const Scalars<T> &s,
            const T *seen = nullptr) {
  T g = gradient / s.weight * s.factor;
  if (seen && *seen != value)
    g += T(0.5) * (g * g) * (value - *seen);
  if (first && !second)
    g += T(0.01) * value;
  T change = g;
  if (first) {
    *first = T(0.9) * *first + T(0.1) * g;
    change = *first / s.correction;
  }
  if (second) {
    *second = T(0.99) * *second + T(0.01) * (g * g);
    change /= std::sqrt(*second) + T(1e-3);
  }
  value -= T(0.05) * change;
}

template <typename T> bool areFinite(const T *values, int64_t count) {
  return std::all_of(values, values + count,
                     [](T value) { return std::isfinite(value); });
}

template <typename T, int slots>
int32_t lateDenseKernel(int64_t count, void *const *state, const void *gradient,
                        const void *scalars, const void *seen) {
  auto at = [&](int index, int64_t i) {
    return slots >= index ? static_cast<T *>(state[index]) + i : nullptr;
  };
  for (int64_t i = 0; i < count; ++i)
    update<T>(*at(0, i), at(1, i), at(2, i),
              static_cast<const T *>(gradient)[i],
              *static_cast<const Scalars<T> *>(scalars),
              seen ? static_cast<const T *>(seen) + i : nullptr);
  bool finite = true;
  for (int s = 0; s <= slots; ++s)
    finite &= areFinite(static_cast<const T *>(state[s]), count);
  return !finite;
}

template <typename T, int slots>
int32_t denseKernel(int64_t count, void *const *state, const void *gradient,
                    const void *scalars) {
  return lateDenseKernel<T, slots>(count, state, gradient, scalars, nullptr);
}

template <typename T, int slots>
int32_t lateRowKernel(int64_t rowCount, int64_t width, void *const *rows,
                      const void *const *gradients, const void *scalars,
                      const void *const *seen) {
  bool finite = true;
  for (int64_t r = 0; r < rowCount; ++r) {
    auto *row = static_cast<T *>(rows[r]);
    for (int64_t i = 0; i < width; ++i)
      update<T>(row[i], slots >= 1 ? row + width + i : nullptr,
                slots >= 2 ? row + 2 * width + i : nullptr,
                static_cast<const T *>(gradients[r])[i],
                *static_cast<const Scalars<T> *>(scalars),
                seen ? static_cast<const T *>(seen[r]) + i : nullptr);
    finite &= areFinite(row, (1 + slots) * width);
  }
  return !finite;
}

template <typename T, int slots>
int32_t rowKernel(int64_t rowCount, int64_t width, void *const *rows,
                  const void *const *gradients, const void *scalars) {
  return lateRowKernel<T, slots>(rowCount, width, rows, gradients, scalars,
                                 nullptr);
}

constexpr int64_t shapeW[] = {300, 3}, shapeB[] = {7}, shapeC[] = {130, 2},
                  shapeLazy[] = {4}, shapeAll[] = {2};
constexpr int64_t blocksW[] = {0, 64, 128, 192, 256, 300}, blocksB[] = {0, 1},
                  blocksC[] = {0, 64, 130};
constexpr uint64_t costsW[] = {64, 64, 64, 64, 44}, costsB[] = {7},
                   costsC[] = {1, 1}, costsLazy[] = {3}, costsAll[] = {2};
const char *const slotNames[] = {"m", "v"};
constexpr double slotValues[] = {0, 0.125};

} // namespace

struct BlockProgram::Content {
  pdl_symbol symbols[BlockSymbols] = {};
  pdl_group groups[3] = {};
  pdl_clip clip = {};
  pdl_update_descriptor updates[4] = {
      {BlockW, -1, 0}, {BlockB, -1, 0}, {BlockLazy, 0, 0}, {BlockAll, 1, 0}};
  pdl_lookup_descriptor lookups[2] = {{BlockLazy}, {BlockAll}};
  std::vector<pdl_channel> channels[BlockPrograms];
  pdl_program programs[BlockPrograms] = {};
  pdl_descriptor descriptor = {};

  template <typename T> void build(const BlockVariant &variant);
  void buildPrograms(const BlockVariant &variant);
};

template <typename T>
void BlockProgram::Content::build(const BlockVariant &variant) {
  const bool isLocal = variant.mode == PDL_MODE_LOCAL;
  auto define = [&](int32_t index, const char *name, int32_t kind,
                    const int64_t *shape, int32_t rank, int32_t group,
                    int32_t slots) -> pdl_symbol & {
    pdl_symbol &symbol = symbols[index];
    symbol.struct_size = sizeof(symbol);
    symbol.name = name;
    symbol.id = pdlabi::symbolId(name);
    symbol.kind = kind;
    symbol.element_type = variant.elementType;
    symbol.rank = rank;
    symbol.shape = shape;
    symbol.row_count = rank == 2 ? shape[0] : 1;
    symbol.row_width = shape[rank - 1];
    symbol.gradient_width = symbol.row_width;
    symbol.group = group;
    symbol.initializer = {PDL_INIT_UNIFORM, -0.5, 0.5};
    symbol.slot_count = slots;
    symbol.slot_names = slotNames;
    symbol.slot_initial_values = slotValues;
    return symbol;
  };
  auto cut = [&](pdl_symbol &symbol, int64_t count, const int64_t *blocks,
                 const uint64_t *costs) {
    if (isLocal)
      return;
    symbol.unit_count = count;
    symbol.block_rows = blocks;
    symbol.unit_costs = costs;
  };
  pdl_symbol &w = define(BlockW, "w", PDL_SYMBOL_PARAMETER, shapeW, 2, 0, 2);
  w.dense_kernel = denseKernel<T, 2>;
  cut(w, 5, blocksW, costsW);
  pdl_symbol &b = define(BlockB, "b", PDL_SYMBOL_PARAMETER, shapeB, 1, 0, 0);
  b.dense_kernel = denseKernel<T, 0>;
  w.device_kernel = b.device_kernel = -1;
  cut(b, 1, blocksB, costsB);
  pdl_symbol &c = define(BlockC, "c", PDL_SYMBOL_PARAMETER, shapeC, 2, -1, 0);
  cut(c, 2, blocksC, costsC);
  pdl_symbol &lazy =
      define(BlockLazy, "lazy", PDL_SYMBOL_TABLE, shapeLazy, 1, 1, 2);
  lazy.row_kernel = rowKernel<T, 2>;
  cut(lazy, pdlabi::logicalShardCount, nullptr, costsLazy);
  pdl_symbol &all =
      define(BlockAll, "all", PDL_SYMBOL_TABLE, shapeAll, 1, 2, 1);
  all.row_kernel = rowKernel<T, 1>;
  lazy.device_kernel = all.device_kernel = -1;
  all.unknown = PDL_UNKNOWN_ZERO;
  cut(all, pdlabi::logicalShardCount, nullptr, costsAll);

  if (variant.compensates && variant.mode == PDL_MODE_ASYNC) {
    w.dense_kernel = b.dense_kernel = nullptr;
    w.late_dense_kernel = lateDenseKernel<T, 2>;
    b.late_dense_kernel = lateDenseKernel<T, 0>;
    lazy.row_kernel = nullptr;
    lazy.late_row_kernel = lateRowKernel<T, 2>;
  }

  clip = {sizeof(clip), "joint", clipLimit};
  const char *const names[] = {"dense", "sparse", "momentum"};
  for (int g = 0; g < 3; ++g) {
    const bool isClipped = variant.clipped && g < 2;
    groups[g].struct_size = sizeof(pdl_group);
    groups[g].name = names[g];
    groups[g].untouched = g == 2 ? PDL_UNTOUCHED_DENSE : PDL_UNTOUCHED_LAZY;
    groups[g].clip = isClipped ? 0 : -1;
    groups[g].merge = variant.merge;
    groups[g].compensates = variant.compensates && g < 2;
    groups[g].element_type = variant.elementType;
    groups[g].scalar_count = std::size(scalarsOfGroups);
    groups[g].scalars = scalarsOfGroups;
    groups[g].once = isClipped ? once<T, true> : once<T, false>;
  }
  buildPrograms(variant);

  descriptor.struct_size = sizeof(descriptor);
  descriptor.abi_version = PDL_ABI_VERSION;
  descriptor.model_name = "blocks";
  descriptor.compiler_version = "none";
  descriptor.numerics = PDL_NUMERICS_STRICT;
  descriptor.target_cpu = "x86-64-v3";
  descriptor.mode = variant.mode;
  descriptor.role = isLocal ? PDL_ROLE_LOCAL : PDL_ROLE_PSERVER;
  descriptor.layout_fingerprint = 0xb10c;
  descriptor.training_fingerprint = 0xb10d;
  descriptor.wire_fingerprint = 0xb10c0 + uint64_t(variant.mode);
  descriptor.symbol_count = BlockSymbols;
  descriptor.symbols = symbols;
  descriptor.group_count = 3;
  descriptor.groups = groups;
  descriptor.clip_count = 1;
  descriptor.clips = &clip;
  descriptor.program_count = BlockPrograms;
  descriptor.programs = programs;
}

void BlockProgram::Content::buildPrograms(const BlockVariant &variant) {
  std::vector<pdl_channel> &train = channels[BlockTrain];
  train = {{PDL_CHANNEL_VALUE, BlockW, -1},
           {PDL_CHANNEL_VALUE, BlockB, -1},
           {PDL_CHANNEL_VALUE, BlockC, -1},
           {PDL_CHANNEL_KEYS, BlockLazy, -1},
           {PDL_CHANNEL_ROWS, BlockLazy, -1},
           {PDL_CHANNEL_KEYS, BlockAll, -1},
           {PDL_CHANNEL_ROWS, BlockAll, -1},
           {PDL_CHANNEL_GRADIENT, BlockW, -1},
           {PDL_CHANNEL_GRADIENT, BlockB, -1},
           {PDL_CHANNEL_ROW_GRADIENT, BlockLazy, -1},
           {PDL_CHANNEL_ROW_GRADIENT, BlockAll, -1},
           {PDL_CHANNEL_LOSS, -1, -1}};
  if (variant.clipped && variant.mode == PDL_MODE_SYNC)
    for (int32_t symbol : {BlockW, BlockB, BlockLazy})
      train.push_back({PDL_CHANNEL_PARTIAL_NORM, symbol, 0});
  if (variant.clipped)
    train.push_back({PDL_CHANNEL_NORM, -1, 0});
  channels[BlockEvaluate] = {
      {PDL_CHANNEL_VALUE, BlockW, -1},   {PDL_CHANNEL_VALUE, BlockC, -1},
      {PDL_CHANNEL_KEYS, BlockLazy, -1}, {PDL_CHANNEL_ROWS, BlockLazy, -1},
      {PDL_CHANNEL_KEYS, BlockAll, -1},  {PDL_CHANNEL_ROWS, BlockAll, -1}};
  for (int p = 0; p < BlockPrograms; ++p) {
    programs[p].struct_size = sizeof(pdl_program);
    programs[p].name = p == BlockTrain ? "train" : "evaluate";
    programs[p].frozen = p != BlockTrain;
    programs[p].lookup_count = 2;
    programs[p].lookups = lookups;
    if (variant.mode == PDL_MODE_LOCAL)
      continue;
    programs[p].channel_count = int32_t(channels[p].size());
    programs[p].channels = channels[p].data();
  }
  programs[BlockTrain].update_count = 4;
  programs[BlockTrain].updates = updates;
  programs[BlockTrain].objective_count = 1;
}

BlockProgram::BlockProgram(const BlockVariant &variant)
    : content(std::make_unique<Content>()) {
  if (variant.elementType == PDL_F32)
    content->build<float>(variant);
  else
    content->build<double>(variant);
}
BlockProgram::~BlockProgram() = default;
const pdl_descriptor &BlockProgram::descriptor() const {
  return content->descriptor;
}
