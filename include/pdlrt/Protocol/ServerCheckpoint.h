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
/// server has written, or its error.
Message encodeSaved(const Expected<CheckpointManifest> &written);
/// Decodes the response to a Save request. Accepts any bytes.
Expected<CheckpointManifest> decodeSaved(const Message &response);

/// Selects how `joinSaved` compares the numbers of updates that servers report
/// for each optimizer group (`nn.group`).
enum class StepCounts {
  /// Requires the same number from all servers.
  Equal,
  /// The numbers may differ, because servers close rounds or apply requests
  /// independently. The checkpoint stores the largest one.
  Largest,
};

/// Merges the responses of all servers to a save. Adds their files to `writer`,
/// and the description of the model to `manifest`. Returns an error if a server
/// has failed, or if the numbers of updates do not match `counts`.
Status joinSaved(const std::vector<Message> &responses, StepCounts counts,
                 CheckpointWriter &writer, CheckpointManifest &manifest);

/// Purpose of a Save request.
enum class SaveKind {
  Probe,    ///< checks that the server sees a file of the trainer (`SaveProbe`)
            ///< and can write next to it
  Stopping, ///< saves the current state, then responds
  Begin, ///< starts to save the current state in the background, then responds
  Poll   ///< asks for the result of the save in the background
};
struct SaveRequest {
  SaveKind kind = SaveKind::Stopping;
  /// Path of the probe file, or folder for the files of the save.
  std::string path;
  /// Rows of tables to save. If Changed, `since` is the name of the previous
  /// save. A server whose last save has another name saves all rows.
  SavedRows rows = SavedRows::All;
  std::string since = {};
  /// Only in a Probe: encoded `SavePlan` for saves without trainers. Empty if
  /// there is none.
  std::string plan = {};
};
Message encodeSaveRequest(const SaveRequest &request);
/// Decodes a Save request. Accepts any bytes.
SaveRequest decodeSaveRequest(const Message &payload);

/// Information that servers get from trainers, so that they can save without
/// trainers (Job/ServerSaves.h).
struct SavePlan {
  struct Metric {
    std::string name;
    int32_t kind = 0;
    double parameter = 0;
  };
  /// The part that all manifests of the training have in common, such as
  /// settings.
  CheckpointManifest manifest;
  /// Metrics of the trainer's program, in its order. The program of a server
  /// has no metrics.
  std::vector<Metric> metrics;

  static SavePlan of(const pdl_descriptor &trainer,
                     CheckpointManifest manifest);
  std::string encode() const;
  /// Decodes a plan. Accepts any bytes; returns an error if the text is not a
  /// plan, or names a metric that does not exist.
  static Expected<SavePlan> decode(const std::string &text);
};

/// Returns the name by which owners of state identify a save: the temporary
/// folder of the save. The overload below returns the name for the checkpoint
/// from which they have resumed.
Expected<std::string> saveNameOf(CheckpointWriter &writer);
std::string saveNameOf(const Checkpoint &resumed);

/// Returns the response of a server whose save in the background is not
/// complete: to Begin, and to Poll until all files are written.
Message savingResponse();

/// A file that trainer 0 creates in the folder of checkpoints before the first
/// step. Servers check that it exists, to detect that they see another folder.
/// The destructor removes it. If the process is interrupted, the next
/// `CheckpointFolder::open` removes it. Not thread-safe.
class SaveProbe {
public:
  /// Creates the file in `folder`. Returns an error if the folder is not
  /// writable.
  static Expected<SaveProbe> create(const std::string &folder);
  SaveProbe(SaveProbe &&other) noexcept;
  SaveProbe &operator=(SaveProbe &&) = delete;
  ~SaveProbe();

  /// Returns the payload of the Save request of kind Probe for this file.
  Message request(const std::string &plan = {}) const;

private:
  explicit SaveProbe(std::string path) : path(std::move(path)) {}

  std::string path;
};

/// Handles a Save request of kind Probe on the server `who`. Checks that the
/// file `probe` exists, and that the server can write a file next to it.
/// Returns the response.
Message respondToProbe(const std::string &probe, const std::string &who);

/// Checks that all servers can write to `folder` of this trainer. Returns the
/// error of the first server that cannot. Trainer 0 calls it before the first
/// step. `plan` is as in SaveRequest.
Status checkFolderOnServers(ServerGroup &servers, const std::string &folder,
                            const std::string &plan);

/// Starts a save in the background on all servers, which write their current
/// state to the folder of `writer`. If one server fails, waits until all
/// servers have stopped writing, and returns its error. Trainer 0 calls it
/// between two steps. `rows` and `since` are as in SaveRequest.
Status beginSaveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                          SavedRows rows = SavedRows::All,
                          const std::string &since = {});
/// Waits until all servers have completed the save that `beginSaveOnServers`
/// has started, and merges their responses (`joinSaved`). Can run concurrently
/// with steps. Returns the error of the first server that has failed.
Status finishSaveOnServers(ServerGroup &servers, StepCounts counts,
                           CheckpointWriter &writer,
                           CheckpointManifest &manifest);
/// Saves on all servers and merges their responses. Servers handle no other
/// requests during the save.
Status saveOnServers(ServerGroup &servers, StepCounts counts,
                     CheckpointWriter &writer, CheckpointManifest &manifest,
                     SavedRows rows = SavedRows::All,
                     const std::string &since = {});

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERCHECKPOINT_H
