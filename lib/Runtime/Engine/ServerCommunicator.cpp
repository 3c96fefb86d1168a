//===- ServerCommunicator.cpp - Exchanges with servers --------------------===//
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
  return Status::internal("this state is not pulled concurrently with steps");
}

Status RemoteState::beginPull(const RoundRequest &) { return pullsWithSteps(); }

Expected<RoundOutcome> RemoteState::endPull(const RoundRequest &) {
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

/// Common base for training and frozen programs.
class ServerCommunicator : public Communicator {
public:
  ServerCommunicator(Model &model, const pdl_program &program,
                     RemoteState &state)
      : model(model), program(program), state(state) {}

  Status collectReads(ReplicaSet &replicas) override {
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
  /// Rows that the last collected batches read. One object is enough: when
  /// these rows arrive, those of the previous step are no longer used.
  StepRows rows;
};

class TrainingCommunicator final : public ServerCommunicator {
public:
  using ServerCommunicator::ServerCommunicator;

  NextBatch nextBatch() const override { return NextBatch::InExchange; }
  Expected<RoundOutcome> exchange(const StepRequest &stepRequest) override;
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

  NextBatch nextBatch() const override { return NextBatch::DuringStep; }
  Status collectReads(ReplicaSet &replicas) override;
  Expected<RoundOutcome> exchange(const StepRequest &stepRequest) override;
  bool stopped() const override { return stopSignal() != 0; }
  bool sumsOverJob() const override { return false; }

private:
  void countUnknown(const RowRequest &request, int32_t lookup);

  /// The replicas for which `collectReads` was called last.
  ReplicaSet *taken = nullptr;
  std::vector<std::vector<uint8_t>> unknown;
  std::vector<uint8_t *> unknownPointers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

Expected<RoundOutcome>
TrainingCommunicator::exchange(const StepRequest &given) {
  RoundRequest roundRequest;
  roundRequest.first = given.requestOnly;
  if (!given.groups.empty() && given.groups.front().present)
    roundRequest.sum = &given.groups.front();
  roundRequest.next = rows.requests();
  roundRequest.hasNextBatch = given.hasNextBatch;
  roundRequest.stop = given.stop;
  roundRequest.save = given.save;
  Expected<RoundOutcome> outcome = state.exchange(roundRequest);
  if (outcome)
    isStopped = outcome->stop;
  return outcome;
}

//===----------------------------------------------------------------------===//
// Frozen programs
//===----------------------------------------------------------------------===//

Status FrozenCommunicator::collectReads(ReplicaSet &replicas) {
  taken = &replicas;
  PDLRT_RETURN_IF_ERROR(ServerCommunicator::collectReads(replicas));
  for (int32_t l = 0; l < program.lookup_count; ++l) {
    unknown[l].assign(rows.requests()[l].keyCount, 0);
    unknownPointers[l] = unknown[l].data();
  }
  return {};
}

/// Counts the ids of keys without a row, for each replica, in the same way as a
/// frozen program that holds its tables itself.
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

Expected<RoundOutcome>
FrozenCommunicator::exchange(const StepRequest &stepRequest) {
  RoundOutcome outcome;
  outcome.stop = stepRequest.stop;
  if (!stepRequest.groups.empty() && stepRequest.groups.front().present)
    outcome.take(stepRequest.groups.front());
  outcome.sendersWithNextBatch = stepRequest.hasNextBatch;
  if (!stepRequest.requestOnly || !stepRequest.hasNextBatch)
    return outcome;
  PDLRT_RETURN_IF_ERROR(state.pull(program, stepRequest.beginsPass,
                                   rows.requests(), unknownPointers));
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
