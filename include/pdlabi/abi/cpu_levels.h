/*===- pdlabi/abi/cpu_levels.h - Choice by the CPU -----------------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * A program may contain its code several times, for CPUs of different age. Each
 * copy has a descriptor of its own. `pdl_program_query` of such a program calls
 * this function to choose one.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_CPU_LEVELS_H
#define PDLABI_ABI_CPU_LEVELS_H

#include "pdlabi/abi/descriptor.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the first of `count` descriptors whose `cpu_features` this CPU has,
 * or the last one if there is none. The caller puts the latest CPU first.
 * Thread-safe, and runs on every x86-64 CPU. */
const pdl_descriptor *
pdlrt_choose_descriptor(const pdl_descriptor *const *descriptors,
                        int32_t count);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_CPU_LEVELS_H */
