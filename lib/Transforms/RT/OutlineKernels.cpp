//===- OutlineKernels.cpp - Outline loop nests as kernels -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop nests that differ only in their inputs share one kernel. To find them,
// each nest is described by a key: its ops, their attributes and types, and the
// flow of values between them. In the key, an input is numbered memory, or a
// scalar slot. Nests with equal keys differ only in memory and in the values of
// their slots.
//
// If a slot has the same constant value in all nests of a key, it is a constant
// of the kernel. All other slots become parameters. If two slots have equal
// values in each nest, they share a parameter.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <deque>
#include <map>

namespace pdlc {
#define GEN_PASS_DEF_RTOUTLINEKERNELS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------===//

namespace {

/// Canonical form of an address: a pointer that is not the result of an
/// rt.address, plus `bytes`, plus the values `offsets`.
struct Origin {
  Value root;
  SmallVector<Value, 2> offsets;
  int64_t bytes = 0;
};

/// Memory that a nest accesses: a pointer plus an offset in bytes.
struct Address {
  Value base;
  Value offset; // Null means 0.
  Origin origin;
  /// Minimum number of bytes that the nest accesses there; 0 if unknown.
  int64_t size = 0;
  /// True if the memory overlaps that of another address of the nest.
  bool overlaps = false;
};

/// View of an address in a nest.
struct View {
  Value memref;
  MemRefType type; // Type of the kernel's view, with a dynamic first dimension.
  unsigned address;
};

/// Scalar input of an op of the nest or of the size of a view.
struct Slot {
  Value value;
  /// The constant that `value` represents; null if it is not constant.
  Attribute constant;

  /// Returns a pointer that is equal exactly for slots with equal contents.
  const void *identity() const {
    return constant ? constant.getAsOpaquePointer()
                    : value.getAsOpaquePointer();
  }
};

/// A parallel or ordered loop at the top level of a stage, with the loads that
/// only it uses and the stores of its results.
class Nest {
public:
  explicit Nest(Operation *loop) : loop(loop) { collectMembers(); }

  /// Computes the members below. Fails if the nest uses a value that cannot be
  /// an argument of a kernel.
  LogicalResult read();

  /// Returns the number of an address in `addresses`. Adds the address if the
  /// nest has not used it yet.
  unsigned addressOf(Value base, Value offset);

