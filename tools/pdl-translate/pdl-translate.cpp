//===- pdl-translate.cpp - From a model to a program ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/Timing.h"
#include "pdlc/Conversion/ServingHeader.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Target/Codegen.h"
#include "pdlc/Target/DeviceCode.h"
#include "pdlc/Target/Executable.h"
#include "pdlc/Target/ObjectCache.h"
#include "pdlc/Target/TargetSpec.h"
#include "pdlc/Transforms/Dialects.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace translate;

namespace {
/// What a library is called, and the files beside it.
struct LibraryFiles {
  std::string name, accessor, header, packageConfig;
};

/// One program to be.
struct Program {
  /// Of its files: "trainer", "pserver", or "model" for an object file in mode
  /// local.
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Of --emit=library.
  LibraryFiles library;
};
} // namespace

static mlir::LogicalResult runPipelineOnce(mlir::ModuleOp module,
                                           pdlc::Phase to,
                                           std::optional<pdlc::Phase> from,
                                           bool isRole, bool verifies,
                                           mlir::TimingScope &timing) {
  pdlc::PipelineOptions options;
  options.elementType = elementType;
  options.numerics = numerics;
  options.compute = compute;
  options.targetCpu = targetCpu;
  options.target = chosenTarget();
  options.mode = chosenMode();
  options.serving = emitsLibrary();
  options.fuse = !noFuse;
  options.isRole = isRole;
  options.slice = slice;
  options.minBlockElements = numberOf(minBlockElements).value_or(1);
  options.targetBlockBytes = numberOf(targetBlockBytes).value_or(1);
  mlir::PassManager manager(module.getContext());
  manager.enableTiming(timing);
  manager.enableVerifier(verifies);
  pdlc::buildPipeline(manager, to, options, from);
  return manager.run(module);
}

/// Leaves of a module in phase `tasks` the kernels of a device.
static mlir::LogicalResult keepKernels(mlir::ModuleOp module,
                                       mlir::TimingScope &timing) {
  mlir::PassManager manager(module.getContext());
  manager.enableTiming(timing);
  pdlc::buildDevicePipeline(manager);
  return manager.run(module);
}

/// Translates what a device launches of a module in phase `tasks`, and keeps it
/// there for the descriptor.
static mlir::LogicalResult addDeviceCode(mlir::ModuleOp module,
                                         pdlc::ObjectCache *cache,
                                         mlir::TimingScope &timing) {
  if (!module->hasAttr(pdlc::rt::RTDialect::kTargetAttrName))
    return mlir::success();
  mlir::OwningOpRef<mlir::ModuleOp> kernels(module.clone());
  if (failed(keepKernels(*kernels, timing)))
    return mlir::failure();
  mlir::TimingScope translation = timing.nest("Translation to PTX");
  Expected<std::string> text =
      pdlc::compileToPtx(*kernels, gpuArchitecture, cache);
  if (!text)
    return mlir::emitError(module.getLoc(), toString(text.takeError()));
  module->setAttr(pdlc::rt::RTDialect::kDeviceCodeAttrName,
                  mlir::StringAttr::get(module.getContext(), *text));
  return mlir::success();
}

/// What is said of the programs of a module in phase `tasks`, in which fields
/// still have names.
static LibraryFiles describeLibrary(mlir::ModuleOp module) {
  LibraryFiles files{
      pdlc::servingNameOf(module), pdlc::servingAccessorOf(module), {}, {}};
  raw_string_ostream header(files.header), config(files.packageConfig);
  pdlc::writeServingHeader(module, header);
  pdlc::writePackageConfig(module, config);
  return files;
}

