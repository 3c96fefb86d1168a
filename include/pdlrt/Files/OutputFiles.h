//===- OutputFiles.h - Where programs may write -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asked before anything is opened, and before hours of training.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_OUTPUTFILES_H
#define PDLRT_FILES_OUTPUTFILES_H

#include "pdlrt/Core/Status.h"

#include <string>
#include <vector>

namespace pdlrt {

/// A file on the command line, and who names it, such as "--dump".
struct NamedFile {
  std::string flag, path;
};

/// Whether `path` can be written whole under another name and then take its
/// own: nothing is there, or a regular file that is no part of a checkpoint,
/// in a folder that may be written. What is replaced is then what was meant:
/// links, devices, pipes and folders are refused.
Status checkReplaceable(const std::string &path);

/// Refuses an output that is a file to be read, by whatever name or link, that
/// is a part of a checkpoint, or that two flags name. Empty paths, the standard
/// output `-`, and devices such as /dev/null destroy nothing.
Status checkOutputs(const std::vector<NamedFile> &outputs,
                    const std::vector<NamedFile> &inputs);

/// The path of a folder to be written, beside which it has another name until
/// it is whole: without slashes at its end.
std::string withoutSlashes(std::string path);

} // namespace pdlrt

#endif // PDLRT_FILES_OUTPUTFILES_H
