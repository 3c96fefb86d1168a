//===- FormerNames.cpp - Names of ops in earlier versions -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/FormerNames.h"

using namespace mlir;
using namespace pdlc;

namespace {
struct Renamed {
  StringRef first, present;
};
} // namespace

/// Ops that were renamed, with their original name. Never remove a line:
/// fingerprints of models contain original names, and checkpoints contain
/// fingerprints.
static constexpr Renamed renamedOps[] = {
    {"nn.l2_normalise", "nn.l2_normalize"},
    {"nn.standardise", "nn.standardize"},
};

StringRef nn::presentNameOf(StringRef name) {
  for (const Renamed &op : renamedOps)
    if (name == op.first)
      return op.present;
  return {};
}

StringRef nn::firstNameOf(StringRef name) {
  for (const Renamed &op : renamedOps)
    if (name == op.present)
      return op.first;
  return name;
}

std::string nn::withFirstNames(std::string text) {
  for (const Renamed &op : renamedOps) {
    // In generic form, the name of an op is in quotes, followed by a
    // parenthesis. Quotes in string attributes are escaped, so this text occurs
    // only as the name of an op.
    const std::string present = '"' + op.present.str() + "\"(";
    const std::string first = '"' + op.first.str() + "\"(";
    for (size_t at = 0; (at = text.find(present, at)) != std::string::npos;
         at += first.size())
      text.replace(at, present.size(), first);
  }
  return text;
}
