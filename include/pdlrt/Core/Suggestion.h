//===- Suggestion.h - Suggestions for misspelled names ----------*- C++ -*-===//
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

/// Returns the entry of `known` that is most similar to `name`; null if none is
/// similar.
const std::string *nearestName(const std::string &name,
                               const std::vector<std::string> &known);

/// Returns "; did you mean 'NAME'?" with the entry of `known` that is most
/// similar to `name`: it needs the fewest insertions, deletions and
/// replacements of characters. Returns an empty text if none is similar.
std::string suggestName(const std::string &name,
                        const std::vector<std::string> &known);

} // namespace pdlrt

#endif // PDLRT_CORE_SUGGESTION_H
