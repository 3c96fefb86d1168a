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

/// Returns the first error in a history, "" if there is none. The checker knows
/// the scenario, but not the protocol. It checks that:
/// - a server applies only requests that their sender has sent to it, with the
///   same content, and applies each of them once;
/// - the requests of each sender are applied in order, those of a round in rank
///   order, and a round is closed when each trainer's request has arrived;
/// - a server's values after a round are bitwise equal to the rank-ordered
///   sums;
/// - a sender reads the server's state after that step. In mode geo its copy
///   then equals that state, although only changes of others were sent; after
///   trainers have met, all copies are equal;
/// - a job without fatal fault ends successfully: all requests were applied,
///   all responses read, and all trainers left. A failed job ends in all
///   processes, with an error message that names the trainer.
std::string checkHistory(const Scenario &scenario, const History &history);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_CHECKER_H
