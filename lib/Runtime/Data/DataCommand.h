//===- DataCommand.h - Reads a file through a command -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_DATACOMMAND_H
#define LIB_RUNTIME_DATA_DATACOMMAND_H

#include "pdlrt/Core/Status.h"

#include <cstdio>
#include <string>
#include <sys/types.h>

namespace pdlrt {

/// A shell command whose standard output is the content of a data file
/// (--data-pipe). Ends the command, and all processes that it started, when it
/// is destroyed. Not thread-safe.
class DataCommand {
public:
  explicit DataCommand(std::string command) : command(std::move(command)) {}
  DataCommand(const DataCommand &) = delete;
  DataCommand &operator=(const DataCommand &) = delete;
  ~DataCommand();

  /// Starts the command for a file. Its standard input is the file, or empty if
  /// there is no such file, and `$FILE` is the name. Returns the descriptor of
  /// its output, which the caller closes. Call once.
  Expected<int> start(const std::string &file);
  /// Waits for the command, after the end of its output. Returns an error with
  /// the end of its standard error if it failed. Later calls return the same.
  Status finish();

private:
  std::string errorText() const;

  std::string command, path;
  pid_t process = -1; ///< -1: not started, or it has ended.
  std::FILE *errors = nullptr;
  Status failure;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_DATACOMMAND_H