/// `from`: the module is one role of a program of several processes, in that
/// phase. Where kernels are asked for, phase `tasks` leaves those of a device.
/// `library`: gets what stands beside one.
static mlir::LogicalResult runPipeline(mlir::ModuleOp module, pdlc::Phase to,
                                       std::optional<pdlc::Phase> from,
                                       pdlc::ObjectCache *cache,
                                       mlir::TimingScope &timing,
                                       LibraryFiles *library = nullptr) {
  const bool isRole = from.has_value();
  const auto runTo = [&](pdlc::Phase next, bool verifies) {
    const std::optional<pdlc::Phase> before = std::exchange(from, next);
    return runPipelineOnce(module, next, before, isRole, verifies, timing);
  };
  // What users wrote is verified behind each pass of phase model, for some of
  // it can be only when the rules it names are there. From then on modules are
  // PDL's own, and are verified behind each phase, which a pass does.
  if (!isRole && failed(runTo(pdlc::Phase::Model, /*verifies=*/true)))
    return mlir::failure();
  if ((chosenTarget() == pdlc::Target::Cuda || library) &&
      to == pdlc::Phase::LLVM) {
    if (failed(runTo(pdlc::Phase::Tasks, /*verifies=*/false)) ||
        failed(addDeviceCode(module, cache, timing)))
      return mlir::failure();
    if (library)
      *library = describeLibrary(module);
  }
  if (failed(runTo(to, /*verifies=*/false)))
    return mlir::failure();
  return emitsKernels() && to == pdlc::Phase::Tasks
             ? keepKernels(module, timing)
             : mlir::success();
}

