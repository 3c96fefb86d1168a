//===- Version.cpp - A loaded version of a model --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Version.h"
#include "Batcher.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/UnknownIds.h"
#include "pdlrt/Serving/ServedExport.h"

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;

/// Returns true if the library can request rows from servers. The first version
/// of the interface that can do so ends with `row_counts`.
static bool hasRowCounts(const pdl_serving &functions) {
  return functions.struct_size >=
         offsetof(pdl_serving, row_counts) + sizeof(functions.row_counts);
}

/// Returns an error if the path is neither a file nor a folder. If it is an
/// export and the options require it, also verifies its tables. The library
/// verifies everything else.
static Status checkValues(const std::string &path, const LoadOptions &options) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_regular_file(path, ignored) &&
      !std::filesystem::is_directory(path, ignored))
    return Status::invalidArgument(path +
                                   ": is not a regular file; put a dump there");
  if (!options.verifiesTables)
    return {};
  const Expected<bool> isExported = pdlrt::isExport(path);
  PDLRT_RETURN_IF_ERROR(isExported.status());
  return *isExported ? pdlrt::verifyExport(path).status() : Status();
}

/// Returns true if the library can accept old layouts. The first version of the
/// interface that can do so ends with `unchecked`.
static bool hasOldLayouts(const pdl_serving &functions) {
  return functions.struct_size >=
         offsetof(pdl_serving, unchecked) + sizeof(functions.unchecked);
}

/// Returns an error if a library cannot use the weights that the options
/// request. The first version of the interface that can do so ends with
/// `weights`.
static Status checkWeights(const std::string &libraryPath,
                           const pdl_serving &functions,
                           const LoadOptions &options) {
  if (options.weights == PDL_SERVING_WEIGHTS_COMPILED ||
      functions.struct_size >=
          offsetof(pdl_serving, weights) + sizeof(functions.weights))
    return {};
  return Status::failedPrecondition(
      libraryPath + " is older than --weights; translate the model again, "
                    "with --emit=library");
}

void Version::warnOfOldLayout(const std::string &valuesPath) const {
  if (!hasOldLayouts(library->functions()))
    return;
  const char *unchecked = library->functions().unchecked(values);
  if (unchecked && *unchecked)
    pdlrt::logWarning(valuesPath +
                      " is of an older layout; not checked: " + unchecked);
}

Expected<std::shared_ptr<Version>>
Version::open(std::string model, int64_t number, const std::string &libraryPath,
              const std::string &valuesPath, const LoadOptions &options,
              ServingMetrics &metrics) {
  auto library = Library::open(libraryPath, options.takesUnchecked);
  if (!library)
    return std::move(library).status();
  std::shared_ptr<Version> version(new Version());
  version->modelName = std::move(model);
  version->numberText = std::to_string(number);
  version->library = *std::move(library);
  const pdl_serving &functions = version->library->functions();
  PDLRT_RETURN_IF_ERROR(checkWeights(libraryPath, functions, options));
  if (isServersFile(valuesPath)) {
    auto connection = readServersFile(valuesPath);
    if (!connection)
      return std::move(connection).status();
    if (!hasRowCounts(functions))
      return Status::failedPrecondition(libraryPath +
                                        " is older than servers; translate "
                                        "the model again, with "
                                        "--emit=library --servers");
    version->connection = *std::move(connection);
    pdl_serving_connection asked = version->connection->connection();
    asked.accept_old_layout = options.acceptsOldLayout;
    asked.weights = options.weights;
    version->values = functions.connect(&asked);
    version->refreshed = std::chrono::steady_clock::now();
  } else {
    PDLRT_RETURN_IF_ERROR(checkValues(valuesPath, options));
    const pdl_serving_values asked = {sizeof(asked), valuesPath.c_str(),
                                      options.acceptsOldLayout,
                                      options.weights};
    version->values = (options.acceptsOldLayout && hasOldLayouts(functions)) ||
                              options.weights != PDL_SERVING_WEIGHTS_COMPILED
                          ? functions.open_values(&asked)
                          : functions.open(valuesPath.c_str());
  }
  if (!version->values)
    return Status::failedPrecondition(functions.last_error());
  version->warnOfOldLayout(valuesPath);
  const int32_t programs = version->description().program_count;
  version->lanes.resize(size_t(programs));
  for (int32_t p = 0; p < programs; ++p)
    version->metrics.push_back(metrics.ofProgram(
        version->modelName, version->numberText, version->program(p).name));
  return version;
}

