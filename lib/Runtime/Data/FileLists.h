//===- FileLists.h - Lists, folders and patterns of files -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_FILELISTS_H
#define LIB_RUNTIME_DATA_FILELISTS_H

#include "pdlrt/Core/Status.h"

#include <string>
#include <vector>

namespace pdlrt {

/// Replaces entries that stand for several files by the files:
///
///  - `@FILE`: the lines of the file, without blank lines and lines that begin
///    with `#`. Each line is an entry, but not a list;
///  - a folder: its files in byte order of their names, without folders in it
///    and names that begin with `.` or `_`;
///  - a pattern with `*`, `?` or `[`, unless there is a file with that name:
///    the matching files, and those of matching folders, in byte order.
///
/// Entries may be addresses of an object store. Their folders are prefixes that
/// end at a slash; the listed versions are pinned (`pinFile`).
///
/// All other entries remain. `mayBeFar`: a pattern without a match remains,
/// because a command knows it (DataOptions::pipe). `flag`: the flag in errors.
Expected<std::vector<std::string>>
expandFileLists(const std::vector<std::string> &entries, bool mayBeFar,
                const std::string &flag);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FILELISTS_H
