//===- DataFlags.h - Validates data flags -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_DATAFLAGS_H
#define LIB_RUNTIME_DATA_DATAFLAGS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"

namespace pdlrt {

struct KafkaAddress;

/// Returns an error if --columns, --copy-column, --header or --delimiter are
/// wrong for the files of `data` and the fields that `program` reads. Considers
/// the names of the files, not their contents.
Status checkDataFlags(const DataOptions &data, const pdl_descriptor &descriptor,
                      const pdl_program &program);

/// Returns an error if the address of a topic names an unknown format, or one
/// whose rows are not in a stream. Asks no broker.
Status checkKafkaFormat(const KafkaAddress &address);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_DATAFLAGS_H
