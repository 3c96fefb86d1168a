//===- Convert.h - Converts files to another format -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_CONVERT_H
#define PDL_TOOLS_PDL_DATA_CONVERT_H

#include "Input.h"

#include <string>

/// Flags of `convert`.
struct ConvertFlags {
  std::string trainer; ///< Compiled program with the record; empty: none.
  std::string program; ///< Program of the model; empty: all fields.
  std::string output;
  std::string
      format; ///< A value of --format; empty: by the name of the output.
  bool header = false;
  std::string cache; ///< Folder of the cache, in place of an output.
};

/// Converts the rows of all files. Returns the exit status.
int convertFiles(InputFlags input, const ConvertFlags &flags);

#endif // PDL_TOOLS_PDL_DATA_CONVERT_H
