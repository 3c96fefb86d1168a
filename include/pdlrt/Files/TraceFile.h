//===- TraceFile.h - Trace files for browsers -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_TRACEFILE_H
#define PDLRT_FILES_TRACEFILE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Core/Trace.h"

#include <functional>
#include <string>

namespace pdlrt {

/// Writes a recorded trace as JSON in the Trace Event Format, which
/// chrome://tracing and ui.perfetto.dev read. Each span is one complete event
/// ("X"), in microseconds since the start. The process and its threads have
/// names. The file is written completely or not at all.
Status writeTrace(const std::string &path, const std::string &processName,
                  int64_t processNumber, const Trace::Recorded &recorded);

/// Runs `work` while a trace is recorded, and writes the trace to `path`, even
/// if the work failed. The calling thread is named "main" from then on. Returns
/// the error of the work, or of writing the file. If the file could not be
/// written at all, the work is not started. No other thread may be in a span
/// when the work ends.
Status traced(const std::string &path, const std::string &processName,
              int64_t processNumber, const std::function<Status()> &work);

} // namespace pdlrt

#endif // PDLRT_FILES_TRACEFILE_H
