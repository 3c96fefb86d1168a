//===- Hogwild.h - Updates without locks ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_HOGWILD_H
#define PDLRT_JOB_HOGWILD_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>

namespace pdlrt {

/// Returns an error if workers cannot train `program` without locks
/// (`--hogwild`): if there are several groups of replicas, or if the program
/// has a clause that needs synchronization. Examples are updates of all rows of
/// a table, admission of keys, and delay compensation.
Status checkHogwild(const pdl_descriptor &descriptor,
                    const pdl_program &program, int64_t groups);

} // namespace pdlrt

#endif // PDLRT_JOB_HOGWILD_H
