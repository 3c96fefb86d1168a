//===- Descriptor.cpp - Checks and reads descriptors ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Descriptor.h"

#include "pdlabi/abi.h"
#include "pdlrt/Abi/AffineSize.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Gemm/Compute.h"

#include "pdlabi/hash.h"
#include "pdlabi/metrics.h"
#include "pdlabi/norm.h"
#include "pdlabi/products.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <string>

using namespace pdlrt;

namespace {

/// Collects the first error. Later checks are skipped.
class Checker {
public:
  explicit Checker(const pdl_descriptor &descriptor) : descriptor(descriptor) {}

  Status run();

private:
  bool require(bool condition, const std::string &what) {
    if (!condition && result.ok())
      result = Status::internal(
          "the compiled program's description is damaged (" + what +
          "); translate the model again with the pdl-translate that belongs to "
          "this runtime");
    return result.ok();
  }
  bool requireIndex(int64_t index, int64_t count, const std::string &what,
                    bool mayBeNone = false) {
    return require((mayBeNone && index == -1) || (index >= 0 && index < count),
                   what + " is index " + std::to_string(index) + " of " +
                       std::to_string(count));
  }
  template <typename T>
  bool requireArray(int64_t count, const T *array, const std::string &what) {
    return require(count >= 0 && (count == 0 || array),
                   what + " has no array or a negative count");
  }
  bool requireText(const char *text, const std::string &what) {
    return require(text, what + " is missing");
  }

  void checkField(const pdl_field &field);
  void checkSymbol(const pdl_symbol &symbol);
  void checkLife(const pdl_symbol &symbol, const std::string &what);
  void checkUnits(const pdl_symbol &symbol, const std::string &what);
  void checkChannel(const pdl_channel &channel, const std::string &what);
  void checkDeviceKernel(const pdl_device_kernel &kernel);
  void checkGroup(const pdl_group &group);
  void checkMetric(const pdl_metric &metric);
  void checkProgram(const pdl_program &program);
  void checkIdRange(const pdl_program &program, const pdl_id_range &range,
                    const std::string &what);

  /// Returns false if the mode is invalid.
  bool hasServers() const {
    const Mode *mode = findMode(descriptor.mode);
    return mode && mode->hasServers;
  }
  bool trainersApply() const {
    const Mode *mode = findMode(descriptor.mode);
    return mode && mode->trainersApply;
  }
  bool pushesAreSteps() const {
    const Mode *mode = findMode(descriptor.mode);
    return mode && mode->pushesAreSteps();
  }

  const pdl_descriptor &descriptor;
  Status result;
};

} // namespace

void Checker::checkField(const pdl_field &field) {
  if (!require(field.struct_size == sizeof(pdl_field), "size of a field") ||
      !requireText(field.name, "a field's name"))
    return;
  std::string what = std::string("field ") + field.name;
  require(field.kind >= PDL_FIELD_DENSE && field.kind <= PDL_FIELD_RAGGED,
          what + ": kind");
  const bool isFloat =
      field.element_type == PDL_F32 || field.element_type == PDL_F64;
  require(isFloat
              ? field.kind != PDL_FIELD_IDS
              : field.element_type == PDL_I64 && field.kind != PDL_FIELD_DENSE,
          what + ": element type");
  require(field.width > 0, what + ": width");
  require(field.column_count == 0 || field.column_count == field.width,
          what + ": column count");
  // The compiler's limit: positions of later fields are counted from these.
  for (int64_t slot = 0;
       result.ok() && field.column_positions && slot < field.column_count;
       ++slot)
    require(field.column_positions[slot] >= 0 &&
                field.column_positions[slot] < int64_t(1) << 31,
            what + ": column positions");
  require(field.missing_kind != PDL_MISSING_TOKEN || field.missing_token,
          what + ": missing token");
  require(field.missing_element_kind != PDL_MISSING_TOKEN ||
              field.missing_element_token,
          what + ": token of a missing element");
  require(field.missing_element_kind == PDL_MISSING_ERROR ||
              (field.kind == PDL_FIELD_RAGGED &&
               field.missing_element_kind ==
                   (isFloat ? PDL_MISSING_VALUE : PDL_MISSING_TOKEN)),
          what + ": kind of a missing element");
  requireArray(field.missing_text_count, field.missing_texts,
               what + ": texts of missing values");
  require(field.value_count == 0 || (field.value_texts && field.value_numbers),
          what + ": value texts");
}

