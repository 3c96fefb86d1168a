//===- Mode.cpp - Mode of a compiled program ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Mode.h"

#include <iterator>

using namespace pdlrt;
using pdlabi::modes;

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
