//===- Api.cpp - Functions of a model's library ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the functions of pdl/serving.h. A serving library is linked from
// this file and one compiled program. A model has a current state, and scorers
// that are not in use.
//
//===----------------------------------------------------------------------===//

#include "Data/CellSplitter.h"
#include "pdl/serving.h"
#include "pdlabi/abi.h"
#include "pdlabi/hash.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/UnknownIds.h"
#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Serving/Scorer.h"
#include "pdlrt/Serving/ServedState.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Connects to servers: sets `rows`, or `status` on failure; then
/// `isUnavailable` is true if servers did not respond. Null unless the library
/// was linked with `--undefined=pdlrt_connect_rows`, because this function is
/// in the same object as ServerRows. Throws std::bad_alloc.
extern "C" [[gnu::weak]] void
pdlrt_connect_rows(const pdl_descriptor *descriptor,
                   const ConnectOptions *options,
                   std::shared_ptr<const RemoteRows> *rows, bool *isUnavailable,
                   Status *status);

struct pdl_serving_model {
  pdl_serving_model(const pdl_descriptor &descriptor,
                    std::shared_ptr<const ServedState> state,
                    bool acceptOldLayout)
      : descriptor(descriptor), acceptOldLayout(acceptOldLayout),
        current(std::move(state)), idle(descriptor.program_count) {}

  /// Objects that one call uses: a scorer, and the state that was current when
  /// the call started.
  struct Lease {
    std::shared_ptr<const ServedState> state;
    std::unique_ptr<Scorer> scorer;
  };

  Lease take(int32_t program) {
    Lease lease;
    {
      const MutexLock lock(mutex);
      lease.state = current;
      if (std::vector<std::unique_ptr<Scorer>> &waiting = idle[program];
          !waiting.empty()) {
        lease.scorer = std::move(waiting.back());
        waiting.pop_back();
      }
    }
    if (!lease.scorer)
      lease.scorer =
          std::make_unique<Scorer>(descriptor, descriptor.programs[program]);
    return lease;
  }
  /// Returns a scorer after a successful call. `ids`: the counts of the call.
  void giveBack(int32_t program, Lease lease, Scorer::IdCounts ids) {
    const MutexLock lock(mutex);
    idCounts.all += ids.all;
    idCounts.unknown += ids.unknown;
    idle[program].push_back(std::move(lease.scorer));
  }

  std::shared_ptr<const ServedState> state() {
    const MutexLock lock(mutex);
    return current;
  }
  void replace(std::shared_ptr<const ServedState> state) {
    // The last user frees the old state, outside of the lock.
    const MutexLock lock(mutex);
    std::swap(current, state);
    ++version;
  }

  const pdl_descriptor &descriptor;
  const bool acceptOldLayout;
  Mutex mutex;
  std::shared_ptr<const ServedState> current PDLRT_GUARDED_BY(mutex);
  int64_t version PDLRT_GUARDED_BY(mutex) = 1;
  Scorer::IdCounts idCounts PDLRT_GUARDED_BY(mutex);
  /// Indexed by program.
  std::vector<std::vector<std::unique_ptr<Scorer>>>
      idle PDLRT_GUARDED_BY(mutex);
};

namespace {

/// Description of the library, created at the first request.
class Description {
public:
  explicit Description(const pdl_descriptor &descriptor) {
    inputs.resize(descriptor.program_count);
    outputs.resize(descriptor.program_count);
    for (int32_t p = 0; p < descriptor.program_count; ++p) {
      const pdl_program &program = descriptor.programs[p];
      for (int32_t i = 0; i < program.field_count; ++i) {
        const pdl_field &field = descriptor.fields[program.fields[i]];
        inputs[p].push_back({field.name, field.kind, field.element_type,
                             field.width,
                             int32_t(field.element_type == PDL_I64)});
      }
      for (int32_t i = 0; i < program.output_count; ++i) {
        const pdl_output &output = program.outputs[i];
        outputs[p].push_back({output.name, PDL_SERVING_DENSE,
                              output.element_type, output.width, 0});
      }
      programs.push_back({program.name, program.field_count, inputs[p].data(),
                          program.output_count, outputs[p].data()});
    }
    all = {sizeof(all),
           descriptor.model_name,
           descriptor.compiler_version,
           descriptor.target_cpu,
           descriptor.numerics == PDL_NUMERICS_STRICT ? "strict" : "fast",
           descriptor.program_count,
           programs.data()};
  }

