//===- pdl-translate.cpp - From a model to a program ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Target/Codegen.h"
#include "pdlc/Target/Executable.h"
#include "pdlc/Target/TargetSpec.h"
#include "pdlc/Transforms/Dialects.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {
enum class Emit { Executable, Object, LLVM };
} // namespace

static cl::OptionCategory category("pdl-translate options");
static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<model.mlir>"),
                                      cl::cat(category));
static cl::opt<std::string> outputFolder("o", cl::Required,
                                         cl::desc("The folder to write to"),
                                         cl::value_desc("folder"),
                                         cl::cat(category));
static cl::opt<Emit> emitKind(
    "emit", cl::desc("What to write:"), cl::init(Emit::Executable),
    cl::values(clEnumValN(Emit::Executable, "exe",
                          "folder/trainer, ready to run (default)"),
               clEnumValN(Emit::Object, "obj", "folder/model.o"),
               clEnumValN(Emit::LLVM, "llvm", "folder/model.ll, optimised")),
    cl::cat(category));
static cl::opt<std::string>
    targetCpu("target-cpu", cl::init("x86-64-v3"),
              cl::desc("x86-64-v3 (default), x86-64-v4, native, or a CPU that "
                       "LLVM knows"),
              cl::cat(category));
static cl::opt<std::string> numerics(
    "numerics", cl::init("fast"),
    cl::desc("fast (default): products in oneDNN; strict: every sum in its "
             "settled order, equal bits everywhere"),
    cl::cat(category));
static cl::opt<std::string>
    elementType("element-type", cl::init("f32"),
                cl::desc("f32 (default), or f64 for tests against mathematics"),
                cl::cat(category));
static cl::opt<std::string> mode("mode", cl::init("local"),
                                 cl::desc("local: one process (default)"),
                                 cl::cat(category));
static cl::opt<std::string>
    runtimeFolder("runtime-dir",
                  cl::desc("The folder of PDL's archives (default: ../lib from "
                           "this program)"),
                  cl::value_desc("folder"), cl::cat(category));

/// Prints a sentence; returns the exit status.
static int fail(const Twine &sentence) {
  WithColor::error(errs(), "pdl-translate") << sentence << '\n';
  return 1;
}

static int checkOneOf(StringRef option, StringRef value,
                      ArrayRef<StringRef> known) {
  if (is_contained(known, value))
    return 0;
  return fail("--" + option + " knows no '" + value + "'; use " +
              join(known, " or "));
}

/// Brings the module to phase `llvm`; diagnostics are printed on the way.
static mlir::LogicalResult compile(mlir::ModuleOp module) {
  for (mlir::Operation &op : *module.getBody())
    if (isa<mlir::ModuleOp>(op))
      return mlir::emitError(op.getLoc(),
                             "a model is one module; this one is nested, and "
                             "would get lost");
  auto phase = module->getAttrOfType<mlir::StringAttr>(
      pdlc::nn::NNDialect::kPhaseAttrName);
  if (phase && phase.getValue() == "llvm")
    return mlir::success();
  if (module.getOps<pdlc::nn::ProgramOp>().empty())
    return mlir::emitError(module.getLoc(),
                           "the model declares no program; add an nn.program "
                           "such as @train");
  pdlc::PipelineOptions options;
  options.elementType = elementType;
  options.numerics = numerics;
  options.targetCpu = targetCpu;
  mlir::PassManager manager(module.getContext());
  pdlc::buildPipeline(manager, pdlc::Phase::LLVM, options);
  return manager.run(module);
}

/// Writes a file under a temporary name and renames it when it is whole.
static Error writeFile(StringRef name,
                       function_ref<Error(raw_pwrite_stream &)> write) {
  SmallString<256> path(outputFolder.getValue());
  sys::path::append(path, name);
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(
      path + ".%%%%%%", sys::fs::all_read | sys::fs::all_write);
  if (!file)
    return createStringError("cannot write to folder " + outputFolder + ": " +
                             toString(file.takeError()));
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  Error error = write(stream);
  stream.flush();
  if (!error && stream.has_error()) {
    error = createStringError("cannot write " + path + ": " +
                              stream.error().message());
    stream.clear_error();
  }
  if (error)
    return joinErrors(std::move(error), file->discard());
  return file->keep(path);
}

/// Links an object file into `trainer` in the output folder.
static Error link(StringRef objectFile, const char *programPath) {
  pdlc::LinkRequest request;
  request.objectFile = objectFile.str();
  request.folder = outputFolder;
  request.name = "trainer";
  request.fast = numerics == "fast" && elementType == "f32";
  request.runtimeFolder = runtimeFolder;
  if (runtimeFolder.empty()) {
    static int anchor;
    SmallString<256> folder(sys::fs::getMainExecutable(programPath, &anchor));
    sys::path::remove_filename(folder);
    sys::path::append(folder, "..", "lib");
    sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    request.runtimeFolder = folder.str().str();
  }
  return pdlc::linkTrainer(request);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "PDL: compiles a recommendation model to a program\n");
  if (checkOneOf("mode", mode, {"local"}) ||
      checkOneOf("numerics", numerics, {"fast", "strict"}) ||
      checkOneOf("element-type", elementType, {"f32", "f64"}))
    return 1;
  Expected<pdlc::TargetSpec> spec = pdlc::TargetSpec::get(targetCpu);
  if (!spec)
    return fail(toString(spec.takeError()));

  std::string message;
  std::unique_ptr<MemoryBuffer> input =
      mlir::openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  if (std::error_code code = sys::fs::create_directories(outputFolder))
    return fail("cannot create folder " + outputFolder + ": " + code.message());

  mlir::DialectRegistry registry;
  pdlc::registerDialects(registry);
  mlir::MLIRContext context(registry);
  // A sentence with its place, without the op's text.
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module || failed(compile(*module)))
    return 1;

  LLVMContext llvmContext;
  Expected<std::unique_ptr<Module>> translated =
      pdlc::translateToLLVMIR(*module, llvmContext);
  if (!translated)
    return fail(inputFile + ": " + toString(translated.takeError()));
  std::unique_ptr<TargetMachine> machine = spec->createMachine();
  pdlc::optimize(**translated, *machine);

  if (emitKind == Emit::LLVM) {
    if (Error error = writeFile("model.ll", [&](raw_pwrite_stream &stream) {
          (*translated)->print(stream, nullptr);
          return Error::success();
        }))
      return fail(toString(std::move(error)));
    return 0;
  }
  // On its way to a program the object file is only passing through.
  bool passing = emitKind == Emit::Executable;
  StringRef objectName = passing ? "trainer.o.partial" : "model.o";
  SmallString<256> object(outputFolder.getValue());
  sys::path::append(object, objectName);
  if (passing)
    sys::RemoveFileOnSignal(object);
  if (Error error = writeFile(objectName, [&](raw_pwrite_stream &stream) {
        return pdlc::emitObject(**translated, *machine, stream);
      }))
    return fail(toString(std::move(error)));
  if (!passing)
    return 0;
  Error error = link(object, argv[0]);
  // The executable does not need it: one that stays behind is no failure.
  (void)sys::fs::remove(object);
  if (error)
    return fail(toString(std::move(error)));
  return 0;
}
