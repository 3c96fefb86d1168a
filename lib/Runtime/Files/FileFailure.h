//===- FileFailure.h - Why a file cannot be written -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_FILEFAILURE_H
#define LIB_RUNTIME_FILES_FILEFAILURE_H

#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// The error of a file or folder that is written: `what` cannot be done, such
/// as "cannot be created", and `reason` is what the system says.
inline Status fileFailure(const std::string &path, const char *what,
                          const std::string &reason) {
  return Status::invalid(path + ": " + what + ": " + reason +
                         "; check that the folder exists, may be written, and "
                         "has room");
}

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_FILEFAILURE_H
