//===- PlaceFlags.h - Flags that name files and folders ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A separate header, so that only programs with flags include CLI11.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_PLACEFLAGS_H
#define PDLRT_FILES_PLACEFLAGS_H

#include "pdlrt/Core/Flags.h"
#include "pdlrt/Files/Store.h"

#include <string>

namespace pdlrt {

/// Returns the value of a flag that names a file or folder of this host or of a
/// store: a text that is not empty. The parser rejects an address with a scheme
/// that no store has. Otherwise it would be taken for a path of this host.
inline FlagValue placeValue(std::string &target) {
  return FlagValue([&target](CLI::App &app, const std::string &names,
                             const std::string &help) {
    const auto check = [](const std::string &text) {
      // Known stores are opened later, when all flags are known.
      return schemeOf(text).empty() || isInObjectStore(text)
                 ? std::string()
                 : storeOf(text).status().message();
    };
    CLI::Option *option = app.add_option(names, target, help)
                              ->check(notEmpty())
                              ->check(CLI::Validator(check, ""));
    return target.empty() ? option : option->default_str(target);
  });
}

} // namespace pdlrt

#endif // PDLRT_FILES_PLACEFLAGS_H
