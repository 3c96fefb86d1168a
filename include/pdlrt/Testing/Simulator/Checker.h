//===- Checker.h - Whether a history is one of exactly-once -----*- C++ -*-===//
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

/// Reads a history and says what is wrong with it first; empty if nothing is.
/// It knows the scenario, and nothing of the protocol:
/// - what a server takes, that sender gave to it, with the same content, and it
///   takes it once;
/// - each sender's requests are taken in order, those of a round in rank order,
///   and a round is closed when each trainer's is there;
/// - a server's values after a round are the rank-ordered sums, to the bit;
/// - what a sender reads is what that server had after that step; in mode geo
///   its copy is then that, though no more has come than others have changed,
///   and where trainers have met all copies are the same;
/// - a job that nothing ended ends well: all was taken, read and left; one that
///   failed ends everywhere, with a sentence that names the trainer.
std::string checkHistory(const Scenario &scenario, const History &history);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_CHECKER_H
