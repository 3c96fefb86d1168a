//===- InferenceRequest.cpp - An inference request ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferenceRequest.h"
#include "Version.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>

using namespace pdlserve;

const pdl_serving_program &InferenceRequest::program() const {
  return version->program(programIndex);
}

Outcome InferenceRequest::want(std::string_view output,
                               std::string_view metadata) {
  const pdl_serving_program &called = program();
  int32_t index = 0;
  while (index < called.output_count && output != called.outputs[index].name)
    ++index;
  if (index == called.output_count)
    return Outcome::bad(
        fmt::format("the model has no output '{}'; see {}", output, metadata));
  if (std::ranges::find(wanted, index) != wanted.end())
    return Outcome::bad(fmt::format("output '{}' is asked for twice", output));
  wanted.push_back(index);
  return {};
}

void InferenceRequest::wantAll() {
  wanted.resize(size_t(program().output_count));
  std::iota(wanted.begin(), wanted.end(), 0);
}

Outcome InferenceRequest::reserveResponse() {
  const pdl_serving_program &called = program();
  uint64_t elements = 0, bytes = 0;
  for (int32_t i = 0; i < called.output_count; ++i) {
    const uint64_t count = uint64_t(batch) * uint64_t(called.outputs[i].width);
    elements += count;
    bytes += count * sizeOf(valueTypeOf(called.outputs[i]));
  }
  return memory.grow(bytes + responseBytes(elements, bytes)) ? Outcome()
                                                             : noBudget();
}

void pdlserve::finishRequest(std::unique_ptr<InferenceRequest> job) noexcept {
  try {
    job->finish();
  } catch (...) {
    job->abandon();
  }
}

static std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

static Outcome refuse(std::string_view name, const std::string &why) {
  return Outcome::bad(fmt::format("input '{}' {}", name, why));
}

/// Returns an error unless the shape has `tensor.count` elements.
static Outcome checkShape(const Tensor &tensor) {
  int64_t product = 1;
  bool fits = !tensor.shape.empty();
  for (const int64_t size : tensor.shape)
    fits =
        fits && size >= 0 && !__builtin_mul_overflow(product, size, &product);
  if (fits && product == tensor.count)
    return {};
  return refuse(tensor.name,
                fmt::format("has {} elements, which do not make the shape {}; "
                            "give as many as the shape says",
                            tensor.count, shapeText(tensor.shape)));
}

static Outcome checkType(const Tensor &tensor, const pdl_serving_tensor &input,
                         const pdl_serving_input_rules &rules) {
  const DataType values = valueTypeOf(input);
  const bool isInteger = tensor.type == DataType::Int64 || tensor.areIntegers;
  if (rules.hashes_texts && isInteger)
    return refuse(tensor.name,
                  "is INT64, but the model hashes texts; give BYTES, or "
                  "UINT64 for keys as tables have them");
  if (tensor.type == values ||
      (tensor.type == DataType::Bytes && input.takes_texts) ||
      (tensor.type == DataType::Uint64 && values == DataType::Int64))
    return {};
  return refuse(
      tensor.name,
      fmt::format("is {}, but the model takes {}{}", nameOf(tensor.type),
                  nameOf(rules.hashes_texts ? DataType::Uint64 : values),
                  input.takes_texts ? " or BYTES" : ""));
}

/// Fills a tensor with `count` copies of a number.
template <typename Number> static void fill(Tensor &tensor, Number number) {
  tensor.storage.reserve(size_t(tensor.count) * sizeof(number));
  for (int64_t i = 0; i < tensor.count; ++i)
    tensor.storage.append(reinterpret_cast<const char *>(&number),
                          sizeof(number));
}

/// Creates the values of an input that the request omits. An omitted input of
/// ids gets empty texts, for which the library has a key.
static Outcome fillMissing(const pdl_serving_tensor &input,
                           const pdl_serving_input_rules &rules,
                           RequestInput &place, InferenceRequest &job) {
  // Otherwise, a few bytes could request any amount of memory.
  constexpr int64_t maxElements = int64_t(1) << 24;
  int64_t count = 0;
  if (__builtin_mul_overflow(job.batch, input.width, &count) ||
      count > maxElements)
    return refuse(input.name,
                  fmt::format("is missing, and may be left out of requests "
                              "with {} elements of it at most",
                              maxElements));
  if (!job.memory.grow(size_t(count) * sizeof(double) +
                       (size_t(count) + 1) * sizeof(int32_t)))
    return noBudget();
  const bool isRagged = input.kind == PDL_SERVING_RAGGED;
  const bool isEmpty = isRagged && rules.missing != PDL_SERVING_MISSING_NUMBER;
  if (isRagged) {
    place.splits.resize(size_t(count) + 1);
    for (size_t i = 0; i < place.splits.size() && !isEmpty; ++i)
      place.splits[i] = int32_t(i);
  }
  Tensor &tensor = place.values;
  tensor.name = input.name;
  tensor.type = valueTypeOf(input);
  tensor.count = isEmpty ? 0 : count;
  if (tensor.type == DataType::Int64) {
    tensor.type = DataType::Bytes;
    tensor.texts.ends.resize(size_t(tensor.count));
  } else if (tensor.type == DataType::Fp32) {
    fill(tensor, float(rules.missing_number));
  } else {
    fill(tensor, rules.missing_number);
  }
  return {};
}

