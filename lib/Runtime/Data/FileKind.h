//===- FileKind.h - Detects unsupported file formats ------------*- C++ -*-===//
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

/// Returns an error if `path` is a folder, or if its extension is that of an
/// unsupported format. The error says what to do instead. `isText`: true if a
/// flag declares the file as text, independent of its name.
Status checkFileKind(const std::string &path, bool isText);

/// Returns the same error if a file begins with the bytes of an unsupported
/// format, independent of its name. Needs at most `detectionBytes` bytes.
Status checkFileBeginning(const std::string &path, std::string_view begin);
inline constexpr size_t detectionBytes = 64;

/// Returns true if `begin` is an incomplete beginning of such a format.
bool mayBecomeOther(std::string_view begin);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_FILEKIND_H
