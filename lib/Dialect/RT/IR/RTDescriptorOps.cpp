//===- RTDescriptorOps.cpp - Verifiers of descriptor ops ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/RT/IR/RT.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::rt;

/// Fails unless `name` is a function of the module.
static LogicalResult verifyFunction(Operation *op,
                                    SymbolTableCollection &tables,
                                    FlatSymbolRefAttr name) {
  if (!tables.lookupNearestSymbolFrom<FunctionOpInterface>(op, name))
    return op->emitOpError() << name << " is not a function of the module";
  return success();
}

//===----------------------------------------------------------------------===//
// rt.program
//===----------------------------------------------------------------------===//

LogicalResult ProgramOp::verify() {
  if (getOutputWidths().size() != getOutputNames().size())
    return emitOpError() << "has " << getOutputNames().size()
                         << " outputs, but " << getOutputWidths().size()
                         << " widths";
  if (getOutputTypes().size() != getOutputNames().size())
    return emitOpError() << "has " << getOutputNames().size()
                         << " outputs, but " << getOutputTypes().size()
                         << " types (C3)";
  for (Type type : getOutputTypes().getAsValueRange<TypeAttr>())
    if (!type.isF32() && !type.isF64() && !type.isInteger(64))
      return emitOpError() << "has an output of type " << type
                           << "; outputs are f32, f64 or i64 (C3)";
  if (getUpdateLookups().size() != getUpdates().size())
    return emitOpError() << "has " << getUpdates().size() << " updates, but "
                         << getUpdateLookups().size() << " `lookup_of` entries";
  ArrayRef<int64_t> counts = getUpdateCounts();
  if (!counts.empty() && counts.size() != getUpdates().size())
    return emitOpError() << "has " << getUpdates().size() << " updates, but "
                         << counts.size() << " `counts` entries (C3)";
  for (auto [lookup, count] : llvm::zip(getUpdateLookups(), counts))
    if (count < 0 || (count > 0 && lookup < 0))
      return emitOpError() << "has " << count
                           << " counts of rows; a table has 0 or more, a "
                              "parameter none (C3)";
  ArrayRef<int32_t> objectives = getUpdateObjectives();
  if (!objectives.empty() && objectives.size() != getUpdates().size())
    return emitOpError() << "has " << getUpdates().size() << " updates, but "
                         << objectives.size() << " `objectives` entries (C3)";
  if (llvm::any_of(objectives, [](int32_t each) { return each < 0; }))
    return emitOpError("has a negative objective (C3)");
  size_t lookups = getLookups().size();
  for (SizeAttr size : {getPrepareArena(), getComputeArena()})
    if (!size.getPerId().empty() &&
        size.getPerId().size() != getFields().size())
      return emitOpError() << "arena size " << size << " must have "
                           << getFields().size()
                           << " entries of `ids`, one for each field";
  for (SizeAttr size : {getPrepareArena(), getComputeArena()})
    if (size.getPerKey().size() != lookups ||
        size.getPerOccurrence().size() != lookups)
      return emitOpError() << "arena size " << size << " must have " << lookups
                           << " entries of `keys` and of `occurrences`, one "
                              "for each lookup";
  if (getJoined().size() % 2 != 0 ||
      llvm::any_of(getJoined(), [&](int32_t field) {
        return field < 0 || field >= static_cast<int64_t>(getFields().size());
      }))
    return emitOpError("joins fields that are not pairs of its own (C5)");
  for (auto range : getIdRanges().getAsRange<IdRangeAttr>())
    if (range.getField() < 0 ||
        range.getField() >= static_cast<int64_t>(getFields().size()))
      return emitOpError() << "has " << range << " of no field of its own (C5)";
  if (getFrozen() && (!getUpdates().empty() || getHasLoss()))
    return emitOpError() << "is frozen, but has updates or a loss";
  return success();
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *op = getOperation();
  if (failed(verifyFunction(op, tables, getPrepareAttr())) ||
      failed(verifyFunction(op, tables, getComputeAttr())))
    return failure();
  auto record =
      tables.lookupNearestSymbolFrom<nn::RecordOp>(op, getRecordAttr());
  if (!record)
    return emitOpError() << getRecordAttr() << " is not an nn.record";
  for (auto field : getFields().getAsRange<FlatSymbolRefAttr>())
    if (!tables.lookupSymbolIn<nn::FieldOp>(record, field.getAttr()))
      return emitOpError() << field << " is not a field of record "
                           << getRecordAttr();
  auto lookups = llvm::to_vector(getLookups().getAsRange<FlatSymbolRefAttr>());
  for (FlatSymbolRefAttr lookup : lookups)
    if (!tables.lookupNearestSymbolFrom<nn::TableOp>(op, lookup))
      return emitOpError() << "lookup " << lookup << " is not an nn.table";
  for (auto [symbol, lookup] : llvm::zip_equal(
           getUpdates().getAsRange<FlatSymbolRefAttr>(), getUpdateLookups())) {
    if (tables.lookupNearestSymbolFrom<nn::ParamOp>(op, symbol)) {
      if (lookup != -1)
        return emitOpError()
               << "update of parameter " << symbol << " must have lookup -1";
      continue;
    }
    if (!tables.lookupNearestSymbolFrom<nn::TableOp>(op, symbol))
      return emitOpError() << "update " << symbol
                           << " is neither an nn.param nor an nn.table";
    if (lookup < 0 || lookup >= static_cast<int64_t>(lookups.size()) ||
        lookups[lookup] != symbol)
      return emitOpError() << "update of table " << symbol
                           << " must name the index of its lookup, not "
                           << lookup;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// rt.gradient
//===----------------------------------------------------------------------===//

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *symbol =
      tables.lookupNearestSymbolFrom(*this, getSymbolAttr().getAttr());
  if (!isa_and_nonnull<nn::ParamOp, nn::TableOp>(symbol))
    return emitOpError() << getSymbolAttr()
                         << " is neither an nn.param nor an nn.table";
  if (isa<nn::TableOp>(symbol) != bool(getKeys()))
    return emitOpError() << "of " << getSymbolAttr()
                         << " has keys exactly if it is a table";
  if (getEarly() && getKeys())
    return emitOpError() << "of table " << getSymbolAttr()
                         << " cannot be early: its rows leave together (C2)";
  return success();
}

//===----------------------------------------------------------------------===//
// rt.once_kernel, rt.update_kernel
//===----------------------------------------------------------------------===//

LogicalResult OnceKernelOp::verify() {
  auto count = static_cast<int32_t>(getScalarNames().size());
  if (count < 1)
    return emitOpError(
        "must write at least one scalar, the sum of weights (C2)");
  for (int32_t divisor : getDivisors())
    if (divisor < 0 || divisor >= count)
      return emitOpError() << "divides by scalar " << divisor << " of " << count
                           << " (C3)";
  if (!getElementType().isF32() && !getElementType().isF64())
    return emitOpError() << "writes scalars of type " << getElementType()
                         << "; they are f32 or f64 (C2)";
  return success();
}

LogicalResult OnceKernelOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<nn::GroupOp>(*this, getGroupAttr()))
    return emitOpError() << getGroupAttr() << " is not an nn.group";
  return verifyFunction(*this, tables, getCalleeAttr());
}

