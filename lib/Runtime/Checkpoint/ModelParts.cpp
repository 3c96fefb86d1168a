//===- ModelParts.cpp - What a checkpoint and a program share -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelParts.h"

#include <algorithm>
#include <fmt/format.h>

using namespace pdlrt;

/// How many differences a sentence names; who reads it has one or two, or
/// another model.
static constexpr size_t namedDifferences = 3;

std::vector<ModelPart> pdlrt::partsOf(const pdl_descriptor &descriptor) {
  std::vector<ModelPart> parts;
  for (int32_t i = 0; i < descriptor.part_count; ++i) {
    const pdl_part &part = descriptor.parts[i];
    parts.push_back({pdl_part_kind(part.kind), part.name, part.value});
  }
  return parts;
}

static const ModelPart *findPart(const std::vector<ModelPart> &parts,
                                 const ModelPart &like) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const ModelPart &part) {
        return part.kind == like.kind && part.name == like.name;
      });
  return found == parts.end() ? nullptr : &*found;
}

std::string pdlrt::differencesOf(const std::vector<ModelPart> &program,
                                 const std::vector<ModelPart> &checkpoint,
                                 CheckpointUse use) {
  std::vector<std::string> found;
  for (const ModelPart &part : program) {
    if (use == CheckpointUse::Values && part.kind != PDL_PART_STATE)
      continue;
    const ModelPart *before = findPart(checkpoint, part);
    if (!before)
      found.push_back(fmt::format("the checkpoint has no {}, this program {}",
                                  part.name, part.value));
    else if (before->value != part.value)
      found.push_back(
          fmt::format("the {} differs: the checkpoint has {}, this program {}",
                      part.name, before->value, part.value));
  }
  if (use == CheckpointUse::Training)
    for (const ModelPart &part : checkpoint)
      if (!findPart(program, part))
        found.push_back(fmt::format("this program has no {}, the checkpoint {}",
                                    part.name, part.value));
  const size_t named = std::min(found.size(), namedDifferences);
  std::string text =
      fmt::format("{}", fmt::join(found.begin(), found.begin() + named, "; "));
  if (named < found.size())
    text += fmt::format("; and {} more", found.size() - named);
  return text;
}
