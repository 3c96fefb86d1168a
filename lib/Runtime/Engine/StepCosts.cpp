//===- StepCosts.cpp - What a trainer's steps cost ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/StepCosts.h"

#include <algorithm>
#include <fmt/format.h>

using namespace pdlrt;

void ExchangeCosts::add(const ExchangeCosts &other) {
  serialise += other.serialise;
  wait += other.wait;
  servers.resize(std::max(servers.size(), other.servers.size()));
  for (size_t s = 0; s < other.servers.size(); ++s) {
    servers[s].name = other.servers[s].name;
    servers[s].messages += other.servers[s].messages;
    servers[s].bytesSent += other.servers[s].bytesSent;
    servers[s].bytesReceived += other.servers[s].bytesReceived;
  }
}

std::vector<std::string> pdlrt::costLines(const StepCosts &costs,
                                          double seconds, double cpuSeconds) {
  if (costs.steps == 0)
    return {};
  auto perStep = [&](double part) {
    return fmt::format("{:.3f} ms", 1000 * part / double(costs.steps));
  };
  std::vector<std::string> lines = {fmt::format(
      "a step took {}: read {}, prepare {}, compute {}{}, ", perStep(seconds),
      perStep(costs.read), perStep(costs.prepare), perStep(costs.compute),
      costs.prepareBeside > 0 ? fmt::format(" (beside it, prepare {})",
                                            perStep(costs.prepareBeside))
                              : "")};
  std::string &first = lines.front();
  if (costs.exchange.servers.empty())
    first += fmt::format("apply {}", perStep(costs.apply));
  else
    first +=
        fmt::format("serialise {}, wait {}", perStep(costs.exchange.serialise),
                    perStep(costs.exchange.wait));
  first += fmt::format("; CPU {}", perStep(cpuSeconds));
  for (const ServerTraffic &traffic : costs.exchange.servers)
    lines.push_back(fmt::format(
        "{}: {} messages, {} bytes sent, {} bytes received", traffic.name,
        traffic.messages, traffic.bytesSent, traffic.bytesReceived));
  return lines;
}
