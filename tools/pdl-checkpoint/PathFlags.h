//===- PathFlags.h - Flags for paths ----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_PATHFLAGS_H
#define PDL_TOOLS_PDL_CHECKPOINT_PATHFLAGS_H

#include "pdlrt/Files/PlaceFlags.h"

#include <string>

/// Returns the flag for a path that is given by its position on the command
/// line.
inline pdlrt::Flag pathFlag(const std::string &name, std::string &target,
                            const std::string &help,
                            const std::string &placeholder = "FOLDER") {
  return {.names = name,
          .placeholder = placeholder,
          .value = pdlrt::placeValue(target),
          .help = help,
          .isRequired = true};
}

/// Returns the flag for the file or folder that a command writes.
inline pdlrt::Flag outputFlag(std::string &target, const std::string &help,
                              const std::string &placeholder = "FOLDER") {
  return {.names = "-o,--output",
          .placeholder = placeholder,
          .value = pdlrt::placeValue(target),
          .help = help,
          .isRequired = true};
}

#endif // PDL_TOOLS_PDL_CHECKPOINT_PATHFLAGS_H