Version::~Version() {
  if (values)
    library->functions().close(values);
}

/// Returns the failure of a call of the library.
static Status failureOf(int32_t code, const pdl_serving &functions) {
  return {static_cast<pdl_status>(code), functions.last_error()};
}

Status Version::reload(const std::string &valuesPath,
                       const LoadOptions &options) {
  PDLRT_RETURN_IF_ERROR(checkValues(valuesPath, options));
  const pdl_serving &functions = library->functions();
  if (const int32_t code = functions.reload(values, valuesPath.c_str()))
    return failureOf(code, functions);
  warnOfOldLayout(valuesPath);
  return {};
}

pdl_serving_state Version::state() const {
  pdl_serving_state state = {};
  state.struct_size = sizeof(state);
  (void)library->functions().state(values, &state);
  return state;
}

/// Returns true if the library supports keys as inputs, and missing values. The
/// first version of the interface that does so ends with `warning`.
static bool hasRules(const pdl_serving &functions) {
  return functions.struct_size >=
         offsetof(pdl_serving, warning) + sizeof(functions.warning);
}

pdl_serving_input_rules Version::rulesOf(int32_t program, int32_t input) const {
  pdl_serving_input_rules rules = {};
  rules.struct_size = sizeof(rules);
  if (hasRules(library->functions()))
    (void)library->functions().describe_input(program, input, &rules);
  return rules;
}

Outcome Version::run(int32_t program, int64_t batch,
                     const pdl_serving_input *inputs, const int32_t *areKeys,
                     void *const *outputs) {
  const pdl_serving &functions = library->functions();
  const int32_t status =
      hasRules(functions)
          ? functions.run_keys(values, program, batch, inputs, areKeys, outputs)
          : functions.run(values, program, batch, inputs, outputs);
  if (isConnected())
    unavailable = status == PDL_SERVING_UNAVAILABLE;
  switch (status) {
  case PDL_OK:
    return {};
  case PDL_INVALID_ARGUMENT:
    return {Code::BadRequest, functions.last_error()};
  case PDL_OUT_OF_MEMORY:
    return {Code::TooLarge, functions.last_error()};
  case PDL_SERVING_UNAVAILABLE:
    return {Code::Unavailable, functions.last_error()};
  default:
    return {Code::Internal, functions.last_error()};
  }
}

bool Version::isRefreshDue() const {
  return std::chrono::steady_clock::now() - refreshed >=
         std::chrono::milliseconds(connection->refreshMillis);
}

Status Version::refresh() {
  const pdl_serving &functions = library->functions();
  const std::string &parameters = connection->parameters;
  if (const int32_t code = parameters.empty()
                               ? functions.refresh(values)
                               : functions.reload(values, parameters.c_str()))
    return failureOf(code, functions);
  refreshed = std::chrono::steady_clock::now();
  unavailable = false;
  return {};
}

pdl_serving_row_counts Version::takeRowCounts() {
  if (!hasRowCounts(library->functions()))
    return {};
  pdl_serving_row_counts now = {};
  now.struct_size = sizeof(now);
  (void)library->functions().row_counts(values, &now);
  if (!hasWarnedOfIds && pdlrt::areTooManyUnknown(now.ids, now.unknown_ids)) {
    hasWarnedOfIds = true;
    pdlrt::logWarning("model " + modelName + ", version " + numberText + ": " +
                      pdlrt::sayUnknown(now.ids, now.unknown_ids));
  }
  const pdl_serving_row_counts before = std::exchange(taken, now);
  now.hits -= before.hits;
  now.misses -= before.misses;
  now.requests -= before.requests;
  now.ids -= before.ids;
  now.unknown_ids -= before.unknown_ids;
  return now;
}

int32_t Version::findProgram(std::string_view name) const {
  const std::string_view wanted = name.empty() ? "predict" : name;
  for (int32_t p = 0; p < description().program_count; ++p)
    if (wanted == program(p).name)
      return p;
  return name.empty() ? 0 : -1;
}

std::string Version::nameOf(int32_t index) const {
  return index == findProgram("") ? modelName
                                  : modelName + "@" + program(index).name;
}
