//===- BufferPlan.cpp - Where the tensors of a program live ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferPlan.h"
#include "pdlc/Interfaces/StageOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pdlc;

/// The end of a lifetime that outlives its stage.
static constexpr unsigned kForever = ~0u;

/// The operand that the op's result is another view of, or null.
static Value viewSource(Operation *op) {
  auto inStage = dyn_cast_or_null<StageOpInterface>(op);
  return inStage ? inStage.getViewSource() : Value();
}

Value BufferPlan::root(Value tensor) {
  while (Value source = viewSource(tensor.getDefiningOp()))
    tensor = source;
  return tensor;
}

Home Home::ofKind(Kind kind) {
  Home home;
  home.kind = kind;
  return home;
}

Home Home::inContext(rt::Place place, int64_t index) {
  Home home = ofKind(Home::Place);
  home.place = place;
  home.index = index;
  return home;
}

BufferPlan::BufferPlan(nn::ProgramOp program, const HomeNumbers &numbers)
    : sizes(numbers.sizes) {
  Block &body = program.getBody().front();
  unsigned next = 0;
  for (Operation &op : body)
    positions[&op] = next++;
  findFused(body);
  placeInContext(program, numbers);
  for (const nn::StageProperties &properties : nn::allStages())
    if (properties.isFunction)
      planArena(body,
                nn::StageAttr::get(program.getContext(), properties.stage));
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// The most ops of one loop: beyond, compiling it costs more than passing over
/// memory once more.
static constexpr unsigned kMaxOpsOfLoop = 32;

void BufferPlan::findFused(Block &body) {
  // The ops of the loop that each op ends, itself included.
  DenseMap<Operation *, unsigned> opsOfLoop;
  auto countOf = [&](Operation *op) {
    return opsOfLoop.try_emplace(op, 1).first->second;
  };
  for (Operation &op : body) {
    if (!isa<ElementwiseOpInterface>(op) || viewSource(&op) || !op.hasOneUse())
      continue;
    Operation *user = *op.user_begin();
    // Same elements, same loop. Computing an operand inside of a larger loop
    // that repeats it would compute it more than once.
    if (isa<ElementwiseOpInterface>(user) && !viewSource(user) &&
        user->getResult(0).getType() == op.getResult(0).getType() &&
        stageOf(user) == stageOf(&op) &&
        countOf(&op) + countOf(user) <= kMaxOpsOfLoop) {
      fused.insert(&op);
      opsOfLoop[user] = countOf(user) + countOf(&op);
    }
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

void BufferPlan::placeInContext(nn::ProgramOp program,
                                const HomeNumbers &numbers) {
  Block &body = program.getBody().front();
  unsigned argument = 0;
  for (auto [index, field] : llvm::enumerate(program.getFields())) {
    homes[body.getArgument(argument++)] =
        Home::inContext(rt::Place::field_values, index);
    if (field.isRagged())
      homes[body.getArgument(argument++)] =
          Home::inContext(rt::Place::field_splits, index);
  }
  for (Operation &op : body)
    if (auto inStage = dyn_cast<StageOpInterface>(op))
      for (OpResult result : op.getResults())
        if (Home home; inStage.findHome(result, numbers, home))
          homes[result] = home;
  auto claim = [&](Value value, rt::Place place, int64_t index) {
    Value from = root(value);
    if (from.getDefiningOp() && !homes.contains(from) &&
        stageOf(from.getDefiningOp()).getProperties().readsState)
      homes[from] = Home::inContext(place, index);
  };
  for (auto [index, update] : llvm::enumerate(gradientsOf(program)))
    claim(update.gradient, rt::Place::gradient, index);
  for (auto [index, output] :
       llvm::enumerate(program.getReturn().getOperands()))
    claim(output, rt::Place::output, index);
}

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

/// Whether the elements are read, not only their number.
static bool isReadFromBuffer(OpOperand &use) {
  auto user = dyn_cast<StageOpInterface>(use.getOwner());
  return !user || user.readsElements(use);
}

unsigned BufferPlan::lastRead(Operation *user) const {
  unsigned last = position(user);
  // Ids are deduplicated where their rows are pulled.
  if (auto unique = dyn_cast<nn::UniqueOp>(user))
    for (Operation *pull : unique.getKeys().getUsers())
      if (isa<nn::PullOp>(pull))
        last = std::max(last, position(pull));
  return last;
}

void BufferPlan::planArena(Block &body, nn::StageAttr stage) {
  SmallVector<Lifetime> lifetimes;
  // The last op of this stage that reads the value or a view of it.
  auto lastUse = [&](auto &self, Value value, unsigned begin) -> unsigned {
    unsigned end = begin;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (viewSource(user))
        end = std::max(end, self(self, user->getResult(0), begin));
      else if (stageOf(user) != stage)
        end = isReadFromBuffer(use) ? kForever : end;
      else if (isReadFromBuffer(use))
        end = std::max(end, lastRead(user));
    }
    return end;
  };
  auto add = [&](Value value, unsigned begin) {
    lifetimes.push_back({value, nullptr, sizes.bytes(value), begin,
                         lastUse(lastUse, value, begin)});
  };
  // Rows are pulled in prepare, but gathered when compute begins.
  if (stage.getProperties().readsState)
    for (nn::PullOp pull : sizes.lookups())
      if (!pull.getRows().use_empty())
        add(pull.getRows(), 0);
  for (Operation &op : body) {
    if (stageOf(&op) != stage || viewSource(&op) || isFused(&op))
      continue;
    for (Value result : op.getResults())
      if (!homes.contains(result))
        add(result, position(&op));
    auto inStage = dyn_cast<StageOpInterface>(op);
    if (Extent scratch; inStage && inStage.findScratch(sizes, scratch))
      lifetimes.push_back(
          {Value(), &op, scratch, position(&op), position(&op)});
  }
  assignSlots(lifetimes, stage);
}

void BufferPlan::assignSlots(MutableArrayRef<Lifetime> lifetimes,
                             nn::StageAttr stage) {
  SmallVector<Slot> &slots = slotsOf[stage];
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

bool BufferPlan::isPlannable(const Extent &extent) const {
  return extent.perCount == 0 || fieldOf(extent.counted) >= 0;
}

int64_t BufferPlan::fieldOf(Value ids) const {
  Home home = homes.lookup(ids);
  return home.kind == Home::Place && home.place == rt::Place::field_values
             ? home.index
             : -1;
}

rt::SizeAttr BufferPlan::arenaSize(nn::StageAttr stage, unsigned fields) const {
  int64_t constant = 0, perBatch = 0;
  SmallVector<int64_t> perId(fields, 0);
  SmallVector<int64_t> perKey(sizes.lookups().size(), 0);
  SmallVector<int64_t> perOccurrence(sizes.lookups().size(), 0);
  for (const Slot &slot : slots(stage)) {
    const Extent &bytes = slot.bytes;
    // A size that varies is rounded up where it is known: room for that.
    constant += bytes.isStatic() || bytes.isMultipleOf(kBufferAlignment)
                    ? llvm::alignTo(bytes.constant, kBufferAlignment)
                    : bytes.constant + kBufferAlignment - 1;
    perBatch += bytes.perBatch;
    if (bytes.perCount != 0)
      perId[fieldOf(bytes.counted)] += bytes.perCount;
    if (bytes.lookup >= 0) {
      perKey[bytes.lookup] += bytes.perKey;
      perOccurrence[bytes.lookup] += bytes.perOccurrence;
    }
  }
  if (llvm::all_of(perId, [](int64_t bytes) { return bytes == 0; }))
    perId.clear();
  return rt::SizeAttr::get(stage.getContext(), constant, perBatch,
                           /*perBatchSquared=*/0, perId, perKey, perOccurrence);
}
