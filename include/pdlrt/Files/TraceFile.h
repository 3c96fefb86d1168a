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
/// chrome://tracing and ui.perfetto.dev read. Each span is one event of type
/// "X", with times in microseconds since the start of the trace. Writes the
/// names of the process and its threads too. After an error, there is no partly
/// written file at `path`.
Status writeTrace(const std::string &path, const std::string &processName,
                  int64_t processNumber, const Trace::Recorded &recorded);

/// Records a trace while it runs `work`, and writes the trace to `path`, even
/// if `work` fails. First checks that `path` can be written, and otherwise
/// returns an error without running `work`. Returns the error of `work`, or of
/// writing the file. Gives the calling thread the name "main" in traces. No
/// other thread may be in a span when `work` ends.
Status traced(const std::string &path, const std::string &processName,
              int64_t processNumber, const std::function<Status()> &work);

} // namespace pdlrt

#endif // PDLRT_FILES_TRACEFILE_H
