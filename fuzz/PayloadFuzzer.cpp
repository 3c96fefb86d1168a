//===- PayloadFuzzer.cpp - Payloads of steps and sums ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzzer.h"
#include "Support/HandWrittenProgram.h"
#include "pdlrt/Protocol/ExchangeCodec.h"

#include <array>
#include <cstdlib>

using namespace pdlrt;

namespace {

/// Both servers of a job, and its programs.
struct Job {
  Job() {
    ProgramVariant variant;
    variant.clipped = true;
    variant.mode = PDL_MODE_SYNC;
    variant.role = PDL_ROLE_PSERVER;
    descriptor = handWrittenProgram(variant);
    placement =
        *Placement::compute(*descriptor, 2, PlacementPolicy::LeastLoaded);
    for (int32_t p = 0; p < descriptor->program_count; ++p)
      layouts.push_back(*ExchangeLayout::create(*descriptor, p, *placement));
  }
  const pdl_descriptor *descriptor;
  std::optional<Placement> placement;
  std::vector<ExchangeLayout> layouts;
};

const Job &job() {
  static const Job made;
  return made;
}

} // namespace

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  ReduceVectors vectors;
  vectors.counts = {1, 2, 3};
  vectors.sums = {0.5};
  seeds.push_back(encodeReduce(vectors).toString());
  const int64_t keys[] = {3, 7, 9};
  const double pair[] = {0.5, 2};
  for (const ExchangeLayout &layout : job().layouts)
    for (const bool contributes : {false, true}) {
      ExchangeHead head;
      head.contributes = contributes;
      head.contributesNext = head.allValues = true;
      ExchangeWriter writer(layout, head);
      for (int32_t c = 0; c < layout.channelCount(); ++c)
        if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
          writer.addCopy(c, keys, sizeof(keys));
        else if (layout.channel(c).kind == PDL_CHANNEL_LOSS && contributes)
          writer.addCopy(c, pair, sizeof(pair));
      seeds.push_back(writer.finish().toString());
    }
  return seeds;
}

void fuzzOne(const std::string &bytes) {
  const Message message = inSlices(bytes);
  (void)decodeReduce(message);
  Expected<uint32_t> program = ExchangeMessage::programOf(message);
  if (!program || *program >= job().layouts.size())
    return;
  const ExchangeLayout &layout = job().layouts[*program];
  Expected<ExchangeMessage> decoded =
      ExchangeMessage::decode(message, layout.channelCount());
  // Where sections lie says nothing of whether they are accepted.
  Expected<ExchangeMessage> scattered = ExchangeMessage::decode(
      message, layout.channelCount(), layout.scattered());
  if (decoded.ok() != scattered.ok())
    std::abort();
  if (!decoded)
    return;
  for (int32_t c = 0; c < layout.channelCount(); ++c) {
    size_t bytes = 0;
    for (const std::span<const std::byte> piece : scattered->piecesOf(c))
      bytes += piece.size();
    if (layout.scattered()[c] && bytes != scattered->sectionSize(c))
      std::abort();
  }
  const std::vector<int64_t> rows(layout.channelCount(), 3);
  for (const ExchangeForm form :
       {ExchangeForm::Exchange, ExchangeForm::Norm, ExchangeForm::Pull,
        ExchangeForm::Sums, ExchangeForm::State})
    for (int32_t server = 0; server < 2; ++server)
      (void)layout.check(form, server, *decoded, rows);
  // As a server takes a request.
  for (int32_t server = 0; server < 2; ++server) {
    Expected<ExchangeMessage> request = ExchangeMessage::decode(
        message, layout.channelCount(), layout.scattered());
    if (layout.unpack(server, *request).ok())
      (void)layout.check(ExchangeForm::Exchange, server, *request, rows);
  }
}