  const pdl_serving_description &get() const { return all; }

private:
  std::vector<std::vector<pdl_serving_tensor>> inputs, outputs;
  std::vector<pdl_serving_program> programs;
  pdl_serving_description all = {};
};

} // namespace

/// Returns PDL_SERVING_UNAVAILABLE if a call failed because servers did not
/// respond. Otherwise returns `code`.
static int32_t codeOf(int32_t code, bool isUnavailable) {
  return code != PDL_OK && isUnavailable ? PDL_SERVING_UNAVAILABLE : code;
}

/// Stores the error message for the calling thread. Returns a code that hosts
/// of all versions know. For a host of an earlier version, PDL_INVALID_ARGUMENT
/// means any failure that the caller can mend, and each code that is not
/// returned here means that the library is broken.
static int32_t reportToHost(const Status &status) {
  switch (status.code()) {
  case PDL_OK:
    return PDL_OK;
  case PDL_OUT_OF_MEMORY:
  case PDL_INTERNAL:
    return status.report();
  default:
    return pdlrt_set_error(PDL_INVALID_ARGUMENT, status.message().c_str());
  }
}

/// Runs `body`, which returns a Status. Converts exceptions into error codes.
template <typename Body> static int32_t guarded(Body &&body) {
  try {
    return reportToHost(body());
  } catch (const std::bad_alloc &) {
    return pdlrt_set_error(PDL_OUT_OF_MEMORY,
                           "out of memory; use smaller batches (or, of a model "
                           "that asks servers, a smaller cache), or a machine "
                           "with more memory");
  } catch (const std::exception &error) {
    return pdlrt_set_error(PDL_INTERNAL, error.what());
  }
}

/// Returns the descriptor of the library's program. Its version is compatible,
/// because `pdl_serving_query` has checked it before it returned any function.
static const pdl_descriptor &descriptorOfLibrary() {
  return *pdl_program_query(PDL_ABI_VERSION);
}

static Status requireModel(const pdl_serving_model *model) {
  return model ? Status()
               : Status::invalidArgument("the model is null; open one");
}

/// Returns an error if the library cannot use a type of weights.
static Status checkWeights(const pdl_descriptor &descriptor, int64_t weights) {
  if (weights != PDL_SERVING_WEIGHTS_COMPILED &&
      weights != PDL_SERVING_WEIGHTS_INT8)
    return Status::invalidArgument(
        fmt::format("there are no weights of type {}; use a value of "
                    "pdl_serving_weights",
                    weights));
  if (weights == PDL_SERVING_WEIGHTS_INT8 &&
      descriptor.numerics == PDL_NUMERICS_STRICT)
    return Status::failedPrecondition(
        "weights in int8 would change the results of numerics strict; "
        "translate the model with --numerics=fast, or open it without int8");
  return {};
}

static pdl_serving_model *openValues(const pdl_serving_values *values) {
  pdl_serving_model *model = nullptr;
  (void)guarded([&]() -> Status {
    // The first version of this struct ends before `weights`.
    constexpr size_t first = offsetof(pdl_serving_values, weights);
    if (!values || values->struct_size < first)
      return Status::invalidArgument(
          "struct_size of the values is not that of "
          "pdl_serving_values; set it before the call");
    if (!values->path)
      return Status::invalidArgument("the path of the model is null");
    const pdl_descriptor &descriptor = descriptorOfLibrary();
    const bool acceptOldLayout = values->accept_old_layout != 0;
    const int64_t weights = values->struct_size >= sizeof(pdl_serving_values)
                                ? values->weights
                                : PDL_SERVING_WEIGHTS_COMPILED;
    PDLRT_RETURN_IF_ERROR(checkWeights(descriptor, weights));
    auto state = ServedState::load(descriptor, values->path, acceptOldLayout);
    if (!state)
      return std::move(state).status();
    if (weights == PDL_SERVING_WEIGHTS_INT8)
      (*state)->factors().useInt8();
    model =
        new pdl_serving_model(descriptor, *std::move(state), acceptOldLayout);
    return {};
  });
  return model;
}

static pdl_serving_model *openModel(const char *path) {
  const pdl_serving_values values = {sizeof(values), path, 0,
                                     PDL_SERVING_WEIGHTS_COMPILED};
  return openValues(&values);
}

static const char *uncheckedOf(pdl_serving_model *model) {
  thread_local std::string text;
  const char *found = nullptr;
  (void)guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    text = model->state()->unchecked();
    found = text.c_str();
    return {};
  });
  return found;
}

