//===- Modes.cpp - Modes of distributed training --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/PS/IR/PS.h"

#include <iterator>

using namespace mlir;
using namespace pdlc::ps;

using pdlabi::modes;

// Modes have the same numbers in IR and in descriptors.
static_assert(int32_t(Mode::local) == PDL_MODE_LOCAL &&
              int32_t(Mode::sync) == PDL_MODE_SYNC &&
              int32_t(Mode::async) == PDL_MODE_ASYNC &&
              int32_t(Mode::half_async) == PDL_MODE_HALF_ASYNC &&
              int32_t(Mode::quorum) == PDL_MODE_QUORUM &&
              int32_t(Mode::collective) == PDL_MODE_COLLECTIVE &&
              int32_t(Mode::hybrid) == PDL_MODE_HYBRID &&
              int32_t(Mode::geo) == PDL_MODE_GEO);
static_assert(getMaxEnumValForMode() + 1 == std::size(modes));

std::optional<Mode> pdlc::ps::modeOf(llvm::StringRef name) {
  for (const ModeProperties &properties : modes)
    if (name == properties.name)
      return Mode(properties.id);
  return std::nullopt;
}

const ModeProperties &pdlc::ps::propertiesOf(Mode mode) {
  return *pdlabi::findMode(int64_t(mode));
}

const ModeProperties &ModeAttr::getProperties() const {
  return propertiesOf(getValue());
}

std::string pdlc::ps::modeList(bool withServers) {
  std::string list;
  for (const ModeProperties &properties : modes) {
    if (withServers && !properties.hasServers)
      continue;
    if (!list.empty())
      list += &properties == std::prev(std::end(modes)) ? " or " : ", ";
    list += properties.name;
  }
  return list;
}

const ModeProperties &pdlc::ps::getMode(ModuleOp module) {
  auto mode = module->getAttrOfType<ModeAttr>(PSDialect::kModeAttrName);
  return mode ? mode.getProperties() : propertiesOf(Mode::local);
}

FailureOr<ModeAttr> pdlc::ps::requireMode(ModuleOp module) {
  auto mode = module->getAttrOfType<ModeAttr>(PSDialect::kModeAttrName);
  if (!mode || !mode.getProperties().hasServers)
    return module.emitError("has no mode: run ps-partition first");
  return mode;
}