  Operation *loop;
  SmallVector<Operation *> members; // In program order.
  std::string key;
  SmallVector<Address> addresses;
  SmallVector<View> views;
  SmallVector<Slot> slots;
  SmallVector<Value> results; // Results that are used after the nest.
  func::CallOp call; // Call that replaces the nest, once the kernel exists.

private:
  void collectMembers();
  void append(const void *pointer) {
    key.append(reinterpret_cast<const char *>(&pointer), sizeof(pointer));
  }
  void append(char tag, uint64_t number) {
    key.push_back(tag);
    key.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void define(ValueRange values) {
    for (Value value : values) {
      append(value.getType().getAsOpaquePointer());
      locals.try_emplace(value, locals.size());
    }
  }
  LogicalResult readOp(Operation *op);
  LogicalResult readOperand(OpOperand &operand);
  LogicalResult readMemory(OpOperand &operand);
  void findOverlaps();
  void readScalar(Value value);

  DenseMap<Value, unsigned> locals;
};

} // namespace

/// Returns true if a nest may be moved across the op.
static bool isTransparent(Operation *op) {
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

void Nest::collectMembers() {
  auto isInside = [&](Operation *user) { return loop->isAncestor(user); };
  llvm::SmallSetVector<Operation *, 8> loads, stores;
  for (Operation *op = loop->getPrevNode(); op && isTransparent(op);
       op = op->getPrevNode())
    if (isa<memref::LoadOp>(op) && !op->use_empty() &&
        llvm::all_of(op->getUsers(), isInside))
      loads.insert(op);
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    auto store = dyn_cast<memref::StoreOp>(op);
    if (store && store.getValueToStore().getDefiningOp() == loop) {
      stores.insert(op);
      continue;
    }
    if (!isMemoryEffectFree(op))
      break;
  }
  // The call replaces the last store. A user of a result before that would
  // precede the call, so then the stores stay outside of the kernel.
  Operation *last = stores.empty() ? nullptr : stores.back();
  for (Operation *user : loop->getUsers())
    if (last && !stores.contains(user) &&
        user->getBlock() == loop->getBlock() && user->isBeforeInBlock(last))
      stores.clear(), last = nullptr;
  llvm::append_range(members, llvm::reverse(loads));
  members.push_back(loop);
  llvm::append_range(members, stores);
}

/// Returns true if two values are known to be equal: they are the same value,
/// or results of equal ops on equal operands. Pointers of the step context are
/// included, because they do not change while a stage runs.
static bool areSame(Value a, Value b) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return first && second && first->getNumResults() == 1 &&
         (isMemoryEffectFree(first) || isa<rt::PointerOp>(first)) &&
         OperationEquivalence::isEquivalentTo(
             first, second, OperationEquivalence::IgnoreLocations);
}

/// Returns true if two addresses have the same pointer and the same offsets, so
/// that they differ only by a constant number of bytes.
static bool areComparable(const Origin &a, const Origin &b) {
  if (!areSame(a.root, b.root) || a.offsets.size() != b.offsets.size())
    return false;
  SmallVector<Value, 2> rest(b.offsets);
  for (Value offset : a.offsets) {
    auto *same = llvm::find_if(
        rest, [&](Value other) { return areSame(offset, other); });
    if (same == rest.end())
      return false;
    rest.erase(same);
  }
  return true;
}

/// Adds `offset` to the origin. Takes constant terms out of a sum, but does not
/// split it further: the sums of an arena have as many terms as the program has
/// buffers.
static void addOffset(Origin &origin, Value offset) {
  APInt number;
  while (true) {
    if (matchPattern(offset, m_ConstantInt(&number))) {
      origin.bytes += number.getSExtValue();
      return;
    }
    auto sum = offset.getDefiningOp<arith::AddIOp>();
    if (!sum)
      break;
    if (matchPattern(sum.getRhs(), m_ConstantInt(&number)))
      offset = sum.getLhs();
    else if (matchPattern(sum.getLhs(), m_ConstantInt(&number)))
      offset = sum.getRhs();
    else
      break;
    origin.bytes += number.getSExtValue();
  }
  origin.offsets.push_back(offset);
}

static Origin originOf(Value base, Value offset) {
  Origin origin;
  if (offset)
    addOffset(origin, offset);
  while (auto address = base.getDefiningOp<rt::AddressOp>()) {
    addOffset(origin, address.getOffset());
    base = address.getBase();
  }
  origin.root = base;
  return origin;
}

unsigned Nest::addressOf(Value base, Value offset) {
  if (offset && matchPattern(offset, m_Zero()))
    offset = {};
  Origin origin = originOf(base, offset);
  auto *known = llvm::find_if(addresses, [&](const Address &address) {
    return address.origin.bytes == origin.bytes &&
           areComparable(address.origin, origin);
  });
  unsigned number = known - addresses.begin();
  if (known == addresses.end())
    addresses.push_back({base, offset, std::move(origin)});
  return number;
}

void Nest::findOverlaps() {
  for (auto [i, second] : llvm::enumerate(addresses))
    for (Address &first : MutableArrayRef(addresses).take_front(i)) {
      const Address &low =
          first.origin.bytes < second.origin.bytes ? first : second;
      const Address &high = &low == &first ? second : first;
      if (low.origin.bytes + low.size > high.origin.bytes &&
          areComparable(low.origin, high.origin))
        first.overlaps = second.overlaps = true;
    }
  for (const Address &address : addresses)
    key.push_back(address.overlaps ? 'o' : 'd');
}

void Nest::readScalar(Value value) {
  Slot slot{value, {}};
  matchPattern(value, m_Constant(&slot.constant));
  slots.push_back(slot);
  key.push_back('s');
  append(value.getType().getAsOpaquePointer());
}

/// Returns a lower bound of the number of bytes from the first element of a
/// view to its last. A dynamic number of rows counts as one, because memory
/// that is used has at least one row.
static int64_t minBytes(MemRefType type) {
  Type element = type.getElementType();
  int64_t bytes =
      element.isIntOrFloat() ? element.getIntOrFloatBitWidth() / 8 : 0;
  int64_t elements = 1;
  for (auto [size, stride] :
       llvm::zip(type.getShape(), type.getStridesAndOffset().first)) {
    if (size == 0)
      return 0;
    if (!ShapedType::isDynamic(size))
      elements += (size - 1) * stride;
  }
  return bytes * elements;
}

LogicalResult Nest::readMemory(OpOperand &operand) {
  Value memref = operand.get();
  auto *known = llvm::find_if(
      views, [&](const View &view) { return view.memref == memref; });
  append('v', known - views.begin());
  if (known != views.end())
    return success();
  auto view = memref.getDefiningOp<rt::ViewOp>();
  if (!view)
    return operand.getOwner()->emitOpError(
        "uses memory that is no rt.view, so its loop cannot become a kernel");
  auto type = cast<MemRefType>(memref.getType());
  const int64_t bytes = minBytes(type);
  // The number of rows does not affect the position of an element.
  SmallVector<int64_t> shape(type.getShape());
  int64_t rows =
      shape.empty() ? 1 : std::exchange(shape[0], ShapedType::kDynamic);
  type = MemRefType::Builder(type).setShape(shape);
  unsigned address = addressOf(view.getBase(), view.getOffset());
  addresses[address].size = std::max(addresses[address].size, bytes);
  views.push_back({memref, type, address});
  append('p', address);
  append(type.getAsOpaquePointer());
  if (type.getRank() == 0)
    return success();
  if (Value size = view.getSize()) {
    readScalar(size);
    return success();
  }
  Builder builder(memref.getContext());
  slots.push_back({Value(), builder.getIndexAttr(rows)});
  key.push_back('s');
  append(builder.getIndexType().getAsOpaquePointer());
  return success();
}

LogicalResult Nest::readOperand(OpOperand &operand) {
  Value value = operand.get();
  auto local = locals.find(value);
  if (local != locals.end()) {
    append('l', local->second);
    return success();
  }
  if (isa<MemRefType>(value.getType()))
    return readMemory(operand);
  if (isa<LLVM::LLVMPointerType>(value.getType())) {
    append('p', addressOf(value, {}));
    return success();
  }
  if (!value.getType().isIntOrIndexOrFloat())
    return operand.getOwner()->emitOpError()
           << "uses a value of type " << value.getType()
           << " from outside of its loop; kernels take pointers and numbers";
  readScalar(value);
  return success();
}

LogicalResult Nest::readOp(Operation *op) {
  append(op->getName().getAsOpaquePointer());
  append(op->getAttrDictionary().getAsOpaquePointer());
  append('o', op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    if (failed(readOperand(operand)))
      return failure();
  append('r', op->getNumResults());
  define(op->getResults());
  for (Region &region : op->getRegions()) {
    append('b', region.getBlocks().size());
    if (region.getBlocks().size() > 1)
      return op->emitOpError("has branches, so it cannot become a kernel");
    for (Block &block : region) {
      append('a', block.getNumArguments());
      define(block.getArguments());
      for (Operation &nested : block)
        if (failed(readOp(&nested)))
          return failure();
      key.push_back('e');
    }
  }
  return success();
}

LogicalResult Nest::read() {
  for (Operation *member : members)
    if (failed(readOp(member)))
      return failure();
  for (Value result : loop->getResults()) {
    bool isUsed = llvm::any_of(result.getUsers(), [&](Operation *user) {
      return !llvm::is_contained(members, user);
    });
    key.push_back(isUsed ? 'y' : 'n');
    if (isUsed)
      results.push_back(result);
  }
  findOverlaps();
  return success();
}

//===----------------------------------------------------------------------===//
// Names of kernels
//===----------------------------------------------------------------------===//

/// Maximum number of ops in the name of a kernel.
static constexpr size_t kNamedOps = 6;

/// Returns a short name: `addf` becomes add, `pdlabi_expf` becomes exp.
static StringRef nameOf(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    name = call.getCallee();
    name.consume_front("pdlabi_");
  }
  if (name == "maximumf" || name == "minimumf")
    return name.take_front(3);
  if (isa<arith::ArithDialect>(op->getDialect()) ||
      isa<math::MathDialect>(op->getDialect()) || isa<func::CallOp>(op))
    name.consume_back("f");
  return name;
}

/// Returns a name that describes the nest, such as `elementwise_mul_add_f32`.
static std::string describe(Nest &nest) {
  SmallVector<StringRef> ops;
  Type element;
  bool reads = false, carries = nest.loop->getNumResults() > 0;
  DenseSet<Value> loaded, stored;
  auto describeOp = [&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      element = store.getMemRefType().getElementType();
      stored.insert(store.getMemRef());
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      reads = true;
      loaded.insert(load.getMemRef());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      carries |= loop.getNumResults() > 0;
    } else if (op->getNumResults() == 1 && op->getNumRegions() == 0 &&
               !op->hasTrait<OpTrait::ConstantLike>() &&
               !isa<IndexType, MemRefType>(op->getResult(0).getType())) {
      ops.push_back(nameOf(op));
    }
  };
  for (Operation *member : nest.members)
    member->walk<WalkOrder::PreOrder>(describeOp);
  bool reduces = carries || llvm::any_of(stored, [&](Value memref) {
                   return loaded.contains(memref);
                 });
  std::string name = "kernel.";
  name += reduces        ? "reduce"
          : !ops.empty() ? "elementwise"
          : reads        ? "copy"
                         : "fill";
  for (StringRef op : ArrayRef(ops).take_front(kNamedOps))
    name += "_" + op.str();
  if (ops.size() > kNamedOps)
    name += "_" + std::to_string(ops.size() - kNamedOps) + "_more";
  if (element) {
    llvm::raw_string_ostream stream(name);
    stream << '_' << element;
  }
  return name;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct OutlineKernels : pdlc::impl::RTOutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override;

private:
  LogicalResult collectNests(func::FuncOp stage);
  void outline(ArrayRef<Nest *> equal, SymbolTable &symbols);
  func::FuncOp createKernel(Nest &nest, ArrayRef<int> parameterOf,
                            ArrayRef<unsigned> parameters,
                            SymbolTable &symbols);
  void callKernel(Nest &nest, func::FuncOp kernel,
                  ArrayRef<unsigned> parameters);
  void replaceNests();
  void removeDead(func::FuncOp stage);