static int32_t weightsOf(pdl_serving_model *model) {
  int32_t weights = -1;
  (void)guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    weights = model->state()->factors().usesInt8()
                  ? PDL_SERVING_WEIGHTS_INT8
                  : PDL_SERVING_WEIGHTS_COMPILED;
    return {};
  });
  return weights;
}

static void closeModel(pdl_serving_model *model) { delete model; }

/// Merges the levels of changes in the current state, so that lookups become
/// faster. Calls use the changes already before. Does nothing if memory is
/// exhausted, or if `loaded` is no longer the current state.
static void joinLevels(pdl_serving_model &model,
                       const std::shared_ptr<const ServedState> &loaded) {
  std::shared_ptr<const ServedState> joined;
  try {
    joined = loaded->joined();
  } catch (const std::bad_alloc &) {
    return;
  }
  const MutexLock lock(model.mutex);
  if (joined && model.current == loaded)
    std::swap(model.current, joined);
}

static int32_t reloadModel(pdl_serving_model *model, const char *path) {
  return guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    if (!path)
      return Status::invalidArgument("the path of the model is null");
    const std::shared_ptr<const ServedState> before = model->state();
    bool isUnavailable = false;
    auto state = before->remoteRows()
                     ? ServedState::ofServers(
                           model->descriptor, before->remoteRows(), path,
                           before.get(), isUnavailable, model->acceptOldLayout)
                     : ServedState::loadAfter(model->descriptor, path, *before,
                                              model->acceptOldLayout);
    if (!state)
      return std::move(state).status();
    const std::shared_ptr<const ServedState> loaded = *std::move(state);
    model->replace(loaded);
    joinLevels(*model, loaded);
    return {};
  });
}

static int32_t stateOf(pdl_serving_model *model, pdl_serving_state *state) {
  return guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    if (!state || state->struct_size < sizeof(pdl_serving_state))
      return Status::invalidArgument(
          "struct_size of the state is not that of "
          "pdl_serving_state; set it before the call");
    std::shared_ptr<const ServedState> current;
    {
      const MutexLock lock(model->mutex);
      current = model->current;
      state->version = model->version;
    }
    state->steps = current->steps();
    state->rows = current->rows();
    state->bytes = int64_t(current->memoryBytes());
    return {};
  });
}

static const pdl_serving_description *describeLibrary() {
  const pdl_serving_description *found = nullptr;
  (void)guarded([&]() -> Status {
    // Constant, because it depends only on the program's descriptor.
    static const Description description(descriptorOfLibrary());
    found = &description.get();
    return {};
  });
  return found;
}

static int32_t findProgramOf(const char *name) {
  int32_t found = -1;
  (void)guarded([&]() -> Status {
    const pdl_descriptor &descriptor = descriptorOfLibrary();
    std::string known;
    for (int32_t p = 0; p < descriptor.program_count; ++p) {
      if (name && descriptor.programs[p].name == std::string(name)) {
        found = p;
        return {};
      }
      known += (p ? ", @" : "@") + std::string(descriptor.programs[p].name);
    }
    return Status::invalidArgument(std::string("the library has no program @") +
                                   (name ? name : "(null)") + ", only " +
                                   known);
  });
  return found;
}

static int32_t runKeys(pdl_serving_model *model, int32_t program, int64_t batch,
                       const pdl_serving_input *inputs, const int32_t *areKeys,
                       void *const *outputs) {
  bool isUnavailable = false;
  const int32_t code = guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    if (program < 0 || program >= model->descriptor.program_count)
      return Status::invalidArgument("there is no program " +
                                     std::to_string(program) +
                                     "; find_program gives the number of one");
    if (!outputs ||
        (!inputs && model->descriptor.programs[program].field_count))
      return Status::invalidArgument("inputs or outputs are null");
    pdl_serving_model::Lease lease = model->take(program);
    Status status =
        lease.scorer->run(*lease.state, batch, inputs, outputs, areKeys);
    isUnavailable = lease.scorer->serverWasUnavailable();
    const Scorer::IdCounts ids = lease.scorer->takeIdCounts();
    model->giveBack(program, std::move(lease),
                    status.ok() ? ids : Scorer::IdCounts());
    return status;
  });
  return codeOf(code, isUnavailable);
}

static int32_t runProgram(pdl_serving_model *model, int32_t program,
                          int64_t batch, const pdl_serving_input *inputs,
                          void *const *outputs) {
  return runKeys(model, program, batch, inputs, nullptr, outputs);
}

