//===- Log.h - Lines for the person who runs a program ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_LOG_H
#define PDLRT_CORE_LOG_H

#include <string>

namespace pdlrt {

/// One line on the error stream, with the time before it. Thread-safe.
void logInfo(const std::string &line);
/// The same, marked as a warning.
void logWarning(const std::string &line);
/// The same, but a line that this process has said before is left out.
void logWarningOnce(const std::string &line);

} // namespace pdlrt

#endif // PDLRT_CORE_LOG_H