void Checker::checkSymbol(const pdl_symbol &symbol) {
  if (!require(symbol.struct_size == sizeof(pdl_symbol), "size of a symbol") ||
      !requireText(symbol.name, "a symbol's name"))
    return;
  std::string what = std::string("symbol @") + symbol.name;
  require(symbol.kind == PDL_SYMBOL_PARAMETER ||
              symbol.kind == PDL_SYMBOL_TABLE,
          what + ": kind");
  require(symbol.element_type == PDL_F32 || symbol.element_type == PDL_F64,
          what + ": element type");
  require(symbol.storage == PDL_STORE_ELEMENT ||
              ((symbol.storage == PDL_STORE_BF16 ||
                symbol.storage == PDL_STORE_F16) &&
               symbol.kind == PDL_SYMBOL_TABLE &&
               symbol.element_type == PDL_F32),
          what + ": how its values are stored");
  require(symbol.initializer.kind >= PDL_INIT_CONSTANT &&
              symbol.initializer.kind <= PDL_INIT_TRUNCATED_NORMAL,
          what + ": initial value");
  if (!requireArray(symbol.rank, symbol.shape, what + ": shape") ||
      !requireArray(symbol.slot_count, symbol.slot_names, what + ": slots") ||
      !requireArray(symbol.slot_count, symbol.slot_initial_values,
                    what + ": slot values"))
    return;
  require(symbol.row_slot_count >= 0 &&
              symbol.row_slot_count <= symbol.slot_count,
          what + ": row slots");
  require(symbol.frozen_part >= 0 &&
              symbol.frozen_part <= symbol.slot_count - symbol.row_slot_count,
          what + ": what frozen programs read");
  require(symbol.kernel_unit >= PDL_UNIT_ELEMENT &&
              symbol.kernel_unit <= PDL_UNIT_PARAMETER &&
              (symbol.kind != PDL_SYMBOL_PARAMETER ||
               symbol.row_slot_count == 0 ||
               symbol.kernel_unit == PDL_UNIT_ROW) &&
              (symbol.kernel_unit != PDL_UNIT_PARAMETER ||
               (symbol.kind == PDL_SYMBOL_PARAMETER && symbol.unit_count <= 1)),
          what + ": unit of the kernel");
  int64_t elements = 1;
  for (int32_t i = 0; i < symbol.rank; ++i) {
    require(symbol.shape[i] > 0, what + ": shape");
    elements *= symbol.shape[i];
  }
  require(symbol.row_width > 0, what + ": row width");
  require(symbol.kind == PDL_SYMBOL_TABLE
              ? symbol.gradient_width >= symbol.row_width
              : symbol.gradient_width == symbol.row_width,
          what + ": width of its gradient");
  if (symbol.kind == PDL_SYMBOL_PARAMETER)
    require(symbol.row_count > 0 &&
                symbol.row_count * symbol.row_width == elements,
            what + ": rows times row width");
  else
    require(symbol.row_width == elements, what + ": row width");
  checkUnits(symbol, what);
  checkLife(symbol, what);
  requireIndex(symbol.group, descriptor.group_count, what + ": group", true);
  if (symbol.group >= 0 && result.ok()) {
    const bool isParameter = symbol.kind == PDL_SYMBOL_PARAMETER;
    const bool isLate = isParameter ? symbol.late_dense_kernel != nullptr
                                    : symbol.late_row_kernel != nullptr;
    require(isLate != (isParameter ? symbol.dense_kernel != nullptr
                                   : symbol.row_kernel != nullptr),
            what + ": apply kernel");
    require(!isLate ||
                (pushesAreSteps() && descriptor.role == PDL_ROLE_PSERVER &&
                 symbol.storage == PDL_STORE_ELEMENT &&
                 (isParameter || descriptor.groups[symbol.group].untouched ==
                                     PDL_UNTOUCHED_LAZY)),
            what + ": apply kernel of late gradients");
    requireIndex(symbol.device_kernel, descriptor.device_kernel_count,
                 what + ": apply kernel of a device", true);
    require(
        symbol.device_kernel < 0 ||
            (!isLate && symbol.kernel_unit != PDL_UNIT_PARAMETER &&
             descriptor.device_kernels[symbol.device_kernel].argument_count ==
                 (isParameter ? symbol.slot_count : 0) + 5),
        what + ": arguments of its apply kernel of a device");
    require(descriptor.groups[symbol.group].element_type == symbol.element_type,
            what + ": element type of its group");
    require(descriptor.groups[symbol.group].merge == PDL_MERGE_MEAN ||
                descriptor.groups[symbol.group].merge == PDL_MERGE_SUM,
            what + ": how its group merges steps");
  }
}

