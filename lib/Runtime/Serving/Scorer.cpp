//===- Scorer.cpp - One batch through a frozen program --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/Scorer.h"

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "pdlrt/Abi/AffineSize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

using namespace pdlrt;

RemoteRows::Scratch::~Scratch() = default;
RemoteRows::~RemoteRows() = default;

Scorer::Scorer(const pdl_descriptor &descriptor, const pdl_program &program)
    : descriptor(descriptor), program(program), fields(program.field_count),
      lookups(program.lookup_count), values(program.field_count),
      splits(program.field_count), outputBuffers(program.output_count),
      outputPointers(program.output_count),
      lossSums(size_t(std::max(program.objective_count, 1))),
      weightSums(lossSums.size()) {
  context.struct_size = sizeof(context);
  context.worker = &worker;
  context.fields = fields.data();
  context.lookups = lookups.data();
  context.loss_sum = lossSums.data();
  context.weight_sum = weightSums.data();
  context.outputs = outputPointers.data();
  context.draws = &draws;
}

size_t Scorer::arenaBytes(const pdl_affine_size &size) const {
  return bytesToAllocate(size, {context.batch, fields, lookups});
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static Status refuse(const pdl_field &field, const std::string &why) {
  return Status::invalid(std::string("input '") + field.name + "': " + why);
}

static size_t fieldElementSize(const pdl_field &field) {
  return field.element_type == PDL_F32 ? 4 : 8;
}

Status Scorer::takeBags(const pdl_field &field, const pdl_serving_input &input,
                        pdl_field_data &data) {
  if (!input.splits)
    return refuse(field, "has no splits, which say where its bags begin");
  const int64_t bags = context.batch * field.width;
  if (input.splits[0] != 0)
    return refuse(field, fmt::format("the first of its splits is {}, not 0",
                                     input.splits[0]));
  for (int64_t i = 0; i < bags; ++i)
    if (input.splits[i + 1] < input.splits[i])
      return refuse(field,
                    fmt::format("splits[{}] is {}, less than the one before, "
                                "{}; they ascend",
                                i + 1, input.splits[i + 1], input.splits[i]));
  data.splits = input.splits;
  data.value_count = input.splits[bags];
  return {};
}

/// The key of a text in that slot of the field.
static Status keyOf(const pdl_field &field, std::string_view text, int64_t slot,
                    int64_t &key) {
  return keyOfText(field, text, slot, key)
             ? Status()
             : refuse(field,
                      quoteText(text) + " is not a decimal integer of 64 bits");
}

Status Scorer::hashTexts(const pdl_field &field, const pdl_serving_input &input,
                         int32_t index, pdl_field_data &data) {
  const bool isRagged = field.kind == PDL_FIELD_RAGGED;
  const bool hasToken = field.missing_kind == PDL_MISSING_TOKEN;
  const bool hasElement = field.missing_element_kind == PDL_MISSING_TOKEN;
  const int64_t bags = context.batch * field.width;
  // Each empty bag may get a token.
  const int64_t most = data.value_count + (isRagged && hasToken ? bags : 0);
  if (most > INT32_MAX)
    return refuse(field, "has more texts than a batch can have");
  auto *keys = values[index].reserveFor<int64_t>(size_t(most));
  int32_t *ends =
      isRagged ? splits[index].reserveFor<int32_t>(size_t(bags) + 1) : nullptr;
  if (!input.texts && data.value_count > 0)
    return refuse(field, "has ends of texts, but no texts");
  int64_t count = 0, next = 0, begin = 0;
  for (int64_t bag = 0; bag < bags; ++bag) {
    const int64_t slot = bag % field.width, before = count;
    for (const int64_t end = isRagged ? data.splits[bag + 1] : bag + 1;
         next < end; ++next) {
      const int64_t textEnd = input.text_ends[next];
      if (textEnd < begin)
        return refuse(field, fmt::format("text_ends[{}] is {}, less than the "
                                         "one before, {}; they ascend",
                                         next, textEnd, begin));
      const std::string_view text =
          trim({input.texts + begin, size_t(textEnd - begin)});
      begin = textEnd;
      const bool isMissing = isMissingText(field, text);
      if (!isMissing || hasElement)
        PDLRT_RETURN_IF_ERROR(
            keyOf(field, isMissing ? field.missing_element_token : text, slot,
                  keys[count++]));
    }
    if (count == before && hasToken)
      PDLRT_RETURN_IF_ERROR(
          keyOf(field, field.missing_token, slot, keys[count++]));
    if (isRagged)
      ends[bag + 1] = int32_t(count);
    else if (count == before)
      return refuse(field, fmt::format("the text of sample {} is empty, and "
                                       "the field has no missing(...)",
                                       bag / field.width));
  }
  if (isRagged)
    ends[0] = 0;
  data = {keys, ends, count};
  return {};
}

/// Makes what stands for an input that is missing for all samples.
Status Scorer::fillMissing(const pdl_field &field, int32_t index,
                           pdl_field_data &data) {
  const bool isRagged = field.kind == PDL_FIELD_RAGGED;
  const bool isEmpty = isRagged && field.missing_kind == PDL_MISSING_EMPTY;
  const bool isNumber = field.missing_kind == PDL_MISSING_VALUE;
  if (!isEmpty && !isNumber && field.missing_kind != PDL_MISSING_TOKEN)
    return refuse(field, "is missing, and the field has no missing(...) to "
                         "stand for it");
  const int64_t count = context.batch * field.width;
  if (count > INT32_MAX)
    return refuse(field, "is missing, and would have more elements than a "
                         "batch can have; give it, or use smaller batches");
  if (isRagged) {
    int32_t *ends = splits[index].reserveFor<int32_t>(size_t(count) + 1);
    for (int64_t i = 0; i <= count; ++i)
      ends[i] = isEmpty ? 0 : int32_t(i);
    data.splits = ends;
  }
  data.value_count = isEmpty ? 0 : count;
  data.values =
      values[index].reserve(size_t(data.value_count) * fieldElementSize(field));
  if (isEmpty)
    return {};
  if (field.element_type == PDL_F32) {
    std::fill_n(static_cast<float *>(data.values), count,
                float(field.missing_value));
  } else if (field.element_type == PDL_F64) {
    std::fill_n(static_cast<double *>(data.values), count, field.missing_value);
  } else {
    auto *keys = static_cast<int64_t *>(data.values);
    for (int64_t i = 0; i < count; ++i)
      PDLRT_RETURN_IF_ERROR(
          keyOf(field, field.missing_token, i % field.width, keys[i]));
  }
  return {};
}

/// Gives missing numbers, which are NaN, the value that stands for them.
template <typename T>
Status Scorer::replaceMissing(const pdl_field &field, int32_t index,
                              pdl_field_data &data) {
  const auto isMissing = [](T number) { return std::isnan(number); };
  const std::span given(static_cast<const T *>(data.values),
                        size_t(data.value_count));
  const auto first = std::ranges::find_if(given, isMissing);
  if (first == given.end())
    return {};
  const std::optional<double> missing = missingNumberOf(field);
  if (!missing)
    return refuse(field, fmt::format("element {} is NaN, which means missing, "
                                     "and the field has no missing(...) to "
                                     "stand for it",
                                     first - given.begin()));
  T *own = static_cast<T *>(values[index].reserve(given.size_bytes()));
  // It may be the same memory.
  std::ranges::transform(given, own, [&](T number) {
    return isMissing(number) ? T(*missing) : number;
  });
  data.values = own;
  return {};
}

Status Scorer::takeInput(int32_t index, const pdl_serving_input &input,
                         bool areKeys) {
  const pdl_field &field = descriptor.fields[program.fields[index]];
  pdl_field_data &data = fields[index];
  data = {};
  if (!input.values && !input.splits && !input.text_ends)
    return fillMissing(field, index, data);
  if (field.kind == PDL_FIELD_RAGGED)
    PDLRT_RETURN_IF_ERROR(takeBags(field, input, data));
  else
    data.value_count = context.batch * field.width;
  if (input.text_ends) {
    if (field.element_type != PDL_I64)
      return refuse(field, "has texts, but takes numbers; give values");
    if (input.values)
      return refuse(field, "has values and texts; give one of them");
    return hashTexts(field, input, index, data);
  }
  if (!input.values && data.value_count > 0)
    return refuse(field, "has neither values nor texts");
  if (field.element_type == PDL_I64 && field.hash_kind != PDL_HASH_NONE &&
      !areKeys && data.value_count > 0)
    return refuse(field,
                  "has integers, but the model hashes texts; give texts, or "
                  "say that the integers are ready keys (run_keys of "
                  "pdl/serving.h, unsigned integers of 64 bits in Python, "
                  "UINT64 in the V2 protocol)");
  // The program reads aligned memory.
  const size_t bytes = size_t(data.value_count) * fieldElementSize(field);
  if (reinterpret_cast<uintptr_t>(input.values) % PDL_BUFFER_ALIGNMENT == 0 &&
      input.values) {
    data.values = const_cast<void *>(input.values);
  } else {
    data.values = values[index].reserve(bytes);
    if (bytes)
      std::memcpy(data.values, input.values, bytes);
  }
  if (field.element_type == PDL_F32)
    return replaceMissing<float>(field, index, data);
  if (field.element_type == PDL_F64)
    return replaceMissing<double>(field, index, data);
  return {};
}

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

/// Asks for the rows of all lookups at once.
Status Scorer::askForRows(const RemoteRows &remote) {
  if (remoteRows.size() < lookups.size()) {
    remoteRows.resize(lookups.size());
    unknownRows.resize(lookups.size());
  }
  wanted.clear();
  for (size_t l = 0; l < lookups.size(); ++l) {
    const int32_t symbol = program.lookups[l].symbol;
    const int64_t count = lookups[l].key_count;
    auto *rows = static_cast<std::byte *>(
        remoteRows[l].reserve(size_t(count) * remote.rowBytesOf(symbol)));
    auto *unknown = unknownRows[l].reserveFor<uint8_t>(size_t(count));
    wanted.push_back({symbol, count, lookups[l].keys, rows, unknown});
  }
  PDLRT_RETURN_IF_ERROR(remote.read(wanted, *remoteScratch, isUnavailable));
  for (size_t l = 0; l < lookups.size(); ++l) {
    const WantedRows &each = wanted[l];
    // Of this worker, which has made room for them.
    auto **pointers = const_cast<void **>(lookups[l].rows);
    const size_t bytes = remote.rowBytesOf(each.symbol);
    const int32_t *splits = lookups[l].key_splits;
    for (int64_t i = 0; i < each.count; ++i) {
      pointers[i] = each.rows + size_t(i) * bytes;
      unknownIds += each.isUnknown[i] * (splits[i + 1] - splits[i]);
    }
    lookups[l].storage = remote.storageOf(each.symbol);
  }
  return {};
}

Scorer::IdCounts Scorer::takeIdCounts() {
  const PullCounts counts = std::exchange(worker.pullCounts(), {});
  return {counts.ids, counts.unknownInitial + counts.unknownZero +
                          std::exchange(unknownIds, 0)};
}

Status Scorer::run(const ServedState &state, int64_t batch,
                   const pdl_serving_input *inputs, void *const *outputs,
                   const int32_t *areKeys) {
  isUnavailable = false;
  // So that offsets of 32 bits count what it has.
  constexpr int64_t mostSamples = int64_t(1) << 24;
  if (batch < 1 || batch > mostSamples)
    return Status::invalid(fmt::format("a batch of {} samples; it has 1 to {}",
                                       batch, mostSamples));
  context.batch = batch;
  for (int32_t i = 0; i < program.output_count; ++i)
    if (!outputs[i])
      return Status::invalid(std::string("output '") + program.outputs[i].name +
                             "' is null");
  for (int32_t i = 0; i < program.field_count; ++i)
    PDLRT_RETURN_IF_ERROR(takeInput(i, inputs[i], areKeys && areKeys[i] != 0));
  const std::shared_ptr<const RemoteRows> &remote = state.remoteRows();
  if (remote) {
    // Pulls then only make room for pointers to rows.
    noTables.resize(size_t(descriptor.symbol_count));
    worker.bind(descriptor.symbols, noTables.data(), descriptor.symbol_count,
                /*frozen=*/true);
    if (scratchOwner != remote) {
      remoteScratch = remote->makeScratch();
      scratchOwner = remote;
    }
  } else {
    worker.bindFrozen(descriptor.symbols, state.tables(),
                      descriptor.symbol_count);
  }
  worker.gemmWorkspace().constants = &state.factors();
  context.parameters = state.parameters();
  if (int64_t(sampleNumbers.size()) < batch) {
    sampleNumbers.resize(size_t(batch));
    std::iota(sampleNumbers.begin(), sampleNumbers.end(), int64_t(0));
  }
  draws = {state.seed(), 0, batch, sampleNumbers.data()};
  worker.beginStep();
  std::ranges::fill(lookups, pdl_lookup());
  context.compute_arena = nullptr;
  context.prepare_arena =
      prepareArena.reserve(arenaBytes(program.prepare_arena));
  PDLRT_RETURN_IF_ERROR(Status::fromLastError(program.prepare(&context)));
  if (remote)
    PDLRT_RETURN_IF_ERROR(askForRows(*remote));
  context.compute_arena =
      computeArena.reserve(arenaBytes(program.compute_arena));
  const auto bytesOf = [&](int32_t output) {
    return size_t(batch * program.outputs[output].width) *
           elementSize(program.outputs[output].element_type);
  };
  for (int32_t i = 0; i < program.output_count; ++i)
    outputPointers[i] = outputBuffers[i].reserve(bytesOf(i));
  PDLRT_RETURN_IF_ERROR(Status::fromLastError(program.compute(&context)));
  for (int32_t i = 0; i < program.output_count; ++i)
    std::memcpy(outputs[i], outputPointers[i], bytesOf(i));
  return {};
}
