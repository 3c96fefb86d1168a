//===- Checker.h - Checks histories for exactly-once ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_CHECKER_H
#define PDLRT_TESTING_SIMULATOR_CHECKER_H

#include "pdlrt/Testing/Simulator/History.h"
#include "pdlrt/Testing/Simulator/Scenario.h"

#include <string>

namespace pdlrt {

/// Returns the first error in a history, or an empty text if there is none. The
/// checker uses the scenario, but no code of the protocol. It checks that:
/// - a server applies only requests that their sender has sent to it, with the
///   same content, and applies each of them once;
/// - the requests of each sender are applied in order; the requests of a round
///   are applied in the order of ranks; a round is closed when each trainer's
///   request has arrived;
/// - a server's values after a round are bitwise equal to sums in the order of
///   ranks;
/// - the response to a step has the server's state after this step. In mode
///   geo, it only has the changes of others, but the trainer's copy is then
///   equal to the server's state; after a meeting of all trainers, all copies
///   are equal;
/// - a job without a fatal fault ends successfully: all requests were applied,
///   all responses were read, and all trainers have left. A failed job ends in
///   all processes, with an error message that names the trainer that caused
///   the failure.
std::string checkHistory(const Scenario &scenario, const History &history);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_CHECKER_H
