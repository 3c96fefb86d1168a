//===- InlineFunctions.cpp - Inline all functions -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineFunctions.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {

/// Number of ops of each function after all calls are inlined.
class InlinedSizes {
public:
  explicit InlinedSizes(SymbolTable &symbols) : symbols(symbols) {}

  /// Computes the sizes of `function` and of all functions that it calls,
  /// callees first. Visits each function once, without recursion, because
  /// chains of calls may be long.
  LogicalResult add(FuncOp function);

  /// Returns the number of ops of `owner` after inlining, or the maximum if it
  /// is larger. Its callees must have been added.
  uint64_t of(Operation *owner) const;
  uint64_t ofCall(CallOp call) const {
    return sizes.at(symbols.lookup(call.getCallee()));
  }

private:
  struct Visit {
    FuncOp function;
    // Calls that are not visited yet, the next one last.
    SmallVector<CallOp> calls;
  };
  static SmallVector<CallOp> callsOf(FuncOp function) {
    SmallVector<CallOp> calls;
    function.walk([&](CallOp call) { calls.push_back(call); });
    std::reverse(calls.begin(), calls.end());
    return calls;
  }

  SymbolTable &symbols;
  DenseMap<Operation *, uint64_t> sizes;
};

} // namespace

uint64_t InlinedSizes::of(Operation *owner) const {
  uint64_t size = 0;
  owner->walk([&](Operation *op) {
    auto call = dyn_cast<CallOp>(op);
    if (call)
      size = llvm::SaturatingAdd(size, ofCall(call));
    else if (op != owner && !op->hasTrait<OpTrait::IsTerminator>())
      size = llvm::SaturatingAdd<uint64_t>(size, 1);
  });
  return size;
}

LogicalResult InlinedSizes::add(FuncOp function) {
  if (sizes.contains(function))
    return success();
  SmallVector<Visit> path{{function, callsOf(function)}};
  DenseSet<Operation *> onPath{function};
  while (!path.empty()) {
    Visit &visit = path.back();
    if (visit.calls.empty()) {
      sizes[visit.function] = of(visit.function);
      onPath.erase(visit.function);
      path.pop_back();
      continue;
    }
    CallOp call = visit.calls.pop_back_val();
    auto callee = symbols.lookup<FuncOp>(call.getCallee());
    if (onPath.contains(callee))
      return call.emitOpError()
             << "makes @" << callee.getSymName()
             << " call itself; functions are inlined and may not recurse "
                "(nn.func, C1)";
    if (sizes.contains(callee))
      continue;
    onPath.insert(callee);
    path.push_back({callee, callsOf(callee)});
  }
  return success();
}

/// Fails if the program would contain more than `maxOps` ops.
static LogicalResult checkSize(ProgramOp program, const InlinedSizes &sizes,
                               uint64_t maxOps) {
  uint64_t size = sizes.of(program);
  if (size <= maxOps)
    return success();
  CallOp largest;
  program.walk([&](CallOp call) {
    if (!largest || sizes.ofCall(call) > sizes.ofCall(largest))
      largest = call;
  });
  InFlightDiagnostic diagnostic = program.emitOpError();
  if (!largest) {
    diagnostic << "holds " << size << " ops, and at most " << maxOps
               << " can be compiled; join ops that do alike into one on a "
                  "wider tensor";
    return diagnostic;
  }
  if (size == std::numeric_limits<uint64_t>::max())
    diagnostic << "would hold more ops than can be counted";
  else
    diagnostic << "would hold " << size << " ops";
  diagnostic << " with its functions inlined, and at most " << maxOps
             << " can be compiled; call functions less often";
  diagnostic.attachNote(largest.getLoc())
      << "the largest of its functions is @" << largest.getCallee();
  return diagnostic;
}

/// Returns a replacer that puts the symbols that `call` passes in place of the
/// symbols that `callee` takes.
static AttrTypeReplacer replacementOfSymbols(FuncOp callee, CallOp call) {
  DenseMap<Attribute, Attribute> given;
  if (call.getSymbols())
    for (auto [taken, symbol] :
         llvm::zip_equal(callee.getTakenSymbols(), *call.getSymbols()))
      given[taken.first] = symbol;
  AttrTypeReplacer replacer;
  replacer.addReplacement([given = std::move(given)](FlatSymbolRefAttr name)
                              -> std::optional<Attribute> {
    Attribute symbol = given.lookup(name);
    return symbol ? std::optional(symbol) : std::nullopt;
  });
  return replacer;
}

/// Inlines all calls in `program`, outer calls first. So each op of the result
/// is cloned at most once, directly to its final place.
static void inlineCalls(ProgramOp program, SymbolTable &symbols) {
  SmallVector<CallOp> worklist;
  auto enqueue = [&](CallOp call) { worklist.push_back(call); };
  program.walk(enqueue);
  while (!worklist.empty()) {
    CallOp call = worklist.pop_back_val();
    auto callee = symbols.lookup<FuncOp>(call.getCallee());
    IRMapping mapping;
    mapping.map(callee.getBody().getArguments(), call.getOperands());
    OpBuilder builder(call);
    AttrTypeReplacer symbolsOfCall = replacementOfSymbols(callee, call);
    for (Operation &op : callee.getBody().front().without_terminator()) {
      Operation *clone = builder.clone(op, mapping);
      if (call.getSymbols())
        symbolsOfCall.recursivelyReplaceElementsIn(clone);
      clone->walk(enqueue);
    }
    Operation *terminator = callee.getBody().front().getTerminator();
    for (auto [result, value] :
         llvm::zip(call.getResults(), terminator->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
}

LogicalResult pdlc::inlineFunctions(ModuleOp module, uint64_t maxOps) {
  SymbolTable symbols(module);
  InlinedSizes sizes(symbols);
  for (FuncOp function : module.getOps<FuncOp>())
    if (failed(sizes.add(function)))
      return failure();
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (failed(checkSize(program, sizes, maxOps)))
      return failure();
  for (ProgramOp program : module.getOps<ProgramOp>())
    inlineCalls(program, symbols);
  for (FuncOp function : llvm::make_early_inc_range(module.getOps<FuncOp>()))
    function.erase();
  return success();
}
