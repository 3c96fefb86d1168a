//===- PeerIdentity.cpp - Job of a request between servers ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/PeerIdentity.h"

#include "pdlrt/Protocol/Handshake.h"

#include "nlohmann/json.hpp"

#include <fmt/format.h>

using namespace pdlrt;
using nlohmann::json;

static std::string textOf(const json &value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

PeerIdentity::PeerIdentity(const pdl_descriptor &descriptor,
                           const std::string &job, int64_t trainers,
                           int64_t servers)
    : members(textOf({{"job", job},
                      {"protocol", protocolVersion},
                      {"model", descriptor.model_name},
                      {"layout", descriptor.layout_fingerprint},
                      {"training", descriptor.training_fingerprint},
                      {"trainers", trainers},
                      {"servers", servers}})) {}

void PeerIdentity::addTo(json &object) const {
  object.update(json::parse(members));
}

Status PeerIdentity::check(const json &object) const {
  const json own = json::parse(members);
  for (const auto &[name, value] : own.items()) {
    const auto found = object.find(name);
    if (found == object.end())
      return Status::failedPrecondition(
          "the message of a server does not say of which "
          "job it is");
    if (*found != value)
      return Status::failedPrecondition(fmt::format(
          "the message of a server is of another job: its {} is {}, and that "
          "of this server {}; check --servers and --job",
          name, textOf(*found).substr(0, 256), textOf(value)));
  }
  return {};
}
