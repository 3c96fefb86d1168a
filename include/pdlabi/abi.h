/*===- pdlabi/abi.h - Interface of compiled code and runtime ------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The only interface between a compiled program and the runtime. It is plain C
 * and versioned. Compiler and runtime include it; it does not include any of
 * their files.
 *
 * A compiled program exports one function, `pdl_program_query`. It returns a
 * constant descriptor. The descriptor lists the fields that the program reads,
 * its symbols, groups and metrics, and its stages. The runtime calls the
 * stages, and the stages call the `pdlrt_*` functions. In modes in which
 * trainers own state, an executable contains a second descriptor, of role
 * pserver, which `pdl_owner_query` returns.
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
 * - Every struct that may get more members starts with `struct_size`: the size
 *   of the struct in the version that its writer was compiled with. Integers
 *   have a fixed width. Strings are NUL-terminated and constant.
 * - Buffers of a field, of a symbol (with its slots and gradients) or of an
 *   output have its element type. They are row-major and aligned to 64 bytes. A
 *   caller owns the buffers for the results of its calls, and frees them.
 * - A function that can fail returns 0 on success. Otherwise it returns a
 *   `pdl_status`, and stores an error message for the calling thread
 *   (`pdlrt_set_error`, `pdlrt_last_error`). No exception crosses the
 *   interface. Stage `compute` can fail only on a device.
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

/* Version of the ABI. It increases with every change that an older reader would
 * misread. */
#define PDL_ABI_VERSION 22u

#endif /* PDLABI_ABI_H */
