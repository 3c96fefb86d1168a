//===- Version.h - One version of a model that answers ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_VERSION_H
#define PDLSERVE_VERSION_H

#include "Library.h"
#include "Metrics.h"
#include "Outcome.h"
#include "ServersFile.h"
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

/// How versions are loaded.
struct LoadOptions {
  /// Reads the tables of an export whole and compares them with their
  /// checksums before they are mapped. Else only their heads are.
  bool verifiesTables = false;
  /// Loads libraries without a checksum, which an older PDL made.
  bool takesUnchecked = false;
  /// Takes values of before keys were part of the layout, by reloads too; the
  /// log says what is not checked of them.
  bool acceptsOldLayout = false;
};

/// A library with values. It lives as long as the folder that it is of, and
/// behind that until the last request that it answers. Threads may share it.
class Version {
public:
  /// `valuesPath`: what libraries open, or a file that says which servers have
  /// the values (ServersFile.h).
  static pdlrt::Expected<std::shared_ptr<Version>>
  open(std::string model, int64_t number, const std::string &libraryPath,
       const std::string &valuesPath, const LoadOptions &options,
       Metrics &metrics);
  Version(const Version &) = delete;
  Version &operator=(const Version &) = delete;
  ~Version();

  /// Takes other values; on an error the old ones stay. Requests do not wait.
  pdlrt::Status reload(const std::string &valuesPath,
                       const LoadOptions &options);
  pdl_serving_state state() const;
  /// Scores a batch: `run_keys` of pdl/serving.h; of libraries that are older,
  /// `run`.
  Outcome run(int32_t program, int64_t batch, const pdl_serving_input *inputs,
              const int32_t *areKeys, void *const *outputs);
  /// Whether the last batch was not scored because servers did not answer.
  bool isUnavailable() const { return unavailable.load(); }
  /// Of libraries that do not say them: every input is required, and integers
  /// may be keys.
  pdl_serving_input_rules rulesOf(int32_t program, int32_t input) const;
  /// Whether it asks servers for rows.
  bool isConnected() const { return connection.has_value(); }
  /// Of one that does: whether its parameters are as old as its file says, and
  /// takes those that there are now. Not by two threads at once.
  bool isRefreshDue() const;
  pdlrt::Status refresh();
  /// How rows were found since the last call; nothing of libraries that are
  /// older than this question.
  pdl_serving_row_counts takeRowCounts();

  /// That of the folder.
  const std::string &model() const { return modelName; }
  const std::string &number() const { return numberText; }
  const pdl_serving_description &description() const {
    return library->description();
  }
  const pdl_serving_program &program(int32_t index) const {
    return description().programs[index];
  }
  /// The index of a program; of "", the one that is asked for by the model's
  /// name alone: @predict, or else the first. -1: there is none.
  int32_t findProgram(std::string_view name) const;
  /// The name under which a client asks for a program.
  std::string nameOf(int32_t program) const;
  ProgramMetrics &metricsOf(int32_t program) { return *metrics[program]; }

  /// Jobs that wait, by program. Only the batcher uses them.
  std::vector<std::vector<std::unique_ptr<Lane>>> lanes;
  /// Of one that asks servers; made with its first lane.
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

#endif // PDLSERVE_VERSION_H
