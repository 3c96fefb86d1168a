//===- CommonHeader.h - Whether files name the same columns -----*- C++ -*-===//
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

/// The header that all files of a source have, if one of them is read by the
/// positions of its columns: else another order of columns would go unnoticed.
class CommonHeader {
public:
  /// Compares the header of a file with that of the first file that was
  /// checked. An error, which names both files, if they differ and columns of
  /// one are found by position.
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
