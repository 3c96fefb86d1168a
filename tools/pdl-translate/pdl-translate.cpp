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

static cl::OptionCategory category("pdl-translate options");

static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<model.mlir>"),
                                      cl::cat(category));
static cl::opt<std::string> outputFolder("o", cl::Required,
                                         cl::desc("The folder to write to"),
                                         cl::value_desc("folder"),
                                         cl::cat(category));
static cl::opt<std::string> emitKind(
    "emit", cl::init("exe"),
    cl::desc("exe: programs, ready to run (default): folder/trainer and, with "
             "servers (--mode), folder/pserver; trainer, pserver: only "
             "that program; obj: object files (owner.o: of a trainer, the part "
             "that owns state); library: libMODEL.so, which answers requests, "
             "with its C header and pkg-config file; llvm: optimised LLVM IR; "
             "ptx: the kernels of compute, for a GPU (folder/kernels.ptx)"),
    cl::value_desc("kind or roles"), cl::cat(category));
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
static cl::opt<std::string> compute(
    "compute", cl::init("f32"),
    cl::desc("f32 (default); bf16: factors of large products are rounded to "
             "bf16 and summed in f32, which needs a CPU with AVX512-BF16"),
    cl::cat(category));
static cl::opt<std::string> target(
    "target", cl::init("cpu"),
    cl::desc("What trainers compute on. cpu (default); cuda: NVIDIA's GPUs: "
             "tables, servers, and what there is no kernel for, stay on CPUs"),
    cl::value_desc("kind"), cl::cat(category));
