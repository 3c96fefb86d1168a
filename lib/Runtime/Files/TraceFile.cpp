//===- TraceFile.cpp - Trace files for browsers ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/TraceFile.h"

#include "Files/TemporaryFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Files/OutputFiles.h"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

using namespace pdlrt;

/// Returns a text as a JSON string. The text may have any bytes.
static std::string asJson(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/false,
                                   nlohmann::json::error_handler_t::replace);
}

static void addName(std::string &out, const char *what, int64_t process,
                    size_t thread, const std::string &name) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":{},"
                 "\"args\":{{\"name\":{}}}}},\n",
                 what, process, thread, asJson(name));
}

static void addEvent(std::string &out, const TraceEvent &event, int64_t start,
                     int64_t process, size_t thread) {
  constexpr double nanosecondsInMicrosecond = 1000;
  fmt::format_to(
      std::back_inserter(out),
      "{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
      "\"dur\":{:.3f}",
      asJson(event.symbol ? fmt::format("{} of @{}", event.name, event.symbol)
                          : event.name),
      process, thread, double(event.begin - start) / nanosecondsInMicrosecond,
      double(event.end - event.begin) / nanosecondsInMicrosecond);
  std::string numbers;
  for (int64_t number : event.numbers)
    if (number != 0)
      numbers += (numbers.empty() ? "" : " x ") + std::to_string(number);
  if (!numbers.empty())
    fmt::format_to(std::back_inserter(out), ",\"args\":{{\"size\":\"{}\"}}",
                   numbers);
  out += "},\n";
}

/// Adds the current values of the process's metrics to `out`. Trace viewers
/// show them with the other properties of the trace.
static void addMetrics(std::string &out) {
  std::string_view separator = "\n";
  for (const MetricRegistry::Sample &sample : processMetrics().samples()) {
    out += std::exchange(separator, ",\n");
    out += asJson(sample.name) + ":" + asJson(sample.value);
  }
  out += "\n";
}

Status pdlrt::writeTrace(const std::string &path,
                         const std::string &processName, int64_t processNumber,
                         const Trace::Recorded &recorded) {
  constexpr size_t writtenAtOnce = size_t(1) << 20;
  TemporaryFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (size_t t = 0; t < recorded.threads.size(); ++t) {
    const ThreadTrace &thread = recorded.threads[t];
    addName(out, "thread_name", processNumber, t,
            thread.name.empty() ? fmt::format("thread {}", t) : thread.name);
    for (const TraceEvent &event : thread.events) {
      addEvent(out, event, recorded.begin, processNumber, t);
      if (out.size() < writtenAtOnce)
        continue;
      PDLRT_RETURN_IF_ERROR(file.write(out.data(), out.size()));
      out.clear();
    }
  }
  // The last entry must not have a comma.
  addName(out, "process_name", processNumber, 0, processName);
  out.resize(out.size() - 2);
  out += "\n],\n\"otherData\":{";
  addMetrics(out);
  out += "}}\n";
  PDLRT_RETURN_IF_ERROR(file.write(out.data(), out.size()));
  return file.commit();
}

Status pdlrt::traced(const std::string &path, const std::string &processName,
                     int64_t processNumber,
                     const std::function<Status()> &work) {
  PDLRT_RETURN_IF_ERROR(checkReplaceable(path));
  Trace::nameThread("main");
  Trace::start();
  Status status = work();
  const Trace::Recorded recorded = Trace::stop();
  if (recorded.lost > 0)
    logWarning(fmt::format("{} has the first {} spans; {} more were left out: "
                           "trace fewer steps",
                           path, Trace::maxEvents, recorded.lost));
  Status written = writeTrace(path, processName, processNumber, recorded);
  return status.ok() ? written : status;
}
