//===- Log.h - Lines for the person who runs a program ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_LOG_H
#define PDLRT_CORE_LOG_H

#include <cstdint>
#include <string>

namespace pdlrt {

/// One line on the error stream, with the time before it. Thread-safe.
void logInfo(const std::string &line);
/// The same, marked as a warning.
void logWarning(const std::string &line);
/// The same, but a line that this process has said before is left out.
void logWarningOnce(const std::string &line);

/// Returns how many lines were logged so far: whether any has come after an
/// error message, which is then to be said again. Thread-safe.
uint64_t loggedLines();

} // namespace pdlrt

#endif // PDLRT_CORE_LOG_H
