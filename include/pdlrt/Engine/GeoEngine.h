//===- GeoEngine.h - Steps on a copy, and exchanges -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mode geo: the steps of one process (Engine.h) on a copy of the state, which
// is exchanged with servers every so many of them.
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

/// Trains a program on this process's copy. One thread at a time.
class GeoEngine final : public StepEngine {
public:
  /// All outlive the engine. `layout` has one local group. An exchange follows
  /// each `stepsOfExchange` steps, at least 1, since the last one, whoever
  /// began that.
  GeoEngine(Model &model, const pdl_program &program,
            const ReplicaLayout &layout, Scheduler &scheduler,
            CopyExchange &copies, int64_t stepsOfExchange);

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  void askForSave() override { engine.askForSave(); }
  bool stopped() const override { return engine.stopped(); }
  bool sumsOverJob() const override { return engine.sumsOverJob(); }
  ReplicaSet &replicas() override { return engine.replicas(); }
  int roundsInUse() const override { return engine.roundsInUse(); }
  StepCosts costs() const override;

  /// Somebody has exchanged between two steps.
  void noteExchange() { stepsSince = 0; }

private:
  CopyExchange &copies;
  const int64_t stepsOfExchange;
  int64_t stepsSince = 0;
  Engine engine;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_GEOENGINE_H
