//===- Replay.cpp - Recomputes a state from logs --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/Replay.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Server/AppliedLog.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/StateDigest.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <utility>

using namespace pdlrt;

namespace {

/// Log, with its path for messages.
struct Log {
  std::string path;
  std::unique_ptr<AppliedLogReader> reader;
  const Handshake &job() const { return reader->header().job; }
};

class Replay {
public:
  Replay(const pdl_descriptor &descriptor, const ReplayOptions &options,
         const std::function<void(const std::string &)> &report)
      : descriptor(descriptor), options(options), report(report),
        scheduler(options.threads) {}

  Status run();

private:
  Status openLogs();
  Status checkProgram(const Log &log) const;
  Status checkSameJob(const Log &log) const;
  Status openStart();
  Status fill(StateServer &server, const Log &log) const;
  Status apply(Log &log, StateServer &server);
  Expected<Message> save(StateServer &server, const std::string &folder) const;
  Status commit(const std::vector<Message> &saved,
                CheckpointWriter &writer) const;

  static GradientPacking packingOf(const Log &log);

  const pdl_descriptor &descriptor;
  /// The program with the gradient packing of the job. Set when the logs are
  /// opened, because they contain the packing.
  std::unique_ptr<const PackedTraining> training;
  const ReplayOptions &options;
  const std::function<void(const std::string &)> &report;
  Scheduler scheduler;
  /// In the order of server ranks.
  std::vector<Log> logs;
  std::unique_ptr<const Placement> placement;
  std::optional<Checkpoint> checkpoint;
};

} // namespace

static std::string programText(const Handshake &job) {
  return fmt::format(
      "model {}, mode {}, {}, numerics {}, protocol {}, fingerprints {:016x}, "
      "{:016x} and {:016x}",
      job.model, modeName(job.mode), job.elementType,
      job.numerics == PDL_NUMERICS_STRICT ? "strict" : "fast", job.protocol,
      job.layoutFingerprint, job.trainingFingerprint, job.wireFingerprint);
}

static std::string jobText(const Handshake &job) {
  return fmt::format("job '{}', {} trainers, {} servers, --placement {}, "
                     "--seed {}, start after step {}",
                     job.job, job.trainers, job.servers, job.placementPolicy,
                     job.seed, job.startStep);
}

GradientPacking Replay::packingOf(const Log &log) {
  return gradientPackingOf(log.job().gradientPacking)
      .value_or(GradientPacking::None);
}

Status Replay::checkProgram(const Log &log) const {
  Handshake own = log.job();
  own.setProgram(PackedTraining(descriptor, packingOf(log)).descriptor());
  if (own == log.job())
    return {};
  return Status::failedPrecondition(
      fmt::format("{}: is of another program ({}) than this pserver ({}); use "
                  "the pserver that wrote it",
                  log.path, programText(log.job()), programText(own)));
}

Status Replay::checkSameJob(const Log &log) const {
  Handshake first = logs.front().job();
  first.serverRank = log.job().serverRank;
  if (first == log.job())
    return {};
  return Status::failedPrecondition(
      fmt::format("{} and {} are not of one job: {}, and {}", logs.front().path,
                  log.path, jobText(logs.front().job()), jobText(log.job())));
}

