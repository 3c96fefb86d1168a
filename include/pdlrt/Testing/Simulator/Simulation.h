//===- Simulation.h - Simulates a job in one thread -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_SIMULATION_H
#define PDLRT_TESTING_SIMULATOR_SIMULATION_H

#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Testing/Simulator/FaultyTransport.h"
#include "pdlrt/Testing/Simulator/History.h"
#include "pdlrt/Testing/Simulator/Scenario.h"
#include "pdlrt/Transport/Transport.h"

#include <functional>
#include <memory>
#include <string>

namespace pdlrt {

/// Hooks with which a test injects faults into the protocol, to check that they
/// are detected. Each may be empty.
struct SimulationHooks {
  /// Wraps a server's application, which outlives the result.
  std::function<std::unique_ptr<ServerApplication>(ServerApplication &table)>
      wrapApplication;
  /// Wraps a server's protocol; `application` is the one that it uses.
  std::function<RequestHandler(RequestHandler protocol,
                               ServerApplication &application)>
      wrapServer;
  /// Wraps the network of the trainers, which outlives the result.
  std::function<std::unique_ptr<Transport>(Transport &network)> wrapNetwork;
};

struct SimulationResult {
  History history;
  FaultCounts faults;
  /// Virtual time from the start to the end.
  ClockTime duration{0};
};

/// Runs a job of toy trainers and toy servers until it ends or 20 virtual
/// minutes have passed. It uses one thread, a manual clock, and a network with
/// the scenario's faults. The same scenario gives the same history.
SimulationResult simulate(const Scenario &scenario,
                          const SimulationHooks &hooks = {});

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_SIMULATION_H
