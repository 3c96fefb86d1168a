//===- Options.cpp - Flags of pdl-translate -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "pdlabi/exit_code.h"

#include "pdlc/Target/DeviceCode.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace translate;

cl::OptionCategory translate::category("pdl-translate options");

cl::opt<std::string> translate::inputFile(cl::Positional, cl::Required,
                                          cl::desc("<model.mlir>"),
                                          cl::cat(category));
cl::opt<std::string> translate::outputFolder("o", cl::Required,
                                             cl::desc("The folder to write to"),
                                             cl::value_desc("folder"),
                                             cl::cat(category));
cl::opt<std::string> translate::emitKind(
    "emit", cl::init("exe"),
    cl::desc("exe: programs, ready to run (default): folder/trainer and, with "
             "servers (--mode), folder/pserver; trainer, pserver: only "
             "that program; obj: object files (owner.o: of a trainer, the part "
             "that owns state); library: libMODEL.so, which answers requests, "
             "with its C header and pkg-config file; llvm: optimized LLVM IR; "
             "ptx: the kernels of compute, for a GPU (folder/kernels.ptx)"),
    cl::value_desc("kind or roles"), cl::cat(category));
cl::opt<std::string> translate::targetCpu(
    "target-cpu", cl::init(kAnyCpu.str()),
    cl::desc("any (default): code for x86-64-v3 and for x86-64-v4, of which "
             "the program chooses one when it starts; or one CPU: x86-64-v3, "
             "x86-64-v4, native, or a CPU that LLVM knows"),
    cl::cat(category));
cl::opt<std::string> translate::numerics(
    "numerics", cl::init("fast"),
    cl::desc("fast (default): products in oneDNN; strict: every sum in a "
             "fixed order, equal bits everywhere"),
    cl::cat(category));
cl::opt<std::string> translate::compute(
    "compute", cl::init("f32"),
    cl::desc("f32 (default); bf16: factors of large products are rounded to "
             "bf16 and summed in f32, which needs a CPU with AVX512-BF16; "
             "bf16x3, bf16x6: large products are sums of three or six products "
             "of bf16 parts, with nearly the accuracy of f32, and faster on "
             "CPUs with AMX"),
    cl::cat(category));
static cl::opt<std::string> target(
    "target", cl::init("cpu"),
    cl::desc("What trainers compute on. cpu (default); cuda: NVIDIA's GPUs: "
             "tables, servers, and what there is no kernel for, stay on CPUs"),
    cl::value_desc("kind"), cl::cat(category));
cl::opt<std::string> translate::gpuArchitecture(
    "gpu-arch", cl::init("sm_80"),
    cl::desc("With --target=cuda or --emit=ptx: the oldest GPU that the "
             "kernels run on (default: sm_80)"),
    cl::value_desc("name"), cl::cat(category));
cl::opt<std::string> translate::elementType(
    "element-type", cl::init("f32"),
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
cl::opt<bool> translate::noFuse(
    "no-fuse",
    cl::desc("Compute each op by itself: no product is fused with "
             "what follows it, no loops are joined. Slower, and in numerics "
             "strict the same to the bit: for comparisons"),
    cl::cat(category));
cl::opt<bool> translate::withServers(
    "servers",
    cl::desc("With --emit=library: the library can also ask the "
             "servers of a running job for rows (`connect`)"),
    cl::cat(category));
cl::opt<bool> translate::slice(
    "slice", cl::init(true),
    cl::desc("Cut parameters into blocks that servers share (default)"),
    cl::cat(category));
// Texts, because LLVM would parse 010 as eight and 0x10 as sixteen.
cl::opt<std::string> translate::minBlockElements(
    "min-block-elements", cl::init("8192"),
    cl::desc("The least elements of a block (default: 8192)"),
    cl::value_desc("number"), cl::cat(category));
cl::opt<std::string> translate::targetBlockBytes(
    "target-block-bytes", cl::init("131072"),
    cl::desc("About how many bytes a block has (default: 131072)"),
    cl::value_desc("number"), cl::cat(category));
cl::opt<std::string> translate::jobs(
    "jobs",
    cl::desc("Threads that compile; what is written is the same for any "
             "number (default: one for each core)"),
    cl::value_desc("number"), cl::cat(category));
cl::opt<std::string> translate::cacheFolder(
    "object-cache",
    cl::desc("A folder that keeps what parts of programs were compiled to, so "
             "that a changed model compiles only what changed; programs are "
             "the same, byte for byte. Compilers may share it (default: the "
             "environment variable PDL_OBJECT_CACHE; none without it)"),
    cl::value_desc("folder"), cl::cat(category));
cl::opt<std::string> translate::cachePolicy(
    "object-cache-policy",
    cl::init("prune_interval=20m:prune_after=720h:cache_size_bytes=1g"),
    cl::desc("What the folder is kept to, as LLVM's --thinlto-cache-policy: "
             "looked at every 20 minutes, files removed that were not used for "
             "30 days, and the oldest beyond 1 GiB "
             "(default: prune_interval=20m:prune_after=720h:"
             "cache_size_bytes=1g)"),
    cl::value_desc("policy"), cl::cat(category));
cl::opt<bool> translate::cacheReport(
    "object-cache-report",
    cl::desc("Say how many parts were found in the object cache"),
    cl::cat(category));
cl::opt<std::string> translate::runtimeFolder(
    "runtime-dir",
    cl::desc("The folder of PDL's archives (default: ../lib from "
             "this program)"),
    cl::value_desc("folder"), cl::cat(category));

static int fail(pdlabi::ExitCode code, const Twine &message) {
  WithColor::error(errs(), "pdl-translate") << message << '\n';
  return pdlabi::statusOf(code);
}

int translate::fail(const Twine &message) {
  return ::fail(pdlabi::ExitCode::Failure, message);
}

int translate::fail(Error error) {
  std::string message;
  pdlabi::ExitCode exit = pdlabi::ExitCode::Failure;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    message += (message.empty() ? "" : "\n") + info.message();
    const std::error_code code = info.convertToErrorCode();
    if (code != inconvertibleErrorCode() &&
        pdlabi::exitCodeOf(pdlabi::codeOfErrno(code.value())) ==
            pdlabi::ExitCode::Retry)
      exit = pdlabi::ExitCode::Retry;
  });
  return ::fail(exit, message);
}

