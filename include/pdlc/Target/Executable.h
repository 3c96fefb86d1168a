//===- Executable.h - Linking of trainers and libraries ---------*- C++ -*-===//
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

/// Inputs of a link step.
struct LinkRequest {
  std::vector<std::string> objectFiles;
  /// Output folder for the program and the libraries that it loads.
  std::string folder;
  /// Name of the program in the folder.
  std::string name;
  /// Folder that contains PDL's archives (libPDLRuntime.a ...), and the folder
  /// `pdl` with the C++ library, the parts of the C library that linking needs,
  /// gRPC, the libraries that programs load, and the licenses.
  std::string runtimeFolder;
  /// Archive that contains `main`: PDLTrainerMain or PDLServerMain. Not used
  /// for libraries.
  std::string mainArchive = "PDLTrainerMain";
  /// If true, matrix products may run in oneDNN.
  bool fast = true;
  /// If true, the program communicates with other processes over gRPC.
  bool grpc = false;
  /// If true, the library can pull rows from servers. Only for libraries.
  bool servers = false;
};

/// Links a trainer with the LLVM linker; no compiler is needed. PDL's archives
/// and the C++ library are linked statically, the C library dynamically. If the
/// request includes gRPC, it is linked statically. The folder of the program
/// also gets the licenses and, if PDL was built with them, the libraries that
/// the program loads: libpdl-http, those of Arrow and, with numerics `fast`,
/// oneDNN.
///
/// If linking fails, no incomplete program remains. The error message names
/// what is missing and how to fix it.
llvm::Error linkTrainer(const LinkRequest &request);

/// Links a serving library (pdl/serving.h), as `linkTrainer` links a trainer.
/// The library exports two functions: `pdl_serving_query`, and
/// `pdl_serving_latest` under the name `accessor`. Runtime code that the
/// library never calls is left out. A checksum is stored at the end of the file
/// (pdlabi/library_checksum.h).
llvm::Error linkLibrary(const LinkRequest &request, llvm::StringRef accessor);

/// Joins several object files into one with the LLVM linker. Hidden symbols
/// become local, so that two programs fit into one executable. `renamed` maps
/// exported symbols to their new names. Fails with an error message.
llvm::Error joinObjects(const std::vector<std::string> &objectFiles,
                        const std::string &output,
                        const llvm::StringMap<llvm::StringRef> &renamed = {});

} // namespace pdlc

#endif // PDLC_TARGET_EXECUTABLE_H
