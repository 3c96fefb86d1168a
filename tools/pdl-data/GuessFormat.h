//===- GuessFormat.h - Guesses the format of a file -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_GUESSFORMAT_H
#define PDL_TOOLS_PDL_DATA_GUESSFORMAT_H

#include "pdlrt/Core/Status.h"

#include <string>
#include <string_view>

namespace pdlrt {
struct DataOptions;
} // namespace pdlrt

/// A format, as flags name it.
struct FormatGuess {
  std::string format; ///< A value of --format; empty: unknown.
  char delimiter = 0; ///< Of delimited text; 0: that of the name.
};

/// Guesses a format from the beginning of a file. `isWhole`: `begin` is the
/// whole file. A last line that may be cut is ignored.
FormatGuess guessFormat(std::string_view begin, bool isWhole);

/// If no flag gives the format of the files of `data` and neither do their
/// names, guesses it from the first file, and sets it in `data`. Returns a note
/// about the guess; empty if there is none. Names in `.txt` give no format.
/// Files that can be read only once are not looked at.
pdlrt::Expected<std::string> chooseFormat(pdlrt::DataOptions &data);

#endif // PDL_TOOLS_PDL_DATA_GUESSFORMAT_H