  // A deque, because pointers to its elements must stay valid.
  std::deque<Nest> nests;
};

} // namespace

LogicalResult OutlineKernels::collectNests(func::FuncOp stage) {
  for (Block &block : stage.getBody())
    for (Operation &op : block)
      if (isa<scf::ForOp, scf::ParallelOp>(op)) {
        nests.emplace_back(&op);
        if (failed(nests.back().read()))
          return failure();
      }
  return success();
}

func::FuncOp OutlineKernels::createKernel(Nest &nest, ArrayRef<int> parameterOf,
                                          ArrayRef<unsigned> parameters,
                                          SymbolTable &symbols) {
  Location loc = nest.loop->getLoc();
  OpBuilder builder(&getContext());
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  SmallVector<Type> inputs(nest.addresses.size(), pointer), results;
  auto typeOf = [&](const Slot &slot) -> Type {
    return slot.value ? slot.value.getType() : builder.getIndexType();
  };
  for (unsigned slot : parameters)
    inputs.push_back(typeOf(nest.slots[slot]));
  for (Value result : nest.results)
    results.push_back(result.getType());
  auto kernel = func::FuncOp::create(loc, describe(nest),
                                     builder.getFunctionType(inputs, results));
  kernel.setPrivate();
  // Set LLVM's own attribute, because the conversion to LLVM drops func's.
  kernel->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  // The symbol table renames the kernel if the name is in use.
  auto stage = nest.loop->getParentOfType<func::FuncOp>();
  symbols.insert(kernel, stage->getIterator());
  // The buffer plan and the step context guarantee that an op does not write
  // memory that it reads through another address. Only addresses that visibly
  // overlap, which do not come from the plan, get no attribute.
  for (auto [i, address] : llvm::enumerate(nest.addresses))
    if (!address.overlaps)
      kernel.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());

  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToStart(body);
  DenseMap<Attribute, Value> constants;
  auto constant = [&](Attribute attribute) {
    Value &value = constants[attribute];
    if (!value)
      value =
          arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
    return value;
  };
  Value zero = constant(builder.getIndexAttr(0));
  unsigned nextSlot = 0;
  auto fillSlot = [&]() -> Value {
    unsigned slot = nextSlot++;
    if (parameterOf[slot] < 0)
      return constant(nest.slots[slot].constant);
    return body->getArgument(nest.addresses.size() + parameterOf[slot]);
  };

  IRMapping mapping;
  DenseMap<Value, Value> memories;
  // Follow the order of Nest::readOp, which numbered the slots.
  auto fillOperands = [&](auto &self, Operation *from, Operation *to) -> void {
    for (OpOperand &operand : to->getOpOperands()) {
      Value outer = from->getOperand(operand.getOperandNumber());
      if (operand.get() != outer)
        continue; // Defined inside the nest, so the clone has its own operand.
      if (auto type = dyn_cast<MemRefType>(outer.getType())) {
        Value &memory = memories[outer];
        if (!memory) {
          const View &view = *llvm::find_if(
              nest.views, [&](const View &v) { return v.memref == outer; });
          Value size = view.type.getRank() > 0 ? fillSlot() : Value();
          OpBuilder::InsertionGuard guard(builder);
          memory =
              rt::ViewOp::create(builder, loc, view.type,
                                 body->getArgument(view.address), zero, size);
        }
        operand.set(memory);
      } else if (isa<LLVM::LLVMPointerType>(outer.getType())) {
        operand.set(body->getArgument(nest.addressOf(outer, {})));
      } else {
        operand.set(fillSlot());
      }
    }
    for (auto [fromRegion, toRegion] :
         llvm::zip(from->getRegions(), to->getRegions()))
      for (auto [fromBlock, toBlock] : llvm::zip(fromRegion, toRegion))
        for (auto [fromOp, toOp] : llvm::zip(fromBlock, toBlock))
          self(self, &fromOp, &toOp);
  };
  SmallVector<Operation *> clones;
  for (Operation *member : nest.members)
    clones.push_back(builder.clone(*member, mapping));
  SmallVector<Value> returned;
  for (Value result : nest.results)
    returned.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, returned);
  builder.setInsertionPoint(clones.front());
  for (auto [member, clone] : llvm::zip(nest.members, clones))
    fillOperands(fillOperands, member, clone);
  return kernel;
}