Status Replay::openLogs() {
  for (const std::string &path : options.logs) {
    Expected<std::unique_ptr<AppliedLogReader>> reader =
        AppliedLogReader::open(path);
    if (!reader)
      return reader.status();
    logs.push_back({path, std::move(*reader)});
    PDLRT_RETURN_IF_ERROR(checkProgram(logs.back()));
    PDLRT_RETURN_IF_ERROR(checkSameJob(logs.back()));
  }
  if (logs.empty())
    return Status::invalidArgument(
        "there is no log to replay; name one or more");
  std::sort(logs.begin(), logs.end(), [](const Log &a, const Log &b) {
    return a.job().serverRank < b.job().serverRank;
  });
  training =
      std::make_unique<PackedTraining>(descriptor, packingOf(logs.front()));
  const Handshake &job = logs.front().job();
  for (size_t i = 1; i < logs.size(); ++i)
    if (logs[i].job().serverRank == logs[i - 1].job().serverRank)
      return Status::invalidArgument(
          fmt::format("{} and {} are both of server {}", logs[i - 1].path,
                      logs[i].path, logs[i].job().serverRank));
  if (!options.output.empty() && int64_t(logs.size()) != job.servers)
    return Status::invalidArgument(
        fmt::format("the job had {} servers, but there are {} logs; a "
                    "checkpoint needs those of all",
                    job.servers, logs.size()));

  Expected<PlacementPolicy> policy = parsePlacementPolicy(job.placementPolicy);
  if (!policy)
    return policy.status();
  Expected<Placement> map =
      job.servers < 1 || job.servers > INT32_MAX || job.trainers < 1 ||
              job.trainers > INT32_MAX
          ? Status::dataLoss("a job has at least one server and one trainer")
          : Placement::compute(training->descriptor(), int32_t(job.servers),
                               int32_t(job.trainers), *policy);
  if (!map)
    return std::move(map).status().withContext(logs.front().path);
  placement = std::make_unique<const Placement>(std::move(*map));
  for (const Log &log : logs)
    if (log.job().placementDigest != placement->digest() ||
        log.job().serverRank < 0 || log.job().serverRank >= job.servers)
      return Status::failedPrecondition(fmt::format(
          "{}: is of server {} with the map {:016x}, but this program's map "
          "of {} servers is {:016x}; use the pserver that wrote it",
          log.path, log.job().serverRank, log.job().placementDigest,
          job.servers, placement->digest()));
  return {};
}

Status Replay::openStart() {
  if (options.checkpoint.empty())
    return {};
  std::vector<std::string> refused;
  Expected<Checkpoint> found = openCheckpoint(options.checkpoint, refused);
  if (!found)
    return found.status();
  OldLayout old = {.accepted = options.acceptOldLayout, .unchecked = {}};
  PDLRT_RETURN_IF_ERROR(checkSameModel(training->descriptor(), *found,
                                       CheckpointUse::Training, &old));
  checkpoint.emplace(std::move(*found));
  return {};
}

Status Replay::fill(StateServer &server, const Log &log) const {
  if (checkpoint)
    PDLRT_RETURN_IF_ERROR(
        restoreModel(server.model(), *checkpoint, CheckpointUse::Training));
  else if (!options.initFrom.empty())
    PDLRT_RETURN_IF_ERROR(initializeModel(
        server.model(), options.initFrom,
        coverageOfTraining(options.initValuesOnly), options.acceptOldLayout));
  if (digestOfState(server.model()) == log.reader->header().startDigest)
    return {};
  return Status::failedPrecondition(
      log.path + ": its server began with another state; give the --init-from "
                 "of the job (with --init-values-only, if the job had it), or "
                 "with --checkpoint the one that it went on "
                 "from (not a newer one)");
}

