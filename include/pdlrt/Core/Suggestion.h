//===- Suggestion.h - What a name may have meant ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_SUGGESTION_H
#define PDLRT_CORE_SUGGESTION_H

#include <string>
#include <vector>

namespace pdlrt {

/// "; did you mean 'NAME'?" with the known name that is nearest to `name`, by
/// insertions, deletions and replacements of characters; empty if none is near.
std::string suggestName(const std::string &name,
                        const std::vector<std::string> &known);

} // namespace pdlrt

#endif // PDLRT_CORE_SUGGESTION_H
