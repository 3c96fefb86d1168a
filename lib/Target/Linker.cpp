//===- Linker.cpp - The linker inside the compiler ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/Linker.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace llvm;

// `lld` initializes all of LLVM's targets for link-time optimization, which PDL
// does not use. Empty functions replace those of targets that PDL does not
// generate code for, which keeps their code out of the compiler.
extern "C" {
#define PDLC_UNUSED_TARGET(name)                                               \
  void LLVMInitialize##name##TargetInfo() {}                                   \
  void LLVMInitialize##name##Target() {}                                       \
  void LLVMInitialize##name##TargetMC() {}                                     \
  void LLVMInitialize##name##AsmPrinter() {}                                   \
  void LLVMInitialize##name##AsmParser() {}
#include "UnusedTargets.inc"
#undef PDLC_UNUSED_TARGET
}

/// Link-time optimization would also ask for the passes of Polly.
PassPluginLibraryInfo getPollyPluginInfo() { return {}; }

/// Name by which a process of the compiler is told to be the linker. It does
/// not occur as the name of a program in a file system.
static constexpr StringLiteral kLinkerName = "pdl-translate: linker";

std::optional<int> pdlc::runAsLinker(int argc, char **argv) {
  if (argc == 0 || argv[0] != kLinkerName)
    return std::nullopt;
  SmallVector<const char *> arguments(argv, argv + argc);
  // `lld` chooses its flavor by this name.
  arguments[0] = "ld.lld";
  return lld::lldMain(arguments, outs(), errs(), {{lld::Gnu, &lld::elf::link}})
      .retCode;
}

Error pdlc::runLinker(ArrayRef<std::string> arguments) {
  SmallString<128> log;
  if (std::error_code code =
          sys::fs::createTemporaryFile("pdl-link", "log", log))
    return createStringError(code, "cannot create a temporary file: " +
                                       code.message());
  FileRemover remover(log);
  SmallVector<StringRef> argv{kLinkerName};
  llvm::append_range(argv, arguments);
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  int status = sys::ExecuteAndWait("/proc/self/exe", argv, /*Env=*/std::nullopt,
                                   redirects, 0, 0, &message);
  if (status == 0)
    return Error::success();
  if (message.empty())
    if (auto buffer = MemoryBuffer::getFile(log))
      message = (*buffer)->getBuffer().trim().str();
  return createStringError("the linker failed: " + message);
}
