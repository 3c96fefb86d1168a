//===- ParameterShare.cpp - Parameters on all trainers' devices -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/ParameterShare.h"

#include "Job/WatchedGroup.h"
#include "pdlabi/hash.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Device/Device.h"
#include "pdlrt/State/DeviceState.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <utility>

using namespace pdlrt;

/// Number of bytes that all devices together send at a time.
static constexpr size_t bytesAtOnce = size_t(32) << 20;

/// Reason why a trainer does not keep parameters on devices. Trainers send it
/// to each other.
enum Reason : int64_t {
  None,
  ComputesOnHost,
  IsSwitchedOff,
  PacksGradients,
  SendsEarly,
  RuleOfHost,
  HasNoGroup,
};

static const char *textOf(int64_t reason) {
  switch (reason) {
  case ComputesOnHost:
    return "computes on the host";
  case IsSwitchedOff:
    return "was started with --device-sums off";
  case PacksGradients:
    return "packs gradients (--pack-gradients)";
  case SendsEarly:
    return "was started with --overlap on";
  case RuleOfHost:
    return "has parameters whose rules or gradients are left to the host";
  default:
    return "cannot form a group with the devices of others";
  }
}

/// Returns true if devices can compute the gradients of all parameters and
/// apply all their rules. Otherwise logs the first parameter for which they
/// cannot.
static bool canKeepAll(const pdl_descriptor &descriptor) {
  const GradientKernels kernels(descriptor);
  for (int32_t p = 0; p < descriptor.program_count; ++p)
    for (const GradientBlock &block :
         gradientBlocks(descriptor, descriptor.programs[p]))
      if (!block.isTable &&
          !DeviceState::canTake(descriptor, kernels, block.symbol)) {
        logInfo(fmt::format("the gradient or the rule of @{} is left to the "
                            "host",
                            descriptor.symbols[block.symbol].name));
        return false;
      }
  return DeviceSums::canBe(descriptor, kernels);
}

/// Returns the reason why this trainer cannot keep parameters on its devices,
/// or `None`. If the result is `None` and there are other trainers, sets `kind`
/// to a hash of the kind of group that its devices can form.
static int64_t ownReason(const ParameterShare::Setup &setup, uint64_t &kind) {
  const DistributedOptions &options = setup.options;
  if (setup.devices.empty())
    return ComputesOnHost;
  if (options.deviceSums == DeviceSumsUse::Off)
    return IsSwitchedOff;
  if (options.gradientPacking != GradientPacking::None)
    return PacksGradients;
  if (options.overlap.overlap == Overlap::On)
    return SendsEarly;
  if (!canKeepAll(setup.descriptor))
    return RuleOfHost;
  if (options.trainers == 1)
    return None;
  const Expected<std::string> known = setup.devices.front()->groupKind();
  if (!known) {
    logWarning(known.status().message());
    return HasNoGroup;
  }
  kind = pdlabi::hashText(*known, 0);
  return None;
}

ParameterShare::~ParameterShare() = default;

Expected<std::unique_ptr<ParameterShare>> ParameterShare::agree(Setup setup) {
  const auto trainers = size_t(setup.options.trainers);
  const auto rank = size_t(setup.options.rank);
  const bool isStrict = setup.descriptor.numerics == PDL_NUMERICS_STRICT;
  // With strict numerics, owners add the gradients of all trainers in the fixed
  // order, so the gradients must go to the owners. A single trainer has no
  // gradients of others.
  if (isStrict && trainers > 1) {
    if (!setup.devices.empty())
      logInfo("gradients of parameters go through the host to their owners, "
              "who add in the order of numerics strict");
    return std::unique_ptr<ParameterShare>();
  }
  enum { ReasonAt, KindAt, DevicesAt, Numbers };
  std::vector<int64_t> said(trainers * Numbers);
  const std::span own = std::span(said).subspan(rank * Numbers, Numbers);
  uint64_t kind = 0;
  own[ReasonAt] = ownReason(setup, kind);
  own[KindAt] = int64_t(kind);
  own[DevicesAt] = int64_t(setup.devices.size());
  if (trainers > 1)
    PDLRT_RETURN_IF_ERROR(setup.sum(said));
  std::string why;
  std::vector<size_t> counts;
  for (size_t t = 0; t < trainers; ++t) {
    const int64_t *theirs = &said[t * Numbers];
    if (why.empty() &&
        (theirs[ReasonAt] != None || theirs[KindAt] != said[KindAt]))
      why = fmt::format("trainer {} {}", t,
                        theirs[ReasonAt] != None
                            ? textOf(theirs[ReasonAt])
                            : "computes on devices of another kind");
    counts.push_back(size_t(theirs[DevicesAt]));
  }
  std::unique_ptr<ParameterShare> share(
      new ParameterShare(std::move(setup), std::move(counts)));
  const Setup &given = share->setup;
  if (why.empty() && trainers > 1) {
    // If `join` fails at one trainer, no trainer may use the group. That
    // trainer logs the reason; all learn how many have failed.
    Status joined = share->join();
    int64_t failed = !joined.ok();
    PDLRT_RETURN_IF_ERROR(given.sum({&failed, 1}));
    if (!joined.ok())
      logWarning(joined.message());
    if (failed > 0)
      why = fmt::format("the devices of {} of {} trainers have not come "
                        "together",
                        failed, trainers);
  }
  if (why.empty()) {
    if (!share->across)
      logInfo("parameters and slots stay on the devices of this trainer");
    else
      logInfo("gradients of parameters are added between the devices of all "
              "trainers, through " +
              share->across->describe());
    return share;
  }
  if (given.options.deviceSums == DeviceSumsUse::On)
    return Status::invalidArgument("--device-sums on, but " + why +
                                   "; leave it out, and owners add gradients");
  if (!given.devices.empty() && given.options.deviceSums != DeviceSumsUse::Off)
    logInfo("gradients of parameters go through the host to their owners: " +
            why);
  return std::unique_ptr<ParameterShare>();
}

