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

/// Checks, before any file is opened, that no output would destroy a file of
/// the session, and that data which can be read only once is not needed again.
/// `tokenFile` is one of the files, or empty.
Status checkSessionFiles(const SessionOptions &options, bool trains,
                         const std::string &tokenFile);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_SESSIONFILES_H
