//===- IdleProcess.h - A process that a test kills --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_IDLEPROCESS_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_IDLEPROCESS_H

#include "pdlrt/Core/ProcessIdentity.h"

#include <csignal>
#include <cstdint>
#include <sys/wait.h>
#include <unistd.h>

namespace pdlrt::test {

/// A process of this host that does nothing.
class IdleProcess {
public:
  IdleProcess() : number(fork()) {
    if (number == 0) {
      pause();
      _exit(0);
    }
  }
  ~IdleProcess() { waitpid(number, nullptr, 0); }
  IdleProcess(const IdleProcess &) = delete;
  IdleProcess &operator=(const IdleProcess &) = delete;
  ProcessIdentity identity() const {
    return ProcessIdentity::ofProcess(uint32_t(number));
  }
  /// Stops the process. On return it is suspended.
  void suspend() const {
    kill(number, SIGSTOP);
    siginfo_t info;
    waitid(P_PID, id_t(number), &info, WSTOPPED | WNOWAIT);
  }
  /// Kills the process. On return it is dead but not reaped.
  void end() const {
    kill(number, SIGKILL);
    siginfo_t info;
    waitid(P_PID, id_t(number), &info, WEXITED | WNOWAIT);
  }

private:
  const pid_t number;
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_IDLEPROCESS_H
