//===- GeoEngine.h - Steps on a local copy of the model ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In mode geo, a process does its steps (Engine.h) on its own copy of the
// model. After a fixed number of steps it exchanges changes with the servers
// (CopyExchange.h).
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
  /// `layout` must have one local group. The engine exchanges when
  /// `stepsOfExchange` steps, at least 1, were done since the last exchange.
  /// Exchanges of other code count too (`noteExchange`). The referenced objects
  /// must outlive the engine.
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

  /// Records that other code has made an exchange, between two steps.
  void noteExchange() { stepsSince = 0; }

private:
  CopyExchange &copies;
  const int64_t stepsOfExchange;
  int64_t stepsSince = 0;
  Engine engine;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_GEOENGINE_H
