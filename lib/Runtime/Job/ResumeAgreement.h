//===- ResumeAgreement.h - Agreement on a checkpoint ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_RESUMEAGREEMENT_H
#define LIB_RUNTIME_JOB_RESUMEAGREEMENT_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace pdlrt {

/// Finds the newest checkpoint that is complete on all servers of a job. Used
/// by server 0. Each server first reports its newest checkpoint. The response
/// is a maximum number of steps. The server then reports its newest checkpoint
/// with at most this number of steps, until all servers report the same one.
/// Thread-safe.
class ResumeAgreement {
public:
  explicit ResumeAgreement(size_t servers) : servers(servers) {}

  /// Records that server `rank` has found a checkpoint with `found` steps (-1:
  /// no checkpoint), or an error. Returns the maximum number of steps that a
  /// checkpoint may have. Returns nothing while servers are missing, or while
  /// others must look for an older checkpoint. Returns an error if there is no
  /// agreement. May be called again with the same arguments. If the job has no
  /// server `rank`, ignores the report and returns an error.
  Expected<std::optional<int64_t>> report(int64_t rank,
                                          const Expected<int64_t> &found);
  /// Returns the ranks of servers that have not reported yet.
  std::vector<int64_t> missing();

private:
  const size_t servers;
  Mutex mutex;
  /// Reported steps by rank.
  std::map<int64_t, int64_t> steps PDLRT_GUARDED_BY(mutex);
  Status failure PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_RESUMEAGREEMENT_H