int translate::failFlag(const Twine &message) {
  return ::fail(pdlabi::ExitCode::Usage, message);
}

static int checkOneOf(StringRef option, StringRef value,
                      ArrayRef<StringRef> known) {
  if (is_contained(known, value))
    return 0;
  return failFlag("--" + option + " knows no '" + value + "'; use " +
                  join(known, " or "));
}

pdlc::ps::Mode translate::chosenMode() {
  std::optional<pdlc::ps::Mode> known = pdlc::ps::modeOf(mode.getValue());
  if (!known)
    llvm_unreachable("--mode was checked");
  return *known;
}
static const pdlc::ps::ModeProperties &modeProperties() {
  return pdlc::ps::propertiesOf(chosenMode());
}
bool translate::isDistributed() { return modeProperties().hasServers; }
bool translate::emitsKernels() { return emitKind == "ptx"; }
bool translate::emitsLibrary() { return emitKind == "library"; }
pdlc::Target translate::chosenTarget() {
  return emitsKernels() || target == "cuda" ? pdlc::Target::Cuda
                                            : pdlc::Target::Cpu;
}
bool translate::emitsPrograms() {
  return emitKind != "obj" && emitKind != "llvm" && !emitsKernels();
}
std::string translate::oldestCpu() {
  return targetCpu == kAnyCpu ? pdlc::kOldestCpu.str() : targetCpu.getValue();
}
/// Returns true if --emit requests a role.
static bool emitsRole(StringRef role) {
  if (emitsKernels())
    return role == "trainer";
  if (emitKind == "exe" || !emitsPrograms())
    return true;
  SmallVector<StringRef> roles;
  StringRef(emitKind).split(roles, ',');
  return is_contained(roles, role);
}
bool translate::isOwnProgram(StringRef role) {
  return emitsRole(role) && (role != "pserver" || emitKind == "llvm" ||
                             modeProperties().needsServers());
}
bool translate::isPartOfTrainer(StringRef role) {
  return role == "pserver" && emitKind != "llvm" && !emitsKernels() &&
         emitsRole("trainer") && modeProperties().trainersOwn();
}

std::optional<int64_t> translate::numberOf(StringRef text) {
  int64_t number = 0;
  if (!all_of(text, isDigit) || text.getAsInteger(10, number) || number < 1)
    return std::nullopt;
  return number;
}

/// Returns an error status if a flag is repeated, because only one of its
/// values would be used.
static int checkRepeated() {
  for (auto &[name, option] : cl::getRegisteredOptions())
    if (is_contained(option->Categories, &category) &&
        option->getNumOccurrences() > 1)
      return failFlag((name.size() == 1 ? "-" : "--") + name + " is given " +
                      Twine(option->getNumOccurrences()) +
                      " times; say it once");
  return 0;
}

