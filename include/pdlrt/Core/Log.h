//===- Log.h - Log lines ----------------------------------------*- C++ -*-===//
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

/// Writes a line with the time to the error stream. Thread-safe.
void logInfo(const std::string &line);
/// Writes a line that is marked as a warning.
void logWarning(const std::string &line);
/// Writes a warning, unless this process has written the same line before with
/// this function.
void logWarningOnce(const std::string &line);

/// Returns the number of lines logged so far. A program uses it to find out
/// whether lines were logged after an error message, and then repeats the
/// message. Thread-safe.
uint64_t loggedLines();

} // namespace pdlrt

#endif // PDLRT_CORE_LOG_H
