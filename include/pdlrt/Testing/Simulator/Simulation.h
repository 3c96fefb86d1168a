//===- Simulation.h - A whole job in one thread -----------------*- C++ -*-===//
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

/// Where a test puts faults into the protocol, to see that they are noticed.
/// Each may be empty.
struct SimulationHooks {
  /// Stands before a server's application, which outlives what it returns.
  std::function<std::unique_ptr<ServerApplication>(ServerApplication &table)>
      wrapApplication;
  /// Stands before a server's protocol; `application` is what it works on.
  std::function<RequestHandler(RequestHandler protocol,
                               ServerApplication &application)>
      wrapServer;
  /// Stands between trainers and the network, which outlives what it returns.
  std::function<std::unique_ptr<Transport>(Transport &network)> wrapNetwork;
};

struct SimulationResult {
  History history;
  FaultCounts faults;
  /// Virtual time from the start to the end.
  ClockTime duration{0};
};

/// Runs a job of toy trainers and toy servers to its end, or until its time,
/// 20 virtual minutes, is up: one thread, a manual clock, a network that fails
/// as the scenario says. The same scenario gives the same history.
SimulationResult simulate(const Scenario &scenario,
                          const SimulationHooks &hooks = {});

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_SIMULATION_H
