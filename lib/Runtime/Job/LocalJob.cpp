//===- LocalJob.cpp - One process that owns all state ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Job/Job.h"

#include <vector>

using namespace pdlrt;

Job::~Job() = default;

void Job::leaveBookmark(const Message &) {}

Status Job::checkSaveFolder(const std::string &) { return {}; }

namespace {

class LocalJob final : public Job {
public:
  int rank() const override { return 0; }
  StateLocation stateLocation() const override { return StateLocation::Here; }
  ReplicaLayout layout(int groups, int workers) const override {
    return ReplicaLayout::local(groups, workers);
  }

  Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) override {
    communicators.push_back(createLocalCommunicator(layout.groups, scheduler));
    return std::unique_ptr<StepEngine>(std::make_unique<Engine>(
        model, program, layout.workers, scheduler, *communicators.back()));
  }

  Status sum(std::span<int64_t>, std::span<double>) override { return {}; }
  Status saveState(const Model &model, CheckpointWriter &writer,
                   CheckpointManifest &manifest) override {
    return saveModel(model, writer, manifest);
  }
  void leave(const Status &) override {}

private:
  std::vector<std::unique_ptr<Communicator>> communicators;
};

} // namespace

std::unique_ptr<Job> pdlrt::createLocalJob() {
  return std::make_unique<LocalJob>();
}
