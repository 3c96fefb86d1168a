//===- Options.h - Flags of pdl-translate -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_TRANSLATE_OPTIONS_H
#define PDL_TOOLS_PDL_TRANSLATE_OPTIONS_H

#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Transforms/Pipelines.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace translate {

/// Category of all flags that are not LLVM's own. Options.cpp describes each
/// flag.
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

/// These functions print an error message and return the exit status: of a
/// permanent failure, of an error with a code, and of a wrong flag.
int fail(const llvm::Twine &message);
int fail(llvm::Error error);
int failFlag(const llvm::Twine &message);

/// Checks that the flags can be combined. If not, prints an error message and
/// returns its exit status; otherwise returns 0. Must be called before the
/// functions below.
int checkFlags();

/// `chosenMode` returns the value of --mode. `isDistributed` returns true if
/// this mode divides the model into roles, such as trainer and server.
pdlc::ps::Mode chosenMode();
bool isDistributed();
/// Returns the value of --target. Returns `Cuda` if --emit requests kernels.
pdlc::Target chosenTarget();
/// Value of --target-cpu for a program that runs on every CPU from
/// pdlc::kOldestCpu on.
inline constexpr llvm::StringLiteral kAnyCpu = "any";
/// Returns the oldest CPU that --target-cpu requests.
std::string oldestCpu();
/// These functions return true if --emit requests kernels of a GPU, a serving
/// library, or something that must be linked.
bool emitsKernels();
bool emitsLibrary();
bool emitsPrograms();
/// Returns true if a role has output files of its own.
bool isOwnProgram(llvm::StringRef role);
/// Returns true if a role becomes the part of a trainer that owns state.
bool isPartOfTrainer(llvm::StringRef role);

/// Parses a decimal number of at least 1. Returns nothing for other texts.
std::optional<int64_t> numberOf(llvm::StringRef text);

} // namespace translate

#endif // PDL_TOOLS_PDL_TRANSLATE_OPTIONS_H
