//===- RawColumns.h - Rows of Parquet and Arrow, without a record -*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RAWCOLUMNS_H
#define LIB_RUNTIME_DATA_RAWCOLUMNS_H

#include "Data/ColumnFileApi.h"
#include "Data/RawRows.h"
#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>

namespace pdlrt {

/// Opens a Parquet or Arrow file. Columns whose type no field can read, and
/// lists of lists, are left out.
Expected<std::unique_ptr<RawRows>> openRawColumns(const std::string &path,
                                                  PdlColumnFormat format);

/// Opens partitions of a topic whose messages are Arrow IPC streams. A message
/// that cannot be read is one bad row.
Expected<std::unique_ptr<RawRows>>
openRawMessages(const std::string &address, const RecordReaderOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RAWCOLUMNS_H
