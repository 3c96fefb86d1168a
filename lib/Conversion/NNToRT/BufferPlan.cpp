//===- BufferPlan.cpp - Memory of the tensors of a program ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferPlan.h"
#include "pdlc/Interfaces/StageOpInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pdlc;

/// End of a lifetime that exceeds its stage.
static constexpr unsigned kForever = ~0u;

/// Returns the operand of which the op's result is a view; null if it is not a
/// view.
static Value viewSource(Operation *op) {
  auto inStage = dyn_cast_or_null<StageOpInterface>(op);
  return inStage ? inStage.getViewSource() : Value();
}

Part BufferPlan::locate(Value tensor) const {
  Part part{tensor, std::nullopt};
  while (true) {
    if (Value source = viewSource(part.root.getDefiningOp())) {
      part.root = source;
      continue;
    }
    auto found = columnsOf.find(part.root);
    if (found == columnsOf.end())
      return part;
    const auto &[holder, columns] = found->second;
    part.root = holder;
    if (!part.columns) {
      part.columns = columns;
      continue;
    }
    // A row of the intermediate tensor is a run of columns of the outer one.
    part.columns->offset += columns.offset;
    part.columns->row = columns.row;
  }
}

bool BufferPlan::isView(Operation *op) const {
  if (viewSource(op))
    return true;
  auto inStage = dyn_cast<StageOpInterface>(op);
  Columns columns;
  return inStage && inStage.findSource(columns) &&
         columnsOf.contains(op->getResult(0));
}

std::optional<unsigned> pdlc::runDimension(ArrayRef<int64_t> shape,
                                           int64_t run) {
  std::optional<unsigned> found;
  int64_t elements = 1;
  for (unsigned dimension = shape.size();; --dimension) {
    if (elements == run)
      found = dimension;
    if (dimension == 0 || ShapedType::isDynamic(shape[dimension - 1]) ||
        elements > run)
      return found;
    elements *= shape[dimension - 1];
  }
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

BufferPlan::BufferPlan(nn::ProgramOp program, const HomeNumbers &numbers,
                       bool joinsLoops)
    : sizes(numbers.sizes), joinsLoops(joinsLoops) {
  Block &body = program.getBody().front();
  numberOps(body);
  findLoops(body);
  body.walk([&](BodyOpInterface owner) {
    for (Region &inner : owner->getRegions())
      findLoops(inner.front());
  });
  placeGiven(program, numbers);
  findColumns(body);
  claimResults(program);
  for (const nn::StageProperties &properties : nn::allStages())
    if (properties.isFunction)
      planArena(body,
                nn::StageAttr::get(program.getContext(), properties.stage));
}

/// Returns true if the op has one body that runs once for each row and carries
/// states, such as a scan. Returns false if the op runs one of its bodies once,
/// such as an `nn.if`.
static bool repeats(BodyOpInterface owner) {
  return !owner.getStateArguments().empty();
}

void BufferPlan::numberOps(Block &body) {
  for (Operation &op : body) {
    const unsigned begin = positions.size();
    positions[&op] = {begin, begin};
    if (auto owner = dyn_cast<BodyOpInterface>(op); owner && !repeats(owner))
      for (Region &inner : owner->getRegions())
        numberOps(inner.front());
    positions[&op].second = positions.size() - 1;
  }
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// Maximum number of ops in one loop. With more ops, compiling the loop would
/// cost more than another pass over memory.
static constexpr unsigned kMaxOpsOfLoop = 32;

/// Maximum number of tensors that one loop reads and writes. The addresses of
/// more tensors would not fit into registers.
static constexpr unsigned kMaxTensorsOfLoop = 12;

/// Returns the op if it is elementwise and can be part of a loop; else null.
static ElementwiseOpInterface elementsOf(Operation *op) {
  auto elementwise = dyn_cast_or_null<ElementwiseOpInterface>(op);
  return elementwise && !viewSource(op) ? elementwise
                                        : ElementwiseOpInterface();
}

ArrayRef<Operation *> BufferPlan::loopOf(Operation *op) const {
  auto found = loopNumbers.find(op);
  if (found == loopNumbers.end())
    return {};
  return loops[found->second];
}

ArrayRef<SmallVector<Operation *>> BufferPlan::rowStepsOf(Operation *op) const {
  auto number = loopNumbers.find(op);
  if (number == loopNumbers.end())
    return {};
  auto steps = rowSteps.find(number->second);
  if (steps == rowSteps.end())
    return {};
  return steps->second;
}

bool pdlc::isInnerTo(ArrayRef<Operation *> ops, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return llvm::is_contained(ops, user);
  });
}

