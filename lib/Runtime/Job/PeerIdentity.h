//===- PeerIdentity.h - Job of a request between servers --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_PEERIDENTITY_H
#define LIB_RUNTIME_JOB_PEERIDENTITY_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"

#include "nlohmann/json_fwd.hpp"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Description of a job, which each request and response between the servers of
/// the job contains. With it a server notices that a server of another job uses
/// one of the addresses.
class PeerIdentity {
public:
  PeerIdentity(const pdl_descriptor &descriptor, const std::string &job,
               int64_t trainers, int64_t servers);

  /// Adds the description to a request or a response.
  void addTo(nlohmann::json &object) const;
  /// Returns an error with both values if `object`, a request or a response,
  /// belongs to another job. `object` may be any JSON value.
  Status check(const nlohmann::json &object) const;

private:
  /// The description as JSON text, so that this header needs no JSON type.
  std::string members;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_PEERIDENTITY_H