void Checker::checkLife(const pdl_symbol &symbol, const std::string &what) {
  const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
  // These limits follow from the number of bits in the record of a key that
  // awaits admission (pdlrt/Table/WaitingKey.h).
  constexpr int64_t maxCount = (1 << 14) - 1, maxPeriods = 1 << 14;
  bool isGood = true;
  switch (symbol.admission) {
  case PDL_ADMIT_ALL:
    break;
  case PDL_ADMIT_COUNT:
    isGood = isTable && symbol.admission_count >= 1 &&
             symbol.admission_count <= maxCount &&
             (symbol.group < 0 || symbol.gradient_width > symbol.row_width);
    break;
  case PDL_ADMIT_PROBABILITY:
    isGood = isTable && symbol.admission_probability > 0 &&
             symbol.admission_probability <= 1;
    break;
  case PDL_ADMIT_SCORE:
    isGood = isTable && symbol.admission_score > 0 &&
             std::isfinite(symbol.admission_score) &&
             (symbol.group < 0 || (symbol.admission_weights &&
                                   symbol.gradient_width > symbol.row_width));
    break;
  default:
    isGood = false;
  }
  require(isGood, what + ": when its keys get rows");
  require(symbol.shrink_every == 0 ||
              (isTable && symbol.shrink_every > 0 &&
               symbol.shrink_unseen >= 1 &&
               symbol.shrink_unseen <= maxPeriods &&
               (symbol.group < 0 || symbol.row_slot_count > 0) &&
               (!symbol.score_weights ||
                (symbol.shrink_decay > 0 && symbol.shrink_decay <= 1 &&
                 !std::isnan(symbol.shrink_least)))),
          what + ": when its rows go");
}

void Checker::checkUnits(const pdl_symbol &symbol, const std::string &what) {
  if (!hasServers()) {
    require(symbol.unit_count == 0, what + ": units without servers");
    return;
  }
  if (!require(symbol.unit_count > 0 && symbol.unit_costs, what + ": units"))
    return;
  if (symbol.kind == PDL_SYMBOL_TABLE) {
    require(symbol.unit_count == pdlabi::logicalShardCount &&
                !symbol.block_rows,
            what + ": shards");
    return;
  }
  if (!require(symbol.block_rows, what + ": blocks"))
    return;
  const int64_t *rows = symbol.block_rows;
  require(rows[0] == 0 && rows[symbol.unit_count] == symbol.row_count,
          what + ": blocks do not cover its rows");
  for (int64_t i = 0; i < symbol.unit_count; ++i)
    require(rows[i] < rows[i + 1] && rows[i] % pdlabi::rowsInNormUnit == 0,
            what + ": block " + std::to_string(i));
}

