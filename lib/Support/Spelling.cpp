//===- Spelling.cpp - Suggestions for misspelled names --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Support/Spelling.h"

#include <algorithm>

using namespace llvm;

std::string pdlc::didYouMean(StringRef name, ArrayRef<StringRef> known) {
  // Accept a name if at most a third of its letters differ. Always accept two
  // different letters, because two swapped letters count as two.
  unsigned best = std::max<size_t>(2, name.size() / 3) + 1;
  StringRef meant;
  for (StringRef candidate : known) {
    unsigned distance = name.edit_distance_insensitive(candidate, true, best);
    if (distance < best) {
      best = distance;
      meant = candidate;
    }
  }
  return meant.empty() ? "" : "; did you mean '" + meant.str() + "'?";
}
