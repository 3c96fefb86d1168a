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

/// Functions by which a test injects faults into the protocol, to check that
/// the checker detects them. Each may be empty.
struct SimulationHooks {
  /// Returns a wrapper of a server's application. The application outlives the
  /// result.
  std::function<std::unique_ptr<ServerApplication>(ServerApplication &table)>
      wrapApplication;
  /// Returns a wrapper of a server's protocol, which uses `application`.
  std::function<RequestHandler(RequestHandler protocol,
                               ServerApplication &application)>
      wrapServer;
  /// Returns a wrapper of the network that trainers use. The network outlives
  /// the result.
  std::function<std::unique_ptr<Transport>(Transport &network)> wrapNetwork;
};

struct SimulationResult {
  History history;
  FaultCounts faults;
  /// Simulated time from the start to the end of the job.
  ClockTime duration{0};
};

/// Runs a job with the real protocol and with toy trainers and toy state, until
/// it ends or 20 minutes of simulated time have passed. Uses one thread, a
/// manual clock, and a network with the faults of the scenario. The same
/// scenario gives the same history.
SimulationResult simulate(const Scenario &scenario,
                          const SimulationHooks &hooks = {});

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_SIMULATION_H
