//===- FileKind.h - Files that are not read ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_FILEKIND_H
#define LIB_RUNTIME_DATA_FILEKIND_H

#include "pdlrt/Core/Status.h"

#include <string>
#include <string_view>

namespace pdlrt {

/// Returns an error that says what `path` is and what to do instead, if it is a
/// folder or the end of its name is that of a format that is not read.
/// `isText`: a flag says that it is text, whatever its name is.
Status checkFileKind(const std::string &path, bool isText);

/// Returns the same error for a file that begins with the bytes of such a
/// format, whatever its name is. Looks at `bytesThatTell` bytes at most.
Status checkFileBeginning(const std::string &path, std::string_view begin);
inline constexpr size_t bytesThatTell = 64;

/// Whether more bytes after these may make the beginning of such a format.
bool mayBecomeOther(std::string_view begin);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FILEKIND_H
