//===- TraceFile.h - A trace that browsers show -----------------*- C++ -*-===//
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

/// Writes what was recorded as JSON in the Trace Event Format, which
/// chrome://tracing and ui.perfetto.dev read: one complete event ("X") for each
/// span, in microseconds since the start, and the names of the process and its
/// threads. The file appears whole or not at all.
Status writeTrace(const std::string &path, const std::string &processName,
                  int64_t processNumber, const Trace::Recorded &recorded);

/// Does `work` while a trace is recorded, in a thread that is called "main"
/// from then on, and writes it to `path`, also where the work failed. An error
/// of the work, or of a file that cannot be written; where nothing could ever
/// be written there, the work is not begun. No other thread may be in a span
/// when the work ends.
Status traced(const std::string &path, const std::string &processName,
              int64_t processNumber, const std::function<Status()> &work);

} // namespace pdlrt

#endif // PDLRT_FILES_TRACEFILE_H
