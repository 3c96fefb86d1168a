//===- OwnedState.cpp - State that a server owns --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/OwnedState.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/Trace.h"

#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

/// Returns the waiting rules and memory limits as a server's flags.
static std::string textOf(const StepBounds &bounds, const TableBound &tables) {
  std::string text;
  if (bounds.staleness)
    text = fmt::format("--max-staleness {}", *bounds.staleness);
  if (bounds.quorum)
    text = fmt::format("--quorum {} --late-gradients {}", *bounds.quorum,
                       bounds.late == LateGradients::Drop ? "drop" : "count");
  // With a spill folder, no result depends on the limit.
  if (tables.maxBytes > 0 && tables.spillFolder.empty())
    text +=
        fmt::format("{}--max-table-memory {} --table-eviction {}",
                    text.empty() ? "" : " ", tables.maxBytes,
                    tables.order == Eviction::LeastFrequent ? "least-frequent"
                                                            : "least-recent");
  return text;
}

OwnedState::OwnedState(const ServerSetup &setup)
    : descriptor(setup.descriptor), placement(setup.placement),
      scheduler(setup.scheduler), handshake(setup.handshake),
      model(setup.descriptor, setup.handshake.seed, setup.placement,
            int32_t(setup.handshake.serverRank)),
      metrics(name()) {
  handshake.bounds = textOf(setup.bounds, setup.tableBound);
}

Status OwnedState::prepare() {
  for (int32_t p = 0; p < descriptor.program_count; ++p) {
    const pdl_program &program = descriptor.programs[p];
    Expected<ExchangeLayout> layout =
        ExchangeLayout::create(descriptor, p, placement);
    if (!layout)
      return layout.status();
    layouts.push_back(std::move(*layout));
    blocks.push_back(gradientBlocks(descriptor, program));
    for (GradientBlock &block : blocks.back())
      if (!block.isTable)
        block.elementCount = model.heldElements(block.symbol);
    updaters.push_back(program.update_count > 0 ? std::make_unique<Updater>(
                                                      model, program, scheduler)
                                                : nullptr);
  }
  return {};
}

Status OwnedState::outOfMemory(const std::bad_alloc &error,
                               const std::string &did) const {
  return Status::outOfMemory(
      name() + " is " + describeOutOfMemory(error, did) +
      "; use more servers, or machines with more memory");
}

Expected<PartialSum> OwnedState::closeSum(RunningSum &sum, int32_t program) {
  const TraceSpan span("finish sum");
  PartialSum merged = sum.finish(scheduler);
  if (!merged.present || !merged.hasWeight())
    return merged;
  if (const int32_t block = sum.firstNonFinite(); block >= 0)
    return refuseSum(descriptor, blocks[program][block].symbol);
  // Quotients of finite values may be infinite.
  if (hasSmallWeight(merged))
    PDLRT_RETURN_IF_ERROR(checkFiniteSums(descriptor, blocks[program], merged));
  PDLRT_RETURN_IF_ERROR(updaters[program]->begin(merged));
  return merged;
}

int32_t pdlrt::updateOf(const ExchangeLayout &layout, int32_t symbol) {
  const pdl_program &program = layout.program();
  for (int32_t i = 0; i < program.update_count; ++i)
    if (program.updates[i].symbol == symbol)
      return i;
  return -1;
}
