//===- MetricsTargets.h - List of a job's processes -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_METRICSTARGETS_H
#define PDL_TOOLS_PDL_LAUNCH_METRICSTARGETS_H

#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace pdllaunch {

/// A process with a monitoring endpoint.
struct MetricsTarget {
  /// Name in the output, such as "trainer 0".
  std::string process;
  /// Address of the endpoint.
  std::string address;
};

/// File with the endpoints of a job, which Prometheus reads (file_sd_configs).
/// The destructor removes the file, so that Prometheus forgets the job.
class MetricsTargets {
public:
  virtual ~MetricsTargets();

  /// Writes the file at once, so that no reader finds a part of it.
  static pdlrt::Expected<std::unique_ptr<MetricsTargets>>
  write(const std::string &path, const std::vector<MetricsTarget> &targets);
};

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_METRICSTARGETS_H
