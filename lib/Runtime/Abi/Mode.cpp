//===- Mode.cpp - What the mode of a program means ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Mode.h"

#include <iterator>

using namespace pdlrt;

static constexpr Mode modes[] = {
    {.id = PDL_MODE_LOCAL,
     .name = "local",
     .hasServers = false,
     .parametersWith = OwnerPlace::Servers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = false,
     .stepsAreRounds = true,
     .workersSend = false,
     .sendersFormNorms = false,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = false},
    {.id = PDL_MODE_SYNC,
     .name = "sync",
     .hasServers = true,
     .parametersWith = OwnerPlace::Servers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = false,
     .stepsAreRounds = true,
     .workersSend = false,
     .sendersFormNorms = false,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = true},
    // What a worker sends is a function of its data and of what it was
    // answered, which servers keep, however the pushes of others come between.
    {.id = PDL_MODE_ASYNC,
     .name = "async",
     .hasServers = true,
     .parametersWith = OwnerPlace::Servers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = false,
     .stepsAreRounds = false,
     .workersSend = true,
     .sendersFormNorms = true,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = true},
    // What a trainer sends is a function of its data and of what it was
    // answered, which servers keep.
    {.id = PDL_MODE_HALF_ASYNC,
     .name = "half-async",
     .hasServers = true,
     .parametersWith = OwnerPlace::Servers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = false,
     .stepsAreRounds = false,
     .workersSend = false,
     .sendersFormNorms = true,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = true},
    {.id = PDL_MODE_QUORUM,
     .name = "quorum",
     .hasServers = true,
     .parametersWith = OwnerPlace::Servers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = false,
     .stepsAreRounds = false,
     .workersSend = false,
     .sendersFormNorms = true,
     .closesWithQuorum = true,
     .sendersClip = true,
     .newStartsGoOn = true},
    // State dies with a trainer: no new start of it could go on.
    {.id = PDL_MODE_COLLECTIVE,
     .name = "collective",
     .hasServers = true,
     .parametersWith = OwnerPlace::Trainers,
     .tablesWith = OwnerPlace::Trainers,
     .trainersApply = false,
     .stepsAreRounds = true,
     .workersSend = false,
     .sendersFormNorms = false,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = false},
    {.id = PDL_MODE_HYBRID,
     .name = "hybrid",
     .hasServers = true,
     .parametersWith = OwnerPlace::Trainers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = false,
     .stepsAreRounds = true,
     .workersSend = false,
     .sendersFormNorms = false,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = false},
    // A trainer's copy, with its slots, dies with it.
    {.id = PDL_MODE_GEO,
     .name = "geo",
     .hasServers = true,
     .parametersWith = OwnerPlace::Servers,
     .tablesWith = OwnerPlace::Servers,
     .trainersApply = true,
     .stepsAreRounds = false,
     .workersSend = false,
     .sendersFormNorms = true,
     .closesWithQuorum = false,
     .sendersClip = false,
     .newStartsGoOn = false},
};

const Mode *pdlrt::findMode(int64_t id) {
  for (const Mode &mode : modes)
    if (mode.id == id)
      return &mode;
  return nullptr;
}

const Mode *pdlrt::findModeNamed(std::string_view name) {
  for (const Mode &mode : modes)
    if (name == mode.name)
      return &mode;
  return nullptr;
}

const Mode &pdlrt::modeOf(const pdl_descriptor &descriptor) {
  return *findMode(descriptor.mode);
}

std::string pdlrt::modeName(int64_t id) {
  const Mode *mode = findMode(id);
  return mode ? mode->name : std::to_string(id);
}

std::string pdlrt::serverModeFlags() {
  std::string flags;
  for (const Mode &mode : modes)
    if (mode.hasServers)
      flags += (flags.empty()                         ? "--mode="
                : &mode == std::prev(std::end(modes)) ? " or --mode="
                                                      : ", --mode=") +
               std::string(mode.name);
  return flags;
}
