//===- PayloadFuzzer.cpp - Fuzzes payloads of steps and sums --------------===//
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
  explicit Job(int32_t mode) {
    ProgramVariant variant;
    variant.clipped = true;
    variant.mode = mode;
    variant.role = PDL_ROLE_PSERVER;
    descriptor = handWrittenProgram(variant);
    placement =
        *Placement::compute(*descriptor, 2, 1, PlacementPolicy::LeastLoaded);
    for (int32_t p = 0; p < descriptor->program_count; ++p)
      layouts.push_back(*ExchangeLayout::create(*descriptor, p, *placement));
  }
  const pdl_descriptor *descriptor;
  std::optional<Placement> placement;
  std::vector<ExchangeLayout> layouts;
};

/// In mode async, payloads may contain their own keys.
const std::array<Job, 2> &jobs() {
  static const std::array<Job, 2> made = {Job(PDL_MODE_SYNC),
                                          Job(PDL_MODE_ASYNC)};
  return made;
}

/// Returns a payload with all sections that the head requires or allows.
std::string payloadOf(const ExchangeLayout &layout, const ExchangeHead &head) {
  const int64_t keys[] = {3, 7, 9};
  const double pair[] = {0.5, 2};
  ExchangeWriter writer(layout, head);
  for (int32_t c = 0; c < layout.channelCount(); ++c)
    if (layout.channel(c).kind == PDL_CHANNEL_KEYS)
      writer.addCopy(c, keys, sizeof(keys));
    else if (layout.channel(c).kind == PDL_CHANNEL_LOSS && head.contributes)
      writer.addCopy(c, pair, sizeof(pair));
  return writer.finish().toString();
}

void fuzzPayload(const Message &message, const ExchangeLayout &layout) {
  Expected<ExchangeMessage> decoded =
      ExchangeMessage::decode(message, layout.channelCount());
  // The layout of sections must not affect whether they are accepted.
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
  // Decodes the message as a server does with a request.
  for (int32_t server = 0; server < 2; ++server) {
    Expected<ExchangeMessage> request = ExchangeMessage::decode(
        message, layout.channelCount(), layout.scattered());
    if (layout.unpack(server, *request).ok())
      (void)layout.check(ExchangeForm::Exchange, server, *request, rows);
  }
}

} // namespace

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  ReduceVectors vectors;
  vectors.counts = {1, 2, 3};
  vectors.sums = {0.5};
  seeds.push_back(encodeReduce(vectors).toString());
  for (const Job &job : jobs())
    for (const ExchangeLayout &layout : job.layouts) {
      ExchangeHead head;
      head.hasNextBatch = head.allValues = true;
      seeds.push_back(payloadOf(layout, head));
      head.contributes = true;
      seeds.push_back(payloadOf(layout, head));
      ExchangeHead push;
      push.contributes = push.ownKeys = true;
      push.steps = 3;
      seeds.push_back(payloadOf(layout, push));
    }
  return seeds;
}

void fuzzOne(const std::string &bytes) {
  const Message message = inSlices(bytes);
  (void)decodeReduce(message);
  Expected<uint32_t> program = ExchangeMessage::programOf(message);
  if (!program)
    return;
  for (const Job &job : jobs())
    if (*program < job.layouts.size())
      fuzzPayload(message, job.layouts[*program]);
}
