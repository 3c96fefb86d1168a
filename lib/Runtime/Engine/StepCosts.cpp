//===- StepCosts.cpp - Time and traffic of a trainer's steps --------------===//
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

void BackgroundCosts::add(const BackgroundCosts &other) {
  pushes += other.pushes;
  pushedSteps += other.pushedSteps;
  push += other.push;
  pushWait += other.pushWait;
  pull += other.pull;
  pullWait += other.pullWait;
  maxBytes = std::max(maxBytes, other.maxBytes);
}

void ExchangeCosts::add(const ExchangeCosts &other) {
  background.add(other.background);
  if (early.choice.empty())
    early = other.early;
  serialize += other.serialize;
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
      costs.prepareInBackground > 0
          ? fmt::format(" (concurrently, prepare {})",
                        perStep(costs.prepareInBackground))
          : "")};
  std::string &first = lines.front();
  if (costs.exchange.servers.empty())
    first += fmt::format("apply {}", perStep(costs.apply));
  else
    first +=
        fmt::format("serialize {}, wait {}", perStep(costs.exchange.serialize),
                    perStep(costs.exchange.wait));
  first += fmt::format("; CPU {}", perStep(cpuSeconds));
  if (const BackgroundCosts &background = costs.exchange.background;
      background.pushes > 0) {
    auto hidden = [](double all, double waited) {
      return all > 0 ? 100 * std::clamp(1 - waited / all, 0.0, 1.0) : 0.0;
    };
    lines.push_back(fmt::format(
        "{} pushes of {} steps, {:.3f} ms each, {:.0f} % of it hidden by "
        "steps; "
        "pulls {:.3f} ms a step, {:.0f} % hidden; at most {} bytes of a "
        "worker's pushes under way",
        background.pushes, background.pushedSteps,
        1000 * background.push / double(background.pushes),
        hidden(background.push, background.pushWait),
        1000 * background.pull /
            double(std::max<int64_t>(background.pushedSteps, 1)),
        hidden(background.pull, background.pullWait), background.maxBytes));
  }
  if (const EarlyCosts &early = costs.exchange.early; !early.choice.empty()) {
    lines.push_back("overlap " + early.choice);
    const double all = early.background + early.wait;
    if (early.steps > 0)
      lines.push_back(fmt::format(
          "{} parts with {} bytes left before {} steps were computed; of "
          "{:.3f} ms of exchange a step {:.0f} % was hidden",
          early.parts, early.bytes, early.steps,
          1000 * all / double(early.steps),
          all > 0 ? 100 * early.background / all : 0.0));
  }
  for (const ServerTraffic &traffic : costs.exchange.servers)
    lines.push_back(fmt::format(
        "{}: {} messages, {} bytes sent, {} bytes received", traffic.name,
        traffic.messages, traffic.bytesSent, traffic.bytesReceived));
  return lines;
}
