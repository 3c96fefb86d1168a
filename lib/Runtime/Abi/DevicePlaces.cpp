//===- DevicePlaces.cpp - Memory of a step with device copies -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DevicePlaces.h"

#include "pdlrt/Abi/AffineSize.h"
#include "pdlrt/Abi/Descriptor.h"

#include <vector>

using namespace pdlrt;

/// Returns an arena. Its memory is null if the arena exists only on the device.
static Expected<PlaceOnHost> findArena(const pdl_program &program,
                                       const pdl_step_context &context,
                                       void *memory,
                                       const pdl_affine_size &size) {
  const std::optional<int64_t> bytes =
      evaluate(size, {context.batch,
                      {context.fields, size_t(program.field_count)},
                      {context.lookups, size_t(program.lookup_count)}});
  if (!bytes)
    return Status::outOfMemory("out of memory for a batch of " +
                               std::to_string(context.batch) +
                               " samples; use a smaller --batch-size");
  return PlaceOnHost{memory, size_t(*bytes)};
}

/// Removes const from memory that the host only reads.
static void *readFrom(const void *memory) { return const_cast<void *>(memory); }

Expected<PlaceOnHost> pdlrt::findPlace(const pdl_descriptor &descriptor,
                                       const pdl_program &program,
                                       const pdl_step_context &context,
                                       int32_t place, int32_t index) {
  switch (place) {
  case PDL_PLACE_FIELD_VALUES: {
    const pdl_field &field = descriptor.fields[program.fields[index]];
    const pdl_field_data &data = context.fields[index];
    return PlaceOnHost{data.values, size_t(data.value_count) *
                                        elementSize(field.element_type)};
  }
  case PDL_PLACE_FIELD_SPLITS: {
    const int64_t width = descriptor.fields[program.fields[index]].width;
    return PlaceOnHost{readFrom(context.fields[index].splits),
                       size_t(context.batch * width + 1) * sizeof(int32_t)};
  }
  case PDL_PLACE_LOOKUP_INVERSE: {
    const pdl_lookup &lookup = context.lookups[index];
    return PlaceOnHost{readFrom(lookup.inverse),
                       size_t(lookup.occurrence_count) * sizeof(int32_t)};
  }
  case PDL_PLACE_LOOKUP_OCCURRENCES: {
    const pdl_lookup &lookup = context.lookups[index];
    return PlaceOnHost{readFrom(lookup.occurrences),
                       size_t(lookup.occurrence_count) * sizeof(int32_t)};
  }
  case PDL_PLACE_LOOKUP_KEY_SPLITS: {
    const pdl_lookup &lookup = context.lookups[index];
    return PlaceOnHost{readFrom(lookup.key_splits),
                       size_t(lookup.key_count + 1) * sizeof(int32_t)};
  }
  case PDL_PLACE_DRAWS_SAMPLES:
    return PlaceOnHost{readFrom(context.draws->samples),
                       size_t(context.draws->sample_count) * sizeof(int64_t)};
  case PDL_PLACE_PARAMETER: {
    const pdl_symbol &symbol = descriptor.symbols[index];
    return PlaceOnHost{context.parameters[index],
                       size_t(elementCount(symbol)) * elementSize(symbol)};
  }
  case PDL_PLACE_GRADIENT: {
    const pdl_update_descriptor &update = program.updates[index];
    const pdl_symbol &symbol = descriptor.symbols[update.symbol];
    size_t bytes = size_t(gradientElements(symbol)) * elementSize(symbol);
    if (symbol.kind == PDL_SYMBOL_TABLE)
      bytes *= size_t(context.lookups[update.lookup].key_count);
    return PlaceOnHost{context.gradients[index], bytes, /*isWritten=*/true};
  }
  case PDL_PLACE_OUTPUT: {
    const pdl_output &output = program.outputs[index];
    return PlaceOnHost{context.outputs[index],
                       size_t(context.batch * output.width) *
                           elementSize(output.element_type),
                       /*isWritten=*/true};
  }
  case PDL_PLACE_PREPARE_ARENA:
    return findArena(program, context, context.prepare_arena,
                     program.prepare_arena);
  case PDL_PLACE_COMPUTE_ARENA:
    return findArena(program, context, nullptr, program.compute_arena);
  default:
    return Status::internal("place " + std::to_string(place) +
                            " of a step has no copy on a device");
  }
}

GrowingBytes &GrowingBytes::operator+=(const GrowingBytes &other) {
  ofSamples += other.ofSamples;
  ofKeys += other.ofKeys;
  return *this;
}

/// Finds by how many bytes the memory of a place has grown with the samples,
/// and with the distinct keys, of a batch. Its size is a sum of a constant, a
/// term for samples and a term for keys. So the two terms follow from the sizes
/// for the batch, for the batch without samples, and for the batch without
/// samples and keys.
Expected<GrowingBytes> pdlrt::findGrowing(const pdl_descriptor &descriptor,
                                          const pdl_program &program,
                                          const pdl_step_context &context,
                                          int32_t place, int32_t index) {
  std::vector<pdl_field_data> fields(context.fields,
                                     context.fields + program.field_count);
  std::vector<pdl_lookup> lookups(context.lookups,
                                  context.lookups + program.lookup_count);
  pdl_draws draws = *context.draws;
  pdl_step_context smaller = context;
  smaller.batch = draws.sample_count = 0;
  smaller.draws = &draws;
  for (pdl_field_data &field : fields)
    field.value_count = 0;
  smaller.fields = fields.data();
  for (pdl_lookup &lookup : lookups)
    lookup.occurrence_count = 0;
  smaller.lookups = lookups.data();
  const auto bytesIn = [&](const pdl_step_context &batch) -> Expected<size_t> {
    const Expected<PlaceOnHost> found =
        findPlace(descriptor, program, batch, place, index);
    if (!found)
      return found.status();
    return found->bytes;
  };
  const Expected<size_t> all = bytesIn(context), ofKeys = bytesIn(smaller);
  for (pdl_lookup &lookup : lookups)
    lookup.key_count = 0;
  const Expected<size_t> fixed = bytesIn(smaller);
  for (const Expected<size_t> *bytes : {&all, &ofKeys, &fixed})
    if (!*bytes)
      return bytes->status();
  return GrowingBytes{*all - *ofKeys, *ofKeys - *fixed};
}

bool pdlrt::isReadyWithPrepare(int32_t place) {
  switch (place) {
  case PDL_PLACE_FIELD_VALUES:
  case PDL_PLACE_FIELD_SPLITS:
  case PDL_PLACE_LOOKUP_INVERSE:
  case PDL_PLACE_LOOKUP_KEY_SPLITS:
  case PDL_PLACE_LOOKUP_OCCURRENCES:
  case PDL_PLACE_DRAWS_SAMPLES:
  case PDL_PLACE_PREPARE_ARENA:
    return true;
  default:
    return false;
  }
}
