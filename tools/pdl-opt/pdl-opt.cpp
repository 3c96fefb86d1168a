//===- pdl-opt.cpp - Runs passes on a model -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Interpreter/Interpreter.h"
#include "pdlc/Interpreter/Passes.h"
#include "pdlc/Std/StandardLibrary.h"
#include "pdlc/Transforms/Dialects.h"
#include "pdlc/Transforms/OpObligations.h"
#include "pdlc/Transforms/Passes.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/Support/CommandLine.h"

static llvm::cl::opt<std::string> printStd(
    "print-std", llvm::cl::ValueOptional, llvm::cl::value_desc("name"),
    llvm::cl::desc("Print a rule or schedule of the standard library, or "
                   "without a name the list of them, and exit"));

static llvm::cl::opt<bool> printObligations(
    "print-op-obligations",
    llvm::cl::desc("Print what each op of a program implements, and exit"));

/// What --print-std asks for.
static int printStandardLibrary() {
  if (printStd.empty()) {
    llvm::outs() << pdlc::standardLibraryList() << "\n";
    return 0;
  }
  if (const auto *definition = pdlc::findStandardDefinition(printStd)) {
    llvm::outs() << definition->source;
    return 0;
  }
  llvm::errs() << "pdl-opt: the standard library has no '" << printStd
               << "'; it has " << pdlc::standardLibraryList() << "\n";
  return 1;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pdlc::registerDialects(registry);
  pdlc::registerInterpretation(registry);
  pdlc::registerPDLCConversionPasses();
  pdlc::registerPDLCPasses();
  pdlc::registerPipelines();
  pdlc::registerPDLCInterpreterPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "PDL: passes on recommendation models\n", registry);
  if (printStd.getNumOccurrences())
    return printStandardLibrary();
  if (printObligations) {
    pdlc::printOpObligations(llvm::outs(), registry);
    return 0;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
