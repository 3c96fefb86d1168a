//===- GeoEngine.h - Steps on a local copy of the model ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo: the process does its steps (Engine.h) on its own copy of the state.
// The copy is exchanged with servers after a fixed number of steps.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_GEOENGINE_H
#define PDLRT_ENGINE_GEOENGINE_H

#include "pdlrt/Engine/CopyExchange.h"
#include "pdlrt/Engine/Engine.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace pdlrt {

/// Trains a program on this process's copy of the model. Not thread-safe.
class GeoEngine final : public StepEngine {
public:
  /// The references must outlive the engine. `layout` has one local group. An
  /// exchange follows `stepsOfExchange` steps, at least 1, after the last
  /// exchange, even if that one was not made by this engine.
  GeoEngine(Model &model, const pdl_program &program,
            const ReplicaLayout &layout, Scheduler &scheduler,
            CopyExchange &copies, int64_t stepsOfExchange);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  void requestSave() override { engine.requestSave(); }
  bool stopped() const override { return engine.stopped(); }
  bool sumsOverJob() const override { return engine.sumsOverJob(); }
  ReplicaSet &replicas() override { return engine.replicas(); }
  int roundsInUse() const override { return engine.roundsInUse(); }
  StepCosts costs() const override;

  /// Records an exchange that was made elsewhere, between two steps.
  void noteExchange() { stepsSince = 0; }

private:
  CopyExchange &copies;
  const int64_t stepsOfExchange;
  int64_t stepsSince = 0;
  Engine engine;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_GEOENGINE_H
