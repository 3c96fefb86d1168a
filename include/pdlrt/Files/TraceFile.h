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

#include <string>

namespace pdlrt {

/// Writes what was recorded as JSON in the Trace Event Format, which
/// chrome://tracing and ui.perfetto.dev read: one complete event ("X") for each
/// span, in microseconds since the start, and the names of the process and its
/// threads. The file appears whole or not at all.
Status writeTrace(const std::string &path, const std::string &processName,
                  int64_t processNumber, const Trace::Recorded &recorded);

} // namespace pdlrt

#endif // PDLRT_FILES_TRACEFILE_H
