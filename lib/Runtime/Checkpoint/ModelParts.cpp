//===- ModelParts.cpp - Compares a checkpoint with a program --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelParts.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string_view>

using namespace pdlrt;

/// Maximum number of differences that a message names. Usually there are one or
/// two. If there are many, the checkpoint belongs to another model.
static constexpr size_t namedDifferences = 3;

std::vector<ModelPart> pdlrt::partsOf(const pdl_descriptor &descriptor) {
  std::vector<ModelPart> parts;
  for (int32_t i = 0; i < descriptor.part_count; ++i) {
    const pdl_part &part = descriptor.parts[i];
    parts.push_back({pdl_part_kind(part.kind), part.name, part.value});
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static constexpr std::string_view trainedKeysPrefix = "keys of @",
                                  readKeysPrefix = "keys read of @";

static bool isKeys(const ModelPart &part) {
  return part.kind == PDL_PART_STATE &&
         (part.name.starts_with(trainedKeysPrefix) ||
          part.name.starts_with(readKeysPrefix));
}

/// Returns the table of a part that describes how keys are made from fields.
static std::string tableOf(const ModelPart &part) {
  return part.name.substr(part.name.find('@') + 1);
}

const ModelPart *pdlrt::keysOf(const std::vector<ModelPart> &parts,
                               const std::string &table) {
  for (const ModelPart &part : parts)
    if (isKeys(part) && tableOf(part) == table)
      return &part;
  return nullptr;
}

static std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Returns a list of the first few ways and the number of further ones.
static std::string listOf(const std::vector<std::string_view> &ways) {
  const size_t named = std::min(ways.size(), namedDifferences);
  std::string text = fmt::format(
      "`{}`", fmt::join(ways.begin(), ways.begin() + named, "`, `"));
  if (named < ways.size())
    text += fmt::format(" and {} more", ways.size() - named);
  return text;
}

std::string pdlrt::keyDifferences(const ModelPart &program,
                                  const std::string &checkpoint,
                                  const std::string &other,
                                  const std::string &here) {
  const std::vector<std::string_view> ways = linesOf(program.value),
                                      others = linesOf(checkpoint);
  std::vector<std::string_view> onlyHere, onlyThere;
  std::set_difference(ways.begin(), ways.end(), others.begin(), others.end(),
                      std::back_inserter(onlyHere));
  std::set_difference(others.begin(), others.end(), ways.begin(), ways.end(),
                      std::back_inserter(onlyThere));
  if (onlyHere.empty() &&
      (onlyThere.empty() || program.name.starts_with(readKeysPrefix)))
    return "";
  const std::string begin = fmt::format(
      "the keys of @{} come from fields in another way: ", tableOf(program));
  if (onlyThere.empty())
    return fmt::format("{}only {} makes some of {}", begin, here,
                       listOf(onlyHere));
  if (onlyHere.empty())
    return fmt::format("{}only {} makes some of {}", begin, other,
                       listOf(onlyThere));
  return fmt::format("{}{} makes some of {}, {} of {}", begin, other,
                     listOf(onlyThere), here, listOf(onlyHere));
}

Status pdlrt::refuseOldLayout(const std::string &path,
                              const std::string &unchecked) {
  return Status::failedPrecondition(fmt::format(
      "{}: is of an older layout, which does not say how its values were "
      "made, so that these cannot be checked: {}; if they are the same as in "
      "the program that wrote it, give --accept-old-layout",
      path, unchecked));
}

std::string pdlrt::removeUnchecked(std::vector<ModelPart> &program,
                                   std::vector<ModelPart> &checkpoint,
                                   CheckpointUse use) {
  std::string text;
  for (const ModelPart &part : program)
    if (isKeys(part))
      text += fmt::format("{}the keys of @{}, which this program makes of {}",
                          text.empty() ? "" : "; ", tableOf(part),
                          listOf(linesOf(part.value)));
  const auto isUnchecked = [](const ModelPart &part) {
    return isKeys(part) || (part.kind == PDL_PART_TRAINING &&
                            (part.name.starts_with("field ") ||
                             part.name.starts_with("losses of ")));
  };
  if (use == CheckpointUse::Training)
    text += fmt::format("{}the fields and the losses of the training",
                        text.empty() ? "" : "; ");
  std::erase_if(program, isUnchecked);
  std::erase_if(checkpoint, isUnchecked);
  return text;
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static const ModelPart *findPart(const std::vector<ModelPart> &parts,
                                 const ModelPart &like) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const ModelPart &part) {
        return part.kind == like.kind && part.name == like.name;
      });
  return found == parts.end() ? nullptr : &*found;
}

/// If `part` is the rule that counts the steps of a training cycle, returns a
/// description of the cycle's length for messages. The model states only this
/// length; the compiler added the rule, so users do not know its name. Returns
/// none for any other part.
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

/// Describes a difference for messages.
static std::string sayPart(const ModelPart &part, const ModelPart &before,
                           const std::string &other) {
  const std::optional<ModelPart> cycle = cycleOf(part), old = cycleOf(before);
  if (cycle && old && cycle->value != old->value)
    return sayPart(*cycle, *old, other);
  return fmt::format("for the {} {} has {}, this program {}", part.name, other,
                     before.value, part.value);
}

std::vector<std::string>
pdlrt::symbolsToLeaveOut(const std::vector<ModelPart> &program,
                         const std::vector<ModelPart> &checkpoint) {
  std::vector<std::string> names;
  for (const ModelPart &part : program) {
    const size_t at = part.name.find('@');
    if (part.kind != PDL_PART_STATE || at == std::string::npos)
      continue;
    const ModelPart *before = isKeys(part) ? keysOf(checkpoint, tableOf(part))
                                           : findPart(checkpoint, part);
    if (!before)
      continue;
    const bool fits = isKeys(part)
                          ? keyDifferences(part, before->value, "").empty()
                          : part.value == before->value;
    std::string name = part.name.substr(at + 1);
    if (!fits && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

std::string pdlrt::differencesOf(const std::vector<ModelPart> &program,
                                 const std::vector<ModelPart> &checkpoint,
                                 CheckpointUse use, const std::string &other) {
  std::vector<std::string> found;
  for (const ModelPart &part : program) {
    if (use == CheckpointUse::Values && part.kind != PDL_PART_STATE)
      continue;
    const ModelPart *keys =
        isKeys(part) ? keysOf(checkpoint, tableOf(part)) : nullptr;
    if (keys) {
      if (std::string text = keyDifferences(part, keys->value, other);
          !text.empty())
        found.push_back(std::move(text));
      continue;
    }
    // The table was never trained.
    if (isKeys(part) && part.name.starts_with(readKeysPrefix))
      continue;
    const ModelPart *before = findPart(checkpoint, part);
    if (!before)
      found.push_back(
          fmt::format("{} has no {}, this program {}", other, part.name,
                      isKeys(part) ? listOf(linesOf(part.value)) : part.value));
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