bool BufferPlan::isScalar(Value value) const {
  ArrayRef<Operation *> loop = loopOf(value.getDefiningOp());
  return !loop.empty() && !value.use_empty() && isInnerTo(loop, value);
}

size_t BufferPlan::fusedCount() const {
  size_t count = 0;
  for (ArrayRef<Operation *> loop : loops)
    count += loop.empty() ? 0 : loop.size() - 1;
  return count;
}

/// Returns true if loop number `loop` can move to `place`, together with the
/// ops `joined`. Before `place`, only these ops and the loop itself may read
/// its results.
bool BufferPlan::canMoveTo(Operation *place, unsigned loop,
                           ArrayRef<Operation *> joined) const {
  return llvm::all_of(loops[loop], [&](Operation *member) {
    return llvm::all_of(member->getUsers(), [&](Operation *user) {
      Operation *here = place->getBlock()->findAncestorOpInBlock(*user);
      return llvm::is_contained(loops[loop], user) ||
             llvm::is_contained(joined, user) ||
             (here && place->isBeforeInBlock(here));
    });
  });
}

/// Returns an upper bound on the number of tensors that the loop reads and
/// writes.
static unsigned countTensors(ArrayRef<Operation *> loop) {
  llvm::SmallDenseSet<Value> tensors;
  for (Operation *op : loop) {
    const unsigned count =
        cast<ElementwiseOpInterface>(op).getNumElementOperands();
    for (Value operand : op->getOperands().take_front(count))
      if (!llvm::is_contained(loop, operand.getDefiningOp()))
        tensors.insert(operand);
    if (!isInnerTo(loop, op->getResult(0)))
      tensors.insert(op->getResult(0));
  }
  return tensors.size();
}

/// Fuses the loop of `op` with the loops that compute its operands, and with
/// loops that read the same tensors. Each tensor is then read once, and a
/// tensor that is used only inside the loop needs no memory. Only loops over
/// the same number of elements are fused: a larger loop, which repeats an
/// operand, would compute each of its elements several times.
void BufferPlan::joinLoops(Operation *op) {
  llvm::SmallSetVector<unsigned, 8> candidates;
  auto addCandidate = [&](Operation *other) {
    auto found = loopNumbers.find(other);
    // Checks the size here, before the costly part of the search: if a tensor
    // has thousands of readers, many of their loops are full.
    if (found == loopNumbers.end() ||
        loops[found->second].size() >= kMaxOpsOfLoop ||
        other->getBlock() != op->getBlock() ||
        !elementsOf(loops[found->second].back()) ||
        stageOf(other) != stageOf(op) ||
        other->getResult(0).getType() != op->getResult(0).getType())
      return;
    candidates.insert(found->second);
  };
  const unsigned count =
      cast<ElementwiseOpInterface>(op).getNumElementOperands();
  auto read = op->getOperands().take_front(count);
  for (Value operand : read)
    if (elementsOf(operand.getDefiningOp()))
      addCandidate(operand.getDefiningOp());
  for (Value operand : read)
    if (operand.getType() == op->getResult(0).getType())
      for (OpOperand &use : operand.getUses())
        if (elementsOf(use.getOwner()) &&
            use.getOperandNumber() <
                elementsOf(use.getOwner()).getNumElementOperands())
          addCandidate(use.getOwner());

  SmallVector<Operation *> joined{op};
  // A loop that cannot move alone may be able to move together with a loop that
  // reads its results. So try again after each success.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned candidate : candidates) {
      if (loops[candidate].empty() || !canMoveTo(op, candidate, joined))
        continue;
      SmallVector<Operation *> both(loops[candidate]);
      llvm::append_range(both, joined);
      if (both.size() > kMaxOpsOfLoop || countTensors(both) > kMaxTensorsOfLoop)
        continue;
      joined = std::move(both);
      loops[candidate].clear();
      changed = true;
    }
  }
  llvm::sort(joined, [](Operation *first, Operation *second) {
    return first->isBeforeInBlock(second);
  });
  for (Operation *member : joined)
    loopNumbers[member] = loops.size();
  loops.push_back(std::move(joined));
}