void OutlineKernels::callKernel(Nest &nest, func::FuncOp kernel,
                                ArrayRef<unsigned> parameters) {
  Operation *last = nest.members.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  Location loc = nest.loop->getLoc();
  SmallVector<Value> arguments;
  for (const Address &address : nest.addresses) {
    if (!address.offset) {
      arguments.push_back(address.base);
      continue;
    }
    arguments.push_back(rt::AddressOp::create(
        builder, loc, address.base.getType(), address.base, address.offset));
  }
  for (unsigned number : parameters) {
    const Slot &slot = nest.slots[number];
    if (slot.value)
      arguments.push_back(slot.value);
    else
      arguments.push_back(arith::ConstantOp::create(
          builder, loc, cast<TypedAttr>(slot.constant)));
  }
  nest.call = func::CallOp::create(builder, loc, kernel, arguments);
}

void OutlineKernels::replaceNests() {
  // A nest may use results of another one. So create all calls first, and then
  // erase the nests.
  for (Nest &nest : nests)
    for (auto [result, value] : llvm::zip(nest.results, nest.call.getResults()))
      result.replaceAllUsesWith(value);
  for (Nest &nest : nests)
    for (Operation *member : llvm::reverse(nest.members))
      member->erase();
  nests.clear();
}

void OutlineKernels::outline(ArrayRef<Nest *> equal, SymbolTable &symbols) {
  Nest &first = *equal.front();
  // Parameter that fills each slot; -1 for a constant of the kernel.
  SmallVector<int> parameterOf(first.slots.size(), -1);
  SmallVector<unsigned> parameters;
  std::map<std::vector<const void *>, int> known;
  for (unsigned slot = 0; slot < first.slots.size(); ++slot) {
    std::vector<const void *> fillings;
    for (Nest *nest : equal)
      fillings.push_back(nest->slots[slot].identity());
    if (first.slots[slot].constant && llvm::all_equal(fillings))
      continue;
    auto [entry, isNew] =
        known.try_emplace(std::move(fillings), parameters.size());
    if (isNew)
      parameters.push_back(slot);
    parameterOf[slot] = entry->second;
  }
  func::FuncOp kernel = createKernel(first, parameterOf, parameters, symbols);
  for (Nest *nest : equal)
    callKernel(*nest, kernel, parameters);
}

/// Erases views, sizes and constants that only kernels use now.
void OutlineKernels::removeDead(func::FuncOp stage) {
  for (Block &block : llvm::reverse(stage.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
}

void OutlineKernels::runOnOperation() {
  ModuleOp module = getOperation();
  nests.clear();
  SymbolTable symbols(module);
  llvm::SetVector<func::FuncOp> stages;
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    for (FlatSymbolRefAttr name :
         {program.getPrepareAttr(), program.getComputeAttr()})
      if (auto stage = symbols.lookup<func::FuncOp>(name.getValue()))
        stages.insert(stage);
  for (func::FuncOp stage : stages)
    if (failed(collectNests(stage)))
      return signalPassFailure();

  llvm::MapVector<StringRef, SmallVector<Nest *>> equal;
  for (Nest &nest : nests)
    equal[nest.key].push_back(&nest);
  for (auto &[key, members] : equal)
    outline(members, symbols);
  reportStatistic(*this, module, numNests, "nests", nests.size());
  reportStatistic(*this, module, numKernels, "kernels", equal.size());
  replaceNests();
  for (func::FuncOp stage : stages)
    removeDead(stage);
}
