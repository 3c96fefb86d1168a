//===- TableBoundFlags.h - Flags of a table's bound -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_TABLEBOUNDFLAGS_H
#define PDLRT_STATE_TABLEBOUNDFLAGS_H

#include "pdlrt/State/TableBound.h"

#include <CLI/CLI.hpp>
#include <string>

namespace pdlrt {

/// Adds --max-table-memory and --table-eviction, which set `bound`; it outlives
/// the parse. `group`: of the help, empty: in none.
void addTableBoundFlags(CLI::App &app, TableBound &bound,
                        const std::string &group);

} // namespace pdlrt

#endif // PDLRT_STATE_TABLEBOUNDFLAGS_H