/// Makes the op compute, in its own loop, the operands that only it reads.
void BufferPlan::takeLoop(StageOpInterface op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *made = operand.get().getDefiningOp();
    auto found = loopNumbers.find(made);
    if (found == loopNumbers.end() || made->getBlock() != op->getBlock() ||
        stageOf(made) != stageOf(op) || !operand.get().hasOneUse() ||
        !op.computesElements(operand))
      continue;
    SmallVector<Operation *> &loop = loops[found->second];
    if (!elementsOf(loop.back()) || !canMoveTo(op, found->second, {op}) ||
        llvm::any_of(loop, [&](Operation *member) {
          return member != made && !isScalar(member->getResult(0));
        }))
      continue;
    loop.push_back(op);
    loopNumbers[op] = found->second;
    return;
  }
}

//===----------------------------------------------------------------------===//
// Loops over rows
//===----------------------------------------------------------------------===//

/// Maximum number of elements of a row in a loop over rows. Rows that are used
/// only inside the loop are on the stack, and the code that reduces a row is
/// unrolled.
static constexpr int64_t kLongestRow = 512;

/// Returns the type of the tensor of which the op reduces each row to one
/// element. Returns null if the op is no such op, or cannot be part of a loop
/// over rows.
static RankedTensorType combinedRows(Operation *op) {
  auto inStage = dyn_cast_or_null<StageOpInterface>(op);
  if (!inStage || !inStage.combinesRows())
    return {};
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  ArrayRef<int64_t> shape = type.getShape();
  const bool fits = shape.size() > 1 && type.isDynamicDim(0) &&
                    !ShapedType::isDynamicShape(shape.drop_front()) &&
                    shape.back() > 1 && shape.back() <= kLongestRow;
  return fits ? type : RankedTensorType();
}

/// Returns true if `type` has the same dimensions as `rows`. The last one may
/// instead be 1: one element for each row.
static bool hasRowsOf(RankedTensorType rows, Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return shape.size() == rows.getShape().size() &&
         shape.drop_back() == rows.getShape().drop_back() &&
         (shape.back() == 1 || shape.back() == rows.getShape().back());
}

/// Returns the operands whose elements an op of a loop over rows reads.
static OperandRange elementsReadBy(Operation *op) {
  auto elementwise = elementsOf(op);
  return op->getOperands().take_front(
      elementwise ? elementwise.getNumElementOperands() : 1);
}

/// Follows views to the value that has the memory of `value`, and returns it.
/// Sets `staysSame` to true if all these values have the same type, else to
/// false.
static Value rootOf(Value value, bool &staysSame) {
  Type type = value.getType();
  staysSame = true;
  while (Value source = viewSource(value.getDefiningOp())) {
    value = source;
    staysSame &= value.getType() == type;
  }
  return value;
}

/// Returns the type of the tensor whose rows the loop reduces; null if no op of
/// the loop reduces rows.
RankedTensorType BufferPlan::rowsOf(ArrayRef<Operation *> loop) const {
  for (Operation *op : loop)
    if (RankedTensorType rows = combinedRows(op))
      return rows;
  return {};
}

/// Finds the loops that compute inputs of `loop` and could become part of a
/// loop over rows. Returns the last op of each.
SmallVector<Operation *>
BufferPlan::findBefore(ArrayRef<Operation *> loop) const {
  SmallVector<Operation *> ends;
  for (Operation *op : loop)
    for (Value operand : elementsReadBy(op)) {
      bool staysSame;
      Operation *made = rootOf(operand, staysSame).getDefiningOp();
      if (!made || made->getBlock() != op->getBlock() ||
          stageOf(made) != stageOf(op) || llvm::is_contained(loop, made))
        continue;
      ArrayRef<Operation *> other = loopOf(made);
      Operation *end = other.empty() ? made : other.back();
      if ((elementsOf(end) || combinedRows(end)) &&
          !llvm::is_contained(ends, end))
        ends.push_back(end);
    }
  return ends;
}

/// Returns true if the ops `joined` contain all users of `value` that come
/// before `place`. Looks through views. A user in a fused loop is at the
/// position of that loop.
bool BufferPlan::isReadAfter(Operation *place, Value value,
                             ArrayRef<Operation *> joined) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (llvm::is_contained(joined, user))
      return true;
    Operation *here = place->getBlock()->findAncestorOpInBlock(*user);
    if (here == user && viewSource(user))
      return isReadAfter(place, user->getResult(0), joined);
    if (!here)
      return false;
    ArrayRef<Operation *> loop = loopOf(here);
    return place->isBeforeInBlock(loop.empty() ? here : loop.back());
  });
}