/// Brings the module to phase `llvm` (`tasks` for a GPU), as one program or
/// role by role;
/// diagnostics are printed on the way.
static mlir::LogicalResult compile(mlir::OwningOpRef<mlir::ModuleOp> module,
                                   std::vector<Program> &programs,
                                   pdlc::ObjectCache *cache,
                                   mlir::TimingScope &timing) {
  for (mlir::Operation &op : *module->getBody())
    if (isa<mlir::ModuleOp>(op))
      return mlir::emitError(op.getLoc(),
                             "a model is one module; this one is nested, and "
                             "would get lost");
  auto phase = (*module)->getAttrOfType<mlir::StringAttr>(
      pdlc::nn::NNDialect::kPhaseAttrName);
  bool isLowered = phase && phase.getValue() == "llvm";
  if (isLowered && emitsLibrary())
    return mlir::emitError(module->getLoc(),
                           "this module is in phase llvm, where fields have no "
                           "names any more; give --emit=library the model");
  if (isLowered && emitsKernels())
    return mlir::emitError(
        module->getLoc(), "this module is in phase llvm, in which the turns of "
                          "kernels have an order; give --emit=ptx the model");
  if (isLowered && noFuse)
    return mlir::emitError(module->getLoc(),
                           "this module is in phase llvm, where ops have been "
                           "fused; give --no-fuse the model");
  const pdlc::Phase last =
      emitsKernels() ? pdlc::Phase::Tasks : pdlc::Phase::LLVM;
  if (!isLowered && module->getOps<pdlc::nn::ProgramOp>().empty())
    return mlir::emitError(module->getLoc(),
                           "the model declares no program; add an nn.program "
                           "such as @train");
  if (isLowered || !isDistributed()) {
    LibraryFiles library;
    if (!isLowered &&
        failed(runPipeline(*module, last, std::nullopt, cache, timing,
                           emitsLibrary() ? &library : nullptr)))
      return mlir::failure();
    programs.push_back({emitsPrograms() ? "trainer" : "model",
                        std::move(module), std::move(library)});
    return mlir::success();
  }
  if (failed(runPipeline(*module, pdlc::Phase::Roles, std::nullopt, cache,
                         timing)))
    return mlir::failure();
  for (auto role : make_early_inc_range(module->getOps<mlir::ModuleOp>())) {
    std::string name = role.getSymNameAttr().str();
    role->remove();
    mlir::OwningOpRef<mlir::ModuleOp> owned(role);
    if (!isOwnProgram(name) && !isPartOfTrainer(name))
      continue;
    // Programs say the model's name.
    role.setSymNameAttr(module->getSymNameAttr());
    if (failed(runPipeline(role, last, pdlc::Phase::Roles, cache, timing)))
      return mlir::failure();
    programs.push_back({std::move(name), std::move(owned), {}});
  }
  // What becomes a part of the trainer is made before it.
  std::partition(programs.begin(), programs.end(), [](const Program &program) {
    return isPartOfTrainer(program.name);
  });
  return mlir::success();
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

/// What a program or library of the output folder is linked of.
static pdlc::LinkRequest
requestLink(const std::vector<std::string> &objectFiles, StringRef name,
            const char *programPath) {
  pdlc::LinkRequest request;
  request.objectFiles = objectFiles;
  request.folder = outputFolder;
  request.name = name.str();
  // Servers form no products.
  request.fast =
      numerics == "fast" && elementType == "f32" && name != "pserver";
  request.grpc = isDistributed();
  request.servers = withServers;
  if (name == "pserver")
    request.mainArchive = "PDLServerMain";
  request.runtimeFolder = runtimeFolder;
  if (runtimeFolder.empty()) {
    static int anchor;
    SmallString<256> folder(sys::fs::getMainExecutable(programPath, &anchor));
    sys::path::remove_filename(folder);
    sys::path::append(folder, "..", "lib");
    sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    request.runtimeFolder = folder.str().str();
  }
  return request;
}

namespace {
/// Files in the output folder that are only on their way into another one; they
/// go with the object.
class PassingFiles {
public:
  PassingFiles() = default;
  PassingFiles(const PassingFiles &) = delete;
  PassingFiles &operator=(const PassingFiles &) = delete;
  ~PassingFiles() { remove(); }

  void remove() {
    // Nothing needs them any more: one that stays behind is no failure.
    for (const std::string &path : list) {
      std::error_code ignored = sys::fs::remove(path);
      (void)ignored;
    }
    list.clear();
  }

  /// The path of a file that somebody else writes.
  const std::string &add(StringRef name) {
    SmallString<256> whole(outputFolder.getValue());
    sys::path::append(whole, name);
    sys::RemoveFileOnSignal(whole);
    return list.emplace_back(whole.str().str());
  }
  Error write(const Twine &name, const pdlc::FileBytes &bytes) {
    std::string text = name.str();
    add(text);
    return writeFile(text, [&](raw_pwrite_stream &stream) {
      stream.write(bytes.data(), bytes.size());
      return Error::success();
    });
  }
  const std::vector<std::string> &paths() const { return list; }

private:
  std::vector<std::string> list;
};
} // namespace

/// What code generation made of one program, as object files.
static Error writePassing(const std::vector<pdlc::FileBytes> &objects,
                          StringRef name, PassingFiles &files) {
  for (auto [number, object] : enumerate(objects))
    if (Error error =
            files.write(name + "." + Twine(number) + ".o.partial", object))
      return error;
  return Error::success();
}

/// Makes the part of a trainer that owns state: one object file, whose names
/// meet none of the trainer's. Where it is not itself asked for, it goes with
/// `files`.
static Error finishOwner(const std::vector<pdlc::FileBytes> &objects,
                         PassingFiles &files) {
  PassingFiles parts;
  if (Error error = writePassing(objects, "owner", parts))
    return error;
  SmallString<256> output(outputFolder.getValue());
  sys::path::append(output, "owner.o");
  std::string path =
      emitsPrograms() ? files.add("owner.o.linked") : output.str().str();
  return pdlc::joinObjects(parts.paths(), path,
                           {{pdlc::kQueryName, pdlc::kOwnerQueryName}});
}

/// Makes a program, or one object file, of those that code generation made and,
/// of a trainer that owns state, of that part.
static Error finish(const std::vector<pdlc::FileBytes> &objects, StringRef name,
                    const PassingFiles &owner, const char *programPath) {
  if (!emitsPrograms() && objects.size() == 1)
    return writeFile((name + ".o").str(), [&](raw_pwrite_stream &stream) {
      stream.write(objects.front().data(), objects.front().size());
      return Error::success();
    });
  PassingFiles files;
  if (Error error = writePassing(objects, name, files))
    return error;
  if (emitsPrograms()) {
    std::vector<std::string> all = files.paths();
    if (name == "trainer")
      append_range(all, owner.paths());
    return pdlc::linkTrainer(requestLink(all, name, programPath));
  }
  SmallString<256> output(outputFolder.getValue());
  sys::path::append(output, name + ".o");
  return pdlc::joinObjects(files.paths(), output.str().str());
}

/// Makes a library of the objects of a program, and what stands beside it.
static Error finishLibrary(const std::vector<pdlc::FileBytes> &objects,
                           const LibraryFiles &library,
                           const char *programPath) {
  PassingFiles files;
  if (Error error = writePassing(objects, library.name, files))
    return error;
  if (Error error = pdlc::linkLibrary(
          requestLink(files.paths(), "lib" + library.name + ".so", programPath),
          library.accessor))
    return error;
  const std::pair<const char *, const std::string *> texts[] = {
      {".h", &library.header}, {".pc", &library.packageConfig}};
  for (const auto &[ending, text] : texts)
    if (Error error =
            writeFile(library.name + ending, [&](raw_pwrite_stream &stream) {
              stream << *text;
              return Error::success();
            }))
      return error;
  return Error::success();
}

/// Whether something was said to LLVM itself, which may change code.
static bool hasOptionsOfLlvm() {
  return any_of(cl::getRegisteredOptions(), [](const auto &entry) {
    const cl::Option &option = *entry.second;
    return option.getNumOccurrences() &&
           !is_contained(option.Categories, &category);
  });
}

static void finishCache(const pdlc::ObjectCache &cache) {
  cache.prune(cantFail(parseCachePruningPolicy(cachePolicy)));
  if (std::string sentence = cache.complaint(); !sentence.empty())
    WithColor::warning(errs(), "pdl-translate") << sentence << '\n';
  if (!cacheReport)
    return;
  pdlc::ObjectCache::Counts counts = cache.counts();
  errs() << "object cache: " << counts.found << " parts found, " << counts.made
         << " compiled";
  if (counts.damaged)
    errs() << ", for " << counts.damaged << " files were damaged";
  errs() << '\n';
}

/// Writes what a GPU launches of a program.
static Error emitKernels(mlir::ModuleOp program, pdlc::ObjectCache *cache,
                         mlir::TimingScope &timing) {
  mlir::TimingScope translation = timing.nest("Translation to PTX");
  Expected<std::string> text =
      pdlc::compileToPtx(program, gpuArchitecture, cache);
  if (!text)
    return createStringError(inputFile + ": " + toString(text.takeError()));
  return writeFile("kernels.ptx", [&](raw_pwrite_stream &stream) {
    stream << *text;
    return Error::success();
  });
}

/// From LLVM dialect to the files that --emit asks for. `owner` takes the part
/// of a trainer that owns state, and gives it to the trainer.
static Error emit(Program &program, const pdlc::CodegenContext &context,
                  PassingFiles &owner, const char *programPath) {
  LLVMContext llvmContext;
  mlir::TimingScope translation = context.timing.nest("Translation to LLVM IR");
  Expected<std::unique_ptr<Module>> translated =
      pdlc::translateToLLVMIR(*program.module, llvmContext);
  translation.stop();
  if (!translated)
    return createStringError(inputFile + ": " +
                             toString(translated.takeError()));
  if (emitKind == "llvm") {
    LLVMContext another;
    Expected<std::unique_ptr<Module>> optimized =
        pdlc::optimize(**translated, context, another);
    if (!optimized)
      return optimized.takeError();
    return writeFile(program.name + ".ll", [&](raw_pwrite_stream &stream) {
      (*optimized)->print(stream, nullptr);
      return Error::success();
    });
  }
  Expected<std::vector<pdlc::FileBytes>> objects =
      pdlc::compileToObjects(**translated, context);
  if (!objects)
    return objects.takeError();
  mlir::TimingScope linking = context.timing.nest("Linking and files");
  if (emitsLibrary())
    return finishLibrary(*objects, program.library, programPath);
  if (isPartOfTrainer(program.name))
    if (Error error = finishOwner(*objects, owner))
      return error;
  return isOwnProgram(program.name)
             ? finish(*objects, program.name, owner, programPath)
             : Error::success();
}

/// Says what to do with a file whose name or bytes are not those of a model.
static std::string explainForeignFile(StringRef name, StringRef bytes) {
  if (name.ends_with(".py"))
    return (name + " is a Python program, which writes its model by itself: "
                   "run it with python3, and give pdl-translate what it "
                   "writes (docs/Python.md)")
        .str();
  static const StringRef endings[] = {".onnx", ".pt",  ".pth",        ".pb",
                                      ".h5",   ".pkl", ".safetensors"};
  const bool isBytecode = bytes.starts_with("ML\xefR");
  const bool isForeign =
      any_of(endings, [&](StringRef ending) { return name.ends_with(ending); });
  if (!isForeign && (isBytecode || !bytes.take_front(4096).contains('\0')))
    return {};
  return (name + " is no model in the text of MLIR (.mlir), which is what "
                 "pdl-translate reads; docs/FromPyTorch.md shows how to write "
                 "a model of PyTorch in it, and how to carry weights over")
      .str();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  mlir::registerDefaultTimingManagerCLOptions();
  for (StringRef option :
       {"mlir-timing", "mlir-timing-display", "mlir-output-format"})
    cl::getRegisteredOptions()[option]->addCategory(category);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "PDL: compiles a recommendation model to programs\n");
  if (checkFlags())
    return 1;
  Expected<pdlc::TargetSpec> spec = pdlc::TargetSpec::get(targetCpu);
  if (!spec)
    return fail(toString(spec.takeError()));

  std::string message;
  std::unique_ptr<MemoryBuffer> input =
      mlir::openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  if (std::string reason = explainForeignFile(inputFile, input->getBuffer());
      !reason.empty())
    return fail(reason);
  if (sys::fs::exists(outputFolder) && !sys::fs::is_directory(outputFolder))
    return fail("cannot create folder " + outputFolder +
                ": it is there, and is no folder; name another");
  std::unique_ptr<pdlc::ObjectCache> cache;
  if (!cacheFolder.empty() && hasOptionsOfLlvm()) {
    // They may name files, or stand in one. A cache that only the environment
    // names is not worth a warning.
    if (cacheFolder.getNumOccurrences())
      WithColor::warning(errs(), "pdl-translate")
          << "the object cache is not used, because there are options of LLVM "
             "itself\n";
  } else if (!cacheFolder.empty()) {
    Expected<std::unique_ptr<pdlc::ObjectCache>> opened =
        pdlc::ObjectCache::open(cacheFolder);
    if (!opened)
      return fail(toString(opened.takeError()));
    cache = std::move(*opened);
  }

  mlir::DefaultTimingManager timingManager;
  mlir::applyDefaultTimingManagerCLOptions(timingManager);
  mlir::TimingScope timing = timingManager.getRootScope();
  mlir::TimingScope parsing = timing.nest("Parser");
  mlir::DialectRegistry registry;
  pdlc::registerDialects(registry);
  // None: one for each core.
  DefaultThreadPool pool(hardware_concurrency(numberOf(jobs).value_or(0)));
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.setThreadPool(pool);
  // A sentence with its place, without the op's text.
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  parsing.stop();
  if (!module)
    return 1;
  std::vector<Program> programs;
  if (failed(compile(std::move(module), programs, cache.get(), timing)))
    return 1;
  // Not before there is something to write.
  bool isNew = !sys::fs::exists(outputFolder);
  if (std::error_code code = sys::fs::create_directories(
          outputFolder, /*IgnoreExisting=*/true, sys::fs::all_all))
    return fail("cannot create folder " + outputFolder + ": " + code.message());
  const pdlc::CodegenContext codegen{*spec, pool, cache.get(), timing};
  PassingFiles owner;
  for (Program &program : programs)
    if (Error error = emitsKernels()
                          ? emitKernels(*program.module, cache.get(), timing)
                          : emit(program, codegen, owner, argv[0])) {
      // What was written stays; a folder of nothing does not.
      owner.remove();
      if (isNew) {
        std::error_code ignored = sys::fs::remove(outputFolder);
        (void)ignored;
      }
      return fail(toString(std::move(error)));
    }
  if (cache)
    finishCache(*cache);
  return 0;
}
