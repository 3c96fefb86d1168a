//===- Proposal.h - A proposed record ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_PROPOSAL_H
#define PDL_TOOLS_PDL_DATA_PROPOSAL_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A proposed field of a record.
struct ProposedField {
  enum class Type { Numbers, Ids, Bags, NumberBags };
  std::string name;
  Type type = Type::Numbers;
  int64_t width = 1;
  /// Names or positions of the columns (`Proposal::hasPositions`); empty: the
  /// columns after those of the previous field, or those named like the field.
  std::vector<std::string> columns = {};
  char separator = 0; ///< 0: none.
  bool isHashed = false;
  bool mayBeMissing = false;
  bool isLabel = false;
  /// Texts that are read as numbers.
  std::vector<std::pair<std::string, double>> values = {};
  /// True if a model should not read the field, which only keeps the order of
  /// slots.
  bool isUnused = false;
  /// Field whose bags have the same lengths: these numbers are their weights.
  std::string weightsOf = {};
  /// Approximate number of distinct ids; 0: unknown.
  int64_t vocabulary = 0;
};

/// A proposed record, with what the data do not tell.
struct Proposal {
  std::string name; ///< Of model and record; an identifier.
  bool hasPositions = false;
  std::vector<ProposedField> fields;
  /// Texts that mean a missing value; nullopt: those that PDL assumes.
  std::optional<std::vector<std::string>> missingTexts;
  std::vector<std::string> notes;   ///< Sentences, of decisions to check.
  std::vector<std::string> leftOut; ///< Columns that are no field, and why.
  /// Command that trains the compiled model.
  std::string trainCommand;
  std::string source; ///< The command that made the proposal.

  const ProposedField *label() const;
};

/// Kinds of models that `pythonText` writes.
enum class ModelKind { None, Logistic, WideDeep };

/// Returns the record in Python, and a model that reads it. A model needs a
/// label.
std::string pythonText(const Proposal &proposal, ModelKind kind);
/// Returns the record in the dialect.
std::string dialectText(const Proposal &proposal);

/// Returns an identifier of Python and of the dialect that resembles `text`.
std::string identifierOf(const std::string &text);

#endif // PDL_TOOLS_PDL_DATA_PROPOSAL_H
