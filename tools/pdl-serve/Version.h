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
  /// If true, an export's tables are read completely and their checksums
  /// verified before they are mapped. If false, only the heads of their files
  /// are verified.
  bool verifiesTables = false;
  /// If true, loads libraries without a checksum, as older versions of PDL made
  /// them.
  bool takesUnchecked = false;
  /// If true, accepts values of layout 1, which does not describe how keys are
  /// made. Also applies to reloads. The log says what could not be checked.
  bool acceptsOldLayout = false;
  /// Type of the weights of large products. Also applies to reloads.
  pdl_serving_weights weights = PDL_SERVING_WEIGHTS_COMPILED;
};

/// A library with values. It lives as long as its folder exists and requests
/// use it. Thread-safe.
class Version {
public:
  /// Loads a version. `valuesPath`: a path with values that the library can
  /// read, or a servers file (ServersFile.h), which names the servers that have
  /// the values.
  static pdlrt::Expected<std::shared_ptr<Version>>
  open(std::string model, int64_t number, const std::string &libraryPath,
       const std::string &valuesPath, const LoadOptions &options,
       ServingMetrics &metrics);
  Version(const Version &) = delete;
  Version &operator=(const Version &) = delete;
  ~Version();

  /// Replaces the values. After an error, the old values stay. Requests do not
  /// wait during a reload.
  pdlrt::Status reload(const std::string &valuesPath,
                       const LoadOptions &options);
  pdl_serving_state state() const;
  /// Scores a batch: calls `run_keys` of pdl/serving.h, or `run` if the library
  /// is older and does not have it.
  Outcome run(int32_t program, int64_t batch, const pdl_serving_input *inputs,
              const int32_t *areKeys, void *const *outputs);
  /// Returns true if the last batch failed because servers did not respond.
  bool isUnavailable() const { return unavailable.load(); }
  /// Returns the rules of an input. If the library is so old that it has none,
  /// each input is required, and integers may be keys.
  pdl_serving_input_rules rulesOf(int32_t program, int32_t input) const;
  /// Returns true if the version requests rows from servers.
  bool isConnected() const { return connection.has_value(); }
  /// Returns true if the parameters have reached their maximum age, so that
  /// `refresh` must request the current ones. Only for versions with remote
  /// rows. Neither function is thread-safe.
  bool isRefreshDue() const;
  pdlrt::Status refresh();
  /// Returns how rows were found since the previous call. All counts are zero
  /// if the library is too old to count.
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
  /// Returns the index of a program, or -1 if there is none. An empty name
  /// selects the default program: @predict, or the first one if the model has
  /// no @predict.
  int32_t findProgram(std::string_view name) const;
  /// Returns the name by which clients request a program.
  std::string nameOf(int32_t program) const;
  ProgramMetrics &metricsOf(int32_t program) { return *metrics[program]; }

  /// Waiting jobs, by program. Only for the batcher.
  std::vector<std::vector<std::unique_ptr<Lane>>> lanes;
  /// Seats of a version with remote rows. Created with the first lane of the
  /// version.
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
