//===- Scorer.cpp - Runs one batch through a frozen program ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/Scorer.h"

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "pdlabi/hash.h"
#include "pdlrt/Abi/AffineSize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

using namespace pdlrt;

RemoteRows::Scratch::~Scratch() = default;
RemoteRows::~RemoteRows() = default;

Scorer::Scorer(const pdl_descriptor &descriptor, const pdl_program &program)
    : descriptor(descriptor), program(program), fields(program.field_count),
      lookups(program.lookup_count), values(program.field_count),
      splits(program.field_count), leftOut(program.field_count),
      outputBuffers(program.output_count), outputPointers(program.output_count),
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
  return Status::invalidArgument(std::string("input '") + field.name +
                                 "': " + why);
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

/// Converts a text into the key that the field has for it in slot `slot`.
static Status keyOf(const pdl_field &field, std::string_view text, int64_t slot,
                    int64_t &key) {
  return keyOfText(field, text, slot, key)
             ? Status()
             : refuse(field,
                      quoteText(text) + " is not a decimal integer of 64 bits");
}

/// Returns the digest of a position in a bag and of the positions before it.
/// `before`: digest of the positions before, or 0 if there are none.
static uint64_t digestOf(int64_t position, uint64_t before) {
  ++position;
  return static_cast<uint64_t>(pdlabi::crossKeys(&position, 1, before));
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
  const bool isNoted = isRagged && isJoined(index);
  if (isNoted)
    leftOut[index].assign(size_t(bags), 0);
  int64_t count = 0, next = 0, begin = 0;
  for (int64_t bag = 0; bag < bags; ++bag) {
    const int64_t slot = bag % field.width, before = count, first = next;
    const int64_t end = isRagged ? data.splits[bag + 1] : bag + 1;
    // `missing_element` replaces a missing id, except one that is alone in its
    // bag: then the whole bag is missing.
    const bool keepsMissing = hasElement && end - first > 1;
    uint64_t gaps = 0;
    for (; next < end; ++next) {
      const int64_t textEnd = input.text_ends[next];
      if (textEnd < begin)
        return refuse(field, fmt::format("text_ends[{}] is {}, less than the "
                                         "one before, {}; they ascend",
                                         next, textEnd, begin));
      const std::string_view text =
          trim({input.texts + begin, size_t(textEnd - begin)});
      begin = textEnd;
      const bool isMissing = isMissingText(field, text);
      if (!isMissing || keepsMissing)
        PDLRT_RETURN_IF_ERROR(
            keyOf(field, isMissing ? field.missing_element_token : text, slot,
                  keys[count++]));
      else if (isNoted)
        gaps = digestOf(next - first, gaps);
    }
    if (isNoted && count > before)
      leftOut[index][bag] = gaps;
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

/// Creates the values of an input that is missing in all samples.
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

/// Sets `made` to the value that replaces a missing element of a feature slot,
/// or a missing bag.
template <typename T>
static Status makeMissing(const pdl_field &field, int64_t slot, T &made) {
  if constexpr (std::is_floating_point_v<T>) {
    made = T(field.missing_value);
    return {};
  } else {
    return keyOf(field, field.missing_token, slot, made);
  }
}

template <typename T> static bool isMissingNumber(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}

static Status refuseNaN(const pdl_field &field, int64_t element) {
  return refuse(field, fmt::format("element {} is NaN, which means missing, "
                                   "and the field has no missing(...) to "
                                   "stand for it",
                                   element));
}

/// Replaces missing numbers, which are NaN.
template <typename T>
Status Scorer::replaceMissing(const pdl_field &field, int32_t index,
                              pdl_field_data &data) {
  const std::span given(static_cast<const T *>(data.values),
                        size_t(data.value_count));
  const auto first = std::ranges::find_if(given, isMissingNumber<T>);
  if (first == given.end())
    return {};
  const std::optional<double> missing = missingNumberOf(field);
  if (!missing)
    return refuseNaN(field, first - given.begin());
  T *own = static_cast<T *>(values[index].reserve(given.size_bytes()));
  // Input and output may be the same memory.
  std::ranges::transform(given, own, [&](T number) {
    return isMissingNumber(number) ? T(*missing) : number;
  });
  data.values = own;
  return {};
}

/// Sets the values of the bags of a field, and replaces missing ones as text
/// readers do: a bag is missing if it has no value, or if its only value is
/// missing. Copies the values only if something is missing.
template <typename T>
Status Scorer::takeBagValues(const pdl_field &field, const void *from,
                             int32_t index, pdl_field_data &data) {
  const int64_t bags = context.batch * field.width;
  const auto *bytes = static_cast<const std::byte *>(from);
  // The values need not be aligned.
  const auto valueAt = [&](int64_t i) {
    T value;
    std::memcpy(&value, bytes + size_t(i) * sizeof(T), sizeof(T));
    return value;
  };
  const auto isMissingAt = [&](int64_t i) {
    return isMissingNumber(valueAt(i));
  };
  const bool fillsBags = field.missing_kind == PDL_MISSING_VALUE ||
                         field.missing_kind == PDL_MISSING_TOKEN;
  bool isWhole = true;
  for (int64_t bag = 0; bag < bags && fillsBags && isWhole; ++bag)
    isWhole = data.splits[bag] != data.splits[bag + 1];
  for (int64_t i = 0; i < data.value_count && isWhole; ++i)
    isWhole = !isMissingAt(i);
  if (isWhole) {
    takeValues(from, size_t(data.value_count) * sizeof(T), index, data);
    return {};
  }
  const int64_t most = data.value_count + (fillsBags ? bags : 0);
  if (most > INT32_MAX)
    return refuse(field, "has more elements than a batch can have");
  const std::optional<double> element = missingNumberOf(field);
  T *own = values[index].reserveFor<T>(size_t(most));
  int32_t *ends = splits[index].reserveFor<int32_t>(size_t(bags) + 1);
  int64_t count = 0;
  ends[0] = 0;
  for (int64_t bag = 0; bag < bags; ++bag) {
    const int64_t begin = data.splits[bag], end = data.splits[bag + 1];
    if (begin == end || (end - begin == 1 && isMissingAt(begin))) {
      if (fillsBags)
        PDLRT_RETURN_IF_ERROR(
            makeMissing(field, bag % field.width, own[count++]));
    } else {
      for (int64_t i = begin; i < end; ++i) {
        if (!isMissingAt(i))
          own[count++] = valueAt(i);
        else if (element)
          own[count++] = T(*element);
        else
          return refuseNaN(field, i);
      }
    }
    ends[bag + 1] = int32_t(count);
  }
  data = {own, ends, count};
  return {};
}

/// Sets the values of a field. Programs require aligned memory, so values that
/// are not aligned are copied.
void Scorer::takeValues(const void *from, size_t bytes, int32_t index,
                        pdl_field_data &data) {
  if (from && reinterpret_cast<uintptr_t>(from) % PDL_BUFFER_ALIGNMENT == 0) {
    data.values = const_cast<void *>(from);
    return;
  }
  data.values = values[index].reserve(bytes);
  if (bytes)
    std::memcpy(data.values, from, bytes);
}

bool Scorer::isJoined(int32_t index) const {
  const std::span joined(program.joined, size_t(2 * program.joined_count));
  return std::ranges::find(joined, index) != joined.end();
}

/// Returns an error unless bags that the program joins have equal lengths.
/// Readers of files do the same check.
Status Scorer::checkJoined() const {
  for (int32_t pair = 0; pair < program.joined_count; ++pair) {
    const int32_t own = program.joined[2 * pair];
    const int32_t like = program.joined[2 * pair + 1];
    const pdl_field &field = descriptor.fields[program.fields[own]];
    const char *other = descriptor.fields[program.fields[like]].name;
    const auto gapsOf = [&](int32_t index, int64_t bag) {
      return leftOut[index].empty() ? 0 : leftOut[index][size_t(bag)];
    };
    const auto sizeOf = [&](int32_t index, int64_t bag) {
      return fields[index].splits[bag + 1] - fields[index].splits[bag];
    };
    for (int64_t bag = 0; bag < context.batch * field.width; ++bag) {
      if (sizeOf(own, bag) != sizeOf(like, bag))
        return refuse(
            field,
            fmt::format("belongs together with input '{}' (nn.same_bags), but "
                        "in sample {} they have {} and {} elements; give both "
                        "as many, and where some may be missing, "
                        "missing(...) and missing_element(...) in the model",
                        other, bag / field.width, sizeOf(own, bag),
                        sizeOf(like, bag)));
      if (gapsOf(own, bag) != gapsOf(like, bag))
        return refuse(
            field,
            fmt::format("belongs together with input '{}' (nn.same_bags), but "
                        "in sample {} they miss elements at different "
                        "positions; give the fields missing_element(...) in "
                        "the model, or give all elements",
                        other, bag / field.width));
    }
  }
  return {};
}

Status Scorer::takeInput(int32_t index, const pdl_serving_input &input,
                         bool areKeys) {
  const pdl_field &field = descriptor.fields[program.fields[index]];
  pdl_field_data &data = fields[index];
  data = {};
  leftOut[index].clear();
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
  if (field.kind == PDL_FIELD_RAGGED)
    return field.element_type == PDL_F32
               ? takeBagValues<float>(field, input.values, index, data)
           : field.element_type == PDL_F64
               ? takeBagValues<double>(field, input.values, index, data)
               : takeBagValues<int64_t>(field, input.values, index, data);
  takeValues(input.values, size_t(data.value_count) * fieldElementSize(field),
             index, data);
  if (field.element_type == PDL_F32)
    return replaceMissing<float>(field, index, data);
  if (field.element_type == PDL_F64)
    return replaceMissing<double>(field, index, data);
  return {};
}

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

/// Requests the rows of all lookups by one call.
Status Scorer::requestRows(const RemoteRows &remote) {
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
    // The pointers may be changed: this scorer's worker has allocated the
    // memory that contains them.
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
  // Keeps counts within the range of 32-bit offsets.
  constexpr int64_t maxSamples = int64_t(1) << 24;
  if (batch < 1 || batch > maxSamples)
    return Status::invalidArgument(fmt::format(
        "a batch of {} samples; it has 1 to {}", batch, maxSamples));
  context.batch = batch;
  for (int32_t i = 0; i < program.output_count; ++i)
    if (!outputs[i])
      return Status::invalidArgument(std::string("output '") +
                                     program.outputs[i].name + "' is null");
  for (int32_t i = 0; i < program.field_count; ++i)
    PDLRT_RETURN_IF_ERROR(takeInput(i, inputs[i], areKeys && areKeys[i] != 0));
  PDLRT_RETURN_IF_ERROR(checkJoined());
  const std::shared_ptr<const RemoteRows> &remote = state.remoteRows();
  if (remote) {
    // Without tables, pulls only allocate memory for row pointers.
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
    PDLRT_RETURN_IF_ERROR(requestRows(*remote));
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
