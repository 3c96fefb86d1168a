//===- Executable.h - From object files to a program ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_EXECUTABLE_H
#define PDLC_TARGET_EXECUTABLE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace pdlc {

/// What becomes of object files.
struct LinkRequest {
  std::vector<std::string> objectFiles;
  /// The folder that gets the program and the libraries that it loads.
  std::string folder;
  /// The program's name in the folder.
  std::string name;
  /// The folder of PDL's archives (libPDLRuntime.a ...), with `pdl/` in it.
  std::string runtimeFolder;
  /// The archive that holds `main`: PDLTrainerMain or PDLServerMain. Of a
  /// library none.
  std::string mainArchive = "PDLTrainerMain";
  /// Whether products may run in oneDNN.
  bool fast = true;
  /// Whether the program talks to other processes, over gRPC.
  bool grpc = false;
  /// Of a library: whether it can ask servers for rows.
  bool servers = false;
};

/// Links a trainer with the LLVM linker, without any compiler: PDL's archives
/// and the C++ library statically, the C library dynamically. Numerics `fast`
/// puts oneDNN, with what it loads and the licences, beside the program. gRPC
/// is linked statically; createClusterTransport finds it. The program appears
/// whole or not at all. Fails with a sentence that names what is missing and
/// its remedy.
llvm::Error linkTrainer(const LinkRequest &request);

/// Links a library that serves (pdl/serving.h) in the same way: it exports
/// `pdl_serving_query`, and the same functions by the name `accessor`, and
/// nothing else; what its program does not reach is not in it. Its checksum
/// stands at its end (pdlabi/library_checksum.h).
llvm::Error linkLibrary(const LinkRequest &request, llvm::StringRef accessor);

/// Makes one object file of several with the LLVM linker; what they hide from
/// others becomes local, so that two programs can stand in one executable.
/// `renamed`: what symbols that they export are called in it. Fails with a
/// sentence.
llvm::Error joinObjects(const std::vector<std::string> &objectFiles,
                        const std::string &output,
                        const llvm::StringMap<llvm::StringRef> &renamed = {});

} // namespace pdlc

#endif // PDLC_TARGET_EXECUTABLE_H
