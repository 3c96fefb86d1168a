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

/// Checks that a program with so many groups of replicas allows Hogwild
/// updates. Workers that update rows while another one inserts rows cannot
/// iterate over all rows of a table.
Status checkHogwild(const pdl_descriptor &descriptor,
                    const pdl_program &program, int64_t groups);

} // namespace pdlrt

#endif // PDLRT_JOB_HOGWILD_H
