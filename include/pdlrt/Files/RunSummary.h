//===- RunSummary.h - Summary of a run --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_RUNSUMMARY_H
#define PDLRT_FILES_RUNSUMMARY_H

#include "pdlrt/Core/Status.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Summary of a run of a program, which --summary writes as one JSON object
/// (docs/Reference/Summary.md). The file is replaced at once each time, so that
/// readers never find a part of it. It exists from the start of the run on,
/// with the state "running". All functions but `open` do nothing if no summary
/// is open. Not thread-safe.
class RunSummary {
public:
  /// Flags that the user gave, with their values.
  using GivenFlags =
      std::vector<std::pair<std::string, std::vector<std::string>>>;

  RunSummary();
  ~RunSummary();
  RunSummary(const RunSummary &) = delete;
  RunSummary &operator=(const RunSummary &) = delete;

  /// Opens the summary of the program `program`, such as "trainer train", and
  /// writes it for the first time. `version` is the version of PDL.
  /// `runProgram` then writes it for the last time. Returns an error that names
  /// the flag --summary if the file cannot be written.
  Status open(const std::string &path, const std::string &program,
              const std::string &version, const GivenFlags &flags);
  bool isOpen() const { return members != nullptr; }

  /// Sets the model and the mode of the program, and its place in the job.
  void setPlace(const std::string &model, const std::string &mode, int64_t rank,
                int64_t trainers);
  /// Sets a member of the object.
  void set(const char *member, nlohmann::ordered_json value);
  /// Appends an element to a member that is a list. The list keeps its newest
  /// elements; the member "counts" has the number of all of them.
  void append(const char *member, nlohmann::ordered_json element);
  /// Sets the reason why the run fails. Without a call, the reason is the last
  /// error message.
  void noteFailure(std::string reason) { failure = std::move(reason); }
  /// Writes the file. A failure is logged as a warning.
  void write();
  /// Sets the result of the run from its exit status, and writes the file for
  /// the last time.
  void finish(int status);

private:
  Status writeFile();

  std::string path, failure;
  std::unique_ptr<nlohmann::ordered_json> members;
  std::chrono::steady_clock::time_point start;
};

/// Returns the summary of this process.
RunSummary &processSummary();

} // namespace pdlrt

#endif // PDLRT_FILES_RUNSUMMARY_H
