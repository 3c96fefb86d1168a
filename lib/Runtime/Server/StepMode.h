//===- StepMode.h - A mode's part of a server -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_STEPMODE_H
#define LIB_RUNTIME_SERVER_STEPMODE_H

#include "Server/OwnedState.h"
#include "Server/ServerResponses.h"
#include "Server/StateServerRows.h"
#include "pdlrt/Server/StateServer.h"

#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// Parts of a server that a mode uses. They must outlive the mode.
struct ModeSetup {
  const StepBounds &bounds;
  OwnedState &state;
  StateServerRows &rows;
  ServerResponses &responses;
};

/// Handles the steps of trainers in one mode. `takeStep`, `closeStep` and
/// `respondToSteps` are `take`, `closeRound` and `respond` of
/// `ServerApplication`, for requests of steps. `ServerApplication` also
/// describes `roundPolicy` and the order of calls. `StateServer` describes
/// `noteLoaded`, `lastStep`, `stepsInState`, `requestSave` and
/// `saveRequestsOfTrainers`.
class StepMode {
public:
  explicit StepMode(const ModeSetup &setup)
      : state(setup.state), stepRows(setup.rows),
        stepResponses(setup.responses) {}
  virtual ~StepMode();

  virtual const RoundPolicy &roundPolicy() const = 0;
  /// Checks a step request of one sender and keeps it for `takeStep`. After an
  /// error, no later response differs; rows may have been created.
  virtual Status checkStep(const Envelope &request, ExchangeMessage message,
                           const ExchangeLayout &layout) = 0;
  virtual Status takeStep(const Envelope &request, Turn turn) = 0;
  virtual Status closeStep(MessageKind kind) = 0;
  virtual Expected<std::vector<Message>>
  respondToSteps(std::span<const Envelope> requests) = 0;
  /// Returns the keys of steps whose gradients are not applied yet. Call only
  /// between requests.
  virtual std::vector<const Pulled *> pendingKeys() const = 0;

  virtual void noteLoaded() {}
  virtual StateServer::LastStep lastStep() const { return {}; }
  /// Thread-safe.
  virtual uint64_t stepsInState() const { return 0; }
  virtual bool requestSave() { return false; }
  /// Thread-safe.
  virtual int64_t saveRequestsOfTrainers() const { return 0; }

protected:
  OwnedState &state;
  StateServerRows &stepRows;
  ServerResponses &stepResponses;
};

// `setup` is as in the constructor of `StepMode`.

/// Creates the mode in which an update uses the sum over all trainers.
std::unique_ptr<StepMode> createSyncMode(const ModeSetup &setup);
/// Creates the mode in which an update uses the sum over the first trainers
/// that arrive.
std::unique_ptr<StepMode> createQuorumMode(const ModeSetup &setup);
/// Creates the mode in which an update uses the push of one trainer.
std::unique_ptr<StepMode> createAsyncMode(const ModeSetup &setup);
/// Creates the mode that merges the changes of the trainers' copies of the
/// model.
std::unique_ptr<StepMode> createGeoMode(const ModeSetup &setup);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_STEPMODE_H
