//===- ProcessMemory.cpp - Memory of this process -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/ProcessMemory.h"

#include <cstdio>
#include <unistd.h>

int64_t pdlrt::residentBytes() {
  std::FILE *file = std::fopen("/proc/self/statm", "r");
  if (!file)
    return 0;
  long all = 0, resident = 0;
  const int found = std::fscanf(file, "%ld %ld", &all, &resident);
  std::fclose(file);
  return found == 2 ? int64_t(resident) * ::sysconf(_SC_PAGESIZE) : 0;
}
