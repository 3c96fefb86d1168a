//===- pdl-translate.cpp - Compile a model to a program -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "pdlabi/exit_code.h"
#include "pdlabi/version.h"

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
#include "pdlc/Target/Linker.h"
#include "pdlc/Target/ObjectCache.h"
#include "pdlc/Target/TargetSpec.h"
#include "pdlc/Transforms/Dialects.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
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

#include <csignal>

using namespace llvm;
using namespace translate;

namespace {
/// Name of a library, and the files that accompany it.
struct LibraryFiles {
  std::string name, accessor, header, packageConfig;
};

/// A program to be written.
struct Program {
  /// Name of the program's files: "trainer" or "pserver". In mode local, files
  /// that are not linked (--emit=obj, llvm, ptx) have the name "model".
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Only for --emit=library.
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
  options.targetCpu = oldestCpu();
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

/// Reduces a module in phase `tasks` to the kernels of a device.
static mlir::LogicalResult keepKernels(mlir::ModuleOp module,
                                       mlir::TimingScope &timing) {
  mlir::PassManager manager(module.getContext());
  manager.enableTiming(timing);
  pdlc::buildDevicePipeline(manager);
  return manager.run(module);
}

/// Compiles the kernels that a device launches, and stores their code in the
/// module, from which the descriptor takes it. `module` is in phase `tasks`.
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

/// Returns the texts that describe a library. Made in phase `tasks`, because
/// fields lose their names later.
static LibraryFiles describeLibrary(mlir::ModuleOp module) {
  LibraryFiles files{
      pdlc::servingNameOf(module), pdlc::servingAccessorOf(module), {}, {}};
  raw_string_ostream header(files.header), config(files.packageConfig);
  pdlc::writeServingHeader(module, header);
  pdlc::writePackageConfig(module, config);
  return files;
}

/// Runs the passes up to phase `to`. If `from` is set, the module is one role
/// of a distributed program, and is in phase `from`. If --emit requests
/// kernels, keeps only those that a device launches in phase `tasks`. If
/// `library` is not null, sets it to the files that accompany a library.
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
  // In phase model, verify the module after each pass: it contains user code,
  // and some checks need the rules that the code names. Later modules are
  // generated by PDL, and a pass verifies them after each phase.
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

static bool isLowered(mlir::ModuleOp module) {
  auto phase = module->getAttrOfType<mlir::StringAttr>(
      pdlc::nn::NNDialect::kPhaseAttrName);
  return phase && phase.getValue() == "llvm";
}

/// Returns the CPUs that programs also contain their code for. A module in
/// phase `llvm` is only for the CPU that its functions name.
static std::vector<pdlc::TargetSpec> laterSpecsFor(mlir::ModuleOp module) {
  return targetCpu == kAnyCpu && !isLowered(module)
             ? cantFail(pdlc::TargetSpec::laterLevels())
             : std::vector<pdlc::TargetSpec>();
}

/// Compiles the module to phase `llvm`, or to phase `tasks` for kernels of a
/// GPU. Appends one program to `programs`, or one for each role. Prints
/// diagnostics.
static mlir::LogicalResult compile(mlir::OwningOpRef<mlir::ModuleOp> module,
                                   std::vector<Program> &programs,
                                   pdlc::ObjectCache *cache,
                                   mlir::TimingScope &timing) {
  for (mlir::Operation &op : *module->getBody())
    if (isa<mlir::ModuleOp>(op))
      return mlir::emitError(op.getLoc(),
                             "a model is one module; this one is nested, and "
                             "would get lost");
  const bool isDone = isLowered(*module);
  if (isDone && emitsLibrary())
    return mlir::emitError(module->getLoc(),
                           "this module is in phase llvm, where fields have no "
                           "names any more; give --emit=library the model");
  if (isDone && emitsKernels())
    return mlir::emitError(
        module->getLoc(),
        "this module is in phase llvm, in which the iterations "
        "of kernels have an order; give --emit=ptx the model");
  if (isDone && noFuse)
    return mlir::emitError(module->getLoc(),
                           "this module is in phase llvm, where ops have been "
                           "fused; give --no-fuse the model");
  const pdlc::Phase last =
      emitsKernels() ? pdlc::Phase::Tasks : pdlc::Phase::LLVM;
  if (!isDone && module->getOps<pdlc::nn::ProgramOp>().empty())
    return mlir::emitError(module->getLoc(),
                           "the model declares no program; add an nn.program "
                           "such as @train");
  if (isDone || !isDistributed()) {
    LibraryFiles library;
    if (!isDone &&
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
    // Programs contain the name of the model.
    role.setSymNameAttr(module->getSymNameAttr());
    if (failed(runPipeline(role, last, pdlc::Phase::Roles, cache, timing)))
      return mlir::failure();
    programs.push_back({std::move(name), std::move(owned), {}});
  }
  // Compile the part of a trainer that owns state before the trainer.
  std::partition(programs.begin(), programs.end(), [](const Program &program) {
    return isPartOfTrainer(program.name);
  });
  return mlir::success();
}

/// Writes a file under a temporary name, and renames it when it is complete.
static Error writeFile(StringRef name,
                       function_ref<Error(raw_pwrite_stream &)> write) {
  SmallString<256> path(outputFolder.getValue());
  sys::path::append(path, name);
  Expected<sys::fs::TempFile> file = sys::fs::TempFile::create(
      path + ".%%%%%%", sys::fs::all_read | sys::fs::all_write);
  if (!file) {
    const std::error_code code = errorToErrorCode(file.takeError());
    return createStringError(code, "cannot write to folder " + outputFolder +
                                       ": " + code.message());
  }
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  Error error = write(stream);
  stream.flush();
  if (!error && stream.has_error()) {
    error = createStringError(stream.error(), "cannot write " + path + ": " +
                                                  stream.error().message());
    stream.clear_error();
  }
  if (error)
    return joinErrors(std::move(error), file->discard());
  return file->keep(path);
}

/// Returns the folder of the runtime that belongs to this program.
static std::string ownRuntimeFolder(const char *programPath) {
  static int anchor;
  SmallString<256> folder(sys::fs::getMainExecutable(programPath, &anchor));
  sys::path::remove_filename(folder);
  sys::path::append(folder, "..", "lib");
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  return folder.str().str();
}

/// Returns the commit from which PDL was built. It is read from a file of the
/// runtime. If the executable contained it, entries of the object cache could
/// not be used by builds of other commits.
static std::string readCommit(const char *programPath) {
  auto text =
      MemoryBuffer::getFile(ownRuntimeFolder(programPath) + "/pdl/commit.txt");
  return text ? (*text)->getBuffer().trim().str() : std::string();
}

/// Returns the link request for a program or library in the output folder.
static pdlc::LinkRequest
requestLink(const std::vector<std::string> &objectFiles, StringRef name,
            const char *programPath) {
  pdlc::LinkRequest request;
  request.objectFiles = objectFiles;
  request.folder = outputFolder;
  request.name = name.str();
  // Servers compute no products.
  request.fast =
      numerics == "fast" && elementType == "f32" && name != "pserver";
  request.grpc = isDistributed();
  request.servers = withServers;
  if (name == "pserver")
    request.mainArchive = "PDLServerMain";
  request.runtimeFolder = runtimeFolder.empty() ? ownRuntimeFolder(programPath)
                                                : std::string(runtimeFolder);
  return request;
}

namespace {
/// Temporary files in the output folder. The destructor removes them.
class PassingFiles {
public:
  PassingFiles() = default;
  PassingFiles(const PassingFiles &) = delete;
  PassingFiles &operator=(const PassingFiles &) = delete;
  ~PassingFiles() { remove(); }

  void remove() {
    // Ignore errors: the files are not needed any more.
    for (const std::string &path : list) {
      std::error_code ignored = sys::fs::remove(path);
      (void)ignored;
    }
    list.clear();
  }

  /// Adds the file `name`, which other code writes. Returns its path.
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

/// Writes the generated code of one program as object files.
static Error writePassing(const std::vector<pdlc::FileBytes> &objects,
                          StringRef name, PassingFiles &files) {
  for (auto [number, object] : enumerate(objects))
    if (Error error =
            files.write(name + "." + Twine(number) + ".o.partial", object))
      return error;
  return Error::success();
}

/// Creates the part of a trainer that owns state: one object file, whose
/// symbols do not collide with those of the trainer. It is written to the
/// output folder if --emit requests object files. Otherwise it is a temporary
/// file, which is added to `files`.
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

/// Creates a program or an object file from the generated objects. A trainer
/// also gets the objects in `owner`, the part that owns state.
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

/// Creates a serving library from the objects of a program, and writes the
/// files that accompany it.
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

/// Returns true if a flag of LLVM itself is set, because it may change the
/// generated code.
static bool hasOptionsOfLlvm() {
  return any_of(cl::getRegisteredOptions(), [](const auto &entry) {
    const cl::Option &option = *entry.second;
    return option.getNumOccurrences() &&
           !is_contained(option.Categories, &category);
  });
}

static void finishCache(const pdlc::ObjectCache &cache) {
  cache.prune(cantFail(parseCachePruningPolicy(cachePolicy)));
  if (std::string message = cache.complaint(); !message.empty())
    WithColor::warning(errs(), "pdl-translate") << message << '\n';
  if (!cacheReport)
    return;
  pdlc::ObjectCache::Counts counts = cache.counts();
  errs() << "object cache: " << counts.found << " parts found, " << counts.made
         << " compiled";
  if (counts.damaged)
    errs() << ", for " << counts.damaged << " files were damaged";
  errs() << '\n';
}

/// Writes the kernels that a GPU launches.
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

/// Compiles a program from the LLVM dialect to the files that --emit requests.
/// If the program is the part of a trainer that owns state, its object file is
/// added to `owner`. If it is the trainer, it is linked with that file.
static Error emit(Program &program, const pdlc::CodegenContext &context,
                  ArrayRef<pdlc::TargetSpec> laterSpecs, PassingFiles &owner,
                  const char *programPath) {
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
      pdlc::compileToObjects(**translated, context, laterSpecs);
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

/// If a file is not a model, by its name or its contents, returns a text that
/// says what to do with it. Otherwise returns an empty text.
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

static cl::extrahelp footer(
    "\nExample:\n"
    "  pdl-translate model.mlir --mode=sync --emit=trainer,pserver -o out\n"
    "Exit status: 0 done; 1 an error in the model, or a file that cannot be "
    "read; 2 wrong flags; 3 failure that\nanother try may mend, such as a full "
    "disk.\n");

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  if (std::optional<int> status = pdlc::runAsLinker(argc, argv))
    return *status;
  cl::SetVersionPrinter([&](raw_ostream &stream) {
    stream << pdlabi::versionLine("pdl-translate", readCommit(argv[0]),
                                  "LLVM " LLVM_VERSION_STRING)
           << "\n";
  });
  mlir::registerDefaultTimingManagerCLOptions();
  for (StringRef option :
       {"mlir-timing", "mlir-timing-display", "mlir-output-format"})
    cl::getRegisteredOptions()[option]->addCategory(category);
  cl::HideUnrelatedOptions(category);
  // With a stream, the function returns instead of ending the program with 1.
  if (!cl::ParseCommandLineOptions(
          argc, argv, "PDL: compiles a recommendation model to programs\n",
          &errs()))
    return pdlabi::statusOf(pdlabi::ExitCode::Usage);
  if (const int status = checkFlags())
    return status;
  // A write beyond the file size limit then fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  Expected<pdlc::TargetSpec> spec = pdlc::TargetSpec::get(oldestCpu());
  if (!spec)
    return failFlag(toString(spec.takeError()));

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
    // Such options may name files, or come from a file, so that results of the
    // cache could be wrong. Do not warn if only the environment has set the
    // cache.
    if (cacheFolder.getNumOccurrences())
      WithColor::warning(errs(), "pdl-translate")
          << "the object cache is not used, because there are options of LLVM "
             "itself\n";
  } else if (!cacheFolder.empty()) {
    Expected<std::unique_ptr<pdlc::ObjectCache>> opened =
        pdlc::ObjectCache::open(cacheFolder);
    if (!opened)
      return fail(opened.takeError());
    cache = std::move(*opened);
  }

  mlir::DefaultTimingManager timingManager;
  mlir::applyDefaultTimingManagerCLOptions(timingManager);
  mlir::TimingScope timing = timingManager.getRootScope();
  mlir::TimingScope parsing = timing.nest("Parser");
  mlir::DialectRegistry registry;
  pdlc::registerDialects(registry);
  // Without a number, use one thread per core.
  DefaultThreadPool pool(hardware_concurrency(numberOf(jobs).value_or(0)));
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.setThreadPool(pool);
  // Print errors with their location, but without the text of the op.
  context.printOpOnDiagnostic(false);
  auto sources = std::make_shared<SourceMgr>();
  sources->AddNewSourceBuffer(std::move(input), SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  parsing.stop();
  if (!module)
    return 1;
  const std::vector<pdlc::TargetSpec> laterSpecs = laterSpecsFor(*module);
  std::vector<Program> programs;
  if (failed(compile(std::move(module), programs, cache.get(), timing)))
    return 1;
  // Create the folder only when there is output to write.
  bool isNew = !sys::fs::exists(outputFolder);
  if (std::error_code code = sys::fs::create_directories(
          outputFolder, /*IgnoreExisting=*/true, sys::fs::all_all))
    return fail(createStringError(code, "cannot create folder " + outputFolder +
                                            ": " + code.message()));
  const pdlc::CodegenContext codegen{*spec, pool, cache.get(), timing};
  PassingFiles owner;
  for (Program &program : programs)
    if (Error error =
            emitsKernels()
                ? emitKernels(*program.module, cache.get(), timing)
                : emit(program, codegen, laterSpecs, owner, argv[0])) {
      // Keep written files, but remove an empty folder.
      owner.remove();
      if (isNew) {
        std::error_code ignored = sys::fs::remove(outputFolder);
        (void)ignored;
      }
      return fail(std::move(error));
    }
  if (cache)
    finishCache(*cache);
  return 0;
}
