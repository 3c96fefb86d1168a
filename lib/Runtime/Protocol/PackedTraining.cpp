//===- PackedTraining.cpp - Training with packed gradients ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/PackedTraining.h"

#include "pdlrt/Abi/Mode.h"

#include <string>

using namespace pdlrt;

Status pdlrt::checkPacking(const pdl_descriptor &descriptor,
                           GradientPacking packing, bool mayRejoin) {
  if (packing == GradientPacking::None)
    return {};
  const std::string flag =
      std::string("--pack-gradients ") + nameOf(packing) + " ";
  if (const Mode &mode = modeOf(descriptor); mode.trainersApply)
    return Status::invalidArgument(
        flag + "is for modes in which gradients travel, and in mode " +
        mode.name + " trainers keep them; leave it out");
  for (int32_t p = 0; p < descriptor.program_count; ++p)
    for (int32_t c = 0; c < descriptor.programs[p].channel_count; ++c) {
      const pdl_channel &channel = descriptor.programs[p].channels[c];
      if ((channel.kind == PDL_CHANNEL_GRADIENT ||
           channel.kind == PDL_CHANNEL_ROW_GRADIENT) &&
          descriptor.symbols[channel.symbol].element_type != PDL_F32)
        return Status::invalidArgument(
            flag + "is for gradients in f32, and those of @" +
            descriptor.symbols[channel.symbol].name +
            " are not; leave it out, or translate the model in f32");
    }
  if (mayRejoin && modeOf(descriptor).restartsContinue)
    return Status::invalidArgument(
        flag + "goes with --on-failure=abort: a trainer that starts anew would "
               "not have what rounding has left over");
  return {};
}

PackedTraining::PackedTraining(const pdl_descriptor &descriptor,
                               GradientPacking packing)
    : changed(descriptor) {
  if (packing == GradientPacking::None)
    return;
  changed.training_fingerprint =
      fingerprintWith(descriptor.training_fingerprint, packing);
  parts.assign(descriptor.parts, descriptor.parts + descriptor.part_count);
  parts.push_back({PDL_PART_TRAINING, "--pack-gradients", nameOf(packing)});
  changed.parts = parts.data();
  changed.part_count = int32_t(parts.size());
}
