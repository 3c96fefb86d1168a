//===- Monitor.cpp - Monitoring endpoint of a process ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/Monitor.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/ProcessMetrics.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/format.h>
#include <iterator>
#include <utility>

using namespace pdlrt;

static constexpr unsigned statusOk = 200, statusNotFound = 404,
                          statusUnavailable = 503;

/// Returns a text as one line, because each line of a page is one statement.
static std::string asOneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Returns a time as text, such as "2026-11-30T12:00:03Z".
static std::string utcOf(Readiness::Clock::time_point time) {
  const std::time_t seconds = Readiness::Clock::to_time_t(time);
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[sizeof("2026-11-30T12:00:03Z") + 8];
  const size_t size =
      std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, size};
}

HttpPage pdlrt::readinessPage(const Readiness &readiness) {
  if (const std::string failure = readiness.failure(); !failure.empty())
    return {statusUnavailable, "failed: " + asOneLine(failure) + "\n"};
  HttpPage page{statusOk, "ready\n"};
  const std::vector<Readiness::Entry> reasons = readiness.reasons();
  if (reasons.empty())
    return page;
  page = {statusUnavailable, ""};
  const auto now = Readiness::Clock::now();
  for (const Readiness::Entry &reason : reasons) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
        std::max(now - reason.since, Readiness::Clock::duration(0)));
    fmt::format_to(std::back_inserter(page.body),
                   "not ready since {} ({} s): {}\n", utcOf(reason.since),
                   seconds.count(), asOneLine(reason.text));
  }
  return page;
}

Monitor::Monitor(const MonitoredProcess &of)
    : buildInfo(
          addBuildInfo(of.model, of.mode, std::to_string(of.rank), of.role)) {}

HttpPage Monitor::page(std::string_view path) {
  if (path == "/metrics") {
    updateProcessMetrics();
    return {statusOk, processMetrics().text(),
            "text/plain; version=0.0.4; charset=utf-8"};
  }
  if (path == "/healthz") {
    const std::string failure = processReadiness().failure();
    return failure.empty() ? HttpPage{statusOk, "ok\n"}
                           : HttpPage{statusUnavailable,
                                      "failed: " + asOneLine(failure) + "\n"};
  }
  if (path == "/readyz")
    return readinessPage(processReadiness());
  return {statusNotFound, "there are /metrics, /healthz and /readyz\n"};
}

Expected<std::unique_ptr<Monitor>> Monitor::start(const std::string &address,
                                                  const MonitoredProcess &of) {
  std::unique_ptr<Monitor> monitor(new Monitor(of));
  auto endpoint = HttpEndpoint::start(
      address, [self = monitor.get()](std::string_view path) {
        return self->page(path);
      });
  if (!endpoint)
    return std::move(endpoint).status().withContext("--metrics-address");
  monitor->endpoint = std::move(*endpoint);
  logInfo(fmt::format("{} {}: metrics at {}", of.role, of.rank,
                      monitor->address()));
  return monitor;
}
