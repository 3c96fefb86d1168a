//===- Handshake.cpp - Agreement of trainer and server at a join ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/Handshake.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Protocol/Packing.h"

#include "nlohmann/json.hpp"

#include <fmt/format.h>
#include <optional>
#include <utility>

using namespace pdlrt;
using nlohmann::json;

/// Maximum size of a handshake in bytes. A foreign program may send anything.
static constexpr size_t largestHandshake = 65536;

void Handshake::setProgram(const pdl_descriptor &descriptor) {
  model = descriptor.model_name;
  layoutFingerprint = descriptor.layout_fingerprint;
  trainingFingerprint = descriptor.training_fingerprint;
  wireFingerprint = descriptor.wire_fingerprint;
  mode = descriptor.mode;
  numerics = descriptor.numerics;
  elementType = elementTypeText(descriptor);
}

Handshake Handshake::of(const pdl_descriptor &descriptor,
                        const Placement &placement) {
  Handshake result;
  result.setProgram(descriptor);
  result.servers = placement.serverCount();
  result.placementPolicy = placementPolicyName(placement.policy());
  result.placementDigest = placement.digest();
  return result;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// Calls `visit` with the name and the value of each member.
template <typename Object, typename Visit>
static void visitMembers(Object &object, Visit &&visit) {
  visit("model", object.model);
  // The member is called "abi" because up to version 21 its value was the
  // version of the ABI.
  visit("abi", object.protocol);
  visit("layout_fingerprint", object.layoutFingerprint);
  visit("training_fingerprint", object.trainingFingerprint);
  visit("wire_fingerprint", object.wireFingerprint);
  visit("mode", object.mode);
  visit("numerics", object.numerics);
  visit("element_type", object.elementType);
  visit("servers", object.servers);
  visit("placement", object.placementPolicy);
  visit("placement_digest", object.placementDigest);
  visit("trainers", object.trainers);
  visit("server_rank", object.serverRank);
  visit("workers", object.workers);
  visit("seed", object.seed);
  visit("resumes", object.resumes);
  visit("on_failure", object.onFailure);
  visit("pack_keys", object.keyPacking);
  visit("pack_gradients", object.gradientPacking);
  visit("bounds", object.bounds);
  visit("start", object.start);
  visit("start_step", object.startStep);
  visit("checkpoint", object.checkpoint);
  visit("takes_part", object.takesPart);
  visit("job", object.job);
}

Message pdlrt::encodeHandshake(const Handshake &handshake) {
  json object;
  visitMembers(handshake, [&](const char *name, const auto &member) {
    object[name] = member;
  });
  // Invalid UTF-8 in a name must not throw.
  return Message::ofString(
      object.dump(-1, ' ', false, json::error_handler_t::replace));
}

static bool read(const json &value, std::string &out) {
  if (!value.is_string())
    return false;
  out = value.get<std::string>();
  return true;
}
static bool read(const json &value, uint64_t &out) {
  if (!value.is_number_unsigned())
    return false;
  out = value.get<uint64_t>();
  return true;
}
static bool read(const json &value, int64_t &out) {
  if (!value.is_number_integer())
    return false;
  out = value.get<int64_t>();
  return true;
}

static bool read(const json &value, bool &out) {
  if (!value.is_boolean())
    return false;
  out = value.get<bool>();
  return true;
}

Expected<Handshake> pdlrt::decodeHandshake(const Message &payload) {
  const Status foreign = Status::failedPrecondition(
      "a process joins without a handshake of this version; use trainers and "
      "servers of one translation");
  if (payload.size() > largestHandshake)
    return foreign;
  const json object = json::parse(payload.toString(), nullptr, false);
  if (!object.is_object())
    return foreign;
  Handshake result;
  bool isWhole = true;
  visitMembers(result, [&](const char *name, auto &member) {
    const auto found = object.find(name);
    isWhole = isWhole && found != object.end() && read(*found, member);
  });
  if (!isWhole)
    return foreign;
  return result;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

static std::string numericsText(int64_t numerics) {
  return numerics == PDL_NUMERICS_STRICT ? "strict" : "fast";
}

/// Returns an error if the texts differ.
static Status compareTexts(const char *what, const std::string &trainer,
                           const std::string &server, const char *remedy) {
  if (trainer == server)
    return {};
  return Status::failedPrecondition(fmt::format(
      "the trainer {} {}, the server {}; {}", what, trainer, server, remedy));
}

template <typename Number>
static Status compareNumbers(const char *what, Number trainer, Number server,
                             const char *remedy) {
  return compareTexts(what, std::to_string(trainer), std::to_string(server),
                      remedy);
}

/// Returns an error unless trainer and server pack gradients in the same way
/// and the server knows how the trainer packs keys.
static Status comparePacking(const Handshake &trainer,
                             const Handshake &server) {
  constexpr auto *unknown =
      "the trainer packs {} by '{}', which this server does not know; use "
      "trainers and servers of one version";
  if (!keyPackingOf(trainer.keyPacking))
    return Status::failedPrecondition(
        fmt::format(fmt::runtime(unknown), "keys", trainer.keyPacking));
  if (!gradientPackingOf(trainer.gradientPacking))
    return Status::failedPrecondition(fmt::format(
        fmt::runtime(unknown), "gradients", trainer.gradientPacking));
  return compareTexts("has --pack-gradients", trainer.gradientPacking,
                      server.gradientPacking,
                      "give all trainers and all servers the same "
                      "--pack-gradients (pdl-launch: after each of the two "
                      "--)");
}

/// Compares the number of owners, and the rank of the owner that listens at
/// this address.
static Status compareAddresses(const Handshake &trainer,
                               const Handshake &server) {
  const Mode *mode = findMode(server.mode);
  if (mode && mode->trainersOwn()) {
    constexpr auto *remedy =
        "give all processes the same --trainers, --servers "
        "and --peers, in the same order";
    PDLRT_RETURN_IF_ERROR(compareNumbers(
        "knows owners of state:", trainer.servers, server.servers, remedy));
    return compareNumbers("takes this address for that of owner",
                          trainer.serverRank, server.serverRank, remedy);
  }
  PDLRT_RETURN_IF_ERROR(
      compareNumbers("knows servers (--servers):", trainer.servers,
                     server.servers, "give all processes the same --servers"));
  return compareNumbers(
      "takes this address for that of server rank", trainer.serverRank,
      server.serverRank,
      "give all processes the same --servers, in the same order");
}

Status pdlrt::compareHandshakes(const Handshake &trainer,
                                const Handshake &server) {
  constexpr auto *together =
      "use a trainer and a pserver of one translation of the model";
  // The job is compared first: if it differs, everything else may differ too.
  PDLRT_RETURN_IF_ERROR(compareTexts(
      "is of job", "'" + trainer.job + "'", "'" + server.job + "'",
      "this address belongs to another job: check --servers and --job"));
  PDLRT_RETURN_IF_ERROR(compareNumbers("has protocol version", trainer.protocol,
                                       server.protocol, together));
  PDLRT_RETURN_IF_ERROR(
      compareTexts("runs model", trainer.model, server.model, together));
  PDLRT_RETURN_IF_ERROR(compareTexts("is in mode", modeName(trainer.mode),
                                     modeName(server.mode), together));
  PDLRT_RETURN_IF_ERROR(compareTexts("computes in", trainer.elementType,
                                     server.elementType, together));
  PDLRT_RETURN_IF_ERROR(compareTexts("has numerics",
                                     numericsText(trainer.numerics),
                                     numericsText(server.numerics), together));
  PDLRT_RETURN_IF_ERROR(comparePacking(trainer, server));
  for (const auto &[what, member] :
       {std::pair("has the layout fingerprint", &Handshake::layoutFingerprint),
        std::pair("has the training fingerprint",
                  &Handshake::trainingFingerprint),
        std::pair("has the wire fingerprint", &Handshake::wireFingerprint)})
    PDLRT_RETURN_IF_ERROR(
        compareTexts(what, fmt::format("{:016x}", trainer.*member),
                     fmt::format("{:016x}", server.*member), together));
  PDLRT_RETURN_IF_ERROR(compareNumbers(
      "is one of (--trainers)", trainer.trainers, server.trainers,
      "give all processes the same --trainers"));
  PDLRT_RETURN_IF_ERROR(compareAddresses(trainer, server));
  PDLRT_RETURN_IF_ERROR(compareTexts("has --placement", trainer.placementPolicy,
                                     server.placementPolicy,
                                     "give all processes the same --placement "
                                     "(pdl-launch: after each of the two "
                                     "--)"));
  PDLRT_RETURN_IF_ERROR(compareTexts(
      "has the map", fmt::format("{:016x}", trainer.placementDigest),
      fmt::format("{:016x}", server.placementDigest), together));
  if (!trainer.takesPart)
    return {};
  PDLRT_RETURN_IF_ERROR(compareTexts(
      "has --on-failure", trainer.onFailure, server.onFailure,
      "give all trainers and all servers the same --on-failure (pdl-launch: "
      "after each of the two --)"));
  if (trainer.workers != 0 && server.workers != 0)
    PDLRT_RETURN_IF_ERROR(compareNumbers(
        "has workers (--replicas):", trainer.workers, server.workers,
        "those of the trainers that joined before count; give all trainers the "
        "same --replicas"));
  auto resumeText = [](const Handshake &process) {
    return process.resumes ? "with --resume" : "without --resume";
  };
  PDLRT_RETURN_IF_ERROR(compareTexts(
      "was started", resumeText(trainer), resumeText(server),
      "give --checkpoint FOLDER --resume to trainers and servers alike "
      "(pdl-launch: after each of the two --)"));
  PDLRT_RETURN_IF_ERROR(
      compareNumbers("has --seed", trainer.seed, server.seed,
                     "give trainers and servers the same --seed (pdl-launch: "
                     "after each of the two --)"));
  // The server has verified its checkpoints completely. If it has passed over a
  // damaged one that is newer, the trainers go back to the server's checkpoint
  // (`Job::startStep`).
  if (server.startStep > 0 && trainer.startStep > server.startStep)
    return {};
  return compareNumbers(
      "goes on from step", trainer.startStep, server.startStep,
      "start all processes with the same --checkpoint and --resume; where one "
      "has passed over a damaged checkpoint, remove that");
}

Status pdlrt::compareServers(const std::vector<Message> &responses) {
  std::optional<Handshake> first;
  for (size_t server = 0; server < responses.size(); ++server) {
    Expected<Handshake> own = decodeHandshake(responses[server]);
    if (!own)
      return own.status();
    if (!first) {
      first = *std::move(own);
      continue;
    }
    const auto differ = [&](const char *what, const std::string &of0,
                            const std::string &ofThis, const char *remedy) {
      return Status::failedPrecondition(
          fmt::format("servers were started with different {}: server 0 has "
                      "{}, server {} {}; {}",
                      what, of0, server, ofThis, remedy));
    };
    const auto orNone = [](const std::string &text) {
      return text.empty() ? "none of these" : text;
    };
    if (own->bounds != first->bounds)
      return differ("flags", orNone(first->bounds), orNone(own->bounds),
                    "give all servers the same");
    if (own->start != first->start)
      return differ("values", first->start, own->start,
                    "give all servers the same --init-from, or the same "
                    "--checkpoint and --resume, with the same files on each "
                    "host");
    if (own->seed != first->seed)
      return differ("seeds", fmt::format("--seed {}", first->seed),
                    fmt::format("--seed {}", own->seed),
                    "give all servers the same");
  }
  return {};
}