static int32_t describeInput(int32_t program, int32_t input,
                             pdl_serving_input_rules *rules) {
  return guarded([&]() -> Status {
    const pdl_descriptor &descriptor = descriptorOfLibrary();
    if (!rules || rules->struct_size < sizeof(pdl_serving_input_rules))
      return Status::invalidArgument(
          "struct_size of the rules is not that of "
          "pdl_serving_input_rules; set it before the call");
    if (program < 0 || program >= descriptor.program_count || input < 0 ||
        input >= descriptor.programs[program].field_count)
      return Status::invalidArgument("there is no input " +
                                     std::to_string(input) + " of a program " +
                                     std::to_string(program));
    const pdl_field &field =
        descriptor.fields[descriptor.programs[program].fields[input]];
    rules->missing =
        field.missing_kind == PDL_MISSING_VALUE   ? PDL_SERVING_MISSING_NUMBER
        : field.missing_kind == PDL_MISSING_TOKEN ? PDL_SERVING_MISSING_TEXT
        : field.missing_kind == PDL_MISSING_EMPTY ? PDL_SERVING_EMPTY_BAG
                                                  : PDL_SERVING_REQUIRED;
    rules->missing_number = field.missing_value;
    rules->missing_text =
        field.missing_kind == PDL_MISSING_TOKEN ? field.missing_token : "";
    rules->hashes_texts =
        field.element_type == PDL_I64 && field.hash_kind != PDL_HASH_NONE;
    rules->salts_by_slot =
        rules->hashes_texts && field.salt_kind == PDL_SALT_SLOT;
    rules->salt = rules->salts_by_slot ? 0 : field.salt;
    return {};
  });
}

static int64_t keyOf(const char *text, int64_t size, uint64_t salt) {
  return int64_t(
      pdlabi::hashText(trim(std::string_view(text, size_t(size))), salt));
}

