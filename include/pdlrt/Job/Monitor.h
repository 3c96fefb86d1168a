//===- Monitor.h - Monitoring endpoint of a process -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_MONITOR_H
#define PDLRT_JOB_MONITOR_H

#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/Readiness.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/HttpEndpoint.h"

#include <memory>
#include <string>
#include <string_view>

namespace pdlrt {

/// Place of a process in its job, which the metric `pdl_build_info` shows.
struct MonitoredProcess {
  std::string role;
  int64_t rank = 0;
  std::string model, mode;
};

/// Endpoint with which operators watch a process: `/metrics` has the metrics of
/// the process in Prometheus' text format, `/healthz` says whether the process
/// has failed, and `/readyz` says whether it does its work, and if not, why and
/// since when.
class Monitor {
public:
  /// Listens at HOST:PORT or unix:PATH, and logs the actual address. Returns an
  /// error that names the flag --metrics-address if it cannot listen there.
  static Expected<std::unique_ptr<Monitor>> start(const std::string &address,
                                                  const MonitoredProcess &of);

  const std::string &address() const { return endpoint->address(); }

private:
  explicit Monitor(const MonitoredProcess &of);
  HttpPage page(std::string_view path);

  Gauge buildInfo;
  std::unique_ptr<HttpEndpoint> endpoint;
};

/// Returns the page `/readyz`: status 503 with the failure if the process has
/// failed, 503 with one line for each reason of `readiness`, or 200 if there is
/// none.
HttpPage readinessPage(const Readiness &readiness);

} // namespace pdlrt

#endif // PDLRT_JOB_MONITOR_H
