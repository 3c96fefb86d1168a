//===- TokenFile.h - Secrets in files ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_TOKENFILE_H
#define PDLRT_CORE_TOKENFILE_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <string>

namespace pdlrt {

/// The fewest and the most bytes of a secret.
inline constexpr size_t minTokenBytes = 16, maxTokenBytes = 4096;

/// Reads a secret: the first line of the file `path`, which the flag or field
/// `what` names. An error if it is too short or too long, or if the file is one
/// that other users can read or write. A group may read a file of root, as
/// secrets of Kubernetes and of systemd's services are.
Expected<std::string> readTokenFile(const std::string &what,
                                    const std::string &path);

} // namespace pdlrt

#endif // PDLRT_CORE_TOKENFILE_H
