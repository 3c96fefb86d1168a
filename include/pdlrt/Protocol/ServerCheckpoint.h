//===- ServerCheckpoint.h - Saving of the state on servers ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_SERVERCHECKPOINT_H
#define PDLRT_PROTOCOL_SERVERCHECKPOINT_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Encodes the response to a Save request: the manifest of the files that the
/// server wrote, or its error.
Message encodeSaved(const Expected<CheckpointManifest> &written);
/// Decodes that response. Accepts any bytes.
Expected<CheckpointManifest> decodeSaved(const Message &response);

/// Expectation about the number of updates that servers have applied to a group
/// at the time of a save.
enum class StepCounts {
  /// The same number on all servers.
  Equal,
  /// Each server counts its own closed rounds; the checkpoint stores the
  /// largest number.
  Largest,
};

/// Merges the responses of servers: the files into `writer`, the description of
/// the model into `manifest`. Returns an error if a server has failed, or if
/// servers have applied different steps.
Status joinSaved(const std::vector<Message> &responses, StepCounts counts,
                 CheckpointWriter &writer, CheckpointManifest &manifest);

/// Purpose of a Save request.
enum class SaveKind {
  Probe,    ///< whether the server sees a file (`SaveProbe`)
  Stopping, ///< the parts of now, before the answer
  Begin,    ///< the parts of now, beside what follows; says that it has begun
  Poll      ///< what has become of that
};
struct SaveRequest {
  SaveKind kind = SaveKind::Stopping;
  /// Path of the probe, or folder of the files.
  std::string path;
  /// Rows to save. If Changed, `since` names the base save. A server whose last
  /// save was not that one saves all rows.
  SavedRows rows = SavedRows::All;
  std::string since = {};
  /// Encoded `SavePlan` of a probe; empty if there is none.
  std::string plan = {};
};
Message encodeSaveRequest(const SaveRequest &request);
/// Decodes a Save request. Accepts any bytes.
SaveRequest decodeSaveRequest(const Message &payload);

/// Information from trainers that servers need to save without them
/// (Job/ServerSaves.h).
struct SavePlan {
  struct Metric {
    std::string name;
    int32_t kind = 0;
    double parameter = 0;
  };
  /// Common part of the training's manifests, such as settings.
  CheckpointManifest manifest;
  /// Metrics of the trainer's program, in its order; a server's program has
  /// none.
  std::vector<Metric> metrics;

  static SavePlan of(const pdl_descriptor &trainer,
                     CheckpointManifest manifest);
  std::string encode() const;
  /// Decodes a plan. Accepts any bytes; returns an error if the text is not a
  /// plan, or names a metric that does not exist.
  static Expected<SavePlan> decode(const std::string &text);
};

/// Returns the name that owners of state use for a save: the folder of its
/// request, or the checkpoint that they resumed from.
Expected<std::string> saveNameOf(CheckpointWriter &writer);
std::string saveNameOf(const Checkpoint &resumed);

/// Returns the response to Begin, and to Poll until all files are written.
Message savingResponse();

/// File that trainer 0 creates in the folder of checkpoints before the first
/// step, so that servers can check that they see the same folder. The
/// destructor removes it; `CheckpointFolder::open` removes files that an
/// interrupted process left. Not thread-safe.
class SaveProbe {
public:
  /// Creates the file. Returns an error if the folder is not writable.
  static Expected<SaveProbe> create(const std::string &folder);
  SaveProbe(SaveProbe &&other) noexcept;
  SaveProbe &operator=(SaveProbe &&) = delete;
  ~SaveProbe();

  /// Returns the payload of the Save request that checks for the file.
  Message request(const std::string &plan = {}) const;

private:
  explicit SaveProbe(std::string path) : path(std::move(path)) {}

  std::string path;
};

/// Runs on a server, named `who`: checks that the probe exists and that the
/// server can write a file next to it. Returns the response to the request.
Message respondToProbe(const std::string &probe, const std::string &who);

/// Called by trainer 0 before the first step: checks that all servers can write
/// into `folder` of this trainer. Returns the error of the first that cannot.
/// For `plan` see SaveRequest.
Status checkFolderOnServers(ServerGroup &servers, const std::string &folder,
                            const std::string &plan);

/// Called by trainer 0 between two steps: starts a background save on all
/// servers, which write their current state into the writer's folder (they
/// share it). If one server fails, all have stopped writing when this returns.
/// For `rows` and `since` see SaveRequest.
Status beginSaveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                          SavedRows rows = SavedRows::All,
                          const std::string &since = {});
/// Called after `beginSaveOnServers`, concurrently with steps: waits until all
/// servers have finished writing and merges their files. Returns the error of
/// the first server that failed.
Status finishSaveOnServers(ServerGroup &servers, StepCounts counts,
                           CheckpointWriter &writer,
                           CheckpointManifest &manifest);
/// Begins and finishes a save in one call. The servers do nothing else
/// meanwhile.
Status saveOnServers(ServerGroup &servers, StepCounts counts,
                     CheckpointWriter &writer, CheckpointManifest &manifest,
                     SavedRows rows = SavedRows::All,
                     const std::string &since = {});

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERCHECKPOINT_H
