//===- FakeMemory.cpp - Address range of a fake device --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device/FakeMemory.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace pdlrt;

/// Size of the address range, which is more than any test needs. Unused pages
/// use no memory.
static constexpr size_t rangeBytes = size_t(1) << 36;
/// Value of bytes that were never written, and of the padding around an
/// allocation. Four such bytes are a NaN.
static constexpr int unwritten = 0xFF;

static size_t pageSize() {
  static const auto size = size_t(sysconf(_SC_PAGESIZE));
  return size;
}

FakeMemory::FakeMemory() {
  void *found = mmap(nullptr, rangeBytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  range = found == MAP_FAILED ? nullptr : static_cast<char *>(found);
}

FakeMemory::~FakeMemory() {
  if (range)
    munmap(range, rangeBytes);
}

FakeAllocation *FakeMemory::allocate(size_t bytes) {
  const size_t page = pageSize();
  // An allocation consists of its pages and an inaccessible page before and
  // after them.
  if (!range || bytes > rangeBytes)
    return nullptr;
  const size_t whole = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  const size_t pageBytes = (whole + page - 1) / page * page;
  if (used + pageBytes + 2 * page > rangeBytes)
    return nullptr;
  char *pages = range + used + page;
  if (mprotect(pages, pageBytes, PROT_READ | PROT_WRITE) != 0)
    return nullptr;
  used += pageBytes + page;
  FakeAllocation allocation;
  allocation.begin = pages + pageBytes - whole;
  allocation.bytes = bytes;
  allocation.pages = pages;
  allocation.pageBytes = pageBytes;
  std::memset(pages, unwritten, pageBytes);
  mprotect(pages, pageBytes, PROT_NONE);
  return &(allocations[allocation.begin] = std::move(allocation));
}

void FakeMemory::release(FakeAllocation &allocation) {
  // The memory is freed, the addresses stay reserved.
  mprotect(allocation.pages, allocation.pageBytes, PROT_READ | PROT_WRITE);
  madvise(allocation.pages, allocation.pageBytes, MADV_DONTNEED);
  mprotect(allocation.pages, allocation.pageBytes, PROT_NONE);
  allocations.erase(allocation.begin);
}

bool FakeMemory::contains(const void *pointer) const {
  const char *address = static_cast<const char *>(pointer);
  return range && address >= range && address < range + rangeBytes;
}

FakeAllocation *pdlrt::findAllocation(FakeAllocations &allocations,
                                      const void *pointer, size_t bytes) {
  auto *address = static_cast<char *>(const_cast<void *>(pointer));
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return nullptr;
  FakeAllocation &found = std::prev(next)->second;
  const auto offset = size_t(address - found.begin);
  return offset <= found.bytes && bytes <= found.bytes - offset ? &found
                                                                : nullptr;
}

//===----------------------------------------------------------------------===//
// Accesses of kernels
//===----------------------------------------------------------------------===//

/// Position at which the thread continues after an illegal access. Null unless
/// the thread is in `touch`.
static thread_local sigjmp_buf *wayOut = nullptr;
static struct sigaction earlier;

static void leave(int signal, siginfo_t *info, void *context) {
  if (wayOut)
    siglongjmp(*wayOut, 1);
  // The fault has another cause.
  if (earlier.sa_flags & SA_SIGINFO)
    earlier.sa_sigaction(signal, info, context);
  else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
    earlier.sa_handler(signal);
  else
    sigaction(signal, &earlier, nullptr); // the fault occurs again and ends the
                                          // process
}

static void catchFaults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = leave;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &earlier);
  });
}

/// Makes device memory accessible. If several uses have the same memory, it is
/// writable if one of them writes.
static void unlock(std::span<const FakeUse> uses) {
  for (const bool isWritten : {false, true})
    for (const FakeUse &use : uses)
      if (use.allocation->pages && use.isWritten == isWritten)
        mprotect(use.allocation->pages, use.allocation->pageBytes,
                 isWritten ? PROT_READ | PROT_WRITE : PROT_READ);
}

static void lock(std::span<const FakeUse> uses) {
  for (const FakeUse &use : uses)
    if (use.allocation->pages)
      mprotect(use.allocation->pages, use.allocation->pageBytes, PROT_NONE);
}

/// Returns true if the padding of the allocation's pages was not written.
static bool isWhole(const FakeUse &use) {
  const FakeAllocation &at = *use.allocation;
  const auto isUnwritten = [](char byte) {
    return byte == static_cast<char>(unwritten);
  };
  return !at.pages || (std::all_of(at.pages, at.begin, isUnwritten) &&
                       std::all_of(at.begin + at.bytes, at.pages + at.pageBytes,
                                   isUnwritten));
}

Status FakeMemory::touch(std::span<const FakeUse> uses,
                         const std::function<void()> &body) {
  catchFaults();
  unlock(uses);
  sigjmp_buf here;
  bool isOver = false;
  // Save the signal mask: SIGSEGV is blocked during its handler (with
  // ThreadSanitizer, all signals are), and `siglongjmp` must unblock it.
  if (sigsetjmp(here, /*savesigs=*/1) == 0) {
    wayOut = &here;
    body();
    isOver = true;
  }
  wayOut = nullptr;
  const bool areWhole = std::all_of(uses.begin(), uses.end(), isWhole);
  lock(uses);
  if (!isOver)
    return Status::internal("touches memory that it was not given, or writes "
                            "what it only reads");
  if (!areWhole)
    return Status::internal("writes outside of its memory");
  return {};
}
