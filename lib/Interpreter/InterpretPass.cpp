//===- InterpretPass.cpp - Pass nn-interpret ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/Passes.h"

#include "pdlabi/names.h"
#include "pdlc/Interpreter/Interpreter.h"
#include "pdlc/Interpreter/TensorFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ToolOutputFile.h"

#include <charconv>

namespace pdlc {
#define GEN_PASS_DEF_NNINTERPRET
#include "pdlc/Interpreter/Passes.h.inc"
#include <cmath>
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

namespace {

/// An output file that remains only if the pass succeeds. If the path is empty,
/// the output is discarded.
class TextFile {
public:
  LogicalResult open(StringRef path, ModuleOp module) {
    if (path.empty())
      return success();
    std::error_code error;
    file.emplace(path, error, llvm::sys::fs::OF_Text);
    if (error)
      return module.emitError()
             << path << ": cannot be written: " << error.message();
    return success();
  }
  explicit operator bool() const { return file.has_value(); }
  raw_ostream &stream() { return file->os(); }
  void keep() {
    if (file)
      file->keep();
  }

private:
  std::optional<llvm::ToolOutputFile> file;
};

} // namespace

/// Prints the shortest text from which the same number is parsed.
template <typename T> static void printElement(raw_ostream &stream, T element) {
  char digits[64];
  char *end = std::to_chars(digits, digits + sizeof(digits), element).ptr;
  stream << StringRef(digits, end - digits);
}

/// Prints one line with the names of all output columns.
static void printOutputNames(raw_ostream &stream, ProgramOp program) {
  StringRef separator = "";
  for (auto [number, type] :
       llvm::enumerate(program.getReturn().getOperandTypes())) {
    int64_t width = 1;
    for (int64_t extent : cast<RankedTensorType>(type).getShape().drop_front())
      width *= extent;
    for (int64_t i = 0; i < width; ++i) {
      stream << separator << program.getReturn().getOutputName(number);
      if (width > 1)
        stream << "." << i;
      separator = "\t";
    }
  }
  stream << "\n";
}

/// Prints one line per sample with its elements of each output.
static LogicalResult printOutputs(raw_ostream &stream, ProgramOp program,
                                  ArrayRef<Tensor> outputs) {
  int64_t samples = outputs.empty() ? 0 : outputs.front().dim(0);
  for (const Tensor &output : outputs)
    if (output.dim(0) != samples)
      return program.emitError("returns outputs of different numbers of "
                               "samples");
  for (int64_t sample = 0; sample < samples; ++sample) {
    StringRef separator = "";
    for (const Tensor &output : outputs)
      output.visit([&](auto &elements) {
        int64_t width = output.count(1, output.rank());
        for (int64_t i = 0; i < width; ++i) {
          stream << separator;
          printElement(stream, elements[sample * width + i]);
          separator = "\t";
        }
      });
    stream << "\n";
  }
  return success();
}

static void printLoss(raw_ostream &stream, const StepResult &result) {
  if (!result.lossSum)
    return;
  double mean = *result.lossSum / *result.weightSum;
  // Every NaN has the same text, whatever its sign, as in the trainer's output.
  if (std::isnan(mean))
    stream << "nan\n";
  else
    stream << llvm::format("%.17g\n", mean);
}

namespace {

struct NNInterpret : public pdlc::impl::NNInterpretBase<NNInterpret> {
  using NNInterpretBase::NNInterpretBase;

  void runOnOperation() override {
    if (failed(interpret(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult interpret(ModuleOp module);
  FailureOr<State> createState(ModuleOp module);
};

} // namespace

FailureOr<State> NNInterpret::createState(ModuleOp module) {
  State state = State::create(module, seed);
  if (initPath.empty())
    return state;
  llvm::Expected<NamedTensorsReader> file = NamedTensorsReader::open(initPath);
  if (!file)
    return module.emitError() << llvm::toString(file.takeError());
  if (failed(state.load(*file, module)))
    return failure();
  return state;
}

LogicalResult NNInterpret::interpret(ModuleOp module) {
  if (auto cycle = module.lookupSymbol<CycleOp>(programName))
    return cycle.emitOpError("is no program yet: interpret it in phase merged "
                             "or after it, where nn-join-cycle has made one");
  auto program = module.lookupSymbol<ProgramOp>(programName);
  if (!program) {
    InFlightDiagnostic diagnostic = module.emitError()
                                    << "has no program @" << programName
                                    << " to interpret; it has";
    for (auto other : module.getOps<ProgramOp>())
      diagnostic << " @" << other.getSymName();
    return diagnostic;
  }
  if (dataPath.empty())
    return module.emitError("nn-interpret needs data=FILE, a safetensors file "
                            "with the batches to run on");
  if (steps < 0 || batchSize < 0)
    return module.emitError("nn-interpret needs steps and batch-size >= 0");

  // Check before running steps whose result could not be saved.
  if (!dumpPath.empty())
    if (llvm::Error error = checkReplaceable(dumpPath))
      return module.emitError() << llvm::toString(std::move(error));

  FailureOr<State> state = createState(module);
  if (failed(state))
    return failure();
  FailureOr<BatchFile> batches = BatchFile::open(dataPath, batchSize, program);
  if (failed(batches))
    return failure();
  TextFile losses, outputs, metrics;
  if (failed(losses.open(lossesPath, module)) ||
      failed(outputs.open(outputsPath, module)) ||
      failed(metrics.open(metricsPath, module)))
    return failure();

  if (outputs)
    printOutputNames(outputs.stream(), program);
  int64_t stepCount = steps ? int64_t(steps) : batches->count();
  for (int64_t step = 0; step < stepCount; ++step) {
    FailureOr<std::vector<RuntimeValue>> arguments =
        batches->read(step % batches->count());
    FailureOr<Draws> draws = batches->readDraws(step, seed);
    if (failed(arguments) || failed(draws))
      return failure();
    FailureOr<StepResult> result =
        runStep(program, std::move(*arguments), *state, *draws);
    if (failed(result)) {
      program.emitRemark() << "in step " << step << ", counted from 0";
      return failure();
    }
    if (losses)
      printLoss(losses.stream(), *result);
    if (outputs &&
        failed(printOutputs(outputs.stream(), program, result->outputs)))
      return failure();
  }

  if (metrics)
    for (const auto &[name, metric] : state->allMetrics())
      if (pdlabi::isMetricOfModel(name))
        metrics.stream() << name << " " << llvm::format("%.17g", metric.value())
                         << "\n";
  losses.keep();
  outputs.keep();
  metrics.keep();
  if (!dumpPath.empty())
    return state->dump(dumpPath, dumpSlots, module);
  return success();
}