/// Returns an error unless input `name` has as many samples as the inputs
/// before it.
static Outcome agreeOnBatch(std::string_view name, int64_t samples,
                            InferenceRequest &job) {
  if (samples < 1)
    return refuse(name, fmt::format("has {} samples; a request has 1 to {}",
                                    samples, job.maxSamples));
  if (samples > job.maxSamples)
    return {Code::TooLarge,
            fmt::format("input '{}' has {} samples; a request has 1 to {} "
                        "(--max-samples); send smaller batches",
                        name, samples, job.maxSamples)};
  if (job.batch != 0 && job.batch != samples)
    return refuse(name, fmt::format("has {} samples, but others have {}",
                                    samples, job.batch));
  job.batch = samples;
  return {};
}

static Outcome bindPlain(Tensor tensor, const pdl_serving_tensor &input,
                         RequestInput &place, InferenceRequest &job) {
  const std::vector<int64_t> &shape = tensor.shape;
  const bool isRagged = input.kind == PDL_SERVING_RAGGED;
  const bool hasLengths = isRagged && shape.size() == 3;
  if (!(shape.size() == 1 && input.width == 1) &&
      !((shape.size() == 2 || hasLengths) && shape[1] == input.width))
    return refuse(
        tensor.name,
        fmt::format("has the shape {}, but the model takes [batch, {}]{}",
                    shapeText(shape), input.width,
                    isRagged ? fmt::format(", [batch, {}, length], or "
                                           "'{}.values' and '{}.splits'",
                                           input.width, input.name, input.name)
                             : ""));
  if (Outcome outcome = agreeOnBatch(tensor.name, shape[0], job); !outcome.ok())
    return outcome;
  if (isRagged) {
    const int64_t length = hasLengths ? shape[2] : 1;
    // Otherwise, a few bytes could request any number of samples.
    if (length == 0)
      return refuse(tensor.name, "has bags of length 0; give empty texts, or "
                                 "values and splits");
    if (tensor.count > INT32_MAX)
      return refuse(tensor.name, "has more elements than a batch can have");
    const auto count = size_t(job.batch * input.width) + 1;
    if (!job.memory.grow(count * sizeof(int32_t)))
      return noBudget();
    place.splits.resize(count);
    for (size_t i = 0; i < place.splits.size(); ++i)
      place.splits[i] = int32_t(int64_t(i) * length);
  }
  place.values = std::move(tensor);
  return {};
}

static Outcome takeSplits(const Tensor &tensor, const pdl_serving_tensor &input,
                          RequestInput &place, InferenceRequest &job) {
  if (tensor.type != DataType::Int32)
    return refuse(tensor.name, fmt::format("is {}, but splits are INT32",
                                           nameOf(tensor.type)));
  if (tensor.count < 1 || (tensor.count - 1) % input.width != 0)
    return refuse(tensor.name,
                  fmt::format("has {} splits; give batch * {} + 1 of them, "
                              "where each bag begins and the last one ends",
                              tensor.count, input.width));
  if (Outcome outcome =
          agreeOnBatch(tensor.name, (tensor.count - 1) / input.width, job);
      !outcome.ok())
    return outcome;
  if (!job.memory.grow(size_t(tensor.count) * sizeof(int32_t)))
    return noBudget();
  std::vector<int32_t> splits(static_cast<size_t>(tensor.count));
  std::memcpy(splits.data(), tensor.values(), splits.size() * sizeof(int32_t));
  if (splits.front() != 0)
    return refuse(
        tensor.name,
        fmt::format("begins with {}; the first split is 0", splits.front()));
  if (const auto at = std::ranges::adjacent_find(splits, std::greater<>());
      at != splits.end())
    return refuse(tensor.name,
                  fmt::format("has {} after {}; splits ascend", at[1], at[0]));
  place.splits = std::move(splits);
  return {};
}

namespace {
/// Part of an input that a tensor contains.
enum class Part { Plain, Values, Splits };

struct Target {
  int32_t input = -1;
  Part part = Part::Plain;
};
} // namespace

