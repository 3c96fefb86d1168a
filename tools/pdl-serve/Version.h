//===- Version.h - A loaded version of a model ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_VERSION_H
#define PDL_TOOLS_PDL_SERVE_VERSION_H

#include "Library.h"
#include "Outcome.h"
#include "ServersFile.h"
#include "ServingMetrics.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlserve {

class Lane;
struct Seats;

/// Options for loading versions.
struct LoadOptions {
  /// If true, verifies the checksums of an export's tables, which reads them
  /// completely, before they are mapped. Otherwise, only their heads are
  /// verified.
  bool verifiesTables = false;
  /// If true, loads libraries without a checksum, which older versions of PDL
  /// made.
  bool takesUnchecked = false;
  /// If true, accepts values of layout 1, in which keys were not part of the
  /// layout. Also applies to reloads. The log says what was not checked.
  bool acceptsOldLayout = false;
};

/// A library with values. Lives as long as its folder, and until the last
/// request that uses it has ended. Thread-safe.
class Version {
public:
  /// Loads a version. `valuesPath`: a path that libraries open, or a file that
  /// names the servers with the values (ServersFile.h).
  static pdlrt::Expected<std::shared_ptr<Version>>
  open(std::string model, int64_t number, const std::string &libraryPath,
       const std::string &valuesPath, const LoadOptions &options,
       ServingMetrics &metrics);
  Version(const Version &) = delete;
  Version &operator=(const Version &) = delete;
  ~Version();

  /// Replaces the values. After an error, the old ones stay. Requests do not
  /// wait.
  pdlrt::Status reload(const std::string &valuesPath,
                       const LoadOptions &options);
  pdl_serving_state state() const;
  /// Scores a batch with `run_keys` of pdl/serving.h, or `run` if the library
  /// is older.
  Outcome run(int32_t program, int64_t batch, const pdl_serving_input *inputs,
              const int32_t *areKeys, void *const *outputs);
  /// Returns true if the last batch failed because servers did not respond.
  bool isUnavailable() const { return unavailable.load(); }
  /// Returns the rules of an input. For libraries without rules, every input is
  /// required and integers may be keys.
  pdl_serving_input_rules rulesOf(int32_t program, int32_t input) const;
  /// Returns true if the version requests rows from servers.
  bool isConnected() const { return connection.has_value(); }
  /// Used for versions with remote rows. `isRefreshDue` returns true if the
  /// parameters have reached the maximum age, and `refresh` requests the
  /// current ones. Not thread-safe.
  bool isRefreshDue() const;
  pdlrt::Status refresh();
  /// Returns counts of how rows were found since the last call. Zero for older
  /// libraries.
  pdl_serving_row_counts takeRowCounts();

  /// Names of the folders.
  const std::string &model() const { return modelName; }
  const std::string &number() const { return numberText; }
  const pdl_serving_description &description() const {
    return library->description();
  }
  const pdl_serving_program &program(int32_t index) const {
    return description().programs[index];
  }
  /// Returns the index of a program, or -1 if there is none. "" selects the
  /// default program: @predict if it exists, otherwise the first.
  int32_t findProgram(std::string_view name) const;
  /// Returns the name by which clients request a program.
  std::string nameOf(int32_t program) const;
  ProgramMetrics &metricsOf(int32_t program) { return *metrics[program]; }

  /// Waiting jobs, by program. Only for the batcher.
  std::vector<std::vector<std::unique_ptr<Lane>>> lanes;
  /// Seats of a version with remote rows; created with its first lane.
  std::shared_ptr<Seats> seats;

private:
  Version() = default;
  void warnOfOldLayout(const std::string &valuesPath) const;

  bool hasWarnedOfIds = false;
  std::string modelName, numberText;
  std::shared_ptr<const Library> library;
  pdl_serving_model *values = nullptr;
  std::optional<ServersFile> connection;
  std::chrono::steady_clock::time_point refreshed;
  pdl_serving_row_counts taken = {};
  std::atomic<bool> unavailable{false};
  std::vector<std::shared_ptr<ProgramMetrics>> metrics;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_VERSION_H
