//===- SaveService.h - A server's part of checkpoints -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SAVESERVICE_H
#define PDLRT_SERVER_SAVESERVICE_H

#include "pdlrt/Checkpoint/CheckpointMetrics.h"
#include "pdlrt/Core/FileIdentity.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Server/SaveFolder.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pdlrt {

/// The folder of checkpoints, and the information that trainer 0 has sent about
/// its checkpoints (SavePlan).
struct PlannedSaves {
  std::string folder;
  SavePlan plan;
};

/// Save that trainer 0 has begun. It may never end.
struct BegunSave {
  /// Counts the saves of this server's process, from 1; 0: there is none.
  int64_t number = 0;
  /// Folder of the save until it is published, and its identity.
  std::string folder;
  std::optional<FileIdentity> identity;
  /// Number of saves that trainers had requested of each other before
  /// (`StateServer::saveRequestsOfTrainers`).
  int64_t requests = 0;
};

/// Writes a server's part of checkpoints, for trainer 0 or for the server
/// itself. Not thread-safe, unless noted.
class SaveService {
public:
  /// `name` and `rank` are those of the server. The referenced objects must
  /// outlive this one.
  SaveService(Model &model, Scheduler &scheduler, std::string name,
              int32_t rank, SaveFolder allowed);
  ~SaveService();

  /// Returns the folders to which trainers may save.
  SaveFolder &folder() { return allowed; }
  /// Records that the state is that of the save or checkpoint `name`
  /// (`saveNameOf`). A later save may then store only the changes since. Call
  /// before any join.
  void setSavedAs(std::string name) { savedAs = std::move(name); }
  /// Returns the information of trainer 0 about its checkpoints. Nullopt if it
  /// saves no checkpoints, or has not sent the information yet.
  const std::optional<PlannedSaves> &planned() const { return plans; }
  /// Returns the last save that trainer 0 has begun. Thread-safe.
  BegunSave lastOfTrainers() const;

  /// Writes this server's files of a checkpoint to `folder`, and blocks until
  /// they are written. Returns the same bytes as the response to a Save request
  /// (`encodeSaved`), with an error if the server must not write to `folder`.
  /// Call only between requests.
  Message savePart(const std::string &folder);
  /// Returns an error if a Save request must be refused.
  Status check(const Envelope &request, const Message &payload) const;
  /// Handles a Save request that has passed `check`. `requests` becomes
  /// `BegunSave::requests`. Returns the payload of the response.
  Message handle(const Message &payload, int64_t requests);

private:
  /// A save that is written in the background.
  struct Saving;
  Status takePlan(const SaveRequest &probe);
  void noteBegin(const std::string &folder, int64_t requests);
  template <typename Write>
  Message saveInto(const std::string &folder, Write write);
  SavedRows rowsOf(const SaveRequest &request);
  void endSaving();
  Message save(const SaveRequest &request);
  Message beginSave(const SaveRequest &request);
  Message saveProgress(const std::string &folder) const;

  Model &model;
  Scheduler &scheduler;
  const std::string name;
  const int32_t rank;
  SaveFolder allowed;
  std::optional<PlannedSaves> plans;
  mutable Mutex begunMutex;
  BegunSave begun PDLRT_GUARDED_BY(begunMutex);
  /// Name of the save or checkpoint since which rows record their changes;
  /// empty if they do not.
  std::string savedAs;
  CheckpointMetrics metrics;
  /// The last save in the background. It must be destroyed before the other
  /// members.
  std::unique_ptr<Saving> saving;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SAVESERVICE_H
