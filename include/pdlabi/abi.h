/*===- pdlabi/abi.h - Interface of compiled code and runtime ------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The only interface between a compiled program and the runtime. It is plain C
 * and versioned. Both sides include it; it includes neither.
 *
 * A compiled program exports one symbol, `pdl_program_query`. It returns a
 * constant descriptor: what the program reads (fields), what it owns (symbols,
 * groups, metrics), and its stages. The runtime calls the stages; the stages
 * call the `pdlrt_*` functions. If trainers own a part of their job's state,
 * the executable contains two programs; the second one, of role pserver,
 * exports `pdl_owner_query` instead.
 *
 * This file includes the whole interface. Its parts are in pdlabi/abi:
 * - status.h: status codes and error messages
 * - codes.h: element types, numerics, modes, roles
 * - record.h: the fields that a program reads
 * - symbols.h: parameters, tables, groups, clips
 * - metric.h: metrics
 * - stage.h: the arguments of a stage
 * - descriptor.h: programs and the descriptor
 * - calls.h: the functions that generated code calls
 *
 * Conventions:
 * - Every struct that may grow starts with `struct_size`, the size that its
 *   writer knew. Integers have fixed width. Strings are NUL-terminated and
 *   constant.
 * - Element buffers hold the element type of the object that they belong to (a
 *   field, a symbol with its slots and gradients, an output). They are
 *   row-major and 64-byte aligned. Neither side frees memory of the other: all
 *   results go into buffers that the caller owns.
 * - A function that can fail returns 0 or a `pdl_status`, and stores an error
 *   message for the calling thread (`pdlrt_set_error`, `pdlrt_last_error`). No
 *   exception crosses the interface. Stage `compute` can fail only on a device.
 * - Indices into descriptor arrays are `int32_t`; -1 means "none".
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_H
#define PDLABI_ABI_H

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlabi/abi/metric.h"
#include "pdlabi/abi/record.h"
#include "pdlabi/abi/stage.h"
#include "pdlabi/abi/status.h"
#include "pdlabi/abi/symbols.h"

/* Raised with every change that an older reader would misread. */
#define PDL_ABI_VERSION 22u

#endif /* PDLABI_ABI_H */
