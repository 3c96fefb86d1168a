//===- Tables.h - Tables of a checkpoint as text ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_TABLES_H
#define PDL_TOOLS_PDL_CHECKPOINT_TABLES_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/TableScan.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Core/Status.h"

#include <string>
#include <vector>

/// Returns the flag that names a table.
pdlrt::Flag tableFlag(std::string &target, const std::string &help);
/// Returns the flag that selects JSON as the output format.
pdlrt::Flag jsonFlag(bool &target);

/// Returns the table `name`, with or without '@'. If `name` is empty, returns
/// the only table of the checkpoint. Returns an error that lists the tables if
/// there is no such table, or if `name` is empty and there are several.
pdlrt::Expected<const pdlrt::CheckpointSymbol *>
tableNamed(const pdlrt::Checkpoint &checkpoint, const std::string &name);

/// Returns an element as text, with the fewest digits that restore it.
std::string elementText(double element, pdlrt::TensorType type);

/// Returns the L2 norm of a row's values.
double normOf(const pdlrt::ScannedRow &row);

/// Returns the numbers of the slots that count events, such as shows and
/// clicks: the row slots except the period of a row's last update.
std::vector<size_t> countSlots(const pdlrt::TableScan &scan);

#endif // PDL_TOOLS_PDL_CHECKPOINT_TABLES_H
