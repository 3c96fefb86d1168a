//===- BufferPlan.cpp - Where the tensors of a program live ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferPlan.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pdlc;

/// The end of a lifetime that outlives its stage.
static constexpr unsigned kForever = ~0u;

std::optional<Stage> pdlc::stageOf(Operation *op) {
  auto stage = op->getAttrOfType<StringAttr>("stage");
  if (!stage)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Stage>>(stage.getValue())
      .Case("prepare", Stage::Prepare)
      .Case("compute", Stage::Compute)
      .Case("apply", Stage::Apply)
      .Default(std::nullopt);
}

/// Whether the result is the operand's memory under another type.
static bool isView(Operation *op) {
  return isa_and_nonnull<nn::ReshapeOp, nn::StopGradientOp>(op);
}

Value BufferPlan::root(Value tensor) {
  while (isView(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

static Home inContext(rt::Place place, int64_t index) {
  Home home;
  home.kind = Home::Place;
  home.place = place;
  home.index = index;
  return home;
}

BufferPlan::BufferPlan(
    nn::ProgramOp program, const ProgramSizes &sizes,
    llvm::function_ref<int64_t(FlatSymbolRefAttr)> parameterIndex)
    : sizes(sizes), parameterIndex(parameterIndex) {
  Block &body = program.getBody().front();
  unsigned next = 0;
  for (Operation &op : body)
    positions[&op] = next++;
  findFused(body);
  placeInContext(program);
  planArena(body, Stage::Prepare);
  planArena(body, Stage::Compute);
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

void BufferPlan::findFused(Block &body) {
  for (Operation &op : body) {
    if (!op.hasTrait<nn::Elementwise>() || isView(&op) || !op.hasOneUse())
      continue;
    Operation *user = *op.user_begin();
    // Same elements, same loop. Computing an operand inside of a larger loop
    // that repeats it would compute it more than once.
    if (user->hasTrait<nn::Elementwise>() && !isView(user) &&
        user->getResult(0).getType() == op.getResult(0).getType() &&
        stageOf(user) == stageOf(&op))
      fused.insert(&op);
  }
}

unsigned BufferPlan::position(Operation *op) const {
  while (isFused(op))
    op = *op->user_begin();
  return positions.at(op);
}

//===----------------------------------------------------------------------===//
// Homes in the step context
//===----------------------------------------------------------------------===//

/// Whether the op writes its result into memory that it is given.
static bool writesResult(Operation *op) {
  return op && !isa<nn::ReadOp, nn::ConstantOp, nn::PullOp, nn::UniqueOp>(op);
}

void BufferPlan::placeInContext(nn::ProgramOp program) {
  Block &body = program.getBody().front();
  unsigned argument = 0;
  for (auto [index, field] : llvm::enumerate(program.getFields())) {
    homes[body.getArgument(argument++)] =
        inContext(rt::Place::field_values, index);
    if (field.isRagged())
      homes[body.getArgument(argument++)] =
          inContext(rt::Place::field_splits, index);
  }
  auto claim = [&](Value value, rt::Place place, int64_t index) {
    Value from = root(value);
    if (writesResult(from.getDefiningOp()) && !homes.contains(from) &&
        stageOf(from.getDefiningOp()) == Stage::Compute)
      homes[from] = inContext(place, index);
  };
  for (Operation &op : body) {
    if (auto read = dyn_cast<nn::ReadOp>(op))
      homes[read.getResult()] =
          inContext(rt::Place::parameter, parameterIndex(read.getSymbolAttr()));
    else if (auto unique = dyn_cast<nn::UniqueOp>(op))
      homes[unique.getInverse()] =
          inContext(rt::Place::lookup_inverse,
                    std::max(0, sizes.lookupOf(unique.getKeys())));
    else if (isa<nn::ConstantOp>(op))
      homes[op.getResult(0)].kind = Home::Constant;
    else if (auto cross = dyn_cast<nn::CrossBagsOp>(op))
      homes[cross.getResult()].kind = Home::Allocated;
  }
  for (auto [index, update] : llvm::enumerate(gradientsOf(program)))
    claim(update.gradient, rt::Place::gradient, index);
  for (auto [index, output] :
       llvm::enumerate(program.getReturn().getOperands()))
    claim(output, rt::Place::output, index);
}

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

bool BufferPlan::isReadFromBuffer(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (auto broadcast = dyn_cast<nn::BroadcastOp>(user))
    return use.getOperandNumber() == 0;
  // Of the ids only their number counts.
  if (auto pool = dyn_cast<nn::PoolOp>(user))
    return !llvm::is_contained(pool.getIds(), use.get());
  if (auto gradient = dyn_cast<nn::PoolGradientOp>(user))
    return !llvm::is_contained(gradient.getIds(), use.get());
  return true;
}

void BufferPlan::planArena(Block &body, Stage stage) {
  SmallVector<Lifetime> lifetimes;
  // The last op of this stage that reads the value or a view of it.
  auto lastUse = [&](auto &self, Value value, unsigned begin) -> unsigned {
    unsigned end = begin;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isView(user))
        end = std::max(end, self(self, user->getResult(0), begin));
      else if (stageOf(user) != stage)
        end = isReadFromBuffer(use) ? kForever : end;
      else if (isReadFromBuffer(use))
        end = std::max(end, position(user));
    }
    return end;
  };
  auto add = [&](Value value, unsigned begin) {
    lifetimes.push_back({value, nullptr, sizes.bytes(value), begin,
                         lastUse(lastUse, value, begin)});
  };
  // Rows are pulled in prepare, but gathered when compute begins.
  if (stage == Stage::Compute)
    for (nn::PullOp pull : sizes.lookups())
      if (!pull.getRows().use_empty())
        add(pull.getRows(), 0);
  for (Operation &op : body) {
    if (stageOf(&op) != stage || !writesResult(&op) || isView(&op) ||
        isFused(&op) || isa<nn::LossSumOp>(op))
      continue;
    for (Value result : op.getResults())
      if (!homes.contains(result))
        add(result, position(&op));
    if (auto gradient = dyn_cast<nn::PoolGradientOp>(op);
        gradient && !gradient.getSplits().empty())
      lifetimes.push_back({Value(), &op,
                           sizes.first(gradient.getOccurrences()).scaled(4),
                           position(&op), position(&op)});
  }
  assignSlots(lifetimes, stage);
}

void BufferPlan::assignSlots(MutableArrayRef<Lifetime> lifetimes, Stage stage) {
  SmallVector<Slot> &slots =
      stage == Stage::Prepare ? prepareSlots : computeSlots;
  SmallVector<unsigned> freeAfter;
  for (Lifetime &lifetime : lifetimes) {
    unsigned slot = 0;
    while (slot < slots.size() && (freeAfter[slot] >= lifetime.begin ||
                                   slots[slot].bytes != lifetime.bytes))
      ++slot;
    if (slot == slots.size()) {
      slots.push_back({lifetime.bytes});
      freeAfter.push_back(0);
    }
    freeAfter[slot] = lifetime.end;
    if (lifetime.scratchOf) {
      scratches[lifetime.scratchOf] = slot;
      continue;
    }
    Home &home = homes[lifetime.value];
    home.kind = Home::Arena;
    home.stage = stage;
    home.slot = slot;
  }
}

rt::SizeAttr BufferPlan::arenaSize(Stage stage, MLIRContext *context) const {
  int64_t constant = 0, perBatch = 0;
  SmallVector<int64_t> perKey(sizes.lookups().size(), 0);
  SmallVector<int64_t> perOccurrence(sizes.lookups().size(), 0);
  for (const Slot &slot : slots(stage)) {
    const Extent &bytes = slot.bytes;
    // A size that varies is rounded up where it is known: room for that.
    constant += bytes.isStatic() || bytes.isMultipleOf(kBufferAlignment)
                    ? llvm::alignTo(bytes.constant, kBufferAlignment)
                    : bytes.constant + kBufferAlignment - 1;
    perBatch += bytes.perBatch;
    if (bytes.lookup >= 0) {
      perKey[bytes.lookup] += bytes.perKey;
      perOccurrence[bytes.lookup] += bytes.perOccurrence;
    }
  }
  return rt::SizeAttr::get(context, constant, perBatch, perKey, perOccurrence);
}