static cl::opt<std::string> gpuArchitecture(
    "gpu-arch", cl::init("sm_80"),
    cl::desc("With --target=cuda or --emit=ptx: the oldest GPU that the "
             "kernels run on (default: sm_80)"),
    cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string>
    elementType("element-type", cl::init("f32"),
                cl::desc("f32 (default), or f64 for tests against mathematics"),
                cl::cat(category));
static cl::opt<std::string>
    mode("mode", cl::init("local"),
         cl::desc("local: one process (default); sync: trainers and servers, "
                  "servers sum over all trainers; async: servers apply what "
                  "each worker sends by itself; half-async: what each trainer "
                  "sends; quorum: servers sum over those trainers that come "
                  "first; collective: as sync, without servers: trainers own "
                  "all state; hybrid: as sync, trainers own parameters, and "
                  "servers tables; geo: trainers apply the rules to copies, "
                  "and servers add up what they have changed"),
         cl::cat(category));
static cl::opt<bool>
    noFuse("no-fuse",
           cl::desc("Compute each op by itself: no product takes up what "
                    "follows it, no loops are joined. Slower, and in numerics "
                    "strict the same to the bit: for comparisons"),
           cl::cat(category));
static cl::opt<bool>
    withServers("servers",
                cl::desc("With --emit=library: the library can also ask the "
                         "servers of a running job for rows (`connect`)"),
                cl::cat(category));
static cl::opt<bool>
    slice("slice", cl::init(true),
          cl::desc("Cut parameters into blocks that servers share (default)"),
          cl::cat(category));
// Texts, because LLVM takes 010 for eight and 0x10 for sixteen.
static cl::opt<std::string>
    minBlockElements("min-block-elements", cl::init("8192"),
                     cl::desc("The least elements of a block (default: 8192)"),
                     cl::value_desc("number"), cl::cat(category));
static cl::opt<std::string> targetBlockBytes(
    "target-block-bytes", cl::init("131072"),
    cl::desc("About how many bytes a block has (default: 131072)"),
    cl::value_desc("number"), cl::cat(category));
static cl::opt<std::string>
    jobs("jobs",
         cl::desc("Threads that compile; what is written is the same for any "
                  "number (default: one for each core)"),
         cl::value_desc("number"), cl::cat(category));
static cl::opt<std::string> cacheFolder(
    "object-cache",
    cl::desc("A folder that keeps what parts of programs were compiled to, so "
             "that a changed model compiles only what changed; programs are "
             "the same, byte for byte. Compilers may share it (default: none)"),
    cl::value_desc("folder"), cl::cat(category));
static cl::opt<std::string> cachePolicy(
    "object-cache-policy",
    cl::init("prune_interval=20m:prune_after=720h:cache_size_bytes=1g"),
    cl::desc("What the folder is kept to, as LLVM's --thinlto-cache-policy: "
             "looked at every 20 minutes, files removed that were not used for "
             "30 days, and the oldest beyond 1 GiB "
             "(default: prune_interval=20m:prune_after=720h:"
             "cache_size_bytes=1g)"),
    cl::value_desc("policy"), cl::cat(category));
static cl::opt<bool>
    cacheReport("object-cache-report",
                cl::desc("Say how many parts were found in the object cache"),
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

/// That of a flag that was checked.
static pdlc::ps::Mode chosenMode() {
  std::optional<pdlc::ps::Mode> known = pdlc::ps::modeOf(mode.getValue());
  if (!known)
    llvm_unreachable("--mode was checked");
  return *known;
}
static const pdlc::ps::ModeProperties &modeProperties() {
  return pdlc::ps::propertiesOf(chosenMode());
}
static bool isDistributed() { return modeProperties().hasServers; }
static bool emitsKernels() { return emitKind == "ptx"; }
static bool emitsLibrary() { return emitKind == "library"; }
static pdlc::Target chosenTarget() {
  return emitsKernels() || target == "cuda" ? pdlc::Target::Cuda
                                            : pdlc::Target::Cpu;
}
static bool emitsPrograms() {
  return emitKind != "obj" && emitKind != "llvm" && !emitsKernels();
}
/// Whether --emit asks for a role.
static bool emitsRole(StringRef role) {
  if (emitsKernels())
    return role == "trainer";
  if (emitKind == "exe" || !emitsPrograms())
    return true;
  SmallVector<StringRef> roles;
  StringRef(emitKind).split(roles, ',');
  return is_contained(roles, role);
}
/// Whether a role has files of its own.
static bool isOwnProgram(StringRef role) {
  return emitsRole(role) && (role != "pserver" || emitKind == "llvm" ||
                             modeProperties().needsServers());
}
/// Whether a role becomes the part of a trainer that owns state.
static bool isPartOfTrainer(StringRef role) {
  return role == "pserver" && emitKind != "llvm" && !emitsKernels() &&
         emitsRole("trainer") && modeProperties().trainersOwn();
}

/// At least 1; none where the text is no decimal number.
static std::optional<int64_t> numberOf(StringRef text) {
  int64_t number = 0;
  if (!all_of(text, isDigit) || text.getAsInteger(10, number) || number < 1)
    return std::nullopt;
  return number;
}

/// Refuses a flag that is given twice: of two values one would be ignored.
static int checkRepeated() {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (is_contained(option->Categories, &category) &&
        option->getNumOccurrences() > 1)
      return fail((name.size() == 1 ? "-" : "--") + name + " is given " +
                  Twine(option->getNumOccurrences()) + " times; say it once");
  return 0;
}

static int checkCacheFlags() {
  if (cacheFolder.getNumOccurrences() && cacheFolder.empty())
    return fail("--object-cache names no folder");
  if (cacheFolder.empty() &&
      (cachePolicy.getNumOccurrences() || cacheReport.getNumOccurrences()))
    return fail("--object-cache-policy and --object-cache-report are about the "
                "folder of --object-cache; name it");
  if (Expected<CachePruningPolicy> policy =
          parseCachePruningPolicy(cachePolicy);
      !policy)
    return fail("--object-cache-policy is '" + cachePolicy +
                "': " + toString(policy.takeError()));
  return 0;
}

/// Refuses combinations of flags that mean nothing.
static int checkFlags() {
  if (checkRepeated() || checkCacheFlags())
    return 1;
  if (!pdlc::ps::modeOf(mode.getValue()))
    return fail("--mode knows no '" + mode + "'; use " +
                pdlc::ps::modeList(/*withServers=*/false));
  if (checkOneOf("numerics", numerics, {"fast", "strict"}) ||
      checkOneOf("compute", compute, {"f32", "bf16"}) ||
      checkOneOf("target", target, {"cpu", "cuda"}) ||
      checkOneOf("element-type", elementType, {"f32", "f64"}))
    return 1;
  if (compute == "bf16" && elementType == "f64")
    return fail("--compute=bf16 is for elements of f32; leave it out of a test "
                "with --element-type=f64");
  SmallVector<StringRef> parts;
  StringRef(emitKind).split(parts, ',');
  for (StringRef part : parts)
    if (checkOneOf(
            "emit", part,
            {"exe", "obj", "llvm", "trainer", "pserver", "library", "ptx"}))
      return 1;
  bool roles = all_of(parts, [](StringRef part) {
    return part == "trainer" || part == "pserver";
  });
  if (parts.size() > 1 && !roles)
    return fail(
        "--emit=" + emitKind +
        " mixes kinds: give exe, obj, library, llvm or ptx alone, or roles "
        "such as trainer,pserver");
  if (emitsLibrary() && isDistributed())
    return fail("--emit=library serves in one process, whatever mode trained "
                "what it loads; leave --mode out");
  if (withServers && !emitsLibrary())
    return fail("--servers is for libraries that ask servers for rows; add "
                "--emit=library, or leave it out");
  if (emitsLibrary() && target == "cuda")
    return fail("--emit=library computes on CPUs; leave --target=cuda out");
  if (emitsKernels() && target.getNumOccurrences() && target == "cpu")
    return fail("--emit=ptx asks for kernels of a GPU, but --target=cpu has "
                "none; leave --target out");
  if (chosenTarget() == pdlc::Target::Cpu &&
      gpuArchitecture.getNumOccurrences())
    return fail("--gpu-arch is for --target=cuda and --emit=ptx; leave it out");
  if (Error error = pdlc::checkGpuArchitecture(gpuArchitecture))
    return fail("--gpu-arch: " + toString(std::move(error)));
  if (!isDistributed() && is_contained(parts, "pserver"))
    return fail("--emit=" + emitKind +
                " asks for servers, but --mode=local has none; add --mode=" +
                pdlc::ps::modeList(/*withServers=*/true));
  if (isDistributed() && !modeProperties().needsServers() &&
      is_contained(parts, "pserver"))
    return fail("--emit=" + emitKind + " asks for servers, but --mode=" + mode +
                " has none: its trainers own all state; leave pserver out");
  if (!isDistributed() &&
      (slice.getNumOccurrences() || minBlockElements.getNumOccurrences() ||
       targetBlockBytes.getNumOccurrences()))
    return fail(
        "--slice, --min-block-elements and --target-block-bytes say how "
        "servers share parameters, but --mode=local has none; add --mode=" +
        pdlc::ps::modeList(/*withServers=*/true));
  for (const cl::opt<std::string> *option :
       {&minBlockElements, &targetBlockBytes, &jobs})
    if ((option != &jobs || jobs.getNumOccurrences()) && !numberOf(*option))
      return fail("--" + option->ArgStr + " is '" + option->getValue() +
                  "'; say a whole decimal number of at least 1");
  return 0;
}

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
  if (sys::fs::exists(outputFolder) && !sys::fs::is_directory(outputFolder))
    return fail("cannot create folder " + outputFolder +
                ": it is there, and is no folder; name another");
  std::unique_ptr<pdlc::ObjectCache> cache;
  if (!cacheFolder.empty() && hasOptionsOfLlvm()) {
    // They may name files, or stand in one.
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
  if (std::error_code code = sys::fs::create_directories(outputFolder))
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