LogicalResult UpdateKernelOp::verify() {
  if (getSlotNames().size() != getSlotValues().size())
    return emitOpError() << "has " << getSlotNames().size() << " slots, but "
                         << getSlotValues().size() << " initial values";
  if (getRowSlots() > getSlotNames().size())
    return emitOpError() << "has " << getSlotNames().size()
                         << " slots, but says that " << getRowSlots()
                         << " have one element for each row (C2)";
  if (getFrozenPart() > getSlotNames().size() - getRowSlots())
    return emitOpError() << "has frozen programs read part " << getFrozenPart()
                         << ", but only "
                         << getSlotNames().size() - getRowSlots()
                         << " slots of the value's size (C3)";
  if (!getCountWeights().empty() && getCountWeights().size() != getCounts())
    return emitOpError() << "has " << getCounts() << " counts, and "
                         << getCountWeights().size() << " weights of them (C5)";
  if (getWholeParameter() && (getWholeRows() || getRowSlots()))
    return emitOpError("is called for a whole parameter, and knows rows (C4)");
  return success();
}

LogicalResult UpdateKernelOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *symbol =
      tables.lookupNearestSymbolFrom(*this, getSymbolAttr().getAttr());
  if (!isa_and_nonnull<nn::ParamOp, nn::TableOp>(symbol))
    return emitOpError() << getSymbolAttr()
                         << " is neither an nn.param nor an nn.table";
  if (getWholeParameter() && !isa<nn::ParamOp>(symbol))
    return emitOpError() << "is called for a whole parameter, and "
                         << getSymbolAttr() << " is a table (C4)";
  if (getCounts() && !isa<nn::TableOp>(symbol))
    return emitOpError() << "has counts of rows, and " << getSymbolAttr()
                         << " is no table (C5)";
  FlatSymbolRefAttr name = nn::groupOf(symbol);
  auto group =
      name ? tables.lookupNearestSymbolFrom<nn::GroupOp>(*this, name.getAttr())
           : nn::GroupOp();
  if (getSeen() && !(group && group.getCompensation()))
    return emitOpError() << "takes what gradients were computed on, and no "
                            "group of "
                         << getSymbolAttr() << " compensates delays (C6)";
  if (getOnDevice()) {
    if (getSeen() || getWholeParameter())
      return emitOpError() << "has a device launch " << getOnDeviceAttr()
                           << ", which knows neither seen nor "
                              "whole_parameter (C7)";
    if (failed(verifyFunction(*this, tables, getOnDeviceAttr())))
      return failure();
  }
  return verifyFunction(*this, tables, getCalleeAttr());
}
