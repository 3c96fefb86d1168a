//===- Options.h - The flags of pdl-translate -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_PDL_TRANSLATE_OPTIONS_H
#define TOOLS_PDL_TRANSLATE_OPTIONS_H

#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/Support/CommandLine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace translate {

/// Of all flags that are not LLVM's own. What each is for: Options.cpp.
extern llvm::cl::OptionCategory category;
extern llvm::cl::opt<std::string> inputFile;
extern llvm::cl::opt<std::string> outputFolder;
extern llvm::cl::opt<std::string> emitKind;
extern llvm::cl::opt<std::string> targetCpu;
extern llvm::cl::opt<std::string> numerics;
extern llvm::cl::opt<std::string> compute;
extern llvm::cl::opt<std::string> gpuArchitecture;
extern llvm::cl::opt<std::string> elementType;
extern llvm::cl::opt<bool> noFuse;
extern llvm::cl::opt<bool> withServers;
extern llvm::cl::opt<bool> slice;
extern llvm::cl::opt<std::string> minBlockElements;
extern llvm::cl::opt<std::string> targetBlockBytes;
extern llvm::cl::opt<std::string> jobs;
extern llvm::cl::opt<std::string> cacheFolder;
extern llvm::cl::opt<std::string> cachePolicy;
extern llvm::cl::opt<bool> cacheReport;
extern llvm::cl::opt<std::string> runtimeFolder;

/// Prints a sentence; returns the exit status.
int fail(const llvm::Twine &sentence);

/// Refuses combinations of flags that mean nothing: prints a sentence, and
/// returns the exit status. Before anything below is asked.
int checkFlags();

/// --mode, and whether it cuts the model into roles.
pdlc::ps::Mode chosenMode();
bool isDistributed();
/// --target, or GPUs where --emit asks for their kernels.
pdlc::Target chosenTarget();
/// Of --emit: kernels of a GPU, a library that serves, or anything that is
/// linked.
bool emitsKernels();
bool emitsLibrary();
bool emitsPrograms();
/// Whether a role has files of its own.
bool isOwnProgram(llvm::StringRef role);
/// Whether a role becomes the part of a trainer that owns state.
bool isPartOfTrainer(llvm::StringRef role);

/// At least 1; none where the text is no decimal number.
std::optional<int64_t> numberOf(llvm::StringRef text);

} // namespace translate

#endif // TOOLS_PDL_TRANSLATE_OPTIONS_H
