//===- ServerCosts.cpp - Costs of a server's steps ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerCosts.h"

#include <fmt/format.h>

using namespace pdlrt;

std::string pdlrt::describeStaleness(const StalenessCounts &counts) {
  std::string text;
  for (size_t ahead = 0; ahead < counts.size(); ++ahead)
    if (counts[ahead] > 0)
      text += fmt::format("{} {}{}: {}", text.empty() ? "" : ",", ahead,
                          ahead + 1 == counts.size() ? " or more" : "",
                          counts[ahead]);
  return text.empty() ? text
                      : "steps ahead of the slowest, of responses:" + text;
}

std::vector<std::string> pdlrt::costLines(const ServerCosts &costs) {
  if (costs.steps == 0)
    return {};
  auto perStep = [&](double part) {
    return fmt::format("{:.3f} ms", 1000 * part / double(costs.steps));
  };
  const double busy = costs.check + costs.sum + costs.apply + costs.response;
  const std::string merged =
      costs.mergedSteps == 0
          ? ""
          : fmt::format(" (merged of {})", costs.steps + costs.mergedSteps);
  std::vector<std::string> lines = {
      fmt::format("{} steps{}; a step took {}: check {}, sum {}, apply {}, "
                  "respond {}, idle {}; last request to responses {}; CPU {}",
                  costs.steps, merged, perStep(costs.elapsed),
                  perStep(costs.check), perStep(costs.sum),
                  perStep(costs.apply), perStep(costs.response),
                  perStep(costs.elapsed - busy), perStep(costs.closing),
                  perStep(costs.cpu)),
      fmt::format("{} messages, {} bytes received, {} bytes sent",
                  costs.messages, costs.bytesReceived, costs.bytesSent)};
  if (costs.late + costs.dropped > 0)
    lines.push_back(
        fmt::format("{} gradients came late: {} counted in the next "
                    "round, {} were dropped",
                    costs.late + costs.dropped, costs.late, costs.dropped));
  if (costs.seenBytes > 0)
    lines.push_back(fmt::format("kept up to {} bytes of values that senders "
                                "have seen, to compensate delays",
                                costs.seenBytes));
  return lines;
}