/// Returns the input for a tensor name. Its index is -1 if the model has no
/// such input.
static Target findTarget(const pdl_serving_program &program,
                         std::string_view name) {
  for (int32_t i = 0; i < program.input_count; ++i)
    if (name == program.inputs[i].name)
      return {i, Part::Plain};
  for (int32_t i = 0; i < program.input_count; ++i) {
    const std::string_view base = program.inputs[i].name;
    if (program.inputs[i].kind != PDL_SERVING_RAGGED || !name.starts_with(base))
      continue;
    if (name.substr(base.size()) == ".values")
      return {i, Part::Values};
    if (name.substr(base.size()) == ".splits")
      return {i, Part::Splits};
  }
  return {};
}

static std::string describeInputs(const pdl_serving_program &program) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < program.input_count; ++i)
    names.push_back(fmt::format("'{}'", program.inputs[i].name));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// Returns an error if a request lacks an input that the model requires.
/// `isGiven`: for each input, whether the request has it.
static Outcome checkGiven(const InferenceRequest &job,
                          const std::vector<uint8_t> &isGiven) {
  const pdl_serving_program &program = job.program();
  std::vector<std::string> lacking;
  for (int32_t i = 0; i < program.input_count; ++i)
    if (!isGiven[i] && job.version->rulesOf(job.programIndex, i).missing ==
                           PDL_SERVING_REQUIRED)
      lacking.push_back(fmt::format("'{}'", program.inputs[i].name));
  if (lacking.size() == 1)
    return Outcome::bad(fmt::format(
        "input {} is missing; the model requires it", lacking.front()));
  if (!lacking.empty())
    return Outcome::bad(
        fmt::format("inputs {} are missing; the model requires them",
                    fmt::join(lacking, ", ")));
  // Without any input, the number of samples is unknown.
  if (program.input_count > 0 &&
      std::ranges::find(isGiven, true) == isGiven.end())
    return Outcome::bad(
        fmt::format("the request has none of the model's inputs, which are {}; "
                    "give at least one, whose shape says how many samples "
                    "there are",
                    describeInputs(program)));
  return {};
}

Outcome pdlserve::bindTensors(std::vector<Tensor> tensors,
                              InferenceRequest &job) {
  const pdl_serving_program &program = job.program();
  job.batch = 0;
  job.inputs.clear();
  job.inputs.resize(size_t(program.input_count));
  std::vector<uint8_t> hasValues(size_t(program.input_count)),
      hasSplits(size_t(program.input_count));
  for (Tensor &tensor : tensors) {
    const auto [index, part] = findTarget(program, tensor.name);
    if (index < 0)
      return refuse(tensor.name, "is none of the model's, which are " +
                                     describeInputs(program));
    const pdl_serving_tensor &input = program.inputs[index];
    if ((part != Part::Splits && std::exchange(hasValues[index], true)) ||
        (part != Part::Values && std::exchange(hasSplits[index], true)))
      return refuse(tensor.name, "is given twice; give it once");
    if (Outcome outcome = checkShape(tensor); !outcome.ok())
      return outcome;
    if (part != Part::Splits)
      if (Outcome outcome = checkType(
              tensor, input, job.version->rulesOf(job.programIndex, index));
          !outcome.ok())
        return outcome;
    Outcome outcome;
    if (part == Part::Plain)
      outcome = bindPlain(std::move(tensor), input, job.inputs[index], job);
    else if (part == Part::Splits)
      outcome = takeSplits(tensor, input, job.inputs[index], job);
    else
      job.inputs[index].values = std::move(tensor);
    if (!outcome.ok())
      return outcome;
  }
  std::vector<uint8_t> isGiven(size_t(program.input_count));
  std::ranges::transform(hasValues, hasSplits, isGiven.begin(),
                         std::bit_or<uint8_t>());
  if (Outcome outcome = checkGiven(job, isGiven); !outcome.ok())
    return outcome;
  for (int32_t i = 0; i < program.input_count; ++i) {
    const bool isRagged = program.inputs[i].kind == PDL_SERVING_RAGGED;
    const char *name = program.inputs[i].name;
    if (!isRagged || !isGiven[i])
      continue;
    if (!hasValues[i] || !hasSplits[i])
      return refuse(name, fmt::format("is missing its '{}.{}'", name,
                                      hasValues[i] ? "splits" : "values"));
    const RequestInput &bound = job.inputs[i];
    if (bound.splits.back() != bound.values.count)
      return refuse(name, fmt::format("has {} values, but its splits end at "
                                      "{}; the last split is the number of "
                                      "values",
                                      bound.values.count, bound.splits.back()));
  }
  // The program may have no inputs.
  job.batch = std::max<int64_t>(job.batch, 1);
  for (int32_t i = 0; i < program.input_count; ++i)
    if (!isGiven[i])
      if (Outcome outcome = fillMissing(
              program.inputs[i], job.version->rulesOf(job.programIndex, i),
              job.inputs[i], job);
          !outcome.ok())
        return outcome;
  return {};
}
