//===- HandWrittenProgram.cpp - A compiled program, written by hand -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandWrittenProgram.h"

#include "pdlabi/abi.h"
#include "pdlabi/hash.h"

#include <cmath>
#include <cstring>
#include <map>
#include <vector>

namespace {

constexpr int64_t denseWidth = handWrittenDense;
constexpr int64_t slots = handWrittenSlots;
constexpr int64_t width = handWrittenWidth;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Output of `prepare` for `compute` in the prepare arena.
struct Prepared {
  int32_t *bagOf;
};

/// Indices in a program's list of fields.
struct FieldPlaces {
  int label, weight, dense, ids;
};
constexpr FieldPlaces allFields = {0, 1, 2, 3};
constexpr FieldPlaces inputFields = {-1, -1, 0, 1};

template <const FieldPlaces &places>
int32_t prepare(const pdl_step_context *context) {
  const pdl_field_data &ids = context->fields[places.ids];
  auto *values = static_cast<const int64_t *>(ids.values);
  pdl_lookup *lookup = &context->lookups[0];
  // All inputs of one table are deduplicated together; here there is only one.
  if (int32_t status =
          pdlrt_unique(context->worker, 1, &values, &ids.value_count, lookup))
    return status;
  if (int32_t status = pdlrt_pull(context->worker, SymbolTable, lookup))
    return status;
  // Its size depends on the ids, so the runtime allocates it.
  auto *prepared = static_cast<Prepared *>(context->prepare_arena);
  prepared->bagOf = static_cast<int32_t *>(pdlrt_allocate(
      context->worker, ids.value_count * int64_t(sizeof(int32_t))));
  if (!prepared->bagOf)
    return PDL_OUT_OF_MEMORY;
  return PDL_OK;
}

/// Divides the compute arena into buffers.
template <typename T> struct Arena {
  char *next;
  T *take(int64_t count) {
    T *result = reinterpret_cast<T *>(next);
    next += count * sizeof(T);
    return result;
  }
};

/// Computes the logits of a batch; `z` has B elements.
template <typename T, const FieldPlaces &places>
void forward(const pdl_step_context *context, int32_t type, Arena<T> &arena,
             T *z) {
  const int64_t batch = context->batch;
  const pdl_lookup &lookup = context->lookups[0];
  T *rows = arena.take(lookup.key_count * width);
  T *pooled = arena.take(batch * slots * width);
  pdlrt_gather(type, &lookup, width, rows);
  pdlrt_pool(type, PDL_POOL_SUM, batch * slots, width, rows, lookup.inverse,
             context->fields[places.ids].splits, 1, width, pooled);
  // The dense part with bias: z[B, 1] = x[B, 3] w[3, 1] + b[1].
  const pdl_post bias = {PDL_POST_BIAS, context->parameters[SymbolBias]};
  pdlrt_gemm(context->worker, type, PDL_NUMERICS_STRICT, 0, 0, batch, 1,
             denseWidth, context->fields[places.dense].values,
             context->parameters[SymbolWeights], z, 1, 1, &bias);
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t j = 0; j < slots * width; ++j)
      z[i] += pooled[i * slots * width + j] * T(j % width + 1) / T(4);
}

template <typename T> T sigmoid(T z) { return T(1) / (T(1) + std::exp(-z)); }

