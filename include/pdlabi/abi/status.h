/*===- pdlabi/abi/status.h - Status codes and error messages -------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * The codes that functions of the ABI return, and the error message of each
 * thread's last error. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_STATUS_H
#define PDLABI_ABI_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Codes may be added, but numbers never change. A program treats a code that it
 * does not know as an error. */
typedef enum pdl_status {
  PDL_OK = 0,
  PDL_INVALID_ARGUMENT = 1, /* bad data, flags or call */
  PDL_OUT_OF_MEMORY = 2,
  PDL_INTERNAL = 3,           /* a bug in PDL */
  PDL_UNAVAILABLE = 4,        /* a process has ended or cannot be reached yet */
  PDL_NOT_FOUND = 5,          /* a file or folder does not exist */
  PDL_IO_ERROR = 6,           /* a system call on a file or socket failed */
  PDL_DATA_LOSS = 7,          /* a file or message is incomplete or damaged */
  PDL_DEADLINE_EXCEEDED = 8,  /* no response within the time limit */
  PDL_RESOURCE_EXHAUSTED = 9, /* disk full, or a limit other than memory */
  PDL_FAILED_PRECONDITION = 10, /* the state does not allow the call */
  PDL_CANCELLED = 11            /* stopped on request */
} pdl_status;

/* Stores an error message for the calling thread. Returns `status`. */
int32_t pdlrt_set_error(int32_t status, const char *message);
/* Returns the error message of the calling thread's last error; "" if there was
 * none. */
const char *pdlrt_last_error(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_STATUS_H */
