//===- ScalarProgram.cpp - Compiled scalar ops ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarProgram.h"

#include "pdlabi/math.h"
#include "pdlc/Dialect/NN/IR/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

using Step = ScalarProgram::Step;
using StepFunction = void (*)(ScalarProgram &, const Step &, size_t);

namespace {

template <typename T> T &in(Scalar &scalar);
template <> float &in<float>(Scalar &scalar) { return scalar.f32; }
template <> double &in<double>(Scalar &scalar) { return scalar.f64; }

// One functor for each op, with operands of one element type. For f32, they
// call the functions of `pdlabi/math.h`, which compiled programs inline. For
// f64, they call the C library, or a function of PDL if there is one.

struct Add {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <typename T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <typename T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <typename T> T operator()(T a, T b) const { return a / b; }
};
struct Neg {
  template <typename T> T operator()(T a) const { return -a; }
};
struct Abs {
  template <typename T> T operator()(T a) const { return std::fabs(a); }
};
struct Sqrt {
  template <typename T> T operator()(T a) const { return std::sqrt(a); }
};
struct Floor {
  template <typename T> T operator()(T a) const { return std::floor(a); }
};
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
/// Returns the larger number, or NaN if either is NaN. +0 is larger than -0.
struct Maximum {
  template <typename T> T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
/// Returns the smaller number, or NaN if either is NaN. -0 is smaller than +0.
struct Minimum {
  template <typename T> T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b))
      return a + b;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Exp {
  float operator()(float x) const { return pdlabi::exp(x); }
  double operator()(double x) const { return std::exp(x); }
};
struct Log {
  float operator()(float x) const { return pdlabi::log(x); }
  double operator()(double x) const { return std::log(x); }
};
struct Log1p {
  float operator()(float x) const { return pdlabi::log1p(x); }
  double operator()(double x) const { return std::log1p(x); }
};
struct Tanh {
  float operator()(float x) const { return pdlabi::tanh(x); }
  double operator()(double x) const { return std::tanh(x); }
};
// The verifier ensures that the type is f64.
struct Pow {
  template <typename T> T operator()(T a, T b) const {
    return static_cast<T>(pdlabi::pow(double(a), double(b)));
  }
};
struct Cos {
  template <typename T> T operator()(T a) const { return pdlabi::cos(a); }
};
struct Sin {
  template <typename T> T operator()(T a) const { return pdlabi::sin(a); }
};
/// Calls `pdlabi_sigmoidf`, which formulas call by name.
struct Sigmoid {
  float operator()(float x) const { return pdlabi::sigmoid(x); }
};

template <typename T, typename Formula>
void runStep(ScalarProgram &program, const Step &step, size_t count) {
  Scalar *to = program.lanesOf(step.result);
  Scalar *a = program.lanesOf(step.operands[0]);
  Scalar *b = program.lanesOf(step.operands[1]);
  Scalar *c = program.lanesOf(step.operands[2]);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_invocable_v<Formula, T>)
      in<T>(to[i]) = Formula()(in<T>(a[i]));
    else if constexpr (std::is_invocable_v<Formula, T, T>)
      in<T>(to[i]) = Formula()(in<T>(a[i]), in<T>(b[i]));
    else
      in<T>(to[i]) = Formula()(in<T>(a[i]), in<T>(b[i]), in<T>(c[i]));
  }
}

template <typename Formula> StepFunction inType(Type type) {
  return type.isF64() ? runStep<double, Formula> : runStep<float, Formula>;
}

// Comparisons. If an operand is NaN, ordered comparisons are false, and
// unordered ones are true.

template <arith::CmpFPredicate predicate, typename T> bool compare(T a, T b) {
  using P = arith::CmpFPredicate;
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
  return truth;
}

