//===- ScalarProgram.cpp - Regions of scalars, ready to run ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarProgram.h"

#include "Formulas.h"

#include "pdlc/Dialect/NN/IR/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

using Step = ScalarProgram::Step;
using StepFunction = void (*)(const Step &, Scalar *);

namespace {

template <typename T> T &in(Scalar &scalar);
template <> float &in<float>(Scalar &scalar) { return scalar.f32; }
template <> double &in<double>(Scalar &scalar) { return scalar.f64; }

// One functor an op: called with one element type for all operands. Others are
// in Formulas.h.

struct Fma {
  template <typename T> T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
struct CopySign {
  template <typename T> T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};
// Verified to be in 64 bits.
struct Pow {
  template <typename T> T operator()(T a, T b) const {
    return static_cast<T>(pdlabi::pow(double(a), double(b)));
  }
};
struct Cos {
  template <typename T> T operator()(T a) const {
    return static_cast<T>(pdlabi::cos(double(a)));
  }
};

template <typename T, typename Formula>
void runStep(const Step &step, Scalar *registers) {
  auto operand = [&](int i) { return in<T>(registers[step.operands[i]]); };
  T result;
  if constexpr (std::is_invocable_v<Formula, T>)
    result = Formula()(operand(0));
  else if constexpr (std::is_invocable_v<Formula, T, T>)
    result = Formula()(operand(0), operand(1));
  else
    result = Formula()(operand(0), operand(1), operand(2));
  in<T>(registers[step.result]) = result;
}

template <typename Formula> StepFunction inType(Type type) {
  return type.isF64() ? runStep<double, Formula> : runStep<float, Formula>;
}

// Comparisons: ordered ones are false where an operand is NaN, unordered ones
// true.

template <typename T, arith::CmpFPredicate predicate>
void runCompare(const Step &step, Scalar *registers) {
  using P = arith::CmpFPredicate;
  T a = in<T>(registers[step.operands[0]]);
  T b = in<T>(registers[step.operands[1]]);
  bool unordered = a != a || b != b;
  bool truth = false;
  switch (predicate) {
  case P::AlwaysFalse:
    truth = false;
    break;
  case P::OEQ:
    truth = a == b;
    break;
  case P::OGT:
    truth = a > b;
    break;
  case P::OGE:
    truth = a >= b;
    break;
  case P::OLT:
    truth = a < b;
    break;
  case P::OLE:
    truth = a <= b;
    break;
  case P::ONE:
    truth = a < b || a > b;
    break;
  case P::ORD:
    truth = !unordered;
    break;
  case P::UEQ:
    truth = unordered || a == b;
    break;
  case P::UGT:
    truth = unordered || a > b;
    break;
  case P::UGE:
    truth = unordered || a >= b;
    break;
  case P::ULT:
    truth = unordered || a < b;
    break;
  case P::ULE:
    truth = unordered || a <= b;
    break;
  case P::UNE:
    truth = a != b;
    break;
  case P::UNO:
    truth = unordered;
    break;
  case P::AlwaysTrue:
    truth = true;
    break;
  }
  registers[step.result].truth = truth;
}

template <size_t... indices>
StepFunction compareFunction(arith::CmpFPredicate predicate, Type type,
                             std::index_sequence<indices...>) {
  using P = arith::CmpFPredicate;
  static constexpr StepFunction inF32[] = {
      runCompare<float, static_cast<P>(indices)>...};
  static constexpr StepFunction inF64[] = {
      runCompare<double, static_cast<P>(indices)>...};
  auto index = static_cast<size_t>(predicate);
  return type.isF64() ? inF64[index] : inF32[index];
}

void runSelect(const Step &step, Scalar *registers) {
  registers[step.result] = registers[step.operands[0]].truth
                               ? registers[step.operands[1]]
                               : registers[step.operands[2]];
}
void runExtend(const Step &step, Scalar *registers) {
  registers[step.result].f64 = registers[step.operands[0]].f32;
}
void runTruncate(const Step &step, Scalar *registers) {
  registers[step.result].f32 =
      static_cast<float>(registers[step.operands[0]].f64);
}

/// What computes `op`, null if nothing does.
StepFunction functionOf(Operation *op) {
  Type type = op->getResult(0).getType();
  return llvm::TypeSwitch<Operation *, StepFunction>(op)
      .Case<arith::AddFOp>([&](auto) { return inType<Add>(type); })
      .Case<arith::SubFOp>([&](auto) { return inType<Sub>(type); })
      .Case<arith::MulFOp>([&](auto) { return inType<Mul>(type); })
      .Case<arith::DivFOp>([&](auto) { return inType<Div>(type); })
      .Case<arith::NegFOp>([&](auto) { return inType<Neg>(type); })
      .Case<arith::MaximumFOp>([&](auto) { return inType<Maximum>(type); })
      .Case<arith::MinimumFOp>([&](auto) { return inType<Minimum>(type); })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        return compareFunction(compare.getPredicate(),
                               compare.getLhs().getType(),
                               std::make_index_sequence<16>());
      })
      .Case<arith::SelectOp>([&](auto) { return runSelect; })
      .Case<arith::ExtFOp>([&](auto) { return runExtend; })
      .Case<arith::TruncFOp>([&](auto) { return runTruncate; })
      .Case<math::SqrtOp>([&](auto) { return inType<Sqrt>(type); })
      .Case<math::AbsFOp>([&](auto) { return inType<Abs>(type); })
      .Case<math::FmaOp>([&](auto) { return inType<Fma>(type); })
      .Case<math::CopySignOp>([&](auto) { return inType<CopySign>(type); })
      .Case<math::PowFOp>([&](auto) { return inType<Pow>(type); })
      .Case<math::CosOp>([&](auto) { return inType<Cos>(type); })
      .Case<math::ExpOp>([&](auto) { return inType<Exp>(type); })
      .Case<math::LogOp>([&](auto) { return inType<Log>(type); })
      .Default([](Operation *) -> StepFunction { return nullptr; });
}

} // namespace