void Checker::checkGroup(const pdl_group &group) {
  if (!require(group.struct_size == sizeof(pdl_group), "size of a group") ||
      !requireText(group.name, "a group's name"))
    return;
  std::string what = std::string("group @") + group.name;
  requireIndex(group.clip, descriptor.clip_count, what + ": clip", true);
  require(group.element_type == PDL_F32 || group.element_type == PDL_F64,
          what + ": element type");
  if (requireArray(group.scalar_count, group.scalars, what + ": scalars"))
    for (int32_t i = 0; i < group.scalar_count; ++i)
      requireText(group.scalars[i].name, what + ": a scalar's name");
  require(group.once, what + ": once function");
}

void Checker::checkMetric(const pdl_metric &metric) {
  if (!require(metric.struct_size == sizeof(pdl_metric), "size of a metric") ||
      !requireText(metric.name, "a metric's name"))
    return;
  std::string what = std::string("metric @") + metric.name;
  require(pdlabi::isMetric(metric.kind, metric.parameter),
          what + ": kind or parameter");
}

void Checker::checkIdRange(const pdl_program &program,
                           const pdl_id_range &range, const std::string &what) {
  if (!requireIndex(range.field, program.field_count, what + ": field") ||
      !requireIndex(program.fields[range.field], descriptor.field_count,
                    what + ": field"))
    return;
  const pdl_field &field = descriptor.fields[program.fields[range.field]];
  require(field.kind == PDL_FIELD_IDS && range.first_column >= 0 &&
              range.column_count >= 1 &&
              range.column_count <= field.width - range.first_column,
          what + ": columns");
  require(range.first < range.end, what + ": ids");
}

void Checker::checkProgram(const pdl_program &program) {
  if (!require(program.struct_size == sizeof(pdl_program),
               "size of a program") ||
      !requireText(program.name, "a program's name"))
    return;
  std::string what = std::string("program @") + program.name;
  if (!requireArray(program.field_count, program.fields, what + ": fields") ||
      !requireArray(program.lookup_count, program.lookups,
                    what + ": lookups") ||
      !requireArray(program.update_count, program.updates,
                    what + ": updates") ||
      !requireArray(program.output_count, program.outputs, what + ": outputs"))
    return;
  for (int32_t i = 0; i < program.field_count; ++i)
    requireIndex(program.fields[i], descriptor.field_count, what + ": field");
  if (requireArray(program.joined_count, program.joined,
                   what + ": joined fields"))
    for (int32_t i = 0; i < 2 * program.joined_count; ++i)
      requireIndex(program.joined[i], program.field_count,
                   what + ": joined field");
  if (requireArray(program.id_range_count, program.id_ranges,
                   what + ": ranges of ids"))
    for (int32_t i = 0; i < program.id_range_count; ++i)
      checkIdRange(program, program.id_ranges[i], what + ": range of ids");
  for (int32_t i = 0; i < program.lookup_count; ++i) {
    int32_t symbol = program.lookups[i].symbol;
    if (requireIndex(symbol, descriptor.symbol_count, what + ": lookup"))
      require(descriptor.symbols[symbol].kind == PDL_SYMBOL_TABLE,
              what + ": a lookup names no table");
  }
  require(!program.frozen || program.update_count == 0,
          what + ": it is frozen, but updates");
  require(program.objective_count >= 0, what + ": number of objectives");
  require(program.update_count == 0 || program.objective_count > 0,
          what + ": it updates without a loss");
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_update_descriptor &update = program.updates[i];
    if (!requireIndex(update.symbol, descriptor.symbol_count,
                      what + ": update"))
      return;
    const pdl_symbol &symbol = descriptor.symbols[update.symbol];
    require(symbol.group >= 0 || descriptor.role == PDL_ROLE_TRAINER,
            what + ": updates a symbol without a group");
    requireIndex(update.objective, program.objective_count,
                 what + ": objective of an update");
    for (int32_t j = 0; j < i && symbol.group >= 0; ++j) {
      const pdl_update_descriptor &other = program.updates[j];
      require(descriptor.symbols[other.symbol].group != symbol.group ||
                  other.objective == update.objective,
              what + ": updates of one group have several objectives");
    }
    for (int32_t j = 0; j < i; ++j)
      require(program.updates[j].symbol != update.symbol,
              what + ": updates a symbol twice");
    if (symbol.kind == PDL_SYMBOL_TABLE &&
        requireIndex(update.lookup, program.lookup_count,
                     what + ": lookup of an update"))
      require(program.lookups[update.lookup].symbol == update.symbol,
              what + ": an update and its lookup name different tables");
  }
  for (int32_t i = 0; i < program.output_count; ++i) {
    const pdl_output &output = program.outputs[i];
    requireText(output.name, what + ": an output's name");
    require(output.width > 0, what + ": width of an output");
    require(output.element_type >= PDL_F32 && output.element_type <= PDL_I64,
            what + ": element type of an output");
  }
  for (int32_t i = 0; i < program.lookup_count; ++i)
    require((!program.prepare_arena.per_key ||
             program.prepare_arena.per_key[i] == 0) &&
                (!program.prepare_arena.per_occurrence ||
                 program.prepare_arena.per_occurrence[i] == 0),
            what + ": the prepare arena depends on lookups");
  for (const pdl_affine_size &size :
       {program.prepare_arena, program.compute_arena})
    require(isValid(size, program.field_count, program.lookup_count),
            what + ": size of an arena");
  const bool hasStages = descriptor.role != PDL_ROLE_PSERVER;
  require((program.prepare != nullptr) == hasStages &&
              (program.compute != nullptr) == hasStages,
          what + ": stages");
  if (!requireArray(program.channel_count, program.channels,
                    what + ": channels"))
    return;
  require(program.channel_count == 0 || hasServers(),
          what + ": channels without servers");
  for (int32_t i = 0; i < program.channel_count; ++i)
    checkChannel(program.channels[i], what + ": channel " + std::to_string(i));
  const auto losses = std::count_if(
      program.channels, program.channels + program.channel_count,
      [](const pdl_channel &each) { return each.kind == PDL_CHANNEL_LOSS; });
  require(program.channel_count == 0 || program.update_count == 0 ||
              trainersApply() || losses == program.objective_count,
          what + ": channels of losses");
}