template <typename T, bool training>
int32_t computeLoss(const pdl_step_context *context) {
  constexpr int32_t type = sizeof(T) == 4 ? PDL_F32 : PDL_F64;
  const int64_t batch = context->batch;
  Arena<T> arena = {static_cast<char *>(context->compute_arena)};
  T *z = arena.take(batch), *p = arena.take(batch), *losses = arena.take(batch);
  forward<T, allFields>(context, type, arena, z);
  auto *label = static_cast<const T *>(context->fields[FieldLabel].values);
  auto *weight = static_cast<const T *>(context->fields[FieldWeight].values);
  for (int64_t i = 0; i < batch; ++i) {
    p[i] = sigmoid(z[i]);
    losses[i] = (z[i] > 0 ? z[i] : T(0)) - z[i] * label[i] +
                std::log1p(std::exp(-std::abs(z[i])));
  }
  pdlrt_loss_sum(type, batch, losses, weight, context->loss_sum,
                 context->weight_sum);
  constexpr int32_t kinds[] = {PDL_METRIC_AUC, PDL_METRIC_LOG_LOSS,
                               PDL_METRIC_COPC};
  for (int m = 0; m < 3; ++m)
    pdlrt_observe(type, kinds[m], 2048, batch, 1, p, 1, label, nullptr,
                  context->metrics[m]);
  if (!training)
    return PDL_OK;

  // Gradient of the weighted sum of losses; nothing is divided here.
  T *dz = losses;
  for (int64_t i = 0; i < batch; ++i)
    dz[i] = (p[i] - label[i]) * weight[i];
  auto *x = static_cast<const T *>(context->fields[FieldDense].values);
  auto *dw = static_cast<T *>(context->gradients[0]);
  auto *db = static_cast<T *>(context->gradients[1]);
  std::memset(dw, 0, denseWidth * sizeof(T));
  db[0] = 0;
  T *cotangent = arena.take(batch * slots * width);
  for (int64_t i = 0; i < batch; ++i) {
    db[0] += dz[i];
    for (int64_t j = 0; j < denseWidth; ++j)
      dw[j] += dz[i] * x[i * denseWidth + j];
    for (int64_t j = 0; j < slots * width; ++j)
      cotangent[i * slots * width + j] = dz[i] * T(j % width + 1) / T(4);
  }
  // The last layer comes first.
  for (int32_t update : {1, 0})
    pdlrt_gradient_ready(context->worker, update);
  const pdl_lookup &lookup = context->lookups[0];
  auto *prepared = static_cast<const Prepared *>(context->prepare_arena);
  const pdl_pooled_input input = {PDL_POOL_SUM,
                                  0,
                                  batch * slots,
                                  cotangent,
                                  1,
                                  width,
                                  context->fields[FieldIds].splits};
  pdlrt_pool_gradient(type, &lookup, width, 1, &input, prepared->bagOf,
                      context->gradients[2]);
  return PDL_OK;
}

template <typename T>
int32_t computePrediction(const pdl_step_context *context) {
  constexpr int32_t type = sizeof(T) == 4 ? PDL_F32 : PDL_F64;
  Arena<T> arena = {static_cast<char *>(context->compute_arena)};
  T *z = arena.take(context->batch);
  forward<T, inputFields>(context, type, arena, z);
  auto *p = static_cast<T *>(context->outputs[0]);
  for (int64_t i = 0; i < context->batch; ++i)
    p[i] = sigmoid(z[i]);
  return PDL_OK;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Output of `once`. All groups have the same layout here.
template <typename T> struct Scalars {
  T weight, factor, rate, correction1, correction2;
};

constexpr pdl_scalar scalarsOfGroups[] = {{"sum of weights", 1},
                                          {"factor", 0},
                                          {"rate", 0},
                                          {"correction 1", 1},
                                          {"correction 2", 1}};

template <typename T, bool clipped>
void once(const pdl_once_arguments *arguments, void *scalars) {
  double factor = 1;
  if (clipped) {
    double norm = std::sqrt(arguments->squared_norm);
    factor = norm > handWrittenClipLimit ? handWrittenClipLimit / norm : 1;
  }
  *static_cast<Scalars<T> *>(scalars) = {
      T(arguments->weight), T(factor), T(handWrittenRate),
      T(1 - std::pow(0.9, arguments->step)),
      T(1 - std::pow(0.999, arguments->step))};
}

template <typename T>
int32_t sgd(int64_t count, void *const *state, const void *gradient,
            const void *scalars) {
  auto *value = static_cast<T *>(state[0]);
  auto *sum = static_cast<const T *>(gradient);
  auto &s = *static_cast<const Scalars<T> *>(scalars);
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    value[i] -= s.rate * (sum[i] / s.weight * s.factor);
    finite &= std::isfinite(value[i]);
  }
  return !finite;
}

template <typename T>
int32_t adamRows(int64_t rowCount, int64_t rowWidth, void *const *rows,
                 const void *const *gradients, const void *scalars) {
  bool finite = true;
  auto &s = *static_cast<const Scalars<T> *>(scalars);
  for (int64_t r = 0; r < rowCount; ++r) {
    auto *value = static_cast<T *>(rows[r]);
    T *m = value + rowWidth, *v = m + rowWidth;
    auto *sum = static_cast<const T *>(gradients[r]);
    for (int64_t i = 0; i < rowWidth; ++i) {
      T g = sum[i] / s.weight * s.factor;
      m[i] = T(0.9) * m[i] + T(0.1) * g;
      v[i] = T(0.999) * v[i] + T(0.001) * (g * g);
      value[i] -= s.rate * (m[i] / s.correction1) /
                  (std::sqrt(v[i] / s.correction2) + T(1e-8));
      finite &=
          std::isfinite(value[i]) && std::isfinite(m[i]) && std::isfinite(v[i]);
    }
  }
  return !finite;
}

