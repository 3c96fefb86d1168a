//===- TableLife.cpp - Periods and scores of a saved table ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TableLife.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

using namespace pdlrt;

const std::string *pdlrt::trainingPartOf(const CheckpointManifest &manifest,
                                         const std::string &name) {
  for (const ModelPart &part : manifest.modelParts)
    if (part.kind == PDL_PART_TRAINING && part.name == name)
      return &part.value;
  return nullptr;
}

Expected<int64_t> pdlrt::updatesOfPeriod(const Checkpoint &checkpoint,
                                         const std::string &table) {
  const std::string *text =
      trainingPartOf(checkpoint.manifest(), "shrinking of @" + table);
  if (!text)
    return 0;
  constexpr std::string_view before = "every ";
  int64_t every = 0;
  if (text->starts_with(before))
    std::from_chars(text->data() + before.size(), text->data() + text->size(),
                    every);
  if (every < 1)
    return checkpoint.damaged("table @" + table + " shrinks '" + *text +
                              "', which does not say how long a period is");
  return every;
}

Expected<int64_t> pdlrt::runningPeriod(const Checkpoint &checkpoint,
                                       const std::string &table,
                                       int64_t every) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  // If norms are computed for each table alone, the group of a table is
  // `<group>.<table>`. The two parts of a table with deferred embedding vectors
  // have one group, which is named after the first of them.
  std::string owner = table;
  constexpr std::string_view before = "behind those of @";
  if (const std::string *first =
          trainingPartOf(manifest, "columns of @" + table);
      first && first->starts_with(before))
    owner = first->substr(before.size());
  if (const std::string *group = trainingPartOf(manifest, "group of @" + table))
    for (const auto &[name, steps] : manifest.groupSteps)
      if ("@" + name == *group || "@" + name == *group + "." + owner)
        return steps / every;
  return checkpoint.damaged("table @" + table +
                            " has periods, and no count of updates");
}

std::vector<std::pair<std::string, double>>
pdlrt::scoreWeightsOf(const CheckpointManifest &manifest,
                      const std::string &table) {
  std::vector<std::pair<std::string, double>> weights;
  for (const char *clause : {"shrinking of @", "admission of @"}) {
    const std::string *text = trainingPartOf(manifest, clause + table);
    if (!text || !weights.empty())
      continue;
    // The text has "NAME * WEIGHT" for each slot of the score.
    std::vector<std::string_view> words;
    for (std::string_view left = *text; !left.empty();) {
      words.push_back(left.substr(0, left.find(' ')));
      left.remove_prefix(std::min(left.size(), words.back().size() + 1));
    }
    for (size_t w = 1; w + 1 < words.size(); ++w) {
      double weight = 0;
      const std::string_view number = words[w + 1];
      if (words[w] == "*" &&
          std::from_chars(number.data(), number.data() + number.size(), weight)
                  .ec == std::errc())
        weights.emplace_back(words[w - 1], weight);
    }
  }
  return weights;
}