void Checker::checkDeviceKernel(const pdl_device_kernel &kernel) {
  if (!requireText(kernel.name, "a kernel's name"))
    return;
  const std::string what = std::string("kernel ") + kernel.name;
  requireArray(kernel.argument_count, kernel.arguments, what + ": arguments");
  for (int32_t i = 0; i < kernel.argument_count && result.ok(); ++i)
    require(kernel.arguments[i] >= PDL_DEVICE_NUMBER &&
                kernel.arguments[i] <= PDL_DEVICE_WRITTEN,
            what + ": an argument");
  require(kernel.run != nullptr, what + ": its code for the host");
}

void Checker::checkChannel(const pdl_channel &channel,
                           const std::string &what) {
  if (!require(channel.kind >= PDL_CHANNEL_VALUE &&
                   channel.kind <= PDL_CHANNEL_CHANGED_KEYS,
               what + ": kind"))
    return;
  if (channel.kind != PDL_CHANNEL_LOSS && channel.kind != PDL_CHANNEL_NORM &&
      requireIndex(channel.symbol, descriptor.symbol_count, what)) {
    const bool ofTable = channel.kind == PDL_CHANNEL_KEYS ||
                         channel.kind == PDL_CHANNEL_ROWS ||
                         channel.kind == PDL_CHANNEL_ROW_GRADIENT ||
                         channel.kind == PDL_CHANNEL_ROW_DELTA ||
                         channel.kind == PDL_CHANNEL_CHANGED_KEYS;
    const bool isTable =
        descriptor.symbols[channel.symbol].kind == PDL_SYMBOL_TABLE;
    require(channel.kind == PDL_CHANNEL_PARTIAL_NORM || ofTable == isTable,
            what + ": kind of its symbol");
  }
  if (channel.kind == PDL_CHANNEL_PARTIAL_NORM ||
      channel.kind == PDL_CHANNEL_NORM)
    requireIndex(channel.clip, descriptor.clip_count, what + ": clip");
}

