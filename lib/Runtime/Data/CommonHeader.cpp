//===- CommonHeader.cpp - Compares the headers of files -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CommonHeader.h"

#include "Data/CellParser.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>

using namespace pdlrt;

/// Returns a cell of a header, or a text that says that it is missing.
static std::string cellText(const std::vector<std::string> &names,
                            size_t cell) {
  return cell < names.size() ? quoteText(names[cell]) : "no cell";
}

Status CommonHeader::check(const std::string &path,
                           const std::vector<std::string> &names,
                           const ColumnMap &map) {
  if (!first) {
    first = First{path, names, map.isByPosition()};
    if (!map.unnamedText().empty())
      logWarningOnce(path + ": " + map.unnamedText());
    return {};
  }
  if (names == first->names || !(first->isByPosition || map.isByPosition()))
    return {};
  const auto cell =
      size_t(std::ranges::mismatch(names, first->names).in1 - names.begin());
  return Status::invalidArgument(
      path + ": the first line has " + cellText(names, cell) + " in column " +
      std::to_string(cell + 1) + ", where " + first->path + " has " +
      cellText(first->names, cell) +
      ", and columns are taken by their positions; give all files the same "
      "header, name in each header all fields that are read, or read these "
      "files one by one");
}
