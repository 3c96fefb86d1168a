//===- DeviceInput.cpp - Copies a prepared batch to a device --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceInput.h"

#include "pdlrt/Abi/DevicePlaces.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>

using namespace pdlrt;

Status DeviceInput::finish() {
  sent.reset();
  for (auto &[place, copy] : copies)
    copy.isCurrent = false;
  return stream ? stream->synchronize() : Status();
}

Status DeviceInput::copy(const pdl_step_context &context,
                         std::pair<int32_t, int32_t> place, Copy &copy,
                         DeviceStream &by) {
  const Expected<PlaceOnHost> found =
      findPlace(descriptor, program, context, place.first, place.second);
  if (!found)
    return found.status();
  PDLRT_RETURN_IF_ERROR(reserve(device, copy.memory,
                                DeviceBuffer::Kind::OfDevice,
                                std::max<size_t>(found->bytes, 1)));
  copy.isCurrent = true;
  return found->memory
             ? by.copyIn(copy.memory.data(), found->memory, found->bytes)
             : Status();
}

Status DeviceInput::send(const pdl_step_context &context) {
  if (copies.empty())
    return {};
  const TraceSpan span("copy batch");
  PDLRT_RETURN_IF_ERROR(openOnce(device, stream, "batches"));
  for (auto &[place, own] : copies)
    PDLRT_RETURN_IF_ERROR(copy(context, place, own, *stream));
  Expected<std::unique_ptr<DeviceEvent>> event = stream->record();
  if (!event)
    return std::move(event).status();
  sent = std::move(*event);
  return {};
}

Status DeviceInput::arrive(DeviceStream &compute) {
  return sent ? compute.wait(*sent) : Status();
}

Expected<GrowingBytes>
DeviceInput::growing(const pdl_step_context &context) const {
  return sumGrowing(descriptor, program, context, copies);
}

Expected<void *> DeviceInput::pointerTo(const pdl_step_context &context,
                                        int32_t place, int32_t index,
                                        DeviceStream &compute) {
  Copy &own = copies[{place, index}];
  if (!own.isCurrent)
    PDLRT_RETURN_IF_ERROR(copy(context, {place, index}, own, compute));
  return own.memory.data();
}
