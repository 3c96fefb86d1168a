//===- OutputFiles.h - Checks of output paths -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs call these checks at their start, before they open files, so that a
// long training does not end with an error.
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

/// Returns an error if `path` is an address such as s3://bucket/name. `flag`
/// takes paths of this host only.
Status checkLocal(const std::string &flag, const std::string &path);

/// Returns an error if an output must not replace `path`. Outputs are written
/// under another name and then renamed, so the folder must be writable. If
/// `path` exists, it must be a regular file; links, devices, pipes and folders
/// are rejected, because replacing them is rarely intended. A file in the
/// folder of a checkpoint is rejected too.
Status checkReplaceable(const std::string &path);

/// Returns an error if an output is also an input (by any name or link), is in
/// the folder of a checkpoint, or is named by two flags. Accepts empty paths,
/// the standard output `-`, and devices such as /dev/null.
Status checkOutputs(const std::vector<NamedFile> &outputs,
                    const std::vector<NamedFile> &inputs);

/// Returns `path` without trailing slashes. An output folder is written under a
/// temporary name, which is made by appending to this path.
std::string withoutSlashes(std::string path);

} // namespace pdlrt

#endif // PDLRT_FILES_OUTPUTFILES_H
