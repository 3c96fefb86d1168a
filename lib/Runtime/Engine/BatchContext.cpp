//===- BatchContext.cpp - Runs a program's stages on one batch ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/BatchContext.h"

#include "pdlrt/Abi/AffineSize.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/DeviceState.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace pdlrt;

BatchContext::BatchContext(Model &model, const pdl_program &program,
                           ComputeBuffers &buffers, double *const *metrics,
                           pdlabi::GroupedSamples *groups)
    : model(model), program(program), buffers(buffers),
      lookups(program.lookup_count) {
  const pdl_descriptor &descriptor = model.descriptor();
  worker.bind(descriptor.symbols, model.tables(), descriptor.symbol_count,
              program.frozen != 0);
  worker.keepGroups(groups);
  worker.computeOn(buffers.device.get());
  if (DeviceState *state = model.deviceState())
    worker.findRowsOn(state->tables());
  if (buffers.device)
    deviceInput = std::make_unique<DeviceInput>(buffers.device->runsOn(),
                                                descriptor, program);
  ownPartialSum.blocks.resize(program.update_count);
  ownPartialSum.objectives.resize(buffers.lossSums.size());

  context.struct_size = sizeof(context);
  context.worker = &worker;
  context.lookups = lookups.data();
  context.parameters = model.parameters(program.frozen != 0);
  context.gradients = buffers.gradientPointers.data();
  context.loss_sum = buffers.lossSums.data();
  context.weight_sum = buffers.weightSums.data();
  context.metrics = metrics;
  context.outputs = buffers.outputPointers.data();
  context.draws = &draws;
}

/// Random numbers depend on the positions of the samples in the data.
void BatchContext::prepareDraws(const StepInput &input) {
  draws = {model.seed(), 0, input.samples, nullptr};
  if (input.batch) {
    draws.epoch = input.batch->epoch();
    draws.samples = input.batch->sampleNumbers();
    return;
  }
  madeUpSamples.resize(size_t(input.samples));
  std::iota(madeUpSamples.begin(), madeUpSamples.end(), int64_t(0));
  draws.samples = madeUpSamples.data();
}

size_t BatchContext::arenaBytes(const pdl_affine_size &size) const {
  return bytesToAllocate(
      size,
      {context.batch, {context.fields, size_t(program.field_count)}, lookups});
}

void BatchContext::skip() {
  ownPartialSum.present = false;
  std::fill(lookups.begin(), lookups.end(), pdl_lookup());
  stepInput = {};
}

static Status refuseBatch(int64_t samples) {
  return Status::outOfMemory("out of memory for a batch of " +
                             std::to_string(samples) +
                             " samples; use a smaller --batch-size");
}

Status BatchContext::prepare(const StepInput &input) {
  skip();
  stepInput = input;
  context.batch = input.samples;
  context.fields = input.fields;
  try {
    if (deviceInput)
      PDLRT_RETURN_IF_ERROR(deviceInput->finish());
    worker.beginStep();
    prepareDraws(input);
    // There are no lookups yet, so this size depends only on batch and fields.
    context.prepare_arena =
        prepareArena.reserve(arenaBytes(program.prepare_arena));
    context.compute_arena = nullptr;
    PDLRT_RETURN_IF_ERROR(Status::fromLastError(program.prepare(&context)));
    return deviceInput ? deviceInput->send(context) : Status();
  } catch (const std::bad_alloc &) {
    return refuseBatch(input.samples);
  }
}

/// Returns host memory for a gradient, or null if the gradient stays on a
/// device.
Expected<void *> BatchContext::reserveGradient(int32_t update, size_t bytes) {
  if (buffers.device)
    return buffers.device->hostGradient(update, bytes);
  return buffers.gradients[update].reserve(bytes);
}

Status BatchContext::reserveComputeBuffers() {
  const pdl_descriptor &descriptor = model.descriptor();
  if (!buffers.device)
    context.compute_arena =
        buffers.arena.reserve(arenaBytes(program.compute_arena));
  for (int32_t i = 0; i < program.output_count; ++i) {
    const size_t bytes = size_t(context.batch * program.outputs[i].width) *
                         elementSize(program.outputs[i].element_type);
    const Expected<void *> memory =
        buffers.device ? buffers.device->hostResult(PDL_PLACE_OUTPUT, i, bytes)
                       : Expected<void *>(buffers.outputs[i].reserve(bytes));
    if (!memory)
      return memory.status();
    buffers.outputPointers[i] = *memory;
  }
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_update_descriptor &update = program.updates[i];
    const pdl_symbol &symbol = descriptor.symbols[update.symbol];
    const size_t size = gradientElements(symbol) * elementSize(symbol);
    BlockGradient &block = ownPartialSum.blocks[i];
    block = {};
    const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
    const Expected<void *> memory = reserveGradient(
        i, isTable ? size * size_t(lookups[update.lookup].key_count) : size);
    if (!memory)
      return memory.status();
    buffers.gradientPointers[i] = *memory;
    if (!isTable) {
      block.dense = *memory;
      continue;
    }
    const pdl_lookup &lookup = lookups[update.lookup];
    block.keyCount = lookup.key_count;
    block.keys = lookup.keys;
    block.rows = lookup.rows;
    auto *base = static_cast<char *>(*memory);
    if (!base)
      continue;
    auto *pointers =
        buffers.gradientRows[i].reserveFor<const void *>(lookup.key_count);
    for (int64_t u = 0; u < lookup.key_count; ++u)
      pointers[u] = base + u * size;
    block.gradients = pointers;
  }
  return {};
}

