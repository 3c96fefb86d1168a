//===- ProcessIdentity.h - Which process somebody is ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROCESSIDENTITY_H
#define PDLRT_CORE_PROCESSIDENTITY_H

#include <cstdint>

namespace pdlrt {

/// Names a process for the processes of its machine: one that ends there is
/// known to have ended at once, whatever the network does.
struct ProcessIdentity {
  /// Of the running system and its namespace of processes: two processes that
  /// have the same one see each other's numbers. 0: nothing is known.
  uint64_t host = 0;
  /// When it began, in ticks since the machine did: numbers are used again.
  uint64_t started = 0;
  uint32_t number = 0;

  bool operator==(const ProcessIdentity &) const = default;
  /// Of the process that asks; reads /proc once.
  static const ProcessIdentity &ofThisProcess();
  /// Of process `number` of this host; host 0 where it cannot be seen.
  static ProcessIdentity ofProcess(uint32_t number);
  /// Whether the process that asks counts processes as that one does.
  bool isOfThisHost() const;
  /// Whether the process was of this host, and its number is nobody's now, or
  /// another one's. It may be asked of a process that was never seen: one that
  /// the system only hides (hidepid of /proc) has not ended.
  bool hasEnded() const;
};

} // namespace pdlrt

#endif // PDLRT_CORE_PROCESSIDENTITY_H
