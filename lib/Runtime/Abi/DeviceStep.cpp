//===- DeviceStep.cpp - Stage compute on a device -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceStep.h"

#include "pdlabi/abi/calls.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/DevicePlaces.h"
#include "pdlrt/Abi/Worker.h"

#include <algorithm>
#include <array>
#include <new>

using namespace pdlrt;
using pdlabi::GradientKernel;

DeviceParameters::~DeviceParameters() = default;

DeviceStep::DeviceStep(Device &device, const pdl_descriptor &descriptor,
                       const pdl_program &program, DeviceParameters *parameters)
    : device(device), descriptor(descriptor), program(program),
      parameters(parameters), kernels(descriptor) {
  const std::span updates(program.updates, size_t(program.update_count));
  checks = std::ranges::all_of(updates, [&](const auto &update) {
    return kernels.has(GradientKernel::CheckFinite,
                       descriptor.symbols[update.symbol].element_type);
  });
}

/// Adds work and keeps failures; no exception enters a stage.
template <typename Callable> void DeviceStep::add(Callable &&work) {
  if (!failure.ok())
    return;
  try {
    keep(work());
  } catch (const std::bad_alloc &) {
    keep(Status::outOfMemory("out of memory for the work of a stage; use a "
                             "machine with more memory"));
  }
}

