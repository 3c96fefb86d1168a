//===- ServerCheckpoint.h - State on servers to a checkpoint ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_SERVERCHECKPOINT_H
#define PDLRT_PROTOCOL_SERVERCHECKPOINT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Transport/Message.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// The answer to a Save request: what the server wrote, or why it could not.
Message encodeSaved(const Expected<CheckpointManifest> &written);
/// The other way; any bytes are safe.
Expected<CheckpointManifest> decodeSaved(const Message &answer);

/// How many updates servers have applied to a group, at one moment.
enum class StepCounts {
  /// Equally many.
  Equal,
  /// Each as many as it closed rounds: a checkpoint has the largest.
  Largest,
};

/// Takes in what servers answered: their parts to `writer`, the description of
/// the model to `manifest`. An error where one has failed, or where they have
/// not applied the same steps.
Status joinSaved(const std::vector<Message> &answers, StepCounts counts,
                 CheckpointWriter &writer, CheckpointManifest &manifest);

/// What the payload of a Save request asks for.
enum class SaveKind {
  Probe,    ///< whether the server sees a file (`SaveProbe`)
  Stopping, ///< the parts of now, before the answer
  Begin,    ///< the parts of now, beside what follows; says that it has begun
  Ask       ///< what has become of that
};
struct SaveRequest {
  SaveKind kind = SaveKind::Stopping;
  /// The probe, or the folder for the parts.
  std::string path;
  /// Of a save; where that is Changed, `since` names the one before. Who does
  /// not know it as its last one saves all rows.
  SavedRows rows = SavedRows::All;
  std::string since = {};
};
Message encodeSaveRequest(const SaveRequest &request);
/// Any bytes are safe.
SaveRequest decodeSaveRequest(const Message &payload);

/// What owners of state call a save: the folder of its request, or the
/// checkpoint that they went on from.
Expected<std::string> saveNameOf(CheckpointWriter &writer);
std::string saveNameOf(const Checkpoint &resumed);

/// The answer to Begin, and to Ask until all parts are written.
Message answerSaving();

/// A file that trainer 0 makes in the folder of checkpoints before the first
/// step, so that servers can tell whether they see the same folder. It goes
/// with the object; what an interrupted process leaves is removed by
/// `CheckpointFolder::open`. Not thread-safe.
class SaveProbe {
public:
  /// An error where the folder cannot be written to.
  static Expected<SaveProbe> create(const std::string &folder);
  SaveProbe(SaveProbe &&other) noexcept;
  SaveProbe &operator=(SaveProbe &&) = delete;
  ~SaveProbe();

  /// The payload of the Save request that asks a server to look for it.
  Message request() const;

private:
  explicit SaveProbe(std::string path) : path(std::move(path)) {}

  std::string path;
};

/// Of a server, `who`: whether a probe is there, and a file can be written
/// beside it. The answer to the request.
Message answerProbe(const std::string &probe, const std::string &who);

/// Of trainer 0, before the first step: whether all servers can write into
/// `folder` of this trainer; the error of the first one that cannot.
Status checkFolderOnServers(ServerGroup &servers, const std::string &folder);

/// Of trainer 0, between two steps: has all servers begin to write their parts
/// as they are now into the writer's folder, which they share. Where one
/// cannot, none writes any more once this returns.
/// `rows` and `since`: as in SaveRequest.
Status beginSaveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                          SavedRows rows = SavedRows::All,
                          const std::string &since = {});
/// Behind that, beside steps: waits until none writes any more, and takes in
/// what they wrote; the error of the first that failed.
Status finishSaveOnServers(ServerGroup &servers, StepCounts counts,
                           CheckpointWriter &writer,
                           CheckpointManifest &manifest);
/// Both at once: no server does anything else meanwhile.
Status saveOnServers(ServerGroup &servers, StepCounts counts,
                     CheckpointWriter &writer, CheckpointManifest &manifest,
                     SavedRows rows = SavedRows::All,
                     const std::string &since = {});

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERCHECKPOINT_H
