//===- HiddenModel.h - The model behind generated data ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_HIDDENMODEL_H
#define PDL_TOOLS_PDL_DATA_HIDDENMODEL_H

#include <array>
#include <cstdint>

/// Settings of generated data.
struct GenerateOptions {
  uint64_t seed = 0;
  int64_t vocabulary = 100000; ///< Ids of the largest column.
  double drift = 0;            ///< Radians per million rows.
};

/// A generated row.
struct GeneratedRow {
  static constexpr size_t numberColumns = 13, idColumns = 26;
  float probability = 0; ///< Of a click, of which the label was drawn.
  bool isClick = false;
  /// -1: missing.
  std::array<int64_t, numberColumns> numbers = {};
  std::array<int64_t, idColumns> ids = {};
};

/// Draws rows like those of Criteo's data: 13 counts and 26 ids. The logit of a
/// click is
///
///   b + sum over k of a[k] * log1p(count k) + sum over j of w[j][id j]
///
/// in which a missing value adds 0. So a logistic regression on the same inputs
/// can reach the best possible loss. All draws are of Philox with the seed and
/// the number of the row, so that a row does not depend on the rows before it.
/// The weight of an id turns with time t, in radians:
/// w = cos(t) u + sin(t) v, where u and v are drawn once.
/// Thread-safe after creation.
class HiddenModel {
public:
  explicit HiddenModel(const GenerateOptions &options);

  GeneratedRow row(int64_t number) const;
  /// Returns the number of different ids in a column.
  int64_t idsOf(size_t column) const { return vocabularies[column]; }
  /// Returns the number that the text of an id has in the data.
  uint32_t idText(size_t column, int64_t id) const;

private:
  float weightOf(size_t column, int64_t id, float cosine, float sine) const;

  GenerateOptions options;
  float bias;
  std::array<float, GeneratedRow::numberColumns> factors;
  std::array<int64_t, GeneratedRow::idColumns> vocabularies;
};

#endif // PDL_TOOLS_PDL_DATA_HIDDENMODEL_H
