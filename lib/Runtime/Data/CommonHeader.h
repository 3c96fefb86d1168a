//===- CommonHeader.h - Compares the headers of files -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COMMONHEADER_H
#define LIB_RUNTIME_DATA_COMMONHEADER_H

#include "Data/ColumnMap.h"
#include "pdlrt/Core/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Checks that all files of a source have the same header if a column of any
/// file is found by position. Otherwise a different order of columns would
/// remain unnoticed.
class CommonHeader {
public:
  /// Compares a file's header with that of the first checked file. If they
  /// differ and a column of one of them is found by position, returns an error
  /// that names both files.
  Status check(const std::string &path, const std::vector<std::string> &names,
               const ColumnMap &map);

private:
  struct First {
    std::string path;
    std::vector<std::string> names;
    bool isByPosition;
  };
  std::optional<First> first;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COMMONHEADER_H
