//===- AmxPermission.cpp - The right to use AMX ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AmxPermission.h"
#include "pdlrt/Core/CpuCheck.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace pdlrt;

/// Returns true if the CPU has the instructions and the system saves the tiles.
static bool hasAmx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
    return false;
  constexpr unsigned hasTilesAndBFloat16 = 1u << 24 | 1u << 22;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
      (edx & hasTilesAndBFloat16) != hasTilesAndBFloat16)
    return false;
  // XCR0: the configuration of tiles, and their data.
  constexpr unsigned tileState = 1u << 17 | 1u << 18;
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & tileState) == tileState;
}

bool pdlrt::hasAmxInt8() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned hasInt8 = 1u << 25;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & hasInt8);
}

/// Requests the permission of Linux. Older kernels, which save all registers of
/// all threads, know no such request; there the tiles are not used.
static bool requestTileData() {
  // From asm/prctl.h, which older systems lack.
  constexpr int requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

bool pdlrt::requestAmx() {
  static const bool isPermitted =
      !isCpuLimited() && hasAmx() && requestTileData();
  return isPermitted;
}
