//===- DescriptorToLLVM.cpp - The constant descriptor ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FieldConstants.h"
#include "pdlabi/hash.h"
#include "pdlabi/products.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/ServedSlot.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Dialect/RT/IR/DescriptorOrder.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Target/DeviceCode.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace pdlc {
#define GEN_PASS_DEF_RTDESCRIPTORTOLLVM
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {

class DescriptorBuilder {
public:
  DescriptorBuilder(ModuleOp module, int32_t numerics, StringRef targetCpu,
                    std::vector<uint64_t> cpuFeatures)
      : module(module), order(module), constants(module), numerics(numerics),
        targetCpu(targetCpu), cpuFeatures(std::move(cpuFeatures)) {}

  /// Adds the constants of the descriptor and `pdl_program_query`.
  LogicalResult build();

private:
  LogicalResult checkPrograms();
  LogicalResult checkUpdateKernel(rt::UpdateKernelOp kernel,
                                  const SymbolTable &symbols);
  Constant<pdl_symbol> buildSymbol(Operation *op);
  int64_t countsOf(StringAttr symbol);
  void setScore(Constant<pdl_symbol> &symbol, const std::string &prefix,
                nn::TableOp table, rt::UpdateKernelOp kernel);
  Constant<pdl_group> buildGroup(nn::GroupOp group);
  Constant<pdl_clip> buildClip(nn::ClipOp clip);
  Constant<pdl_metric> buildMetric(nn::MetricOp metric);
  Constant<pdl_program> buildProgram(rt::ProgramOp program);
  Constant<pdl_program> buildServerProgram(StringAttr name);
  void setIdRanges(Constant<pdl_program> &result, const std::string &prefix,
                   rt::ProgramOp program);
  void setLookups(Constant<pdl_program> &program, const std::string &prefix,
                  ArrayRef<StringRef> tables);
  void setUpdates(Constant<pdl_program> &program, const std::string &prefix,
                  StringAttr name, ArrayRef<StringRef> symbols,
                  ArrayRef<int32_t> lookups, ArrayRef<int32_t> objectives);
  void setChannels(Constant<pdl_program> &program, const std::string &prefix,
                   StringAttr name);
  void setUnits(Constant<pdl_symbol> &symbol, const std::string &prefix,
                StringAttr name);
  /// Returns the channels of a program, sorted by number.
  SmallVector<ps::ChannelOp> channelsOf(StringAttr program);
  LogicalResult setRole(pdl_descriptor &data);
  void buildQuery(const Address &descriptor);
  void setDevice(Constant<pdl_descriptor> &descriptor);
  void setFingerprints(Constant<pdl_descriptor> &descriptor);

  ModuleOp module;
  rt::DescriptorOrder order;
  ConstantBuilder constants;
  int32_t numerics;
  StringRef targetCpu;
  std::vector<uint64_t> cpuFeatures;
  DenseMap<StringAttr, rt::OnceKernelOp> onceKernels;
  DenseMap<StringAttr, rt::UpdateKernelOp> updateKernels;
  /// Blocks and shards by symbol.
  DenseMap<StringAttr, ps::BlocksOp> blocksOf;
  DenseMap<StringAttr, ps::ShardsOp> shardsOf;
  /// Number of counts per row, from the first program that updates a symbol.
  DenseMap<StringAttr, int64_t> programCounts;
  /// Index in the descriptor of each group that some program updates.
  DenseMap<StringAttr, int32_t> trainedGroups;
};

struct DescriptorToLLVM : pdlc::impl::RTDescriptorToLLVMBase<DescriptorToLLVM> {
  using RTDescriptorToLLVMBase::RTDescriptorToLLVMBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Symbols, groups, clips, metrics
//===----------------------------------------------------------------------===//

/// Returns how many counts follow the gradient of each row of table `symbol`.
/// The number comes from the update kernel if this process applies rules, else
/// from the programs that compute the gradients.
int64_t DescriptorBuilder::countsOf(StringAttr symbol) {
  if (rt::UpdateKernelOp kernel = updateKernels.lookup(symbol))
    return static_cast<int64_t>(kernel.getCounts());
  return programCounts.lookup(symbol);
}

void DescriptorBuilder::setScore(Constant<pdl_symbol> &symbol,
                                 const std::string &prefix, nn::TableOp table,
                                 rt::UpdateKernelOp kernel) {
  SmallVector<double> weights;
  ArrayRef<Attribute> slots = kernel.getSlotNames().getValue();
  for (Attribute name : slots.take_back(kernel.getRowSlots())) {
    Attribute weight = table.getScoreAttr().get(cast<StringAttr>(name));
    weights.push_back(weight ? numberOf(weight) : 0.0);
  }
  symbol.point(symbol.data.score_weights,
               constants.doubles(prefix + ".score", weights));
  const std::optional<APFloat> decay = table.getShrinkDecay(),
                               least = table.getShrinkLeast();
  symbol.data.shrink_decay = decay ? decay->convertToDouble() : 1.0;
  symbol.data.shrink_least = least ? least->convertToDouble() : -INFINITY;
}

Constant<pdl_symbol> DescriptorBuilder::buildSymbol(Operation *op) {
  Constant<pdl_symbol> result;
  pdl_symbol &data = result.data;
  StringAttr symbolName = SymbolTable::getSymbolName(op);
  std::string name = symbolName.str(), prefix = "pdl.symbol." + name;
  data.struct_size = sizeof(pdl_symbol);
  result.point(data.name, constants.string(name));
  data.id = pdlabi::symbolId(name);
  data.group = -1;

  RankedTensorType type = nn::heldTypeOf(op);
  FlatSymbolRefAttr group;
  Attribute init;
  if (auto table = dyn_cast<nn::TableOp>(op)) {
    data.kind = PDL_SYMBOL_TABLE;
    group = table.getGroupAttr();
    init = table.getInitAttr();
    data.row_width = table.getWidth();
    data.unknown = table.getUnknown() == nn::Unknown::zero
                       ? PDL_UNKNOWN_ZERO
                       : PDL_UNKNOWN_INITIAL;
    if (std::optional<nn::Storage> stored = table.getStored())
      data.storage =
          *stored == nn::Storage::bf16 ? PDL_STORE_BF16 : PDL_STORE_F16;
    if (table.getAdmitCount()) {
      data.admission = PDL_ADMIT_COUNT;
      data.admission_count = static_cast<int64_t>(*table.getAdmitCount());
    } else if (table.getAdmitProbability()) {
      data.admission = PDL_ADMIT_PROBABILITY;
      data.admission_probability =
          table.getAdmitProbability()->convertToDouble();
    }
    if (std::optional<APFloat> score = table.getAdmitScore()) {
      data.admission = PDL_ADMIT_SCORE;
      data.admission_score = score->convertToDouble();
    }
    if (table.getShrinkEvery()) {
      data.shrink_every = static_cast<int64_t>(*table.getShrinkEvery());
      data.shrink_unseen = static_cast<int64_t>(*table.getShrinkUnseen());
    }
  } else {
    data.kind = PDL_SYMBOL_PARAMETER;
    if (auto param = dyn_cast<nn::ParamOp>(op)) {
      group = param.getGroupAttr();
      init = param.getInitAttr();
    } else {
      init = cast<nn::StateOp>(op).getInitAttr();
    }
    data.row_count = type.getRank() <= 1 ? 1 : type.getDimSize(0);
    data.row_width = type.getNumElements() / data.row_count;
  }
  data.gradient_width = data.row_width + countsOf(symbolName);
  data.element_type = elementTypeOf(type.getElementType());
  data.rank = type.getRank();
  result.point(data.shape,
               constants.int64s(prefix + ".shape", type.getShape()));
  data.initializer =
      cast<InitializerAttrInterface>(init).getNumbers(type.getShape());

  SmallVector<std::string> slots;
  data.device_kernel = -1;
  // A symbol that no program updates has no group in the descriptor.
  if (rt::UpdateKernelOp kernel = updateKernels.lookup(symbolName)) {
    data.group = trainedGroups.lookup(group.getAttr());
    for (auto slot : kernel.getSlotNames().getAsValueRange<StringAttr>())
      slots.push_back(slot.str());
    data.slot_count = slots.size();
    result.point(data.slot_names, constants.strings(prefix + ".slots", slots));
    result.point(
        data.slot_initial_values,
        constants.doubles(prefix + ".slot_values", kernel.getSlotValues()));
    data.row_slot_count = static_cast<int32_t>(kernel.getRowSlots());
    if (auto table = dyn_cast<nn::TableOp>(op); table && table.shrinksByScore())
      setScore(result, prefix, table, kernel);
    if (!kernel.getCountWeights().empty())
      result.point(
          data.admission_weights,
          constants.doubles(prefix + ".admission", kernel.getCountWeights()));
    data.kernel_unit = kernel.getWholeParameter() ? PDL_UNIT_PARAMETER
                       : kernel.getWholeRows()    ? PDL_UNIT_ROW
                                                  : PDL_UNIT_ELEMENT;
    data.frozen_part = static_cast<int32_t>(kernel.getFrozenPart());
    const std::string callee = kernel.getCallee().str();
    const bool isTable = data.kind == PDL_SYMBOL_TABLE;
    if (kernel.getSeen() && isTable)
      result.point(data.late_row_kernel, callee);
    else if (kernel.getSeen())
      result.point(data.late_dense_kernel, callee);
    else if (isTable)
      result.point(data.row_kernel, callee);
    else
      result.point(data.dense_kernel, callee);
    if (FlatSymbolRefAttr onDevice = kernel.getOnDeviceAttr())
      data.device_kernel = rt::DeviceKernelOp::numberOf(module, onDevice);
  }
  // A serving library writes no state. Of the slots, it contains only the one
  // that its programs read.
  if (auto served = op->getAttrOfType<StringAttr>(nn::kServedSlotAttrName)) {
    slots.push_back(served.str());
    data.slot_count = data.frozen_part = 1;
    result.point(data.slot_names, constants.strings(prefix + ".slots", slots));
    result.point(data.slot_initial_values,
                 constants.doubles(prefix + ".slot_values", {0.0}));
  }
  setUnits(result, prefix, symbolName);
  return result;
}

Constant<pdl_group> DescriptorBuilder::buildGroup(nn::GroupOp group) {
  Constant<pdl_group> result;
  pdl_group &data = result.data;
  data.struct_size = sizeof(pdl_group);
  result.point(data.name, constants.string(group.getSymName()));
  data.untouched = group.getUntouched() == nn::Untouched::dense
                       ? PDL_UNTOUCHED_DENSE
                       : PDL_UNTOUCHED_LAZY;
  data.merge =
      group.getMerge() == nn::Merge::sum ? PDL_MERGE_SUM : PDL_MERGE_MEAN;
  data.compensates = bool(group.getCompensationAttr());
  data.clip = -1;
  if (FlatSymbolRefAttr clip = group.getClipAttr())
    data.clip = order.clip(clip.getValue());
  rt::OnceKernelOp kernel = onceKernels.lookup(group.getSymNameAttr());
  data.element_type = elementTypeOf(kernel.getElementType());
  std::vector<Constant<pdl_scalar>> scalars;
  for (StringRef name : kernel.getScalarNames().getAsValueRange<StringAttr>()) {
    bool isDivisor = llvm::is_contained(kernel.getDivisors(),
                                        static_cast<int32_t>(scalars.size()));
    Constant<pdl_scalar> &scalar = scalars.emplace_back();
    scalar.point(scalar.data.name, constants.string(name));
    scalar.data.is_divisor = isDivisor;
  }
  data.scalar_count = scalars.size();
  result.point(
      data.scalars,
      constants.structs("pdl.group." + group.getSymName().str() + ".scalars",
                        scalars));
  result.point(data.once, kernel.getCallee().str());
  return result;
}

Constant<pdl_clip> DescriptorBuilder::buildClip(nn::ClipOp clip) {
  Constant<pdl_clip> result;
  result.data.struct_size = sizeof(pdl_clip);
  result.point(result.data.name, constants.string(clip.getSymName()));
  result.data.limit = clip.getLimit().convertToDouble();
  return result;
}

Constant<pdl_metric> DescriptorBuilder::buildMetric(nn::MetricOp metric) {
  Constant<pdl_metric> result;
  pdl_metric &data = result.data;
  data.struct_size = sizeof(pdl_metric);
  result.point(data.name, constants.string(metric.getSymName()));
  auto kind = cast<MetricAttrInterface>(metric.getKind());
  data.kind = kind.getAbiKind();
  data.parameter = kind.getAbiParameter();
  return result;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Constant<pdl_program> DescriptorBuilder::buildProgram(rt::ProgramOp program) {
  Constant<pdl_program> result;
  pdl_program &data = result.data;
  std::string prefix = "pdl.program." + program.getSymName().str();
  data.struct_size = sizeof(pdl_program);
  result.point(data.name, constants.string(program.getSymName()));
  data.frozen = program.getFrozen();
  data.observes_groups = program.getGrouped();

  SmallVector<int32_t> fields;
  for (auto field : program.getFields().getAsRange<FlatSymbolRefAttr>())
    fields.push_back(order.field(field.getValue()));
  data.field_count = fields.size();
  result.point(data.fields, constants.int32s(prefix + ".fields", fields));
  data.joined_count = static_cast<int32_t>(program.getJoined().size() / 2);
  result.point(data.joined,
               constants.int32s(prefix + ".joined", program.getJoined()));
  setIdRanges(result, prefix, program);

  auto namesOf = [](ArrayAttr list) {
    return llvm::map_to_vector(
        list.getAsRange<FlatSymbolRefAttr>(),
        [](FlatSymbolRefAttr name) { return name.getValue(); });
  };
  setLookups(result, prefix, namesOf(program.getLookups()));
  setUpdates(result, prefix, program.getSymNameAttr(),
             namesOf(program.getUpdates()), program.getUpdateLookups(),
             program.getUpdateObjectives());
  if (!program.getHasLoss())
    data.objective_count = 0;
  setChannels(result, prefix, program.getSymNameAttr());

  std::vector<Constant<pdl_output>> outputs;
  for (auto [name, width, type] :
       llvm::zip_equal(program.getOutputNames().getAsValueRange<StringAttr>(),
                       program.getOutputWidths(),
                       program.getOutputTypes().getAsValueRange<TypeAttr>())) {
    outputs.emplace_back();
    outputs.back().point(outputs.back().data.name, constants.string(name));
    outputs.back().data.element_type = elementTypeOf(type);
    outputs.back().data.width = width;
  }
  data.output_count = outputs.size();
  result.point(data.outputs, constants.structs(prefix + ".outputs", outputs));

  auto setArena = [&](pdl_affine_size &size, rt::SizeAttr from,
                      const std::string &name) {
    size.constant = from.getConstant();
    size.per_batch = from.getPerBatch();
    size.per_batch_squared = from.getPerBatchSquared();
    result.point(size.per_id,
                 constants.int64s(name + ".per_id", from.getPerId()));
    result.point(size.per_key,
                 constants.int64s(name + ".per_key", from.getPerKey()));
    result.point(
        size.per_occurrence,
        constants.int64s(name + ".per_occurrence", from.getPerOccurrence()));
  };
  setArena(data.prepare_arena, program.getPrepareArena(),
           prefix + ".prepare_arena");
  setArena(data.compute_arena, program.getComputeArena(),
           prefix + ".compute_arena");
  result.point(data.prepare, program.getPrepare().str());
  result.point(data.compute, program.getCompute().str());
  return result;
}

void DescriptorBuilder::setIdRanges(Constant<pdl_program> &result,
                                    const std::string &prefix,
                                    rt::ProgramOp program) {
  std::vector<Constant<pdl_id_range>> ranges;
  for (auto range : program.getIdRanges().getAsRange<rt::IdRangeAttr>()) {
    Constant<pdl_id_range> &constant = ranges.emplace_back();
    pdl_id_range &data = constant.data;
    data.field = range.getField();
    data.first_column = range.getFirstColumn();
    data.column_count = range.getColumnCount();
    data.first = range.getFirst();
    data.end = range.getBehind();
    DenseIntElementsAttr counts = range.getCounts();
    if (!counts)
      continue;
    SmallVector<int32_t> allowed((counts.getNumElements() + 31) / 32);
    for (auto [place, count] : llvm::enumerate(counts.getValues<int64_t>()))
      if (count != 0)
        allowed[place / 32] |= static_cast<int32_t>(1u << (place % 32));
    constant.point(
        data.allowed,
        constants.int32s(prefix + ".ids" + Twine(ranges.size()), allowed));
  }
  result.data.id_range_count = static_cast<int32_t>(ranges.size());
  result.point(result.data.id_ranges,
               constants.structs(prefix + ".ids", ranges));
}

void DescriptorBuilder::setLookups(Constant<pdl_program> &program,
                                   const std::string &prefix,
                                   ArrayRef<StringRef> tables) {
  std::vector<Constant<pdl_lookup_descriptor>> lookups;
  for (StringRef table : tables)
    lookups.emplace_back().data.symbol = order.symbol(table);
  program.data.lookup_count = lookups.size();
  program.point(program.data.lookups,
                constants.structs(prefix + ".lookups", lookups));
}

void DescriptorBuilder::setUpdates(Constant<pdl_program> &program,
                                   const std::string &prefix, StringAttr name,
                                   ArrayRef<StringRef> symbols,
                                   ArrayRef<int32_t> lookups,
                                   ArrayRef<int32_t> objectives) {
  // If servers apply the updates, the channel of a symbol states which
  // objective's weight divides its gradient.
  llvm::StringMap<int32_t> ofChannels;
  for (ps::ChannelOp channel : channelsOf(name))
    if (channel.getObjective())
      ofChannels[channel.getSymbolAttr().getValue()] =
          static_cast<int32_t>(channel.getObjective());
  std::vector<Constant<pdl_update_descriptor>> updates;
  program.data.objective_count = 1;
  for (auto [index, symbol] : llvm::enumerate(symbols)) {
    pdl_update_descriptor &data = updates.emplace_back().data;
    data.symbol = order.symbol(symbol);
    data.lookup = lookups[index];
    data.objective =
        objectives.empty() ? ofChannels.lookup(symbol) : objectives[index];
    // A program without updates has one objective.
    program.data.objective_count =
        std::max(program.data.objective_count, data.objective + 1);
  }
  program.data.update_count = updates.size();
  program.point(program.data.updates,
                constants.structs(prefix + ".updates", updates));
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

SmallVector<ps::ChannelOp> DescriptorBuilder::channelsOf(StringAttr program) {
  SmallVector<ps::ChannelOp> channels;
  for (auto channel : module.getOps<ps::ChannelOp>())
    if (channel.getProgramAttr() == program)
      channels.push_back(channel);
  llvm::sort(channels, [](ps::ChannelOp a, ps::ChannelOp b) {
    return a.getNumber() < b.getNumber();
  });
  return channels;
}

void DescriptorBuilder::setChannels(Constant<pdl_program> &program,
                                    const std::string &prefix,
                                    StringAttr name) {
  static_assert(
      int(ps::ChannelKind::value) == PDL_CHANNEL_VALUE &&
          int(ps::ChannelKind::gradient) == PDL_CHANNEL_GRADIENT &&
          int(ps::ChannelKind::keys) == PDL_CHANNEL_KEYS &&
          int(ps::ChannelKind::rows) == PDL_CHANNEL_ROWS &&
          int(ps::ChannelKind::row_gradient) == PDL_CHANNEL_ROW_GRADIENT &&
          int(ps::ChannelKind::loss) == PDL_CHANNEL_LOSS &&
          int(ps::ChannelKind::partial_norm) == PDL_CHANNEL_PARTIAL_NORM &&
          int(ps::ChannelKind::norm) == PDL_CHANNEL_NORM &&
          int(ps::ChannelKind::delta) == PDL_CHANNEL_DELTA &&
          int(ps::ChannelKind::row_delta) == PDL_CHANNEL_ROW_DELTA &&
          int(ps::ChannelKind::changed_keys) == PDL_CHANNEL_CHANGED_KEYS,
      "the kinds of channels differ from abi.h");
  std::vector<Constant<pdl_channel>> channels;
  for (ps::ChannelOp channel : channelsOf(name)) {
    pdl_channel &data = channels.emplace_back().data;
    data.kind = static_cast<int32_t>(channel.getKind());
    FlatSymbolRefAttr symbol = channel.getSymbolAttr();
    data.symbol = symbol ? order.symbol(symbol.getValue()) : -1;
    FlatSymbolRefAttr clip = channel.getClipAttr();
    data.clip = clip ? order.clip(clip.getValue()) : -1;
  }
  program.data.channel_count = channels.size();
  program.point(program.data.channels,
                constants.structs(prefix + ".channels", channels));
}

/// Builds the part of a program that a server needs: its tables, updates and
/// channels.
Constant<pdl_program> DescriptorBuilder::buildServerProgram(StringAttr name) {
  Constant<pdl_program> result;
  pdl_program &data = result.data;
  std::string prefix = "pdl.program." + name.str();
  data.struct_size = sizeof(pdl_program);
  result.point(data.name, constants.string(name.getValue()));
  SmallVector<StringRef> tables, updates;
  SmallVector<int32_t> updateLookups;
  for (ps::ChannelOp channel : channelsOf(name))
    if (channel.getKind() == ps::ChannelKind::keys)
      tables.push_back(channel.getSymbolAttr().getValue());
  for (ps::ChannelOp channel : channelsOf(name)) {
    bool isRows = channel.getKind() == ps::ChannelKind::row_gradient;
    if (!isRows && channel.getKind() != ps::ChannelKind::gradient)
      continue;
    updates.push_back(channel.getSymbolAttr().getValue());
    updateLookups.push_back(
        isRows ? static_cast<int32_t>(llvm::find(tables, updates.back()) -
                                      tables.begin())
               : -1);
  }
  // Trainers that update a copy send their changes.
  data.frozen = updates.empty() &&
                llvm::none_of(channelsOf(name), [](ps::ChannelOp sent) {
                  return sent.getKind() == ps::ChannelKind::delta ||
                         sent.getKind() == ps::ChannelKind::row_delta;
                });
  setLookups(result, prefix, tables);
  setUpdates(result, prefix, name, updates, updateLookups, {});
  if (updates.empty())
    data.objective_count = 0;
  setChannels(result, prefix, name);
  return result;
}

void DescriptorBuilder::setUnits(Constant<pdl_symbol> &symbol,
                                 const std::string &prefix, StringAttr name) {
  if (ps::BlocksOp blocks = blocksOf.lookup(name)) {
    symbol.data.unit_count = blocks.getCosts().size();
    symbol.point(symbol.data.block_rows,
                 constants.int64s(prefix + ".block_rows", blocks.getRows()));
    symbol.point(symbol.data.unit_costs,
                 constants.int64s(prefix + ".unit_costs", blocks.getCosts()));
  }
  if (ps::ShardsOp shards = shardsOf.lookup(name)) {
    symbol.data.unit_count = shards.getCount();
    symbol.point(symbol.data.unit_costs,
                 constants.int64s(prefix + ".unit_costs",
                                  {static_cast<int64_t>(shards.getCost())}));
  }
}

LogicalResult DescriptorBuilder::setRole(pdl_descriptor &data) {
  auto role = module->getAttrOfType<StringAttr>(ps::PSDialect::kRoleAttrName);
  const ps::ModeProperties &mode = ps::getMode(module);
  if (bool(role) != mode.hasServers)
    return emitError(module.getLoc())
           << "a module with a mode is compiled role by role: run "
              "ps-outline-roles first";
  data.mode = mode.id;
  if (!role)
    return success();
  data.role =
      role.getValue() == "trainer" ? PDL_ROLE_TRAINER : PDL_ROLE_PSERVER;
  return success();
}

//===----------------------------------------------------------------------===//
// The whole descriptor
//===----------------------------------------------------------------------===//

void DescriptorBuilder::setFingerprints(Constant<pdl_descriptor> &descriptor) {
  pdl_descriptor &data = descriptor.data;
  std::vector<Constant<pdl_part>> parts;
  std::string layout, training;
  auto add = [&](pdl_part_kind kind, DictionaryAttr list, std::string &text) {
    for (NamedAttribute part : list) {
      StringRef value = cast<StringAttr>(part.getValue()).getValue();
      Constant<pdl_part> &constant = parts.emplace_back();
      constant.data.kind = kind;
      constant.point(constant.data.name, constants.string(part.getName()));
      constant.point(constant.data.value, constants.string(value));
      text += llvm::formatv("{0} {1}: {2}\n", int(kind), part.getName(), value);
    }
  };
  for (auto fingerprint : module.getOps<nn::FingerprintOp>()) {
    add(PDL_PART_STATE, fingerprint.getState(), layout);
    add(PDL_PART_OPTIMIZER, fingerprint.getOptimizer(), layout);
    add(PDL_PART_TRAINING, fingerprint.getTraining(), training);
  }
  data.part_count = parts.size();
  descriptor.point(data.parts, constants.structs("pdl.parts", parts));
  data.layout_fingerprint = pdlabi::hashText(layout, 0);
  data.training_fingerprint = pdlabi::hashText(training, 0);
  // The attribute is a digest of the parts that trainer and server share, so
  // both programs get the same number.
  auto wire = module->getAttrOfType<StringAttr>(ps::PSDialect::kWireAttrName);
  if (wire && wire.getValue().getAsInteger(16, data.wire_fingerprint))
    data.wire_fingerprint = 0;
}

LogicalResult DescriptorBuilder::checkPrograms() {
  auto programs = module.getOps<rt::ProgramOp>();
  if (programs.empty() && !module.getOps<ps::ChannelOp>().empty())
    return success();
  if (programs.empty())
    return emitError(
        module.getLoc(),
        "the model declares no program; add an nn.program such as @train");
  for (rt::ProgramOp program : programs)
    if (program.getRecord() != order.record.getSymName())
      return program.emitOpError()
             << "reads record " << program.getRecordAttr()
             << ", another program reads @" << order.record.getSymName()
             << "; put all fields into one record and leave some out with "
                "`except`";
  return success();
}

LogicalResult DescriptorBuilder::checkUpdateKernel(rt::UpdateKernelOp kernel,
                                                   const SymbolTable &symbols) {
  Operation *symbol = symbols.lookup(kernel.getSymbolAttr().getAttr());
  auto group = symbol->getAttrOfType<FlatSymbolRefAttr>("group");
  if (!group || !trainedGroups.contains(group.getAttr()))
    return kernel.emitOpError() << "updates " << kernel.getSymbolAttr()
                                << ", whose group has no rt.once_kernel";
  Type type = nn::heldTypeOf(symbol).getElementType();
  Type scalars = onceKernels.lookup(group.getAttr()).getElementType();
  if (type != scalars)
    return kernel.emitOpError()
           << "updates " << kernel.getSymbolAttr() << " of " << type
           << ", but the scalars of its group " << group << " are of "
           << scalars << "; put symbols of two types into two groups";
  return success();
}

void DescriptorBuilder::buildQuery(const Address &descriptor) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = LLVM::LLVMFunctionType::get(pointer, {builder.getI32Type()});
  auto query = LLVM::LLVMFuncOp::create(builder, loc, kQueryName, type);
  Block *entry = query.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value supported = LLVM::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(PDL_ABI_VERSION));
  Value same = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                    entry->getArgument(0), supported);
  Value address = LLVM::AddressOfOp::create(builder, loc, pointer, descriptor);
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value result = LLVM::SelectOp::create(builder, loc, same, address, null);
  LLVM::ReturnOp::create(builder, loc, result);
}

/// Sets the parts that stages use on a device.
void DescriptorBuilder::setDevice(Constant<pdl_descriptor> &descriptor) {
  pdl_descriptor &data = descriptor.data;
  data.target = module->hasAttr(rt::RTDialect::kTargetAttrName)
                    ? PDL_TARGET_CUDA
                    : PDL_TARGET_CPU;
  std::vector<Constant<pdl_device_kernel>> kernels;
  for (auto op : module.getOps<rt::DeviceKernelOp>()) {
    Constant<pdl_device_kernel> kernel;
    SmallVector<int32_t> kinds;
    for (auto kind : op.getArgumentKinds().getAsRange<rt::DeviceArgumentAttr>())
      kinds.push_back(static_cast<int32_t>(kind.getValue()));
    kernel.point(kernel.data.name,
                 constants.string(entryNameOf(op.getKernel())));
    kernel.data.argument_count = kinds.size();
    kernel.point(
        kernel.data.arguments,
        constants.int32s("pdl.device_kernel." + op.getKernel(), kinds));
    if (op.getRuns())
      kernel.point(kernel.data.run, op.getRuns()->str());
    kernels.push_back(std::move(kernel));
  }
  data.device_products =
      module->hasAttr(rt::RTDialect::kDeviceProductsAttrName);
  data.device_kernel_count = kernels.size();
  descriptor.point(data.device_kernels,
                   constants.structs("pdl.device_kernels", kernels));
  if (auto code =
          module->getAttrOfType<StringAttr>(rt::RTDialect::kDeviceCodeAttrName))
    descriptor.point(data.device_code, constants.string(code.getValue()));
}

LogicalResult DescriptorBuilder::build() {
  if (failed(checkPrograms()))
    return failure();
  for (auto kernel : module.getOps<rt::OnceKernelOp>())
    onceKernels[kernel.getGroupAttr().getAttr()] = kernel;
  for (auto kernel : module.getOps<rt::UpdateKernelOp>())
    updateKernels[kernel.getSymbolAttr().getAttr()] = kernel;
  for (auto blocks : module.getOps<ps::BlocksOp>())
    blocksOf[blocks.getSymbolAttr().getAttr()] = blocks;
  for (auto shards : module.getOps<ps::ShardsOp>())
    shardsOf[shards.getSymbolAttr().getAttr()] = shards;
  for (auto program : module.getOps<rt::ProgramOp>())
    for (auto [name, counts] :
         llvm::zip(program.getUpdates().getAsRange<FlatSymbolRefAttr>(),
                   program.getUpdateCounts()))
      programCounts.try_emplace(name.getAttr(), counts);
  for (nn::GroupOp group : order.groups)
    if (onceKernels.contains(group.getSymNameAttr()))
      trainedGroups.try_emplace(group.getSymNameAttr(), trainedGroups.size());
  const SymbolTable symbolTable(module);
  for (auto [symbol, kernel] : updateKernels)
    if (failed(checkUpdateKernel(kernel, symbolTable)))
      return failure();

  Constant<pdl_descriptor> descriptor;
  pdl_descriptor &data = descriptor.data;
  data.struct_size = sizeof(pdl_descriptor);
  data.abi_version = PDL_ABI_VERSION;
  descriptor.point(data.model_name,
                   constants.string(module.getName().value_or("model")));
  descriptor.point(data.compiler_version, constants.string(PDLC_VERSION));
  data.numerics = numerics;
  static_assert(int(nn::Compute::bf16) == PDL_COMPUTE_BF16 &&
                int(nn::Compute::bf16x3) == PDL_COMPUTE_BF16X3 &&
                int(nn::Compute::bf16x6) == PDL_COMPUTE_BF16X6);
  data.compute = PDL_COMPUTE_ELEMENT;
  if (auto compute =
          module->getAttrOfType<StringAttr>(nn::NNDialect::kComputeAttrName))
    data.compute =
        static_cast<int32_t>(*nn::symbolizeCompute(compute.getValue()));
  descriptor.point(data.target_cpu,
                   constants.namedString(kTargetCpuName, targetCpu));
  data.cpu_feature_word_count = cpuFeatures.size();
  descriptor.point(data.cpu_features,
                   constants.int64s(kCpuFeaturesName,
                                    SmallVector<int64_t>(cpuFeatures.begin(),
                                                         cpuFeatures.end())));

  if (failed(setRole(data)))
    return failure();

  std::vector<Constant<pdl_field>> fields;
  if (order.record)
    fields = buildFields(constants, order.record);
  std::vector<Constant<pdl_symbol>> symbols;
  for (Operation *symbol : order.symbols)
    symbols.push_back(buildSymbol(symbol));
  std::vector<Constant<pdl_group>> groups;
  for (nn::GroupOp group : order.groups)
    if (trainedGroups.contains(group.getSymNameAttr()))
      groups.push_back(buildGroup(group));
  std::vector<Constant<pdl_clip>> clips;
  for (nn::ClipOp clip : order.clips)
    clips.push_back(buildClip(clip));
  std::vector<Constant<pdl_metric>> metrics;
  for (nn::MetricOp metric : order.metrics)
    metrics.push_back(buildMetric(metric));
  std::vector<Constant<pdl_program>> programs;
  for (auto program : module.getOps<rt::ProgramOp>())
    programs.push_back(buildProgram(program));
  if (data.role == PDL_ROLE_PSERVER) {
    llvm::SetVector<StringAttr> names;
    for (auto channel : module.getOps<ps::ChannelOp>())
      names.insert(channel.getProgramAttr());
    for (StringAttr name : names)
      programs.push_back(buildServerProgram(name));
  }

  data.field_count = fields.size();
  descriptor.point(data.fields, constants.structs("pdl.fields", fields));
  data.symbol_count = symbols.size();
  descriptor.point(data.symbols, constants.structs("pdl.symbols", symbols));
  data.group_count = groups.size();
  descriptor.point(data.groups, constants.structs("pdl.groups", groups));
  data.clip_count = clips.size();
  descriptor.point(data.clips, constants.structs("pdl.clips", clips));
  data.metric_count = metrics.size();
  descriptor.point(data.metrics, constants.structs("pdl.metrics", metrics));
  data.program_count = programs.size();
  descriptor.point(data.programs, constants.structs("pdl.programs", programs));
  setDevice(descriptor);
  setFingerprints(descriptor);
  buildQuery(
      constants.structs(kDescriptorName, std::vector{std::move(descriptor)}));
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void DescriptorToLLVM::runOnOperation() {
  ModuleOp module = getOperation();
  if (numerics != "fast" && numerics != "strict") {
    emitError(module.getLoc())
        << "numerics is fast or strict, not '" << numerics << "'";
    return signalPassFailure();
  }
  if (Operation *taken = module.lookupSymbol(kQueryName)) {
    taken->emitOpError() << "takes the name " << kQueryName
                         << ", which the program exports; rename it";
    return signalPassFailure();
  }
  llvm::Expected<TargetSpec> spec = TargetSpec::get(targetCpu);
  if (!spec) {
    emitError(module.getLoc(), llvm::toString(spec.takeError()));
    return signalPassFailure();
  }
  DescriptorBuilder builder(
      module, numerics == "strict" ? PDL_NUMERICS_STRICT : PDL_NUMERICS_FAST,
      targetCpu, spec->featureWords());
  if (failed(builder.build()))
    return signalPassFailure();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa_and_present<nn::NNDialect, ps::PSDialect, rt::RTDialect>(
            op.getDialect()))
      op.erase();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal() && function.getSymName() != kQueryName)
      function.setLinkage(LLVM::Linkage::Internal);
}
