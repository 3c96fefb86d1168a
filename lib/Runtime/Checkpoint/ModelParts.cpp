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
#include <optional>
#include <string_view>

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

/// The rule that a cycle's turns are counted with has no name in the model: its
/// number of steps is what the model says. None for any other part.
static std::optional<ModelPart> cycleOf(const ModelPart &part) {
  constexpr std::string_view begin = "rule of group @", end = ".turns",
                             length = "{length = ";
  const std::string_view name = part.name, value = part.value;
  const size_t close = value.find('}');
  if (!name.starts_with(begin) || !name.ends_with(end) ||
      !value.starts_with(length) || close == std::string_view::npos)
    return std::nullopt;
  const std::string_view cycle =
      name.substr(begin.size(), name.size() - begin.size() - end.size());
  return ModelPart{
      part.kind, fmt::format("cycle of @{}", cycle),
      fmt::format("{} steps",
                  value.substr(length.size(), close - length.size()))};
}

/// For a reader.
static std::string sayPart(const ModelPart &part, const ModelPart &before,
                           const std::string &other) {
  const std::optional<ModelPart> cycle = cycleOf(part), old = cycleOf(before);
  if (cycle && old && cycle->value != old->value)
    return sayPart(*cycle, *old, other);
  return fmt::format("for the {} {} has {}, this program {}", part.name, other,
                     before.value, part.value);
}

std::string pdlrt::differencesOf(const std::vector<ModelPart> &program,
                                 const std::vector<ModelPart> &checkpoint,
                                 CheckpointUse use, const std::string &other) {
  std::vector<std::string> found;
  for (const ModelPart &part : program) {
    if (use == CheckpointUse::Values && part.kind != PDL_PART_STATE)
      continue;
    const ModelPart *before = findPart(checkpoint, part);
    if (!before)
      found.push_back(fmt::format("{} has no {}, this program {}", other,
                                  part.name, part.value));
    else if (before->value != part.value)
      found.push_back(sayPart(part, *before, other));
  }
  if (use == CheckpointUse::Training)
    for (const ModelPart &part : checkpoint)
      if (!findPart(program, part))
        found.push_back(fmt::format("this program has no {}, {} {}", part.name,
                                    other, part.value));
  const size_t named = std::min(found.size(), namedDifferences);
  std::string text =
      fmt::format("{}", fmt::join(found.begin(), found.begin() + named, "; "));
  if (named < found.size())
    text += fmt::format("; and {} more", found.size() - named);
  return text;
}
