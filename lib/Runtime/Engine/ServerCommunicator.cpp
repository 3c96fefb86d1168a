//===- ServerCommunicator.cpp - The state is on servers -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/ServerCommunicator.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Engine/StepRows.h"

#include <string>
#include <vector>

using namespace pdlrt;

RemoteState::~RemoteState() = default;

EarlyGradients *RemoteState::early() { return nullptr; }

PushSink::~PushSink() = default;

static Status pullsWithSteps() {
  return Status::internal("this state is not pulled beside steps");
}

Status RemoteState::beginPull(const RoundOffer &) { return pullsWithSteps(); }

Expected<RoundOutcome> RemoteState::endPull(const RoundOffer &) {
  return pullsWithSteps();
}

Status pdlrt::checkRemoteProgram(const pdl_descriptor &descriptor,
                                 const pdl_program &program) {
  for (int32_t l = 0; l < program.lookup_count; ++l)
    for (int32_t other = 0; other < l; ++other)
      if (program.lookups[other].symbol == program.lookups[l].symbol)
        return Status::internal(
            std::string("program @") + program.name + " looks up table @" +
            descriptor.symbols[program.lookups[l].symbol].name +
            " twice, which a program with servers cannot; translate the model "
            "again with --mode=local");
  return {};
}

namespace {

/// What training and frozen programs share.
class ServerCommunicator : public Communicator {
public:
  ServerCommunicator(Model &model, const pdl_program &program,
                     RemoteState &state)
      : model(model), program(program), state(state) {}

  Status takeUp(ReplicaSet &replicas) override {
    return rows.gather(model.descriptor(), program, replicas, 0,
                       replicas.count());
  }
  void addCosts(StepCosts &costs) const override {
    costs.exchange.add(state.costsOf(program));
  }

protected:
  Model &model;
  const pdl_program &program;
  RemoteState &state;
  /// Of the step that is taken up: rows of the one before it are not read any
  /// more when those of the next come in.
  StepRows rows;
};

class TrainingCommunicator final : public ServerCommunicator {
public:
  using ServerCommunicator::ServerCommunicator;

  NextBatch nextBatch() const override { return NextBatch::InExchange; }
  Expected<RoundOutcome> exchange(const StepOffer &offer) override;
  EarlyGradients *early() override { return state.early(); }
  bool stopped() const override { return isStopped; }
  bool sumsOverJob() const override {
    return modeOf(model.descriptor()).stepsAreRounds;
  }

private:
  bool isStopped = false;
};

class FrozenCommunicator final : public ServerCommunicator {
public:
  FrozenCommunicator(Model &model, const pdl_program &program,
                     RemoteState &state)
      : ServerCommunicator(model, program, state),
        unknown(program.lookup_count), unknownPointers(program.lookup_count) {}

  NextBatch nextBatch() const override { return NextBatch::BesideStep; }
  Status takeUp(ReplicaSet &replicas) override;
  Expected<RoundOutcome> exchange(const StepOffer &offer) override;
  bool stopped() const override { return stopSignal() != 0; }
  bool sumsOverJob() const override { return false; }

private:
  void countUnknown(const RowRequest &request, int32_t lookup);

  /// What was taken up last.
  ReplicaSet *taken = nullptr;
  std::vector<std::vector<uint8_t>> unknown;
  std::vector<uint8_t *> unknownPointers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

Expected<RoundOutcome> TrainingCommunicator::exchange(const StepOffer &given) {
  RoundOffer offer;
  offer.first = given.opens;
  if (!given.groups.empty() && given.groups.front().present)
    offer.sum = &given.groups.front();
  offer.next = rows.requests();
  offer.contributesNext = given.contributesNext;
  offer.stop = given.stop;
  offer.save = given.save;
  Expected<RoundOutcome> outcome = state.exchange(offer);
  if (outcome)
    isStopped = outcome->stop;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Frozen programs
//===----------------------------------------------------------------------===//

Status FrozenCommunicator::takeUp(ReplicaSet &replicas) {
  taken = &replicas;
  PDLRT_RETURN_IF_ERROR(ServerCommunicator::takeUp(replicas));
  for (int32_t l = 0; l < program.lookup_count; ++l) {
    unknown[l].assign(rows.requests()[l].keyCount, 0);
    unknownPointers[l] = unknown[l].data();
  }
  return {};
}

/// Each replica counts the ids of the keys that have no row, as a frozen
/// program with its own tables does.
void FrozenCommunicator::countUnknown(const RowRequest &request,
                                      int32_t index) {
  const pdl_symbol &table =
      model.descriptor().symbols[program.lookups[index].symbol];
  const size_t bytes = sentRowBytes(table, /*frozen=*/true);
  auto *base = static_cast<const char *>(request.rows);
  for (int r = 0; r < taken->count(); ++r) {
    BatchContext &context = (*taken)[r].current();
    const pdl_lookup &lookup = context.lookup(index);
    PullCounts &counts = context.pullCounts();
    int64_t &count = table.unknown == PDL_UNKNOWN_ZERO ? counts.unknownZero
                                                       : counts.unknownInitial;
    for (int64_t u = 0; u < lookup.key_count; ++u) {
      const size_t place =
          size_t(static_cast<const char *>(lookup.rows[u]) - base) / bytes;
      if (unknown[index][place])
        count += lookup.key_splits[u + 1] - lookup.key_splits[u];
    }
  }
}

Expected<RoundOutcome> FrozenCommunicator::exchange(const StepOffer &offer) {
  RoundOutcome outcome;
  outcome.stop = offer.stop;
  if (!offer.groups.empty() && offer.groups.front().present)
    outcome.take(offer.groups.front());
  outcome.contributingNext = offer.contributesNext;
  if (!offer.opens || !offer.contributesNext)
    return outcome;
  PDLRT_RETURN_IF_ERROR(
      state.pull(program, offer.beginsPass, rows.requests(), unknownPointers));
  for (int32_t l = 0; l < program.lookup_count; ++l)
    countUnknown(rows.requests()[l], l);
  return outcome;
}

std::unique_ptr<Communicator>
pdlrt::createServerCommunicator(Model &model, const pdl_program &program,
                                RemoteState &state) {
  if (program.frozen)
    return std::make_unique<FrozenCommunicator>(model, program, state);
  return std::make_unique<TrainingCommunicator>(model, program, state);
}
