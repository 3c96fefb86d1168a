//===- ProcessIdentity.h - Identity of a process ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROCESSIDENTITY_H
#define PDLRT_CORE_PROCESSIDENTITY_H

#include <cstdint>
#include <string>

namespace pdlrt {

/// Identifies a process for other processes of its machine. They notice at once
/// when it has ended, whatever the network does.
struct ProcessIdentity {
  /// Identifies the running system and its PID namespace: two processes with
  /// the same value can see each other's PIDs. 0: unknown.
  uint64_t host = 0;
  /// Start time, in clock ticks since boot, because PIDs are reused.
  uint64_t started = 0;
  uint32_t number = 0;
  /// Set by `watch`: the process is of another container, and has a door here.
  bool hasDoor = false;

  bool operator==(const ProcessIdentity &other) const {
    return host == other.host && started == other.started &&
           number == other.number;
  }
  /// Returns the identity of the calling process. Reads /proc once.
  static const ProcessIdentity &ofThisProcess();
  /// Returns the identity of process `number` of this host; its host is 0 if
  /// the process is not visible.
  static ProcessIdentity ofProcess(uint32_t number);
  /// Returns true if the calling process is in the same PID namespace.
  bool isOfThisHost() const;
  /// Finds out whether the end of the process can be noticed here: it is of
  /// this host, or of another container that shares this one's network. Returns
  /// false if it cannot, or has ended already.
  bool watch();
  /// Returns true if the process has ended: it was of this host, and its number
  /// is free or belongs to another process; or it answered when `watch` was
  /// called, and does not respond now. May be called for a process that was
  /// never seen: a process that the system only hides (hidepid of /proc) has
  /// not ended.
  bool hasEnded() const;
  /// Returns the name of the abstract unix socket that the process holds until
  /// it ends, without the zero at the front.
  std::string door() const;
};

} // namespace pdlrt

#endif // PDLRT_CORE_PROCESSIDENTITY_H