/// Returns true if `ops` can share a loop over rows: of a value that one of the
/// ops computes, an iteration reads only its own row.
static bool readOwnRows(ArrayRef<Operation *> ops, RankedTensorType rows) {
  return llvm::all_of(ops, [&](Operation *op) {
    return llvm::all_of(elementsReadBy(op), [&](Value operand) {
      bool staysSame;
      Value root = rootOf(operand, staysSame);
      return !llvm::is_contained(ops, root.getDefiningOp()) ||
             (staysSame && hasRowsOf(rows, operand.getType()));
    });
  });
}

/// Fuses the loop that ends at `place` with the loops that compute its inputs,
/// if one of them reduces rows. A loop that reduces no rows and computes one
/// element per row does not move into `place`, because where it is, it runs
/// over all rows in parallel.
void BufferPlan::joinRows(Operation *place) {
  SmallVector<Operation *> own(loopOf(place));
  if (own.empty())
    own.push_back(place);
  SmallVector<Operation *> candidates = findBefore(own);
  RankedTensorType rows = rowsOf(own);
  for (Operation *candidate : candidates)
    if (!rows)
      rows = rowsOf(loopOf(candidate).empty() ? ArrayRef(candidate)
                                              : loopOf(candidate));
  if (!rows ||
      (elementsOf(place) && !hasRowsOf(rows, place->getResult(0).getType())))
    return;

  SmallVector<SmallVector<Operation *>> steps{own};
  SmallVector<Operation *> joined(own);
  bool combines = rowsOf(own) != nullptr;
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *candidate : candidates) {
      SmallVector<Operation *> loop(loopOf(candidate));
      if (loop.empty())
        loop.push_back(candidate);
      RankedTensorType otherRows = rowsOf(loop);
      if (llvm::is_contained(joined, candidate) ||
          (otherRows ? otherRows != rows
                     : candidate->getResult(0).getType() != rows))
        continue;
      SmallVector<Operation *> both(loop);
      llvm::append_range(both, joined);
      if (both.size() > kMaxOpsOfLoop || !readOwnRows(both, rows) ||
          !llvm::all_of(loop, [&](Operation *member) {
            return isReadAfter(place, member->getResult(0), both);
          }))
        continue;
      if (ArrayRef<SmallVector<Operation *>> known = rowStepsOf(candidate);
          !known.empty())
        steps.append(known.begin(), known.end());
      else
        steps.push_back(loop);
      joined = std::move(both);
      combines |= otherRows != nullptr;
      changed = true;
    }
  }
  if (steps.size() == 1 || !combines)
    return;
  for (Operation *member : joined)
    if (auto found = loopNumbers.find(member); found != loopNumbers.end()) {
      loops[found->second].clear();
      rowSteps.erase(found->second);
    }
  llvm::sort(steps,
             [](ArrayRef<Operation *> first, ArrayRef<Operation *> second) {
               return first.back()->isBeforeInBlock(second.back());
             });
  SmallVector<Operation *> all;
  for (ArrayRef<Operation *> step : steps)
    llvm::append_range(all, step);
  for (Operation *member : all)
    loopNumbers[member] = loops.size();
  rowSteps[loops.size()] = std::move(steps);
  loops.push_back(std::move(all));
}

void BufferPlan::findLoops(Block &body) {
  if (!joinsLoops) {
    for (Operation &op : body)
      if (elementsOf(&op)) {
        loopNumbers[&op] = loops.size();
        loops.push_back({&op});
      }
    return;
  }
  for (Operation &op : body)
    if (elementsOf(&op))
      joinLoops(&op);
    else if (auto inStage = dyn_cast<StageOpInterface>(op))
      takeLoop(inStage);
  for (Operation &op : body)
    if (ArrayRef<Operation *> loop = loopOf(&op);
        loop.empty() ? combinedRows(&op) != nullptr
                     : loop.back() == &op && elementsOf(&op))
      joinRows(&op);
}

unsigned BufferPlan::position(Operation *op) const {
  ArrayRef<Operation *> loop = loopOf(op);
  return positions.at(loop.empty() ? op : loop.back()).first;
}

unsigned BufferPlan::endOf(Operation *op) const {
  ArrayRef<Operation *> loop = loopOf(op);
  return positions.at(loop.empty() ? op : loop.back()).second;
}

//===----------------------------------------------------------------------===//
// Homes in the step context
//===----------------------------------------------------------------------===//

