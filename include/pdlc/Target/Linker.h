//===- Linker.h - The linker inside the compiler ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_LINKER_H
#define PDLC_TARGET_LINKER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace pdlc {

/// Runs LLVM's linker for ELF files with `arguments`, in a new process of the
/// running executable. Its `main` must call `runAsLinker` first. The linker's
/// output becomes the error message. May be called from several threads.
llvm::Error runLinker(llvm::ArrayRef<std::string> arguments);

/// Links if this process was started by `runLinker`, and returns the exit
/// status. Returns nothing in all other processes.
std::optional<int> runAsLinker(int argc, char **argv);

} // namespace pdlc

#endif // PDLC_TARGET_LINKER_H