static int checkCacheFlags() {
  if (cacheFolder.getNumOccurrences() && cacheFolder.empty())
    return failFlag("--object-cache names no folder");
  if (!cacheFolder.getNumOccurrences())
    if (std::optional<std::string> folder =
            sys::Process::GetEnv("PDL_OBJECT_CACHE"))
      cacheFolder = *folder;
  if (cacheFolder.empty() &&
      (cachePolicy.getNumOccurrences() || cacheReport.getNumOccurrences()))
    return failFlag(
        "--object-cache-policy and --object-cache-report are about the "
        "folder of --object-cache; name it");
  if (Expected<CachePruningPolicy> policy =
          parseCachePruningPolicy(cachePolicy);
      !policy)
    return failFlag("--object-cache-policy is '" + cachePolicy +
                    "': " + toString(policy.takeError()));
  return 0;
}

int translate::checkFlags() {
  if (checkRepeated() || checkCacheFlags())
    return pdlabi::statusOf(pdlabi::ExitCode::Usage);
  if (!pdlc::ps::modeOf(mode.getValue()))
    return failFlag("--mode knows no '" + mode + "'; use " +
                    pdlc::ps::modeList(/*withServers=*/false));
  if (checkOneOf("numerics", numerics, {"fast", "strict"}) ||
      checkOneOf("compute", compute, {"f32", "bf16", "bf16x3", "bf16x6"}) ||
      checkOneOf("target", target, {"cpu", "cuda"}) ||
      checkOneOf("element-type", elementType, {"f32", "f64"}))
    return pdlabi::statusOf(pdlabi::ExitCode::Usage);
  if (compute != "f32" && elementType == "f64")
    return failFlag("--compute=" + compute +
                    " is for elements of f32; leave it out of a test "
                    "with --element-type=f64");
  if (compute != "f32" && compute != "bf16" && target == "cuda")
    return failFlag("--compute=" + compute +
                    " computes on CPUs; with --target=cuda, use f32 or bf16, "
                    "or --tf32 of trainers");
  SmallVector<StringRef> parts;
  StringRef(emitKind).split(parts, ',');
  for (StringRef part : parts)
    if (checkOneOf(
            "emit", part,
            {"exe", "obj", "llvm", "trainer", "pserver", "library", "ptx"}))
      return pdlabi::statusOf(pdlabi::ExitCode::Usage);
  bool roles = all_of(parts, [](StringRef part) {
    return part == "trainer" || part == "pserver";
  });
  if (parts.size() > 1 && !roles)
    return failFlag(
        "--emit=" + emitKind +
        " mixes kinds: give exe, obj, library, llvm or ptx alone, or roles "
        "such as trainer,pserver");
  if (emitsLibrary() && isDistributed())
    return failFlag(
        "--emit=library serves in one process, whatever mode trained "
        "what it loads; leave --mode out");
  if (withServers && !emitsLibrary())
    return failFlag("--servers is for libraries that ask servers for rows; add "
                    "--emit=library, or leave it out");
  if (emitsLibrary() && target == "cuda")
    return failFlag("--emit=library computes on CPUs; leave --target=cuda out");
  if (emitsKernels() && target.getNumOccurrences() && target == "cpu")
    return failFlag(
        "--emit=ptx asks for kernels of a GPU, but --target=cpu has "
        "none; leave --target out");
  if (chosenTarget() == pdlc::Target::Cpu &&
      gpuArchitecture.getNumOccurrences())
    return failFlag(
        "--gpu-arch is for --target=cuda and --emit=ptx; leave it out");
  if (Error error = pdlc::checkGpuArchitecture(gpuArchitecture))
    return failFlag("--gpu-arch: " + toString(std::move(error)));
  if (!isDistributed() && is_contained(parts, "pserver"))
    return failFlag(
        "--emit=" + emitKind +
        " asks for servers, but --mode=local has none; add --mode=" +
        pdlc::ps::modeList(/*withServers=*/true));
  if (isDistributed() && !modeProperties().needsServers() &&
      is_contained(parts, "pserver"))
    return failFlag("--emit=" + emitKind +
                    " asks for servers, but --mode=" + mode +
                    " has none: its trainers own all state; leave pserver out");
  if (!isDistributed() &&
      (slice.getNumOccurrences() || minBlockElements.getNumOccurrences() ||
       targetBlockBytes.getNumOccurrences()))
    return failFlag(
        "--slice, --min-block-elements and --target-block-bytes say how "
        "servers share parameters, but --mode=local has none; add --mode=" +
        pdlc::ps::modeList(/*withServers=*/true));
  for (const cl::opt<std::string> *option :
       {&minBlockElements, &targetBlockBytes, &jobs})
    if ((option != &jobs || jobs.getNumOccurrences()) && !numberOf(*option))
      return failFlag("--" + option->ArgStr + " is '" + option->getValue() +
                      "'; say a whole decimal number of at least 1");
  return 0;
}
