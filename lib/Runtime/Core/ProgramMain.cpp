//===- ProgramMain.cpp - How our programs begin and fail ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProgramMain.h"

#include <cstdio>
#include <exception>
#include <new>

using namespace pdlrt;

int pdlrt::fail(int status, const std::string &sentence) {
  std::fprintf(stderr, "error: %s\n", sentence.c_str());
  return status;
}

int pdlrt::runProgram(int status, const std::string &memoryRemedy,
                      const std::function<int()> &run) {
  try {
    return run();
  } catch (const std::bad_alloc &) {
    return fail(status, "out of memory; " + memoryRemedy);
  } catch (const std::exception &exception) {
    return fail(status, exception.what());
  }
}