FailureOr<ScalarProgram> ScalarProgram::compile(Region &region) {
  ScalarProgram program;
  llvm::DenseMap<Value, int> numbers;
  auto newRegister = [&](Value value) {
    int number = static_cast<int>(program.registers.size());
    program.registers.emplace_back();
    numbers[value] = number;
    return number;
  };
  Block &block = region.front();
  for (BlockArgument argument : block.getArguments())
    newRegister(argument);
  for (Operation &op : block.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Scalar &scalar = program.registers[newRegister(constant.getResult())];
      if (auto number = dyn_cast<FloatAttr>(constant.getValue())) {
        if (number.getType().isF64())
          scalar.f64 = number.getValueAsDouble();
        else
          scalar.f32 = number.getValue().convertToFloat();
      } else if (auto truth = dyn_cast<IntegerAttr>(constant.getValue())) {
        scalar.truth = !truth.getValue().isZero();
      }
      continue;
    }
    Step step = {};
    step.function = op.getNumResults() == 1 ? functionOf(&op) : nullptr;
    if (!step.function || op.getNumOperands() > 3) {
      op.emitError() << "'" << op.getName()
                     << "' has no settled scalar numerics";
      return failure();
    }
    for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
      auto found = numbers.find(operand);
      if (found == numbers.end()) {
        op.emitError("uses a value from outside of its region");
        return failure();
      }
      step.operands[index] = found->second;
    }
    step.result = newRegister(op.getResult(0));
    program.steps.push_back(step);
  }
  for (Value value : block.getTerminator()->getOperands()) {
    auto found = numbers.find(value);
    if (found == numbers.end()) {
      block.getTerminator()->emitError(
          "yields a value from outside of its region");
      return failure();
    }
    program.yieldedRegisters.push_back(found->second);
  }
  return program;
}