/// Joins the group of all trainers' devices. The first trainer creates the name
/// of the group. It sends the name as a sum over trainers, to which the others
/// add zeros.
Status ParameterShare::join() {
  const auto rank = size_t(setup.options.rank);
  DeviceGroupPlace place;
  Status status;
  if (rank == 0) {
    Expected<DeviceGroupName> name = setup.devices.front()->nameGroup();
    if (name)
      place.name = *name;
    else
      status = std::move(name).status();
  }
  std::array<int64_t, sizeof(DeviceGroupName) / sizeof(int64_t)> words;
  std::memcpy(words.data(), place.name.data(), sizeof(words));
  PDLRT_RETURN_IF_ERROR(setup.sum(words));
  std::memcpy(place.name.data(), words.data(), sizeof(words));
  PDLRT_RETURN_IF_ERROR(std::move(status));
  if (std::ranges::all_of(words, [](int64_t word) { return word == 0; }))
    return Status::unavailable("trainer 0 could not name a group of devices");
  place.first = std::accumulate(
      deviceCounts.begin(), deviceCounts.begin() + int64_t(rank), size_t(0));
  place.count =
      std::accumulate(deviceCounts.begin(), deviceCounts.end(), size_t(0));
  Expected<std::unique_ptr<DeviceGroup>> joined =
      setup.devices.front()->joinGroup(setup.devices, place);
  if (!joined)
    return std::move(joined).status();
  // If another trainer does not respond, the group cannot say why. The
  // connections to it can, but possibly only after `silenceLimit`.
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(
      setup.options.silenceLimit + std::chrono::seconds(5));
  across = watchGroup(std::move(*joined), setup.failure, patience);
  return {};
}

//===----------------------------------------------------------------------===//
// Between trainers and owners
//===----------------------------------------------------------------------===//

/// Returns the runs of the owner in trainer `trainer`, in the order of its
/// memory.
std::vector<ParameterShare::Run> ParameterShare::runsOf(size_t trainer) const {
  const pdl_descriptor &descriptor = setup.descriptor;
  std::vector<Run> runs;
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    if (symbol.kind == PDL_SYMBOL_TABLE)
      continue;
    for (int32_t part = 0; part <= symbol.slot_count; ++part) {
      const size_t rowBytes =
          size_t(partWidth(symbol, part)) * elementSize(symbol);
      size_t ownersOffset = 0;
      for (const RowBlock &block : setup.placement.rowsOf(
               s, setup.placement.ownerOfTrainer(int32_t(trainer)))) {
        const size_t bytes = size_t(block.rowCount) * rowBytes;
        runs.push_back(
            {s, part, size_t(block.firstRow) * rowBytes, ownersOffset, bytes});
        ownersOffset += bytes;
      }
    }
  }
  return runs;
}

static std::byte *memoryOf(const Model &model, int32_t symbol, int32_t part) {
  return static_cast<std::byte *>(model.part(symbol, part));
}

/// Copies `bytes` to the runs, one run after the other. `bytes` may be longer
/// than all runs together; the rest is ignored.
template <typename Runs>
static void scatter(const Model &model, const Runs &runs,
                    std::span<const std::byte> bytes) {
  for (const auto &run : runs) {
    if (run.bytes > 0)
      std::memcpy(memoryOf(model, run.symbol, run.part) + run.offset,
                  bytes.data(), run.bytes);
    bytes = bytes.subspan(run.bytes);
  }
}

