//===- RequestChecks.cpp - Checks of a request by itself ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/RequestChecks.h"

#include "Server/Roster.h"
#include "pdlrt/Protocol/PartBox.h"

using namespace pdlrt;

/// Maximum sizes in bytes of a join (handshake and sign) and of a text.
static constexpr uint64_t largestJoin = 8192, largestMessage = 1 << 17;

std::string pdlrt::headFault(const Envelope &head,
                             const ServerCoreOptions &options) {
  if (head.kind >= MessageKind::Response)
    return std::string("a server takes requests, not responses such as this ") +
           nameOf(head.kind);
  if (head.trainer >= options.trainers)
    return trainerName(head.trainer) + " is not of this job, which has " +
           std::to_string(options.trainers) +
           " trainers with ranks from 0 on: start trainers and servers with "
           "the same number";
  if (head.worker > options.workersOfTrainer)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) + " is not of this job, in which " +
           std::to_string(options.workersOfTrainer) +
           " workers of a trainer send by themselves";
  if (head.epoch != options.epoch)
    return trainerName(head.trainer) + " uses epoch " +
           std::to_string(head.epoch) + " of the map, this server epoch " +
           std::to_string(options.epoch) +
           ": start both from one list of servers";
  return {};
}

std::string pdlrt::sizeFault(const Envelope &head, uint64_t size,
                             const ServerCoreOptions &options) {
  if (head.kind == MessageKind::Part)
    return partSizeFault(size, options.maxPartBytes);
  uint64_t largest = UINT64_MAX;
  if (requestsJoin(head.kind) || head.kind == MessageKind::Poll)
    largest = largestJoin;
  else if (head.kind == MessageKind::Heartbeat ||
           head.kind == MessageKind::Leave)
    largest = largestMessage;
  if (size <= largest)
    return {};
  return "the " + std::string(nameOf(head.kind)) + " of " +
         trainerName(head.trainer) + " has " + std::to_string(size) +
         " bytes, more than the " + std::to_string(largest) +
         " that one may have: is the path of --checkpoint or the name of --job "
         "so long?";
}

std::string pdlrt::partsFault(const Frame &frame,
                              const ServerCoreOptions &options) {
  const Envelope &head = frame.head;
  if (frame.parts.empty() && head.kind != MessageKind::Part)
    return {};
  if (std::string fault = partSizeFault(0, options.maxPartBytes);
      !fault.empty())
    return fault;
  if (!frame.parts.empty() && head.kind != MessageKind::Exchange)
    return "the " + std::string(nameOf(head.kind)) + " of " +
           trainerName(head.trainer) +
           " comes in parts, as only exchanges do: this is a fault of PDL, "
           "please report it";
  // In modes where workers send by themselves, gradients are not sent early.
  if (head.worker != 0)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) +
           " sends a request in parts, as only trainers as a whole do: this is "
           "a fault of PDL, please report it";
  return {};
}
