//===- Modes.cpp - How trainers share a model -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi.h"
#include "pdlc/Dialect/PS/IR/PS.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace pdlc::ps;

static constexpr ModeProperties modes[] = {
    {.mode = Mode::local, .abiMode = PDL_MODE_LOCAL, .stepsAreRounds = true},
    {.mode = Mode::sync,
     .abiMode = PDL_MODE_SYNC,
     .hasServers = true,
     .stepsAreRounds = true},
    {.mode = Mode::async,
     .abiMode = PDL_MODE_ASYNC,
     .hasServers = true,
     .workersSend = true,
     .sendersFormNorms = true},
    {.mode = Mode::half_async,
     .abiMode = PDL_MODE_HALF_ASYNC,
     .hasServers = true,
     .sendersFormNorms = true},
    {.mode = Mode::quorum,
     .abiMode = PDL_MODE_QUORUM,
     .hasServers = true,
     .sendersFormNorms = true},
    {.mode = Mode::collective,
     .abiMode = PDL_MODE_COLLECTIVE,
     .hasServers = true,
     .parametersWith = OwnerPlace::trainers,
     .tablesWith = OwnerPlace::trainers,
     .stepsAreRounds = true},
    {.mode = Mode::hybrid,
     .abiMode = PDL_MODE_HYBRID,
     .hasServers = true,
     .parametersWith = OwnerPlace::trainers,
     .stepsAreRounds = true},
    {.mode = Mode::geo,
     .abiMode = PDL_MODE_GEO,
     .hasServers = true,
     .trainersApply = true,
     .sendersFormNorms = true},
};

std::optional<Mode> pdlc::ps::modeOf(llvm::StringRef name) {
  for (const ModeProperties &properties : modes)
    if (nameOf(properties.mode) == name)
      return properties.mode;
  return std::nullopt;
}

std::string pdlc::ps::nameOf(Mode mode) {
  std::string name = stringifyMode(mode).str();
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const ModeProperties &pdlc::ps::propertiesOf(Mode mode) {
  return *llvm::find_if(modes, [mode](const ModeProperties &properties) {
    return properties.mode == mode;
  });
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
    list += nameOf(properties.mode);
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
