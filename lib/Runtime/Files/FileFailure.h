//===- FileFailure.h - Errors of written files ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_FILEFAILURE_H
#define LIB_RUNTIME_FILES_FILEFAILURE_H

#include "pdlrt/Core/Status.h"

#include <cstring>
#include <string>

namespace pdlrt {

/// Returns an error for a file or folder that could not be written. `what` says
/// what failed, such as "cannot be created"; `error` is the errno value. The
/// message also advises to check the folder.
inline Status fileFailure(const std::string &path, const char *what,
                          int error) {
  return Status::ofErrno(
      error, path + ": " + what + ": " + std::strerror(error) +
                 "; check that the folder exists, may be written, and "
                 "has room");
}

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_FILEFAILURE_H
