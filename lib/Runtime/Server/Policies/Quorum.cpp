//===- Quorum.cpp - Policy of mode quorum ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "pdlrt/Server/RoundPolicy.h"

#include <algorithm>

using namespace pdlrt;

namespace {

// Servers close rounds independently, possibly with different trainers.
// docs/Protocol.md proves that no trainer waits forever. The proof requires
// that each trainer without data lowers the quorum by one.
//
// When the other trainers have no data left, a straggler does its last steps
// alone. If each of them were applied alone, the model would end with many
// steps on small batches: on a million rows of clicks, 40 such steps cost 0.004
// AUC. So the server collects them until a round has as many gradients as
// earlier ones: one for each trainer if late gradients count, otherwise as many
// as the quorum.
class Quorum final : public RoundPolicy {
public:
  Quorum(uint32_t quorum, LateGradients late) : quorum(quorum), onLate(late) {}

  bool formsRounds(MessageKind kind, const StepFacts &facts) const override {
    return kind == MessageKind::Reduce || facts.contributes;
  }
  bool waitsForAll(MessageKind kind) const override {
    return kind == MessageKind::Reduce;
  }
  bool isExpected(const RoundContent &round, uint32_t rank) const override {
    if (waitsForAll(round.kind))
      return !round.hasCome[rank];
    return !round.hasCome[rank] && round.takesPart[rank] && !isComplete(round);
  }
  bool isComplete(const RoundContent &round) const override {
    if (waitsForAll(round.kind))
      return RoundPolicy::isComplete(round);
    uint32_t come = 0, resting = 0;
    for (size_t rank = 0; rank < round.hasCome.size(); ++rank) {
      come += round.hasCome[rank];
      resting += !round.hasCome[rank] && !round.takesPart[rank];
    }
    // A round that has only late gradients is closed when no trainer can take
    // part in it.
    if (come == 0)
      return resting == round.hasCome.size();
    return come + resting >= quorum;
  }
  bool isFull(const RoundContent &round) const override {
    if (waitsForAll(round.kind))
      return true;
    uint32_t come = 0;
    int64_t least = INT64_MAX;
    for (size_t rank = 0; rank < round.hasCome.size(); ++rank)
      if (round.hasCome[rank]) {
        ++come;
        least = std::min(least, round.steps[rank]);
      }
    // Trainers without data: `ahead` have also finished the step of this round,
    // `ended` have not.
    uint32_t ahead = 0, ended = 0;
    for (size_t rank = 0; rank < round.hasCome.size(); ++rank)
      if (!round.hasCome[rank] && !round.takesPart[rank])
        ++(round.steps[rank] < least ? ended : ahead);
    if (ahead == 0)
      return true;
    const size_t most =
        onLate == LateGradients::Count ? round.hasCome.size() : quorum;
    return come + round.answered + ended >= most;
  }
  LateGradients late() const override { return onLate; }

private:
  const uint32_t quorum;
  const LateGradients onLate;
};

} // namespace

std::unique_ptr<RoundPolicy> pdlrt::createQuorum(uint32_t quorum,
                                                 LateGradients late) {
  return std::make_unique<Quorum>(quorum, late);
}
