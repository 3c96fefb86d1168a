//===- pdl-opt.cpp - Run passes on a model --------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "pdlabi/exit_code.h"
#include "pdlabi/version.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Interpreter/Interpreter.h"
#include "pdlc/Interpreter/Passes.h"
#include "pdlc/Std/StandardLibrary.h"
#include "pdlc/Transforms/Dialects.h"
#include "pdlc/Transforms/OpObligations.h"
#include "pdlc/Transforms/Passes.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"

/// Shown first in --help, which sorts categories by name.
static llvm::cl::OptionCategory category("Basic options of pdl-opt");

static llvm::cl::opt<std::string> printStd(
    "print-std", llvm::cl::ValueOptional, llvm::cl::value_desc("name"),
    llvm::cl::desc("Print a rule or schedule of the standard library, or "
                   "without a name the list of them, and exit"),
    llvm::cl::cat(category));

static llvm::cl::opt<bool> printObligations(
    "print-op-obligations",
    llvm::cl::desc("Print what each op of a program implements, and exit"),
    llvm::cl::cat(category));

/// Hides the flags of LLVM's passes and targets, so that only --help-hidden
/// shows them. Hides all flags that are not in the category of this program.
static void hideOptionsOfLlvm() {
  for (auto &entry : llvm::cl::getRegisteredOptions()) {
    llvm::cl::Option &option = *entry.second;
    const bool isOurs = llvm::is_contained(option.Categories, &category);
    if (!isOurs && option.getOptionHiddenFlag() == llvm::cl::NotHidden &&
        !option.ArgStr.starts_with("help") &&
        !option.ArgStr.starts_with("version"))
      option.setHiddenFlag(llvm::cl::Hidden);
  }
}

/// Adds the flags that run passes to the category that the help text shows
/// first.
static void showPassesFirst() {
  auto &options = llvm::cl::getRegisteredOptions();
  for (llvm::StringRef name :
       {"pdl-pipeline", "pass-pipeline", "verify-each", "split-input-file",
        "verify-diagnostics", "mlir-print-ir-after-all", "mlir-print-debuginfo",
        "mlir-timing", "o"})
    if (auto found = options.find(name); found != options.end())
      found->second->addCategory(category);
}

/// Prints the output of --print-std.
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
  return pdlabi::statusOf(pdlabi::ExitCode::Usage);
}

static llvm::cl::extrahelp
    footer("\nExample:\n"
           "  pdl-opt model.mlir --pdl-pipeline=\"to=gradient\"\n"
           "Exit status: 0 done; 1 an error in the model, or wrong flags.\n");

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &stream) {
    stream << pdlabi::versionLine("pdl-opt", pdlabi::builtCommit(),
                                  "LLVM " LLVM_VERSION_STRING)
           << "\n";
  });
  hideOptionsOfLlvm();
  mlir::DialectRegistry registry;
  pdlc::registerDialects(registry);
  pdlc::registerInterpretation(registry);
  pdlc::registerPDLCConversionPasses();
  pdlc::registerPDLCPasses();
  pdlc::registerPipelines();
  pdlc::registerPDLCInterpreterPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  const std::string header = mlir::registerCLIOptions(
      "PDL: passes on recommendation models\n", registry);
  showPassesFirst();
  auto [input, output] = mlir::parseCLIOptions(argc, argv, header);
  if (printStd.getNumOccurrences())
    return printStandardLibrary();
  if (printObligations) {
    pdlc::printOpObligations(llvm::outs(), registry);
    return 0;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
