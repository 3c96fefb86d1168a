//===- StepCosts.cpp - What a trainer's steps cost ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/StepCosts.h"

#include "pdlrt/Transport/Envelope.h"

#include <algorithm>
#include <fmt/format.h>

using namespace pdlrt;

int64_t ServerTraffic::noteRequest(size_t payload) {
  const auto bytes = int64_t(envelopeSize + payload);
  ++messages;
  bytesSent += bytes;
  return bytes;
}

int64_t ServerTraffic::noteAnswer(size_t payload) {
  const auto bytes = int64_t(envelopeSize + payload);
  bytesReceived += bytes;
  return bytes;
}

std::vector<ServerTraffic> pdlrt::trafficOf(const Placement &placement) {
  std::vector<ServerTraffic> all;
  for (int32_t server = 0; server < placement.serverCount(); ++server)
    all.push_back({.name = placement.nameOf(server)});
  return all;
}

void BesideCosts::add(const BesideCosts &other) {
  pushes += other.pushes;
  pushedSteps += other.pushedSteps;
  push += other.push;
  pushWait += other.pushWait;
  pull += other.pull;
  pullWait += other.pullWait;
  mostBytes = std::max(mostBytes, other.mostBytes);
}

void ExchangeCosts::add(const ExchangeCosts &other) {
  beside.add(other.beside);
  if (early.choice.empty())
    early = other.early;
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
  if (const BesideCosts &beside = costs.exchange.beside; beside.pushes > 0) {
    auto hidden = [](double all, double waited) {
      return all > 0 ? 100 * std::clamp(1 - waited / all, 0.0, 1.0) : 0.0;
    };
    lines.push_back(fmt::format(
        "{} pushes of {} steps, {:.3f} ms each, {:.0f} % of it beside steps; "
        "pulls {:.3f} ms a step, {:.0f} % beside; at most {} bytes of a "
        "worker's pushes under way",
        beside.pushes, beside.pushedSteps,
        1000 * beside.push / double(beside.pushes),
        hidden(beside.push, beside.pushWait),
        1000 * beside.pull / double(std::max<int64_t>(beside.pushedSteps, 1)),
        hidden(beside.pull, beside.pullWait), beside.mostBytes));
  }
  if (const EarlyCosts &early = costs.exchange.early; !early.choice.empty()) {
    lines.push_back("overlap " + early.choice);
    const double all = early.beside + early.wait;
    if (early.steps > 0)
      lines.push_back(fmt::format(
          "{} parts with {} bytes left before {} steps were computed; of "
          "{:.3f} ms of exchange a step {:.0f} % was hidden",
          early.parts, early.bytes, early.steps,
          1000 * all / double(early.steps),
          all > 0 ? 100 * early.beside / all : 0.0));
  }
  for (const ServerTraffic &traffic : costs.exchange.servers)
    lines.push_back(fmt::format(
        "{}: {} messages, {} bytes sent, {} bytes received", traffic.name,
        traffic.messages, traffic.bytesSent, traffic.bytesReceived));
  return lines;
}
