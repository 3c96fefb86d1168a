//===- ProgramMain.h - How our programs begin and fail ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every program does alike: errors are one line, and no exception leaves
// its main function.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROGRAMMAIN_H
#define PDLRT_CORE_PROGRAMMAIN_H

#include <functional>
#include <string>

namespace pdlrt {

/// Prints "error: SENTENCE" as a line of the standard error; returns `status`,
/// so that a program can return it.
int fail(int status, const std::string &sentence);

/// Returns what `run` returns. Standard streams that are closed become
/// /dev/null before, and a file over the limit of its size (RLIMIT_FSIZE) is an
/// error of the write instead of a signal. An exception becomes a sentence and
/// `status`; where memory ran out, the sentence ends with `memoryRemedy`.
int runProgram(int status, const std::string &memoryRemedy,
               const std::function<int()> &run);

/// Whether nobody gets what is printed, as the standard output was closed when
/// `runProgram` began. For programs whose result it is.
bool isStandardOutputClosed();

/// Whether a descriptor is a pipe or socket whose other end is closed.
bool isReaderGone(int descriptor);

} // namespace pdlrt

#endif // PDLRT_CORE_PROGRAMMAIN_H