template <typename Runs> static size_t bytesOf(const Runs &runs) {
  size_t sum = 0;
  for (const auto &run : runs)
    sum += run.bytes;
  return sum;
}

Status ParameterShare::gather(Model &model, std::span<const std::byte> own) {
  std::vector<std::vector<std::byte>> all;
  size_t most = own.size();
  for (size_t t = 0; t < deviceCounts.size(); ++t)
    most = std::max(most, all.emplace_back(bytesOf(runsOf(t))).size());
  const size_t total =
      std::accumulate(deviceCounts.begin(), deviceCounts.end(), size_t(0));
  const size_t atOnce =
      std::min(most, std::max<size_t>(bytesAtOnce / total, 1));
  if (most == 0)
    return {};
  struct OnDevice {
    std::unique_ptr<DeviceStream> stream;
    DeviceBuffer from, to;
  };
  std::vector<OnDevice> devices(setup.devices.size());
  std::vector<DeviceGroup::Part> parts;
  for (size_t d = 0; d < devices.size(); ++d) {
    OnDevice &each = devices[d];
    Expected<std::unique_ptr<DeviceStream>> stream =
        setup.devices[d]->createStream("parameters");
    if (!stream)
      return std::move(stream).status();
    each.stream = std::move(*stream);
    constexpr auto kind = DeviceBuffer::Kind::OfDevice;
    PDLRT_RETURN_IF_ERROR(reserve(*setup.devices[d], each.from, kind, atOnce));
    PDLRT_RETURN_IF_ERROR(
        reserve(*setup.devices[d], each.to, kind, atOnce * total));
    parts.push_back({each.stream.get(), each.from.data(), each.to.data()});
  }
  std::vector<std::byte> given(atOnce), taken(atOnce * total);
  for (size_t begin = 0; begin < most; begin += atOnce) {
    const size_t bytes = std::min(atOnce, most - begin);
    if (begin < own.size())
      std::memcpy(given.data(), own.data() + begin,
                  std::min(bytes, own.size() - begin));
    for (OnDevice &each : devices)
      PDLRT_RETURN_IF_ERROR(
          each.stream->copyIn(each.from.data(), given.data(), bytes));
    PDLRT_RETURN_IF_ERROR(across->gather(bytes, parts));
    PDLRT_RETURN_IF_ERROR(devices.front().stream->copyOut(
        taken.data(), devices.front().to.data(), bytes * total));
    for (OnDevice &each : devices)
      PDLRT_RETURN_IF_ERROR(each.stream->synchronize());
    PDLRT_RETURN_IF_ERROR(across->check());
    size_t device = 0;
    for (size_t t = 0; t < deviceCounts.size(); ++t) {
      if (begin < all[t].size())
        std::memcpy(all[t].data() + begin, taken.data() + device * bytes,
                    std::min(bytes, all[t].size() - begin));
      device += deviceCounts[t];
    }
  }
  for (size_t t = 0; t < deviceCounts.size(); ++t)
    scatter(model, runsOf(t), all[t]);
  return {};
}

Status ParameterShare::fill(Model &model, const Model &ownPart) {
  const TraceSpan span("share parameters");
  std::vector<std::byte> own;
  for (const Run &run : runsOf(size_t(setup.options.rank))) {
    const std::byte *from =
        memoryOf(ownPart, run.symbol, run.part) + run.ownersOffset;
    own.insert(own.end(), from, from + run.bytes);
  }
  if (across)
    PDLRT_RETURN_IF_ERROR(gather(model, own));
  else
    scatter(model, runsOf(0), own);
  // The two descriptors may list different groups.
  const pdl_descriptor &here = model.descriptor();
  const pdl_descriptor &there = ownPart.descriptor();
  for (int32_t g = 0; g < here.group_count; ++g)
    for (int32_t o = 0; o < there.group_count; ++o)
      if (std::strcmp(here.groups[g].name, there.groups[o].name) == 0)
        model.restoreStepCount(g, ownPart.stepCount(o));
  return {};
}

Status ParameterShare::giveToOwner(const Model &model, Model &ownPart) const {
  const TraceSpan span("send parameters to owner");
  PDLRT_RETURN_IF_ERROR(model.bringToHost());
  for (const Run &run : runsOf(size_t(setup.options.rank)))
    if (run.bytes > 0)
      std::memcpy(memoryOf(ownPart, run.symbol, run.part) + run.ownersOffset,
                  memoryOf(model, run.symbol, run.part) + run.offset,
                  run.bytes);
  return {};
}
