//===- SessionFiles.h - Checks of a session's files -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_SESSIONFILES_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_SESSIONFILES_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <string>

namespace pdlrt {

/// Checks the files of a session before any of them is opened: no output may
/// overwrite another file, and data that can be read only once must not be
/// needed twice. `tokenFile` and `summary`: paths of the token file and of the
/// summary, which are checked with the others, or empty.
Status checkSessionFiles(const SessionOptions &options, bool trains,
                         const std::string &tokenFile,
                         const std::string &summary);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_SESSIONFILES_H