/// Sets the homes of values that already have memory in the step context.
void BufferPlan::placeGiven(nn::ProgramOp program, const HomeNumbers &numbers) {
  Block &body = program.getBody().front();
  unsigned argument = 0;
  for (auto [index, field] : llvm::enumerate(program.getFields())) {
    homes[body.getArgument(argument++)] =
        Home::inContext(rt::Place::field_values, index);
    if (field.isRagged())
      homes[body.getArgument(argument++)] =
          Home::inContext(rt::Place::field_splits, index);
  }
  body.walk([&](StageOpInterface inStage) {
    for (OpResult result : inStage->getResults())
      if (Home home; inStage.findHome(result, numbers, home))
        homes[result] = home;
  });
}

/// Makes the program compute its gradients and outputs directly in the memory
/// of the step context, where that is possible. `StageEmitter::copyResults`
/// copies the others.
void BufferPlan::claimResults(nn::ProgramOp program) {
  auto claim = [&](Value value, rt::Place place, int64_t index) {
    auto [from, columns] = locate(value);
    if (!columns && from.getDefiningOp() && !homes.contains(from) &&
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
// Columns of other tensors
//===----------------------------------------------------------------------===//

/// Returns true if the elements are read, and not only their number.
static bool isReadFromBuffer(OpOperand &use) {
  auto user = dyn_cast<StageOpInterface>(use.getOwner());
  return !user || user.readsElements(use);
}

/// Returns true if all users of the value can read it with a gap after each
/// `run` elements. Ignores the use `except`.
bool BufferPlan::areRead(Value value, int64_t run,
                         const OpOperand *except) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    auto user = dyn_cast<StageOpInterface>(use.getOwner());
    if (user && user.getViewSource())
      return areRead(use.getOwner()->getResult(0), run, except);
    return &use == except || !isReadFromBuffer(use) ||
           (user && (isView(user) || user.readsColumns(use, run)));
  });
}

/// Returns true if readers of the result of `op` can read it in the memory of
/// its first operand, as `columns` of that operand.
bool BufferPlan::canRepeat(Operation *op, const Columns &columns) const {
  std::optional<Columns> outer = locate(op->getOperand(0)).columns;
  return (!outer || outer->run == columns.row) &&
         areRead(op->getResult(0), columns.run, nullptr);
}

/// Returns true if the operand can be computed directly into `columns` of its
/// user's result.
bool BufferPlan::canWriteTo(OpOperand &operand, const Columns &columns) const {
  auto [value, known] = locate(operand.get());
  auto maker = dyn_cast_or_null<StageOpInterface>(value.getDefiningOp());
  if (known || !maker || homes.contains(value) ||
      stageOf(maker) != stageOf(operand.getOwner()))
    return false;
  auto result = cast<OpResult>(value);
  if (!maker.writesColumns(result, columns.run))
    return false;
  // Other tensors may already be columns of this value. Its rows become parts
  // of wider rows, so these tensors keep a constant distance between rows only
  // if their rows are the rows of this value.
  for (const auto &[part, holder] : columnsOf)
    if (auto [root, inner] = locate(part);
        root == value && inner->row != columns.run)
      return false;
  return areRead(value, columns.run, &operand);
}

/// Decides for each op that only moves columns whether the move can be avoided:
/// either the producer of an operand writes directly to the destination, or
/// readers of the result read directly from the source.
void BufferPlan::findColumns(Block &body) {
  for (Operation &op : body) {
    auto inStage = dyn_cast<StageOpInterface>(op);
    if (!inStage)
      continue;
    Columns columns;
    if (inStage.findSource(columns) && canRepeat(&op, columns))
      columnsOf[op.getResult(0)] = {op.getOperand(0), columns};
    for (OpOperand &operand : op.getOpOperands())
      if (inStage.findPlace(operand, columns) && canWriteTo(operand, columns)) {
        columnsOf[locate(operand.get()).root] = {op.getResult(0), columns};
        inPlace.insert(&operand);
      }
  }
}

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

unsigned BufferPlan::lastRead(Operation *user) const {
  SmallVector<Operation *> readers{user};
  if (auto inStage = dyn_cast<StageOpInterface>(user))
    inStage.findReaders(readers);
  unsigned last = 0;
  for (Operation *reader : readers)
    last = std::max(last, endOf(reader));
  return last;
}