Status Replay::apply(Log &log, StateServer &server) {
  /// Last sequence number, by (trainer, worker).
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> last;
  /// Senders of taken requests that have no response yet.
  std::set<std::pair<uint32_t, uint32_t>> open;
  int64_t applied = 0;
  const auto name = [&] {
    return fmt::format("{}: request {}", log.path, applied + 1);
  };
  while (!options.requests || applied < *options.requests) {
    Expected<std::optional<AppliedRecord>> next = log.reader->next();
    if (!next)
      return next.status();
    std::optional<AppliedRecord> record = *std::move(next);
    if (!record) {
      const uint64_t digest = digestOfState(server.model());
      if (digest != log.reader->end().digest)
        return Status::internal(fmt::format(
            "{}: {} requests give the state {:016x}, but the server ended "
            "with {:016x}; was it another CPU, with numerics fast?",
            log.path, applied, digest, log.reader->end().digest));
      report(fmt::format("{}: server {}, {} requests, the state {:016x} that "
                         "the server ended with",
                         log.path, log.job().serverRank, applied, digest));
      return {};
    }
    if (record->workers) {
      server.setWorkers(*record->workers);
      continue;
    }
    if (record->closesRound) {
      Status status = server.closeRound(MessageKind::Exchange);
      if (!status.ok())
        return std::move(status).withContext(name());
      continue;
    }
    if (!record->request) {
      // The responses themselves are not needed. They are computed because
      // `respond` also changes what the server stores about a sender.
      for (const Envelope &head : record->answered)
        if (open.erase({head.trainer, head.worker}) == 0)
          return Status::dataLoss(name() + " follows the response to a "
                                           "request that is not open");
      if (!record->answered.empty())
        PDLRT_RETURN_IF_ERROR(
            server.respond(record->answered).status().withContext(name()));
      continue;
    }
    const Envelope &head = record->request->head;
    uint64_t &sequence = last[{head.trainer, head.worker}];
    if (head.kind != MessageKind::Exchange || head.sequence <= sequence ||
        head.trainer >= uint64_t(log.job().trainers) ||
        !open.insert({head.trainer, head.worker}).second)
      return Status::internal(fmt::format(
          "{} ({} {} of worker {} of trainer {}) cannot follow request {} of "
          "that worker: this is a fault of PDL, please report it",
          name(), nameOf(head.kind), head.sequence, head.worker, head.trainer,
          sequence));
    sequence = head.sequence;
    PDLRT_RETURN_IF_ERROR(server.check(head, record->request->payload)
                              .status()
                              .withContext(name()));
    PDLRT_RETURN_IF_ERROR(
        server.take(head, std::move(record->request->payload), record->turn)
            .withContext(name()));
    ++applied;
  }
  report(fmt::format("{}: server {}, the first {} requests, the state {:016x}",
                     log.path, log.job().serverRank, applied,
                     digestOfState(server.model())));
  return {};
}

/// Returns the folder that contains `path`.
static std::string folderOf(const std::string &path) {
  std::error_code error;
  return std::filesystem::absolute(path, error).parent_path().string();
}

Expected<Message> Replay::save(StateServer &server,
                               const std::string &folder) const {
  std::error_code error;
  const Message payload =
      Message::ofString(std::filesystem::absolute(folder, error).string());
  Envelope request;
  request.kind = MessageKind::Save;
  PDLRT_RETURN_IF_ERROR(server.check(request, payload).status());
  return server.handle(request, payload);
}

Status Replay::commit(const std::vector<Message> &saved,
                      CheckpointWriter &writer) const {
  CheckpointManifest manifest;
  PDLRT_RETURN_IF_ERROR(joinSaved(
      saved,
      modeOf(training->descriptor()).closesWithQuorum ? StepCounts::Largest
                                                      : StepCounts::Equal,
      writer, manifest));
  // The logs do not contain the progress of the trainers.
  for (const auto &[name, steps] : manifest.groupSteps)
    manifest.progress.steps = std::max(manifest.progress.steps, steps);
  return writer.commit(std::move(manifest));
}

Status Replay::run() {
  PDLRT_RETURN_IF_ERROR(openLogs());
  PDLRT_RETURN_IF_ERROR(openStart());
  CheckpointWriter writer(options.output);
  SaveFolder saves(folderOf(options.output));
  saves.allowAnyName();
  std::vector<Message> saved;
  for (Log &log : logs) {
    // Holds only one server's state in memory at a time.
    Expected<std::unique_ptr<StateServer>> server = createStateServer(
        {training->descriptor(), *placement, log.job(), scheduler, saves});
    if (!server)
      return server.status();
    PDLRT_RETURN_IF_ERROR(fill(**server, log));
    PDLRT_RETURN_IF_ERROR(apply(log, **server));
    if (options.output.empty())
      continue;
    Expected<std::string> folder = writer.folder();
    if (!folder)
      return folder.status();
    Expected<Message> parts = save(**server, *folder);
    if (!parts)
      return parts.status();
    saved.push_back(std::move(*parts));
  }
  if (options.output.empty())
    return {};
  PDLRT_RETURN_IF_ERROR(commit(saved, writer));
  report("wrote " + options.output);
  return {};
}

Status
pdlrt::replayLogs(const pdl_descriptor &descriptor,
                  const ReplayOptions &options,
                  const std::function<void(const std::string &)> &report) {
  return Replay(descriptor, options, report).run();
}
