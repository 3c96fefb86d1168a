//===- OutputFiles.h - Checks of output paths -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These checks run before any file is opened, and before a long training.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_OUTPUTFILES_H
#define PDLRT_FILES_OUTPUTFILES_H

#include "pdlrt/Core/Status.h"

#include <string>
#include <vector>

namespace pdlrt {

/// A file on the command line, and the flag that names it, such as "--dump".
struct NamedFile {
  std::string flag, path;
};

/// Checks that `path` can be replaced by a file that is first written under
/// another name. Either nothing exists there, or a regular file that is not
/// part of a checkpoint, in a writable folder. Links, devices, pipes and
/// folders are rejected, because replacing them is rarely intended.
Status checkReplaceable(const std::string &path);

/// Rejects an output that is also an input (by any name or link), that is part
/// of a checkpoint, or that two flags name. Empty paths, the standard output
/// `-`, and devices such as /dev/null are always accepted.
Status checkOutputs(const std::vector<NamedFile> &outputs,
                    const std::vector<NamedFile> &inputs);

/// Returns the path of an output folder without trailing slashes. While it is
/// written, the folder has a different name next to it.
std::string withoutSlashes(std::string path);

} // namespace pdlrt

#endif // PDLRT_FILES_OUTPUTFILES_H