static const char *warningOf(pdl_serving_model *model) {
  thread_local std::string text;
  const char *found = nullptr;
  (void)guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    Scorer::IdCounts ids;
    {
      const MutexLock lock(model->mutex);
      ids = model->idCounts;
    }
    text = areTooManyUnknown(ids.all, ids.unknown)
               ? sayUnknown(ids.all, ids.unknown)
               : "";
    found = text.c_str();
    return {};
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Models with remote rows
//===----------------------------------------------------------------------===//

static Expected<ConnectOptions>
optionsOf(const pdl_serving_connection *connection) {
  // The caller may have been compiled with an older, shorter struct.
  constexpr size_t first = offsetof(pdl_serving_connection, accept_old_layout);
  if (!connection || connection->struct_size < first)
    return Status::invalidArgument(
        "struct_size of the connection is not that of "
        "pdl_serving_connection; set it before the call");
  ConnectOptions options;
  const std::string servers = connection->servers ? connection->servers : "";
  for (size_t begin = 0; begin <= servers.size();) {
    const size_t end = std::min(servers.find(',', begin), servers.size());
    options.servers.push_back(servers.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr size_t maxServers = 65536;
  if (servers.empty() || options.servers.size() > maxServers)
    return Status::invalidArgument(
        "a connection needs the addresses of 1 to 65536 "
        "servers, with commas between");
  constexpr int64_t maxMillis = int64_t(1) << 40;
  if (connection->cache_bytes < 0 || connection->row_age_ms < 0 ||
      connection->timeout_ms < 0 || connection->row_age_ms > maxMillis ||
      connection->timeout_ms > maxMillis)
    return Status::invalidArgument(
        "cache_bytes, row_age_ms and timeout_ms of a "
        "connection are not below zero, and times less "
        "than 2^40 ms");
  options.token = connection->token ? connection->token : "";
  options.cacheBytes = size_t(connection->cache_bytes);
  options.rowAgeMillis = connection->row_age_ms;
  if (connection->timeout_ms)
    options.timeoutMillis = connection->timeout_ms;
  return options;
}

static pdl_serving_model *
connectModel(const pdl_serving_connection *connection) {
  pdl_serving_model *model = nullptr;
  (void)guarded([&]() -> Status {
    const Expected<ConnectOptions> options = optionsOf(connection);
    if (!options)
      return options.status();
    if (!pdlrt_connect_rows)
      return Status::failedPrecondition(
          "this library was made without servers; translate "
          "the model with --emit=library --servers");
    const pdl_descriptor &descriptor = descriptorOfLibrary();
    const int64_t weights =
        connection->struct_size >= sizeof(pdl_serving_connection)
            ? connection->weights
            : PDL_SERVING_WEIGHTS_COMPILED;
    PDLRT_RETURN_IF_ERROR(checkWeights(descriptor, weights));
    std::shared_ptr<const RemoteRows> rows;
    bool isUnavailable = false;
    Status status;
    pdlrt_connect_rows(&descriptor, &*options, &rows, &isUnavailable, &status);
    PDLRT_RETURN_IF_ERROR(std::move(status));
    const bool acceptOldLayout =
        connection->struct_size >= offsetof(pdl_serving_connection, weights) &&
        connection->accept_old_layout != 0;
    auto state = ServedState::ofServers(
        descriptor, std::move(rows),
        connection->parameters ? connection->parameters : "", nullptr,
        isUnavailable, acceptOldLayout);
    if (!state)
      return std::move(state).status();
    if (weights == PDL_SERVING_WEIGHTS_INT8)
      (*state)->factors().useInt8();
    model =
        new pdl_serving_model(descriptor, *std::move(state), acceptOldLayout);
    return {};
  });
  return model;
}

static int32_t refreshModel(pdl_serving_model *model) {
  bool isUnavailable = false;
  const int32_t code = guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    const std::shared_ptr<const ServedState> before = model->state();
    if (!before->remoteRows())
      return Status::failedPrecondition(
          "the model is not connected to servers; reload "
          "the path of other values");
    auto state = ServedState::ofServers(model->descriptor, before->remoteRows(),
                                        "", before.get(), isUnavailable);
    if (!state)
      return std::move(state).status();
    model->replace(*std::move(state));
    return {};
  });
  return codeOf(code, isUnavailable);
}

static int32_t rowCountsOf(pdl_serving_model *model,
                           pdl_serving_row_counts *counts) {
  return guarded([&]() -> Status {
    PDLRT_RETURN_IF_ERROR(requireModel(model));
    // The caller may have been compiled with an older, shorter struct.
    constexpr size_t first = offsetof(pdl_serving_row_counts, ids);
    if (!counts || counts->struct_size < first)
      return Status::invalidArgument(
          "struct_size of the counts is not that of "
          "pdl_serving_row_counts; set it before the call");
    std::shared_ptr<const RemoteRows> rows;
    Scorer::IdCounts ids;
    {
      const MutexLock lock(model->mutex);
      rows = model->current->remoteRows();
      ids = model->idCounts;
    }
    const RowCounts found = rows ? rows->counts() : RowCounts();
    counts->hits = found.hits;
    counts->misses = found.misses;
    counts->requests = found.requests;
    if (counts->struct_size >= sizeof(pdl_serving_row_counts)) {
      counts->ids = ids.all;
      counts->unknown_ids = ids.unknown;
    }
    return {};
  });
}

/// Entry point for programs that load the library at run time. Programs that
/// link the library use the second exported function, which returns the same.
extern "C" __attribute__((visibility("default"))) const pdl_serving *
pdl_serving_query(uint32_t version) {
  static const pdl_serving functions = {sizeof(pdl_serving),
                                        PDL_SERVING_VERSION,
                                        pdlrt_last_error,
                                        openModel,
                                        closeModel,
                                        reloadModel,
                                        stateOf,
                                        describeLibrary,
                                        findProgramOf,
                                        runProgram,
                                        connectModel,
                                        refreshModel,
                                        rowCountsOf,
                                        openValues,
                                        uncheckedOf,
                                        describeInput,
                                        runKeys,
                                        keyOf,
                                        warningOf,
                                        weightsOf};
  if (version != PDL_SERVING_VERSION) {
    pdlrt_set_error(PDL_INVALID_ARGUMENT,
                    "the library offers version 1 of pdl/serving.h; translate "
                    "the model again, or compile the caller with the header "
                    "next to the library");
    return nullptr;
  }
  char missing[512];
  const pdl_descriptor *descriptor = pdl_program_query(PDL_ABI_VERSION);
  describeMissingCpuFeatures(readCpuFacts(), descriptor, missing,
                             sizeof(missing));
  if (missing[0]) {
    pdlrt_set_error(PDL_INVALID_ARGUMENT, missing);
    return nullptr;
  }
  if (checkDescriptor(descriptor).report() != PDL_OK)
    return nullptr;
  openFastGemm();
  return &functions;
}

/// Entry point for programs that link the library. Each library exports this
/// function under the name of its model.
extern "C" const pdl_serving *pdl_serving_latest(void) {
  return pdl_serving_query(PDL_SERVING_VERSION);
}