//===----------------------------------------------------------------------===//
// Descriptor
//===----------------------------------------------------------------------===//

/// Descriptor of one variant with everything that it refers to. A compiled
/// program has these as constants.
struct Descriptor {
  pdl_field fields[4] = {};
  pdl_symbol symbols[3] = {};
  pdl_group groups[2] = {};
  pdl_clip clip = {};
  pdl_metric metrics[3] = {};
  pdl_program programs[3] = {};
  pdl_part parts[3] = {};
  std::vector<pdl_channel> trainChannels;
  pdl_descriptor descriptor = {};

  template <typename T> void build(const ProgramVariant &variant);
  template <typename T> void buildSymbols(int32_t storage);
  template <typename T> void buildPrograms();
  /// Sets units and channels, and removes the parts that a role does not have.
  void buildRole(const ProgramVariant &variant);
  /// Sets which parts of its copy a trainer shares in mode geo.
  void shareCopy();
  void removeGroups();
};

} // namespace

static pdl_field makeField(const char *name, int32_t kind, int32_t type,
                           int64_t fieldWidth) {
  pdl_field field = {};
  field.struct_size = sizeof(field);
  field.name = name;
  field.kind = kind;
  field.element_type = type;
  field.width = fieldWidth;
  return field;
}

template <typename T> void Descriptor::buildSymbols(int32_t storage) {
  static const int64_t weightShape[] = {denseWidth, 1}, biasShape[] = {1},
                       rowShape[] = {width};
  static const char *const slotNames[] = {"m", "v"};
  static const double slotValues[] = {0, 0};
  for (pdl_symbol &symbol : symbols) {
    symbol.struct_size = sizeof(symbol);
    symbol.element_type = sizeof(T) == 4 ? PDL_F32 : PDL_F64;
  }
  pdl_symbol &w = symbols[SymbolWeights];
  w.name = "w";
  w.id = 0x1001;
  w.kind = PDL_SYMBOL_PARAMETER;
  w.rank = 2;
  w.shape = weightShape;
  w.row_count = denseWidth;
  w.row_width = 1;
  w.gradient_width = w.row_width;
  w.group = 0;
  w.initializer = {PDL_INIT_UNIFORM, -0.5, 0.5};
  w.dense_kernel = sgd<T>;
  w.device_kernel = -1;
  pdl_symbol &b = symbols[SymbolBias];
  b.name = "b";
  b.id = 0x1002;
  b.kind = PDL_SYMBOL_PARAMETER;
  b.rank = 1;
  b.shape = biasShape;
  b.row_count = 1;
  b.row_width = 1;
  b.gradient_width = b.row_width;
  b.group = 0;
  b.initializer = {PDL_INIT_CONSTANT, 0.25, 0};
  b.dense_kernel = sgd<T>;
  b.device_kernel = -1;
  pdl_symbol &table = symbols[SymbolTable];
  table.name = "emb";
  table.id = 0x1003;
  table.kind = PDL_SYMBOL_TABLE;
  table.storage = storage;
  table.rank = 1;
  table.shape = rowShape;
  table.row_count = 1;
  table.row_width = width;
  table.gradient_width = table.row_width;
  table.group = 1;
  table.initializer = {PDL_INIT_UNIFORM, -0.1, 0.1};
  table.slot_count = 2;
  table.slot_names = slotNames;
  table.slot_initial_values = slotValues;
  table.row_kernel = adamRows<T>;
  table.device_kernel = -1;
}

template <typename T> void Descriptor::buildPrograms() {
  static const int32_t lossFields[] = {FieldLabel, FieldWeight, FieldDense,
                                       FieldIds};
  static const int32_t predictFields[] = {FieldDense, FieldIds};
  static const pdl_lookup_descriptor lookups[] = {{SymbolTable}};
  static const pdl_update_descriptor updates[] = {
      {SymbolWeights, -1, 0}, {SymbolBias, -1, 0}, {SymbolTable, 0, 0}};
  static const pdl_output outputs[] = {
      {"p", sizeof(T) == 4 ? PDL_F32 : PDL_F64, 1}};
  static const int64_t perKey[] = {width * sizeof(T)};
  for (pdl_program &program : programs) {
    program.struct_size = sizeof(program);
    program.frozen = 1;
    program.field_count = 4;
    program.fields = lossFields;
    program.lookup_count = 1;
    program.lookups = lookups;
    program.objective_count = 1;
    program.prepare_arena.constant = sizeof(Prepared);
    // z, p, losses, pooled rows and their cotangent; the rows of each key.
    program.compute_arena.per_batch = (3 + 2 * slots * width) * sizeof(T);
    program.compute_arena.per_key = perKey;
    program.prepare = prepare<allFields>;
  }
  pdl_program &train = programs[0];
  train.name = "train";
  train.frozen = 0;
  train.update_count = 3;
  train.updates = updates;
  train.compute = computeLoss<T, true>;
  pdl_program &evaluate = programs[1];
  evaluate.name = "evaluate";
  evaluate.compute = computeLoss<T, false>;
  pdl_program &predict = programs[2];
  predict.name = "predict";
  predict.field_count = 2;
  predict.fields = predictFields;
  predict.objective_count = 0;
  predict.output_count = 1;
  predict.outputs = outputs;
  predict.prepare = prepare<inputFields>;
  predict.compute = computePrediction<T>;
}