/// Returns the stage of an op, or of the op in whose body it is. Returns null
/// for the terminator of a program.
static nn::StageAttr stageAround(Operation *op) {
  while (!isa<nn::ProgramOp>(op->getParentOp()))
    op = op->getParentOp();
  return stageOf(op);
}

unsigned BufferPlan::lastRead(ArrayRef<Value> values, nn::StageAttr stage,
                              unsigned begin) const {
  unsigned end = begin;
  for (Value value : values)
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      // The results of views are among the values, too.
      if (isView(user) || !isReadFromBuffer(use))
        continue;
      if (stageAround(user) != stage)
        return kForever;
      end = std::max(end, lastRead(user));
    }
  return end;
}

SmallVector<Value> BufferPlan::localsOf(BodyOpInterface owner) const {
  SmallVector<Value> locals(owner.getStateArguments());
  for (Region &body : owner->getRegions())
    for (Operation &op : body.front()) {
      if (!isView(&op))
        for (Value result : op.getResults())
          if (Home::Kind kind = homes.lookup(result).kind;
              !isScalar(result) && (kind == Home::None || kind == Home::Arena))
            locals.push_back(result);
      if (auto nested = dyn_cast<BodyOpInterface>(op))
        llvm::append_range(locals, localsOf(nested));
    }
  return locals;
}

/// Adds the intermediate results and results of the ops of a block.
void BufferPlan::addTenants(Block &body, Tenants &tenants) const {
  // Tensors by the tensor in whose memory they are.
  DenseMap<Value, SmallVector<Value>> tensorsIn;
  for (Operation &op : body)
    for (Value result : op.getResults())
      tensorsIn[locate(result).root].push_back(result);
  auto add = [&](Value value, unsigned begin) {
    if (tenants.known.insert(value).second)
      tenants.add({value, nullptr},
                  {sizes.bytes(value), begin,
                   lastRead(tensorsIn.at(value), tenants.stage, begin)});
  };
  auto isDeferred = [](OpResult result) {
    auto inStage = dyn_cast<StageOpInterface>(result.getOwner());
    return inStage && inStage.isDeferred(result);
  };
  if (tenants.stage.getProperties().readsState)
    for (Operation &op : body)
      for (OpResult result : op.getResults())
        if (isDeferred(result) && !result.use_empty())
          add(result, 0);
  for (Operation &op : body.without_terminator()) {
    if (stageAround(&op) != tenants.stage || isView(&op) || isFused(&op))
      continue;
    SmallVector<Operation *> here{&op};
    if (ArrayRef<Operation *> loop = loopOf(&op); !loop.empty())
      here.assign(loop.begin(), loop.end());
    const unsigned at = position(&op), end = endOf(&op);
    // The memory of a wider tensor is needed as soon as one of its parts is
    // written.
    for (Operation *each : here)
      for (OpResult result : each->getResults())
        if (Value root = locate(result).root;
            !homes.contains(root) && !isDeferred(result) && !isScalar(result))
          add(root, at);
    auto addScratch = [&](StageOpInterface inStage) {
      if (Extent scratch; inStage.findScratch(sizes, scratch))
        tenants.add({Value(), inStage}, {scratch, at, end});
    };
    auto owner = dyn_cast<BodyOpInterface>(op);
    if (owner && !repeats(owner)) {
      for (Region &inner : owner->getRegions())
        addTenants(inner.front(), tenants);
      continue;
    }
    op.walk(addScratch);
    if (owner)
      for (Value local : localsOf(owner))
        tenants.add({local, nullptr}, {sizes.bytes(local), at, end});
  }
}

void BufferPlan::planArena(Block &body, nn::StageAttr stage) {
  Tenants tenants;
  tenants.stage = stage;
  addTenants(body, tenants);
  ArenaLayout layout(tenants.lifetimes);
  for (auto [number, tenant] : llvm::enumerate(tenants.all)) {
    const unsigned place = layout.placeOf(number);
    if (tenant.scratchOf) {
      scratches[tenant.scratchOf] = place;
      continue;
    }
    Home &home = homes[tenant.value];
    home.kind = Home::Arena;
    home.stage = stage;
    home.arenaPlace = place;
  }
  arenas[stage] = std::move(layout);
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
  for (const ArenaLayout::Pool &pool : arena(stage).getPools()) {
    const Extent bytes = pool.unit.scaled(pool.size);
    constant += bytes.constant + pool.lines * kBufferAlignment +
                pool.size * (pool.rounding - 1);
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
