//===- StartThread.cpp - Threads of transports ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/StartThread.h"

#include "pdlrt/Core/BlockedSignals.h"

#include <cstddef>
#include <string>
#include <sys/mman.h>
#include <system_error>
#include <utility>

using namespace pdlrt;

/// Returns true if there is enough memory for the stack of a thread.
static bool hasMemoryForStack() {
  constexpr size_t stack = size_t(8) << 20;
  void *room = ::mmap(nullptr, stack, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    return false;
  ::munmap(room, stack);
  return true;
}

Status pdlrt::startThread(std::thread &thread, const char *name,
                          std::function<void()> body) {
  try {
    const BlockedSignals blocked;
    thread = std::thread(std::move(body));
  } catch (const std::system_error &error) {
    // The system has the same error for missing memory and too many threads.
    return Status::outOfMemory(
        std::string("cannot start ") + name + ": " + error.what() +
        (hasMemoryForStack()
             ? "; raise the limit of threads (ulimit -u)"
             : "; there is no memory for its stack: use a machine with more, "
               "or raise the limit of addresses (ulimit -v)"));
  }
  return {};
}