void Descriptor::shareCopy() {
  trainChannels = {{PDL_CHANNEL_DELTA, SymbolWeights, -1},
                   {PDL_CHANNEL_VALUE, SymbolWeights, -1},
                   {PDL_CHANNEL_DELTA, SymbolBias, -1},
                   {PDL_CHANNEL_VALUE, SymbolBias, -1},
                   {PDL_CHANNEL_KEYS, SymbolTable, -1},
                   {PDL_CHANNEL_ROW_DELTA, SymbolTable, -1},
                   {PDL_CHANNEL_CHANGED_KEYS, SymbolTable, -1},
                   {PDL_CHANNEL_ROWS, SymbolTable, -1}};
}

void Descriptor::removeGroups() {
  for (pdl_symbol &symbol : symbols) {
    symbol.group = -1;
    symbol.dense_kernel = nullptr;
    symbol.row_kernel = nullptr;
  }
  descriptor.group_count = 0;
}

void Descriptor::buildRole(const ProgramVariant &variant) {
  static const int64_t weightBlocks[] = {0, denseWidth}, biasBlocks[] = {0, 1};
  static const uint64_t weightCosts[] = {24}, biasCosts[] = {8},
                        shardCosts[] = {16};
  static const pdl_channel reads[] = {
      {PDL_CHANNEL_VALUE, SymbolWeights, -1},
      {PDL_CHANNEL_VALUE, SymbolBias, -1},
      {PDL_CHANNEL_KEYS, SymbolTable, -1},
      {PDL_CHANNEL_ROWS, SymbolTable, -1},
  };
  symbols[SymbolWeights].unit_count = symbols[SymbolBias].unit_count = 1;
  symbols[SymbolWeights].block_rows = weightBlocks;
  symbols[SymbolBias].block_rows = biasBlocks;
  symbols[SymbolTable].unit_count = pdlabi::logicalShardCount;
  symbols[SymbolWeights].unit_costs = weightCosts;
  symbols[SymbolBias].unit_costs = biasCosts;
  symbols[SymbolTable].unit_costs = shardCosts;

  // In a round no trainer has the whole gradient.
  const bool isRound = variant.mode == PDL_MODE_SYNC ||
                       variant.mode == PDL_MODE_COLLECTIVE ||
                       variant.mode == PDL_MODE_HYBRID;
  if (variant.mode == PDL_MODE_GEO) {
    shareCopy();
  } else {
    trainChannels.assign(std::begin(reads), std::end(reads));
    trainChannels.insert(trainChannels.end(),
                         {{PDL_CHANNEL_GRADIENT, SymbolWeights, -1},
                          {PDL_CHANNEL_GRADIENT, SymbolBias, -1},
                          {PDL_CHANNEL_ROW_GRADIENT, SymbolTable, -1},
                          {PDL_CHANNEL_LOSS, -1, -1}});
    if (variant.clipped && isRound)
      for (int32_t symbol : {SymbolWeights, SymbolBias, SymbolTable})
        trainChannels.push_back({PDL_CHANNEL_PARTIAL_NORM, symbol, 0});
    if (variant.clipped)
      trainChannels.push_back({PDL_CHANNEL_NORM, -1, 0});
    if (variant.clipped && !isRound)
      for (pdl_channel &channel : trainChannels)
        if (channel.kind == PDL_CHANNEL_GRADIENT ||
            channel.kind == PDL_CHANNEL_ROW_GRADIENT)
          channel.clip = 0;
  }
  programs[0].channel_count = int32_t(trainChannels.size());
  programs[0].channels = trainChannels.data();
  for (int p = 1; p < 3 && variant.mode != PDL_MODE_GEO; ++p) {
    programs[p].channel_count = std::size(reads);
    programs[p].channels = reads;
  }
  if (variant.role == PDL_ROLE_TRAINER) {
    if (variant.mode != PDL_MODE_GEO)
      removeGroups();
    return;
  }
  if (variant.mode == PDL_MODE_GEO) {
    removeGroups();
    for (pdl_symbol &symbol : symbols)
      symbol.slot_count = 0;
    programs[0].update_count = 0;
  }
  for (pdl_program &program : programs) {
    program.prepare = nullptr;
    program.compute = nullptr;
    program.field_count = program.output_count = 0;
    program.objective_count = program.update_count > 0;
  }
  descriptor.field_count = descriptor.metric_count = 0;
}

