//===- ServerCosts.cpp - What a server's steps cost -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerCosts.h"

#include <fmt/format.h>

using namespace pdlrt;

std::vector<std::string> pdlrt::costLines(const ServerCosts &costs) {
  if (costs.steps == 0)
    return {};
  auto perStep = [&](double part) {
    return fmt::format("{:.3f} ms", 1000 * part / double(costs.steps));
  };
  const double busy = costs.check + costs.sum + costs.apply + costs.answer;
  const std::string merged =
      costs.mergedSteps == 0
          ? ""
          : fmt::format(" (merged of {})", costs.steps + costs.mergedSteps);
  return {fmt::format("{} steps{}; a step took {}: check {}, sum {}, apply {}, "
                      "answer {}, idle {}; last request to answers {}; CPU {}",
                      costs.steps, merged, perStep(costs.elapsed),
                      perStep(costs.check), perStep(costs.sum),
                      perStep(costs.apply), perStep(costs.answer),
                      perStep(costs.elapsed - busy), perStep(costs.closing),
                      perStep(costs.cpu)),
          fmt::format("{} messages, {} bytes received, {} bytes sent",
                      costs.messages, costs.bytesReceived, costs.bytesSent)};
}
