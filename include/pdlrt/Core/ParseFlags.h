//===- ParseFlags.h - Flags by CLI11 ----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A header of its own, so that only programs with flags include CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PARSEFLAGS_H
#define PDLRT_CORE_PARSEFLAGS_H

#include "pdlrt/Core/ProgramMain.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace pdlrt {

/// Reads a program's flags. The exit status where it has to end: that of
/// `--help` and its like, or 2 after a sentence that names `help` as the place
/// where flags are listed.
inline std::optional<int> parseFlags(CLI::App &app, int argc, char **argv,
                                     const std::string &help) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &request) {
    return app.exit(request);
  } catch (const CLI::ParseError &error) {
    return fail(2,
                std::string(error.what()) + "; " + help + " what can be given");
  }
  return std::nullopt;
}

} // namespace pdlrt

#endif // PDLRT_CORE_PARSEFLAGS_H
