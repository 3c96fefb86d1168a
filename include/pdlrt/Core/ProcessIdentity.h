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

/// Identifies a process for other processes of the same machine. With it they
/// notice at once when the process has ended, even if the network does not
/// report it.
struct ProcessIdentity {
  /// Identifies the boot of the system and the PID namespace. Two processes
  /// with the same value can see each other's PIDs. 0: unknown.
  uint64_t host = 0;
  /// Start time, in clock ticks since boot. It distinguishes processes with the
  /// same PID, because PIDs are reused.
  uint64_t started = 0;
  uint32_t number = 0;
  /// Set by `watch`: true if the process runs in another container but its
  /// `door` can be reached from here.
  bool hasDoor = false;

  bool operator==(const ProcessIdentity &other) const {
    return host == other.host && started == other.started &&
           number == other.number;
  }
  /// Returns the identity of the calling process. The first call reads /proc
  /// and opens the `door`.
  static const ProcessIdentity &ofThisProcess();
  /// Returns the identity of the process with PID `number` in this PID
  /// namespace. If the process is not visible or has ended, `host` of the
  /// result is 0.
  static ProcessIdentity ofProcess(uint32_t number);
  /// Returns true if the calling process is in the same PID namespace.
  bool isOfThisHost() const;
  /// Prepares `hasEnded`. Returns true if the calling process can notice the
  /// end of this process: it is in the same PID namespace, or in another
  /// container that shares the network of this one. For a process in another
  /// container, returns false if it has already ended.
  bool watch();
  /// Returns true if the process is known to have ended. For a process of this
  /// PID namespace: its PID is free, or belongs to another process. For a
  /// process of another container: its door existed when `watch` was called,
  /// and does not exist now. Otherwise returns false, also for a process that
  /// the system only hides (hidepid of /proc).
  bool hasEnded() const;
  /// State of a process that sends nothing.
  enum class State {
    /// It has ended, or cannot be seen here.
    Unknown,
    /// It has not ended.
    Alive,
    /// It is suspended, for example by SIGSTOP.
    Suspended,
  };
  /// Returns the state of the process, if `hasEnded` is false.
  State state() const;
  /// Returns the state for a message, such as "process 17 of this host is
  /// stopped (SIGSTOP)"; empty if it is unknown.
  std::string describeState() const;
  /// Returns the name of the process's door: an abstract unix socket that it
  /// keeps open until it ends. The name is without the leading zero byte.
  std::string door() const;
};

} // namespace pdlrt

#endif // PDLRT_CORE_PROCESSIDENTITY_H
