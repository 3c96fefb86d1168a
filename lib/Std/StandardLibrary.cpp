//===- StandardLibrary.cpp - Built-in optimizers and schedules ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Std/StandardLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pdlc;

static constexpr StandardDefinition definitions[] = {
#include "StandardLibrary.inc"
};

ArrayRef<StandardDefinition> pdlc::getStandardLibrary() { return definitions; }

const StandardDefinition *pdlc::findStandardDefinition(StringRef name) {
  const auto *found =
      find_if(definitions, [&](const StandardDefinition &entry) {
        return entry.name == name;
      });
  return found == std::end(definitions) ? nullptr : found;
}

std::string pdlc::standardLibraryList() {
  return join(map_range(definitions,
                        [](const StandardDefinition &entry) -> StringRef {
                          return entry.name;
                        }),
              ", ");
}