void DeviceStep::begin(const pdl_step_context &given, DeviceInput &itsInput) {
  context = &given;
  input = &itsInput;
  keep(openOnce(device, stream, "compute"));
  if (stream && !commands)
    commands = std::make_unique<DeviceCommands>(*stream);
  for (auto &[place, copy] : copies)
    copy.isCurrent = false;
  if (chunks.size() > 1) {
    chunks.clear();
    chunks.emplace_back();
    keep(
        reserve(device, chunks.back(), DeviceBuffer::Kind::OfHost, stageBytes));
  }
  chunkUsed = stageBytes = 0;
  unused.clear();
  add([&] {
    PDLRT_RETURN_IF_ERROR(input->arrive(*stream));
    commands->begin(context->batch, input);
    if (program.update_count == 0 || !checksGradients())
      return Status();
    PDLRT_RETURN_IF_ERROR(
        nonFinite.reserve(device, size_t(program.update_count)));
    return nonFinite.clear(*commands);
  });
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void *DeviceStep::pointerTo(int32_t place, int32_t index) {
  if (place == PDL_PLACE_PARAMETER && parameters && failure.ok()) {
    const Expected<void *> kept =
        parameters->parameter(index, program.frozen != 0);
    if (!kept)
      keep(kept.status());
    return kept ? *kept : nullptr;
  }
  if (isReadyWithPrepare(place) && failure.ok()) {
    const Expected<void *> sent =
        input->pointerTo(*context, place, index, *stream);
    if (!sent)
      keep(sent.status());
    return sent ? *sent : nullptr;
  }
  Copy &copy = copies[{place, index}];
  if (!failure.ok() || std::exchange(copy.isCurrent, true))
    return copy.memory.data();
  const Expected<PlaceOnHost> found =
      findPlace(descriptor, program, *context, place, index);
  if (!found) {
    keep(found.status());
    return nullptr;
  }
  if (Status status = reserve(device, copy.memory, DeviceBuffer::Kind::OfDevice,
                              std::max<size_t>(found->bytes, 1));
      !status.ok())
    keep(std::move(status));
  else if (found->memory && !found->isWritten)
    // Not recorded in `commands`: a graph must not contain a copy from memory
    // that the device has not allocated. No earlier work of the stream uses the
    // target.
    keep(stream->copyIn(copy.memory.data(), found->memory, found->bytes));
  return copy.memory.data();
}

void *DeviceStep::constant(const void *onHost, size_t bytes) {
  DeviceBuffer &memory = constants[onHost];
  if (memory.data() || !failure.ok())
    return memory.data();
  if (Status status =
          reserve(device, memory, DeviceBuffer::Kind::OfDevice, bytes);
      !status.ok())
    keep(std::move(status));
  else
    copyIn(memory.data(), onHost, bytes);
  return memory.data();
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

void DeviceStep::launch(int32_t kernel, int64_t turns,
                        const uint64_t *arguments) {
  add([&] {
    const pdl_device_kernel &given = descriptor.device_kernels[kernel];
    return commands->launch(size_t(kernel), turns,
                            {arguments, size_t(given.argument_count)});
  });
}

void DeviceStep::multiply(const DeviceProduct &product, int32_t otherwise) {
  if (product.m > 0 && product.n > 0)
    add([&] { return commands->multiply(product, size_t(otherwise)); });
}

void DeviceStep::gather(DeviceLookups &tables, DeviceRows &lookup, void *out) {
  add([&]() -> Status {
    // Work of another stream cannot be in a graph.
    PDLRT_RETURN_IF_ERROR(commands->endPart());
    return tables.gather(lookup, program.frozen != 0, out, *stream);
  });
}

void *DeviceStep::hostMemory(size_t bytes) {
  const size_t size = (std::max<size_t>(bytes, 1) + PDL_BUFFER_ALIGNMENT - 1) /
                      PDL_BUFFER_ALIGNMENT * PDL_BUFFER_ALIGNMENT;
  if (failure.ok() &&
      (chunks.empty() || chunks.back().size() - chunkUsed < size)) {
    DeviceBuffer more;
    Status status = reserve(device, more, DeviceBuffer::Kind::OfHost, size);
    if (status.ok()) {
      chunks.push_back(std::move(more));
      chunkUsed = 0;
    }
    keep(std::move(status));
  }
  // After a failure, the stage continues until its next wait. It still accesses
  // the result, so ordinary memory is returned.
  if (!failure.ok()) {
    unused.emplace_back();
    return unused.back().reserve(size);
  }
  void *memory = static_cast<char *>(chunks.back().data()) + chunkUsed;
  chunkUsed += size;
  stageBytes += size;
  return memory;
}

void DeviceStep::copyIn(void *toDevice, const void *fromHost, size_t bytes) {
  add([&] { return commands->copyIn(toDevice, fromHost, bytes); });
}

void DeviceStep::copyOut(void *toHost, const void *fromDevice, size_t bytes) {
  add([&] { return commands->copyOut(toHost, fromDevice, bytes); });
}

void DeviceStep::copyWithin(void *to, const void *from, size_t bytes) {
  add([&] { return commands->copyWithin(to, from, bytes); });
}

Status DeviceStep::wait(bool isLast) {
  if (isLast)
    finish();
  add([&] { return commands->endPart(); });
  if (failure.ok())
    keep(stream->synchronize());
  return failure;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Expected<void *> DeviceStep::hostResult(int32_t place, int32_t index,
                                        size_t bytes) {
  DeviceBuffer &memory = results[{place, index}];
  PDLRT_RETURN_IF_ERROR(reserve(device, memory, DeviceBuffer::Kind::OfHost,
                                std::max<size_t>(bytes, 1)));
  return memory.data();
}

Expected<void *> DeviceStep::hostGradient(int32_t update, size_t bytes) {
  if (parameters && checksGradients() &&
      parameters->takesGradient(program.updates[update].symbol))
    return nullptr;
  return hostResult(PDL_PLACE_GRADIENT, update, bytes);
}

void DeviceStep::check(int32_t update, const void *gradient, size_t bytes) {
  const pdl_symbol &symbol = descriptor.symbols[program.updates[update].symbol];
  const auto count = int64_t(bytes / elementSize(symbol));
  const std::array arguments = {
      uint64_t(count), reinterpret_cast<uint64_t>(gradient),
      reinterpret_cast<uint64_t>(nonFinite.onDevice(size_t(update)))};
  add([&] {
    return commands->launch(
        kernels.of(GradientKernel::CheckFinite, symbol.element_type), count,
        arguments);
  });
}

void DeviceStep::finish() {
  for (auto &[place, copy] : copies) {
    if (!copy.isCurrent || !failure.ok())
      continue;
    const Expected<PlaceOnHost> onHost =
        findPlace(descriptor, program, *context, place.first, place.second);
    if (!onHost || !onHost->isWritten)
      continue;
    if (place.first == PDL_PLACE_GRADIENT && checksGradients())
      check(place.second, copy.memory.data(), onHost->bytes);
    if (onHost->memory)
      copyOut(onHost->memory, copy.memory.data(), onHost->bytes);
  }
  if (nonFinite.size() > 0)
    add([&] { return nonFinite.bringToHost(*commands); });
}

Expected<GrowingBytes> DeviceStep::growing() const {
  return sumGrowing(descriptor, program, *context, copies);
}

void *DeviceStep::gradient(int32_t update) const {
  const auto copy = copies.find({PDL_PLACE_GRADIENT, update});
  return copy != copies.end() && copy->second.isCurrent
             ? copy->second.memory.data()
             : nullptr;
}

bool DeviceStep::isGradientFinite(int32_t update) const {
  return !nonFinite.isSet(size_t(update));
}

//===----------------------------------------------------------------------===//
// What stages call
//===----------------------------------------------------------------------===//

static DeviceStep &stepOf(void *worker) {
  return Worker::of(worker).deviceStep();
}

void *pdlrt_device_pointer(void *worker, int32_t place, int32_t index) {
  return stepOf(worker).pointerTo(place, index);
}

void *pdlrt_device_constant(void *worker, int64_t bytes, const void *constant) {
  return stepOf(worker).constant(constant, size_t(bytes));
}

void pdlrt_launch(void *worker, int32_t kernel, int64_t turns,
                  const uint64_t *arguments) {
  stepOf(worker).launch(kernel, turns, arguments);
}

void pdlrt_device_product(void *worker, int32_t product, int32_t kernel,
                          int32_t transposeA, int32_t transposeB, int64_t m,
                          int64_t n, int64_t k, const void *a, const void *b,
                          const void *bias, void *c, int64_t cStride) {
  stepOf(worker).multiply({transposeA != 0, transposeB != 0, m, n, k, a, b,
                           bias, c, cStride, product == PDL_PRODUCT_BF16},
                          kernel);
}

void pdlrt_device_gather(void *worker, int32_t type, const pdl_lookup *lookup,
                         int64_t width, void *out) {
  Worker &own = Worker::of(worker);
  Worker::Lookup *scratch = own.findLookup(*lookup);
  if (scratch && scratch->onDevice.symbol >= 0) {
    own.deviceStep().gather(*own.deviceTablesOf(scratch->onDevice.symbol),
                            scratch->onDevice, out);
    return;
  }
  const size_t bytes = size_t(lookup->key_count * width) * elementSize(type);
  void *onHost = own.deviceStep().hostMemory(bytes);
  pdlrt_gather(type, lookup, width, onHost);
  own.deviceStep().copyIn(out, onHost, bytes);
}

/// Returns `bytes`, or 0 if it is negative. The size of a view without rows may
/// be negative.
static size_t bytesOf(int64_t bytes) {
  return size_t(std::max<int64_t>(bytes, 0));
}

void *pdlrt_host_memory(void *worker, int64_t bytes) {
  return stepOf(worker).hostMemory(bytesOf(bytes));
}

void pdlrt_copy_in(void *worker, int64_t bytes, const void *fromHost,
                   void *toDevice) {
  stepOf(worker).copyIn(toDevice, fromHost, bytesOf(bytes));
}

void pdlrt_copy_out(void *worker, int64_t bytes, const void *fromDevice,
                    void *toHost) {
  stepOf(worker).copyOut(toHost, fromDevice, bytesOf(bytes));
}

void pdlrt_copy_within(void *worker, int64_t bytes, const void *from,
                       void *to) {
  stepOf(worker).copyWithin(to, from, bytesOf(bytes));
}

int32_t pdlrt_device_wait(void *worker, int32_t isLast) {
  return stepOf(worker).wait(isLast != 0).report();
}