template <typename T, arith::CmpFPredicate predicate>
void runCompare(ScalarProgram &program, const Step &step, size_t count) {
  Scalar *to = program.lanesOf(step.result);
  Scalar *a = program.lanesOf(step.operands[0]);
  Scalar *b = program.lanesOf(step.operands[1]);
  for (size_t i = 0; i < count; ++i)
    to[i].truth = compare<predicate>(in<T>(a[i]), in<T>(b[i]));
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

void runSelect(ScalarProgram &program, const Step &step, size_t count) {
  Scalar *to = program.lanesOf(step.result);
  Scalar *condition = program.lanesOf(step.operands[0]);
  Scalar *yes = program.lanesOf(step.operands[1]);
  Scalar *no = program.lanesOf(step.operands[2]);
  for (size_t i = 0; i < count; ++i)
    to[i] = condition[i].truth ? yes[i] : no[i];
}
void runExtend(ScalarProgram &program, const Step &step, size_t count) {
  Scalar *to = program.lanesOf(step.result);
  Scalar *from = program.lanesOf(step.operands[0]);
  for (size_t i = 0; i < count; ++i)
    to[i].f64 = from[i].f32;
}
void runTruncate(ScalarProgram &program, const Step &step, size_t count) {
  Scalar *to = program.lanesOf(step.result);
  Scalar *from = program.lanesOf(step.operands[0]);
  for (size_t i = 0; i < count; ++i)
    to[i].f32 = static_cast<float>(from[i].f64);
}

/// Returns the function that computes `op`; null if there is none.
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
      .Case<math::FloorOp>([&](auto) { return inType<Floor>(type); })
      .Case<math::AbsFOp>([&](auto) { return inType<Abs>(type); })
      .Case<math::FmaOp>([&](auto) { return inType<Fma>(type); })
      .Case<math::CopySignOp>([&](auto) { return inType<CopySign>(type); })
      .Case<math::PowFOp>([&](auto) { return inType<Pow>(type); })
      .Case<math::CosOp>([&](auto) { return inType<Cos>(type); })
      .Case<math::SinOp>([&](auto) { return inType<Sin>(type); })
      .Case<math::ExpOp>([&](auto) { return inType<Exp>(type); })
      .Case<math::LogOp>([&](auto) { return inType<Log>(type); })
      .Case<math::Log1pOp>([&](auto) { return inType<Log1p>(type); })
      .Case<math::TanhOp>([&](auto) { return inType<Tanh>(type); })
      .Case<func::CallOp>([&](func::CallOp call) -> StepFunction {
        if (call.getCallee() == "pdlabi_sigmoidf" && type.isF32())
          return runStep<float, Sigmoid>;
        return nullptr;
      })
      .Default([](Operation *) -> StepFunction { return nullptr; });
}

} // namespace

FailureOr<ScalarProgram> ScalarProgram::compile(Region &region) {
  Block &block = region.front();
  return compile(block, block.getTerminator()->getOperands());
}

FailureOr<ScalarProgram>
ScalarProgram::compile(Block &block, ValueRange results, size_t lanes) {
  ScalarProgram program;
  program.laneCount = lanes;
  llvm::DenseMap<Value, int> numbers;
  auto newRegister = [&](Value value) {
    int number = static_cast<int>(program.registers.size() / lanes);
    program.registers.resize(program.registers.size() + lanes);
    numbers[value] = number;
    return number;
  };
  for (BlockArgument argument : block.getArguments())
    newRegister(argument);
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      Scalar scalar = {};
      if (auto number = dyn_cast<FloatAttr>(constant.getValue())) {
        if (number.getType().isF64())
          scalar.f64 = number.getValueAsDouble();
        else
          scalar.f32 = number.getValue().convertToFloat();
      } else if (auto truth = dyn_cast<IntegerAttr>(constant.getValue())) {
        scalar.truth = !truth.getValue().isZero();
      }
      int number = newRegister(constant.getResult());
      std::fill_n(program.lanesOf(number), lanes, scalar);
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
  for (Value value : results) {
    auto found = numbers.find(value);
    if (found == numbers.end()) {
      emitError(value.getLoc(), "is yielded by a region that it is outside of");
      return failure();
    }
    program.results.push_back(found->second);
  }
  return program;
}