template <typename T> void Descriptor::build(const ProgramVariant &variant) {
  const int32_t type = variant.elementType;
  fields[FieldLabel] = makeField("label", PDL_FIELD_DENSE, type, 1);
  fields[FieldWeight] = makeField("weight", PDL_FIELD_DENSE, type, 1);
  fields[FieldDense] = makeField("dense", PDL_FIELD_DENSE, type, denseWidth);
  pdl_field &ids = fields[FieldIds] =
      makeField("ids", PDL_FIELD_RAGGED, PDL_I64, slots);
  ids.hash_kind = PDL_HASH_XXH64;
  ids.salt_kind = PDL_SALT_SLOT;
  ids.missing_kind = PDL_MISSING_EMPTY;
  ids.separator = '|';

  clip = {sizeof(clip), "joint", handWrittenClipLimit};
  const char *const names[] = {"dense", "sparse"};
  for (int g = 0; g < 2; ++g) {
    groups[g].struct_size = sizeof(pdl_group);
    groups[g].name = names[g];
    groups[g].untouched = variant.untouched;
    groups[g].clip = variant.clipped ? 0 : -1;
    groups[g].element_type = type;
    groups[g].scalar_count = std::size(scalarsOfGroups);
    groups[g].scalars = scalarsOfGroups;
    groups[g].once = variant.clipped ? once<T, true> : once<T, false>;
  }
  groups[1].merge = variant.tableMerge;
  metrics[0] = {sizeof(pdl_metric), "auc", PDL_METRIC_AUC, 2048};
  metrics[1] = {sizeof(pdl_metric), "logloss", PDL_METRIC_LOG_LOSS, 0};
  metrics[2] = {sizeof(pdl_metric), "copc", PDL_METRIC_COPC, 0};
  buildSymbols<T>(variant.storage);
  buildPrograms<T>();

  descriptor.struct_size = sizeof(descriptor);
  descriptor.abi_version = PDL_ABI_VERSION;
  descriptor.model_name = "handwritten";
  descriptor.compiler_version = "none";
  descriptor.numerics = PDL_NUMERICS_STRICT;
  descriptor.target_cpu = "x86-64-v3";
  descriptor.layout_fingerprint = 0x0123456789abcdefu;
  descriptor.training_fingerprint = 0x89abcdef01234567u;
  parts[0] = {PDL_PART_STATE, "rows of @emb",
              type == PDL_F32 ? "f32 [4]" : "f64 [4]"};
  parts[1] = {PDL_PART_OPTIMIZER, "slots of @emb", "m, v"};
  parts[2] = {PDL_PART_TRAINING, "rate of group @dense", "0.1"};
  descriptor.part_count = 3;
  descriptor.parts = parts;
  descriptor.wire_fingerprint = 0xfedcba9876543210u;
  descriptor.field_count = 4;
  descriptor.fields = fields;
  descriptor.symbol_count = 3;
  descriptor.symbols = symbols;
  descriptor.group_count = 2;
  descriptor.groups = groups;
  descriptor.clip_count = 1;
  descriptor.clips = &clip;
  descriptor.metric_count = 3;
  descriptor.metrics = metrics;
  descriptor.program_count = 3;
  descriptor.programs = programs;
  descriptor.mode = variant.mode;
  descriptor.role = variant.role;
  if (variant.mode != PDL_MODE_LOCAL)
    buildRole(variant);
}

const pdl_descriptor *handWrittenProgram(const ProgramVariant &variant) {
  static std::map<ProgramVariant, Descriptor> variants;
  Descriptor &chosen = variants[variant];
  if (chosen.descriptor.struct_size == 0) {
    if (variant.elementType == PDL_F64)
      chosen.build<double>(variant);
    else
      chosen.build<float>(variant);
  }
  return &chosen.descriptor;
}
