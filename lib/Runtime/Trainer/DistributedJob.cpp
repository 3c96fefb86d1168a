//===- DistributedJob.cpp - A trainer among trainers and servers ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/DistributedJob.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Rpc/Handshake.h"
#include "pdlrt/Rpc/ServerGroup.h"
#include "pdlrt/Trainer/RemoteEngine.h"
#include "pdlrt/Trainer/ServerClient.h"
#include "pdlrt/Trainer/StopSignal.h"

#include <atomic>
#include <chrono>

using namespace pdlrt;

namespace {

class DistributedJob final : public Job {
public:
  DistributedJob(const pdl_descriptor &descriptor,
                 const DistributedOptions &options, Placement placement)
      : descriptor(descriptor), options(options),
        placement(std::move(placement)) {}

  Status join(const RunOptions &run, Transport &transport);

  int rank() const override { return options.rank; }
  StateLocation stateLocation() const override {
    return StateLocation::Servers;
  }
  ReplicaLayout layout(int groups, int workers) const override {
    return {groups, workers, options.rank, 1};
  }
  Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) override;
  Status sum(std::span<int64_t> counts, std::span<double> sums) override {
    return sumOverTrainers(*servers, counts, sums);
  }
  Status saveState(const Model &model, CheckpointWriter &writer,
                   CheckpointManifest &manifest) override;
  void leave(const Status &outcome) override {
    if (servers)
      servers->leaveAll(outcome.message());
  }

private:
  const pdl_descriptor &descriptor;
  const DistributedOptions options;
  const Placement placement;
  std::atomic<bool> joining = true;
  std::unique_ptr<ServerGroup> servers;
  std::unique_ptr<ServerClient> client;
};

} // namespace

Status DistributedJob::join(const RunOptions &run, Transport &transport) {
  SenderName sender;
  sender.trainer = uint32_t(options.rank);
  // A later start has a larger number.
  sender.incarnation =
      uint64_t(std::chrono::duration_cast<std::chrono::microseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count());
  ServerGroupOptions group;
  group.retry.silenceLimit = options.silenceLimit;
  group.retry.joinPatience = options.joinPatience;
  // While others are waited for; a step is not broken off.
  group.shouldStop = [this] { return joining && stopSignal() != 0; };
  group.report = [](const std::string &line) { logInfo(line); };
  auto connected =
      ServerGroup::connect(transport, options.servers, sender, group);
  if (!connected)
    return connected.status();
  servers = std::move(*connected);
  Handshake handshake = Handshake::of(descriptor, placement);
  handshake.trainers = options.trainers;
  handshake.workers = run.workers;
  handshake.seed = run.seed;
  handshake.startStep = run.startStep;
  handshake.job = options.job;
  handshake.token = options.token;
  std::vector<Message> handshakes;
  for (size_t s = 0; s < options.servers.size(); ++s) {
    handshake.serverRank = int64_t(s);
    handshakes.push_back(encodeHandshake(handshake));
  }
  Expected<std::vector<Message>> answers =
      servers->joinAll(std::move(handshakes));
  joining = false;
  return answers.status();
}

Expected<std::unique_ptr<StepEngine>>
DistributedJob::createEngine(Model &model, const pdl_program &program,
                             const ReplicaLayout &layout,
                             Scheduler &scheduler) {
  PDLRT_RETURN_IF_ERROR(checkRemoteProgram(descriptor, program));
  if (!client) {
    Expected<std::unique_ptr<ServerClient>> created = ServerClient::create(
        descriptor, int32_t(&program - descriptor.programs), placement,
        *servers, model);
    if (!created)
      return created.status();
    client = std::move(*created);
  }
  if (program.frozen)
    return std::unique_ptr<StepEngine>(std::make_unique<RemoteFrozenEngine>(
        model, program, layout, scheduler, *client));
  return std::unique_ptr<StepEngine>(std::make_unique<RemoteEngine>(
      model, program, layout, scheduler, *client));
}

Status DistributedJob::saveState(const Model &model, CheckpointWriter &writer,
                                 CheckpointManifest &manifest) {
  return Status::invalid("checkpoints of trainers with servers are not there "
                         "yet; leave --checkpoint out");
}

Expected<std::unique_ptr<Job>> pdlrt::joinJob(const pdl_descriptor &descriptor,
                                              const DistributedOptions &options,
                                              const RunOptions &run,
                                              Transport &transport) {
  Expected<Placement> placement = Placement::compute(
      descriptor, int32_t(options.servers.size()), options.placement);
  if (!placement)
    return placement.status();
  auto job = std::make_unique<DistributedJob>(descriptor, options,
                                              std::move(*placement));
  Status status = job->join(run, transport);
  if (!status.ok()) {
    // Servers that it has joined would wait for it.
    job->leave(status);
    return status;
  }
  return std::unique_ptr<Job>(std::move(job));
}