Status Checker::run() {
  if (descriptor.abi_version != PDL_ABI_VERSION)
    return Status::failedPrecondition(
        "this program was compiled for ABI version " +
        std::to_string(descriptor.abi_version) +
        ", but the runtime that it is linked with has version " +
        std::to_string(PDL_ABI_VERSION) +
        "; translate the model again with the pdl-translate that belongs to "
        "this runtime");
  if (!require(descriptor.struct_size >= sizeof(pdl_descriptor),
               "size of the descriptor"))
    return result;
  requireText(descriptor.model_name, "the model's name");
  requireText(descriptor.compiler_version, "the compiler's version");
  requireText(descriptor.target_cpu, "the target CPU");
  requireArray(descriptor.cpu_feature_word_count, descriptor.cpu_features,
               "features of the CPU");
  require(descriptor.numerics == PDL_NUMERICS_FAST ||
              descriptor.numerics == PDL_NUMERICS_STRICT,
          "numerics");
  require(descriptor.compute >= PDL_COMPUTE_ELEMENT &&
              descriptor.compute <= PDL_COMPUTE_BF16X6,
          "what products are computed in");
  require(findMode(descriptor.mode), "mode");
  require(descriptor.role >= PDL_ROLE_LOCAL &&
              descriptor.role <= PDL_ROLE_PSERVER &&
              !hasServers() == (descriptor.role == PDL_ROLE_LOCAL),
          "role");
  require(descriptor.target == PDL_TARGET_CPU ||
              descriptor.target == PDL_TARGET_CUDA,
          "what it computes on");
  require(!descriptor.device_products || descriptor.target != PDL_TARGET_CPU,
          "products of a device");
  requireArray(descriptor.device_kernel_count, descriptor.device_kernels,
               "kernels of a device");
  for (int32_t i = 0; i < descriptor.device_kernel_count && result.ok(); ++i)
    checkDeviceKernel(descriptor.device_kernels[i]);
  requireArray(descriptor.field_count, descriptor.fields, "fields");
  requireArray(descriptor.symbol_count, descriptor.symbols, "symbols");
  requireArray(descriptor.group_count, descriptor.groups, "groups");
  requireArray(descriptor.clip_count, descriptor.clips, "clips");
  requireArray(descriptor.metric_count, descriptor.metrics, "metrics");
  requireArray(descriptor.program_count, descriptor.programs, "programs");
  requireArray(descriptor.part_count, descriptor.parts, "parts");
  auto checkAll = [&](auto *array, int32_t count, auto check) {
    for (int32_t i = 0; i < count && result.ok(); ++i)
      (this->*check)(array[i]);
  };
  checkAll(descriptor.fields, descriptor.field_count, &Checker::checkField);
  checkAll(descriptor.symbols, descriptor.symbol_count, &Checker::checkSymbol);
  checkAll(descriptor.groups, descriptor.group_count, &Checker::checkGroup);
  checkAll(descriptor.metrics, descriptor.metric_count, &Checker::checkMetric);
  checkAll(descriptor.programs, descriptor.program_count,
           &Checker::checkProgram);
  for (int32_t i = 0; i < descriptor.clip_count && result.ok(); ++i) {
    const pdl_clip &clip = descriptor.clips[i];
    require(clip.struct_size == sizeof(pdl_clip), "size of a clip");
    requireText(clip.name, "a clip's name");
    require(clip.limit > 0, "limit of a clip");
  }
  for (int32_t i = 0; i < descriptor.part_count && result.ok(); ++i) {
    const pdl_part &part = descriptor.parts[i];
    require(part.kind >= PDL_PART_STATE && part.kind <= PDL_PART_TRAINING,
            "kind of a part");
    requireText(part.name, "a part's name");
    requireText(part.value, "a part's value");
  }
  return std::move(result);
}

