//===- LocalJob.cpp - Job of a single process -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Engine/AsyncEngine.h"
#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Job/Hogwild.h"
#include "pdlrt/Job/Job.h"

#include <utility>
#include <vector>

using namespace pdlrt;

RestOfSave::~RestOfSave() = default;

Job::~Job() = default;

Status Job::bringDevices(std::span<Device *const>, StateHost &) { return {}; }

Status Job::checkSaveFolder(const std::string & /*folder*/,
                            const CheckpointManifest & /*plan*/) {
  return {};
}

Status pdlrt::checkHogwild(const pdl_descriptor &descriptor,
                           const pdl_program &program, int64_t groups) {
  if (groups != 1)
    return Status::invalidArgument(
        "--hogwild is for the workers of one group, which "
        "share its state; give "
        "--replicas 1xN for N workers");
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[program.updates[i].symbol];
    if (descriptor.groups[symbol.group].compensates)
      return Status::invalidArgument(
          std::string("--hogwild cannot compensate delays, as group @") +
          descriptor.groups[symbol.group].name +
          " says: workers read values while others write them, and no record "
          "says which they saw; leave --hogwild out, or leave compensate out "
          "and translate the model again");
    if (symbol.kind == PDL_SYMBOL_TABLE &&
        descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE)
      return Status::invalidArgument(
          std::string("--hogwild cannot update all rows of table @") +
          symbol.name + " in each step, as group @" +
          descriptor.groups[symbol.group].name +
          " says; leave --hogwild out, or write untouched(lazy) and translate "
          "the model again");
    if (symbol.kind == PDL_SYMBOL_TABLE &&
        (symbol.admission != PDL_ADMIT_ALL || symbol.shrink_every > 0))
      return Status::invalidArgument(
          std::string("--hogwild cannot admit keys of table @") + symbol.name +
          " or shrink it: workers would use rows that go; leave --hogwild out, "
          "or leave `admit` and `shrink` out and translate the model again");
  }
  return {};
}

namespace {

class LocalRest final : public RestOfSave {
public:
  explicit LocalRest(std::unique_ptr<StateSnapshot> snapshot)
      : snapshot(std::move(snapshot)) {}

  Status finish(CheckpointWriter &writer, CheckpointManifest &) override {
    return snapshot->write(writer);
  }

private:
  std::unique_ptr<StateSnapshot> snapshot;
};

class LocalJob final : public Job {
public:
  explicit LocalJob(bool isHogwild) : isHogwild(isHogwild) {}

  int rank() const override { return 0; }
  StateLocation stateLocation() const override { return StateLocation::Here; }
  ReplicaLayout layout(int groups, int workers) const override {
    return ReplicaLayout::local(groups, workers);
  }

  Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) override {
    if (isHogwild && program.update_count > 0) {
      PDLRT_RETURN_IF_ERROR(
          checkHogwild(model.descriptor(), program, layout.groups));
      // Each worker updates by itself.
      model.setSenders(layout.workers);
      std::vector<AsyncWorker> workers;
      for (int w = 0; w < layout.workers; ++w) {
        updaters.push_back(
            std::make_unique<Updater>(model, program, ownThread));
        workers.push_back({nullptr, &model, updaters.back().get()});
      }
      return std::unique_ptr<StepEngine>(
          std::make_unique<AsyncEngine>(workers, program, layout, scheduler));
    }
    if (!isHogwild)
      PDLRT_RETURN_IF_ERROR(model.keepOnDevice());
    return std::unique_ptr<StepEngine>(
        Engine::createLocal(model, program, layout, scheduler));
  }

  Status sum(std::span<int64_t>, std::span<double>) override { return {}; }
  Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model &model, CheckpointWriter &writer,
            CheckpointManifest &manifest, const SaveScope &scope) override {
    return beginLocalSave(model, writer, manifest, scope.rows);
  }
  void leave(const Status &) override {}

private:
  const bool isHogwild;
  /// Each worker runs its updates on its own thread.
  Scheduler ownThread{1};
  std::vector<std::unique_ptr<Updater>> updaters;
};

} // namespace

Expected<std::unique_ptr<RestOfSave>>
pdlrt::beginLocalSave(Model &model, CheckpointWriter &writer,
                      CheckpointManifest &manifest, SavedRows rows) {
  describeModel(model, manifest);
  auto snapshot =
      StateSnapshot::take(model, "dense.safetensors", writer, {}, rows);
  if (!snapshot)
    return snapshot.status();
  return std::unique_ptr<RestOfSave>(
      std::make_unique<LocalRest>(std::move(*snapshot)));
}

std::unique_ptr<Job> pdlrt::createLocalJob(bool isHogwild) {
  return std::make_unique<LocalJob>(isHogwild);
}