Status BatchContext::compute() {
  try {
    PDLRT_RETURN_IF_ERROR(reserveComputeBuffers());
    worker.findRows();
  } catch (const std::bad_alloc &) {
    return refuseBatch(context.batch);
  }
  std::ranges::fill(buffers.lossSums, 0);
  std::ranges::fill(buffers.weightSums, 0);
  if (buffers.device)
    buffers.device->begin(context, *deviceInput);
  const ObservedSamples::Scope scope(observed);
  PDLRT_RETURN_IF_ERROR(Status::fromLastError(program.compute(&context)));
  for (size_t o = 0; o < buffers.lossSums.size(); ++o)
    ownPartialSum.objectives[o] = {buffers.lossSums[o], buffers.weightSums[o]};
  if (buffers.device)
    noteGradientsOnDevice();
  ownPartialSum.present = true;
  return {};
}

/// Sets the addresses of gradients that are on the device: those of parameters,
/// and those of tables unless the rows' gradients are on the host.
void BatchContext::noteGradientsOnDevice() {
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_update_descriptor &update = program.updates[i];
    BlockGradient &block = ownPartialSum.blocks[i];
    const bool isTable =
        model.descriptor().symbols[update.symbol].kind == PDL_SYMBOL_TABLE;
    if (isTable && block.gradients)
      continue;
    block.onDevice = buffers.device->gradient(i);
    if (!isTable)
      continue;
    if (Worker::Lookup *lookup = worker.findLookup(lookups[update.lookup])) {
      block.keysOnDevice = lookup->onDevice.keysOfDevice();
      block.rowsOnDevice = lookup->onDevice.rowsOfDevice();
    }
  }
}

Expected<BatchContext::DeviceNeeds>
BatchContext::deviceNeeds(size_t contexts) const {
  DeviceNeeds needs;
  if (!buffers.device || context.batch == 0)
    return needs;
  const Expected<GrowingBytes> ofStep = buffers.device->growing();
  const Expected<GrowingBytes> ofInput = deviceInput->growing(context);
  for (const Expected<GrowingBytes> *bytes : {&ofStep, &ofInput})
    if (!*bytes)
      return bytes->status();
  int64_t keys = 0;
  for (const pdl_lookup &lookup : lookups)
    keys += lookup.key_count;
  needs.ofSample = double(ofStep->ofSamples + contexts * ofInput->ofSamples) /
                   double(context.batch);
  needs.ofKey = double(ofStep->ofKeys + contexts * ofInput->ofKeys) /
                double(std::max<int64_t>(keys, 1));
  return needs;
}

/// Like `allFinite`, but uses the threads of the calling task.
static bool allFiniteInParallel(int32_t type, int64_t count,
                                const void *values) {
  const auto size = int64_t(elementSize(type));
  std::atomic<bool> finite = true;
  parallelRanges(count, double(count * size), [&](int64_t begin, int64_t end) {
    if (!allFinite(type, end - begin,
                   static_cast<const char *>(values) + begin * size))
      finite.store(false, std::memory_order_relaxed);
  });
  return finite;
}

std::string BatchContext::findNonFinite() const {
  const TraceSpan span("check finite");
  if (program.objective_count == 0)
    return {};
  for (const ObjectiveSums &sums : ownPartialSum.objectives)
    if (!std::isfinite(sums.loss))
      return "the loss";
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_update_descriptor &update = program.updates[i];
    const pdl_symbol &symbol = descriptor.symbols[update.symbol];
    int64_t count = gradientElements(symbol);
    if (symbol.kind == PDL_SYMBOL_TABLE)
      count *= lookups[update.lookup].key_count;
    const bool isFinite =
        buffers.device && buffers.device->checksGradients()
            ? buffers.device->isGradientFinite(i)
            : allFiniteInParallel(symbol.element_type, count,
                                  buffers.gradientPointers[i]);
    if (!isFinite)
      return std::string("the gradient of @") + symbol.name;
  }
  return {};
}

void **BatchContext::remoteRows(int32_t index) {
  Worker::Lookup *scratch = worker.findLookup(lookups[index]);
  return scratch ? static_cast<void **>(scratch->rows.data()) : nullptr;
}