Status pdlrt::checkDescriptor(const pdl_descriptor *descriptor) {
  if (!descriptor)
    return Status::failedPrecondition(
        "this program does not serve ABI version " +
        std::to_string(PDL_ABI_VERSION) +
        " of the runtime that it is linked with; translate the model again "
        "with the pdl-translate that belongs to this runtime");
  return Checker(*descriptor).run();
}

Expected<const pdl_descriptor *>
pdlrt::loadDescriptor(const pdl_descriptor *(*query)(uint32_t version)) {
  const pdl_descriptor *descriptor = query(PDL_ABI_VERSION);
  PDLRT_RETURN_IF_ERROR(checkDescriptor(descriptor));
  return descriptor;
}

const pdl_program *pdlrt::findProgram(const pdl_descriptor &descriptor,
                                      std::string_view name) {
  for (int32_t i = 0; i < descriptor.program_count; ++i)
    if (name == descriptor.programs[i].name)
      return &descriptor.programs[i];
  return nullptr;
}

std::string pdlrt::elementTypeText(const pdl_descriptor &descriptor) {
  bool has[PDL_I64 + 1] = {};
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    has[descriptor.symbols[i].element_type] = true;
  for (int32_t p = 0;
       descriptor.symbol_count == 0 && p < descriptor.program_count; ++p)
    for (int32_t o = 0; o < descriptor.programs[p].output_count; ++o)
      has[descriptor.programs[p].outputs[o].element_type] = true;
  if (has[PDL_F64])
    return has[PDL_F32] ? "f32 and f64" : "f64";
  return "f32";
}

/// Returns the oldest GPU architecture that can run a program's kernels. Reads
/// it from their PTX.
static std::string_view oldestGpuOf(const pdl_descriptor &descriptor) {
  const std::string_view code =
      descriptor.device_code ? descriptor.device_code : "";
  const std::string_view directive = ".target ";
  const size_t begin = code.find(directive);
  if (begin == std::string_view::npos)
    return "unknown";
  const std::string_view rest = code.substr(begin + directive.size());
  return rest.substr(0, rest.find_first_of(", \t\r\n"));
}

std::string pdlrt::describeProgram(const pdl_descriptor &descriptor) {
  const Mode &mode = modeOf(descriptor);
  const bool isServer = descriptor.role == PDL_ROLE_PSERVER;
  return fmt::format(
      "model                {}\n{}"
      "compiler             {}\n"
      "ABI                  {}\n"
      "element type         {}\n"
      "numerics             {}\n{}"
      "target CPU           {}\n{}{}"
      "layout fingerprint   {:016x}\n"
      "training fingerprint {:016x}\n"
      "wire fingerprint     {}",
      descriptor.model_name,
      isServer
          ? fmt::format("role                 pserver, mode {}\n", mode.name)
          : "",
      descriptor.compiler_version, descriptor.abi_version,
      elementTypeText(descriptor),
      descriptor.numerics == PDL_NUMERICS_STRICT ? "strict" : "fast",
      descriptor.compute == PDL_COMPUTE_ELEMENT
          ? ""
          : fmt::format("large products       {}\n",
                        computeName(descriptor.compute)),
      descriptor.target_cpu,
      descriptor.target == PDL_TARGET_CPU
          ? ""
          : fmt::format("target GPU           {} and newer\n",
                        oldestGpuOf(descriptor)),
      isServer ? "" : fmt::format("mode                 {}\n", mode.name),
      descriptor.layout_fingerprint, descriptor.training_fingerprint,
      mode.hasServers ? fmt::format("{:016x}", descriptor.wire_fingerprint)
                      : "none: no other process takes part");
}

int64_t pdlrt::elementCount(const pdl_symbol &symbol) {
  int64_t elements = 1;
  for (int32_t i = 0; i < symbol.rank; ++i)
    elements *= symbol.shape[i];
  return elements;
}
