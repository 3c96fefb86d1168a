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

/// Minimum and maximum size of a secret, in bytes.
inline constexpr size_t minTokenBytes = 16, maxTokenBytes = 4096;

/// Reads a secret, which is the first line of the file `path`. `what` is the
/// flag or field that named the file, for messages. Returns an error if the
/// secret is too short or too long, or if other users can read or write the
/// file. As an exception, a group may read a file that root owns: Kubernetes
/// and systemd provide secrets as such files.
Expected<std::string> readTokenFile(const std::string &what,
                                    const std::string &path);

} // namespace pdlrt

#endif // PDLRT_CORE_TOKENFILE_H
