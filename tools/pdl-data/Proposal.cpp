//===- Proposal.cpp - Writes proposed records as text ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Proposal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <string_view>

/// Number of columns of an embedding, and widths of the layers after them.
static constexpr int embeddingWidth = 8;
static constexpr const char *layerWidths = "[64, 32, 1]";

const ProposedField *Proposal::label() const {
  const auto found = std::ranges::find_if(fields, &ProposedField::isLabel);
  return found == fields.end() ? nullptr : &*found;
}

std::string identifierOf(const std::string &text) {
  // Names that the written model itself uses, and words of Python.
  static constexpr std::array<std::string_view, 54> taken = {
      "pdl",    "model",    "record", "wide",     "deep",     "auc",
      "loss",   "log_loss", "logit",  "train",    "evaluate", "predict",
      "parts",  "weights",  "x",      "z",        "p",        "False",
      "None",   "True",     "and",    "as",       "assert",   "async",
      "await",  "break",    "class",  "continue", "def",      "del",
      "elif",   "else",     "except", "finally",  "for",      "from",
      "global", "if",       "import", "in",       "is",       "lambda",
      "not",    "or",       "pass",   "raise",    "return",   "try",
      "while",  "with",     "yield",  "print",    "nonlocal", "label"};
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) && c > 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())))
    name = "f" + name;
  if (std::ranges::find(taken, name) != taken.end())
    name += "_field";
  return name;
}

//===----------------------------------------------------------------------===//
// Python
//===----------------------------------------------------------------------===//

/// Returns a text as a literal of Python.
static std::string quotedPython(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      quoted += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      quoted += c;
  return quoted + "\"";
}

template <typename Quote>
static std::string listText(const std::vector<std::string> &all, bool isQuoted,
                            Quote quote) {
  std::string text = "[";
  for (size_t i = 0; i < all.size(); ++i)
    text += (i ? ", " : "") + (isQuoted ? quote(all[i]) : all[i]);
  return text + "]";
}

/// Breaks a call after commas outside of quotes, so that lines are short.
static std::string brokenLines(const std::string &line, size_t indent) {
  constexpr size_t longest = 96;
  std::string text, current;
  bool isQuoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    current += line[i];
    if (line[i] == '\\' && isQuoted && i + 1 < line.size())
      current += line[++i];
    else if (line[i] == '"')
      isQuoted = !isQuoted;
    if (isQuoted || line[i] != ',')
      continue;
    const size_t next = line.find(',', i + 1);
    const size_t ahead =
        (next == std::string::npos ? line.size() : next + 1) - i - 1;
    if (current.size() + ahead <= longest)
      continue;
    text += current + "\n";
    current = std::string(indent, ' ');
    if (i + 1 < line.size() && line[i + 1] == ' ')
      ++i;
  }
  return text + current + "\n";
}

static std::string pythonField(const Proposal &proposal,
                               const ProposedField &field,
                               const std::string &record) {
  using Type = ProposedField::Type;
  std::string_view method = "floats";
  if (field.type == Type::Ids)
    method = "ids";
  if (field.type == Type::Bags)
    method = "bags";
  if (field.type == Type::NumberBags)
    method = "float_bags";
  std::string call = fmt::format("{}.{}({}, {}", record, method,
                                 quotedPython(field.name), field.width);
  if (field.isHashed)
    call += ", hash=pdl.xxh64(salt=\"slot\")";
  if (field.mayBeMissing && field.type == Type::Numbers)
    call += ", missing=0.0";
  if (field.mayBeMissing && field.type == Type::Ids)
    call += field.isHashed ? ", missing=\"?\"" : ", missing=0";
  if (field.separator)
    call += ", separator=" + quotedPython(std::string(1, field.separator));
  if (!field.values.empty()) {
    call += ", values={";
    for (size_t i = 0; i < field.values.size(); ++i)
      call += fmt::format("{}{}: {:.1f}", i ? ", " : "",
                          quotedPython(field.values[i].first),
                          field.values[i].second);
    call += "}";
  }
  if (!field.columns.empty())
    call += ", columns=" +
            listText(field.columns, !proposal.hasPositions, quotedPython);
  return brokenLines(call + ")", record.size() + method.size() + 2);
}

/// Returns the name of a field as an argument of Python.
static std::string argumentOf(const ProposedField &field) {
  std::string name = field.name;
  std::ranges::replace(name, '.', '_');
  return name;
}

static std::string argumentsOf(const Proposal &proposal, bool withLabel) {
  std::string text;
  for (const ProposedField &field : proposal.fields)
    if (!field.isUnused && (withLabel || !field.isLabel))
      text += (text.empty() ? "" : ", ") + argumentOf(field);
  return text;
}

/// Returns the statements that turn the fields into parts of the model:
/// `weights`, one number per id, and `parts`, embeddings and numbers.
static std::string pythonParts(const Proposal &proposal, bool isDeep) {
  using Type = ProposedField::Type;
  std::string text = "    parts, weights = [], []\n";
  for (const ProposedField &field : proposal.fields) {
    if (field.isUnused || field.isLabel || !field.weightsOf.empty())
      continue;
    const std::string name = argumentOf(field);
    if (field.type == Type::Numbers) {
      text += fmt::format("    parts.append(pdl.signed_log1p({}))\n", name);
      continue;
    }
    if (field.type == Type::NumberBags)
      continue;
    const auto weighted = std::ranges::find(proposal.fields, field.name,
                                            &ProposedField::weightsOf);
    std::string by;
    if (weighted != proposal.fields.end()) {
      by = ", by_" + name;
      text += fmt::format("    by_{0} = pdl.cast(pdl.same_bags({1}, {0}))\n",
                          name, argumentOf(*weighted));
    }
    const auto lookup = [&](const std::string &table, int width,
                            const std::string &more) {
      return by.empty()
                 ? fmt::format("pdl.layers.embedding({}, {}, \"{}_{}\", {})",
                               name, width, table, name, more)
                 : fmt::format("pdl.lookup({}_{}, {}, \"sum\"{})", table, name,
                               name, by);
    };
    constexpr size_t indent = 8;
    text += brokenLines(
        fmt::format("    weights.append({})",
                    lookup("weight", 1, "group=wide, init=pdl.init.zeros()")),
        indent);
    if (isDeep)
      text += brokenLines(
          fmt::format("    parts.append(pdl.flatten({}, 1))",
                      lookup("embedding", embeddingWidth, "group=deep")),
          indent);
  }
  return text;
}

/// Returns the tables of fields with weights, which lookups with weights name.
static std::string pythonTables(const Proposal &proposal, bool isDeep) {
  std::string text;
  for (const ProposedField &field : proposal.fields) {
    if (field.weightsOf.empty())
      continue;
    const std::string &of = field.weightsOf;
    text += fmt::format("weight_{0} = model.table(\"weight_{0}\", 1, "
                        "group=wide, init=pdl.init.zeros())\n",
                        of);
    if (isDeep)
      text += fmt::format("embedding_{0} = model.table(\"embedding_{0}\", {1}, "
                          "group=deep, init=pdl.init.uniform(-0.01, 0.01))\n",
                          of, embeddingWidth);
  }
  return text;
}

/// Returns true if the model has parts of that kind: weights of ids, or numbers
/// and embeddings.
static bool hasIds(const Proposal &proposal) {
  return std::ranges::any_of(proposal.fields, [](const ProposedField &field) {
    return !field.isUnused && (field.type == ProposedField::Type::Ids ||
                               field.type == ProposedField::Type::Bags);
  });
}
static bool hasNumbers(const Proposal &proposal) {
  return std::ranges::any_of(proposal.fields, [](const ProposedField &field) {
    return !field.isUnused && !field.isLabel &&
           field.type == ProposedField::Type::Numbers;
  });
}

static std::string pythonLogit(const Proposal &proposal, ModelKind kind) {
  const bool isDeep = kind == ModelKind::WideDeep;
  const bool hasParts = hasNumbers(proposal) || (isDeep && hasIds(proposal));
  std::string text = fmt::format("@model.function\ndef logit({}):\n{}",
                                 argumentsOf(proposal, /*withLabel=*/false),
                                 pythonParts(proposal, isDeep));
  std::string sum;
  if (hasParts) {
    text +=
        "    x = pdl.concat(parts, axis=1) if len(parts) > 1 else parts[0]\n";
    sum = isDeep ? fmt::format("pdl.layers.mlp(x, {}, \"deep\", group=deep)",
                               layerWidths)
                 : "pdl.layers.dense(x, 1, \"numbers\", group=wide)";
    text += "    z = " + sum + "\n";
  } else {
    text += "    z = model.param(\"bias\", (1,), group=wide, "
            "init=pdl.init.zeros())\n";
  }
  if (hasIds(proposal))
    text += "    for each in weights:\n"
            "        z = pdl.reduce(\"sum\", each, axes=[1]) + z\n";
  return text + "    return z\n\n\n";
}

static std::string pythonModel(const Proposal &proposal, ModelKind kind) {
  const bool isDeep = kind == ModelKind::WideDeep;
  const std::string all = argumentsOf(proposal, /*withLabel=*/true);
  const std::string inputs = argumentsOf(proposal, /*withLabel=*/false);
  const std::string label = argumentOf(*proposal.label());
  const bool needsDeep = isDeep && (hasNumbers(proposal) || hasIds(proposal));
  const bool needsWide = !isDeep || hasIds(proposal);
  std::string groups;
  if (needsWide)
    groups += "wide";
  if (needsDeep)
    groups += groups.empty() ? "deep" : ", deep";
  std::string text = "\n";
  if (needsWide)
    text += "wide = model.group(\"wide\", rule=\"adagrad\", rate=5.0e-2)\n";
  if (needsDeep)
    text += "deep = model.group(\"deep\", rule=\"adam\", rate=1.0e-3, "
            "untouched=\"lazy\")\n";
  text += "auc = model.metric(\"auc\", pdl.metrics.auc())\n"
          "log_loss = model.metric(\"log_loss\", pdl.metrics.log_loss())\n";
  text += pythonTables(proposal, isDeep) + "\n\n";
  text += pythonLogit(proposal, kind);
  text += fmt::format("@model.program\ndef train({0}):\n"
                      "    loss = pdl.sigmoid_cross_entropy(logit({1}), {2})\n"
                      "    pdl.minimize(loss, [{3}])\n\n\n",
                      all, inputs, label, groups);
  text += fmt::format("@model.program\ndef evaluate({0}):\n"
                      "    p = pdl.sigmoid(logit({1}))\n"
                      "    pdl.observe(auc, p, {2})\n"
                      "    pdl.observe(log_loss, p, {2})\n\n\n",
                      all, inputs, label);
  text += fmt::format("@model.program\ndef predict({0}):\n"
                      "    return pdl.sigmoid(logit({0}))\n\n\n",
                      inputs);
  return text + "if __name__ == \"__main__\":\n    print(model, end=\"\")\n";
}

/// Returns a text as lines of comments. `mark`: `#` or `//`.
static std::string commentText(const std::string &mark,
                               const std::string &note) {
  constexpr size_t longest = 96;
  std::string text, line = mark;
  size_t begin = 0;
  while (begin < note.size()) {
    size_t end = note.find(' ', begin);
    end = end == std::string::npos ? note.size() : end;
    const std::string word = note.substr(begin, end - begin);
    if (line.size() + 1 + word.size() > longest && line.size() > mark.size()) {
      text += line + "\n";
      line = mark + "  ";
    }
    line += " " + word;
    begin = end + 1;
  }
  return text + line + "\n";
}

static std::string commentsOf(const Proposal &proposal,
                              const std::string &mark) {
  std::string text = commentText(mark, "Proposed by: " + proposal.source);
  for (const std::string &note : proposal.notes)
    text += commentText(mark, "Unsure: " + note);
  for (const std::string &reason : proposal.leftOut)
    text += commentText(mark, "Left out: " + reason);
  for (const ProposedField &field : proposal.fields)
    if (field.vocabulary > 0)
      text += commentText(mark, fmt::format("{}: about {} different ids",
                                            field.name, field.vocabulary));
  if (!proposal.trainCommand.empty())
    text += commentText(mark, "Train: " + proposal.trainCommand);
  return text;
}

std::string pythonText(const Proposal &proposal, ModelKind kind) {
  std::string text = commentsOf(proposal, "#");
  text += "import pdl\n\n";
  text += fmt::format("model = pdl.Model(\"{}\")\n", proposal.name);
  std::string record =
      fmt::format("record = model.record(\"{}\"", proposal.name);
  if (proposal.missingTexts)
    record += ", missing_texts=" +
              listText(*proposal.missingTexts, /*isQuoted=*/true, quotedPython);
  text += brokenLines(record + ")", sizeof("record = model.record(") - 1);
  for (const ProposedField &field : proposal.fields)
    text += pythonField(proposal, field, "record");
  return kind == ModelKind::None ? text : text + pythonModel(proposal, kind);
}

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

/// Returns a text as a literal of MLIR.
static std::string quotedMlir(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
    else
      quoted += c;
  return quoted + "\"";
}

static std::string dialectField(const Proposal &proposal,
                                const ProposedField &field) {
  using Type = ProposedField::Type;
  std::string text = fmt::format("  nn.field @{} : ", field.name);
  switch (field.type) {
  case Type::Numbers:
    text += fmt::format("tensor<?x{}xf32>", field.width);
    break;
  case Type::Ids:
    text += fmt::format("tensor<?x{}xi64>", field.width);
    break;
  case Type::Bags:
    text += fmt::format("!nn.ragged<?x{}x*xi64>", field.width);
    break;
  case Type::NumberBags:
    text += fmt::format("!nn.ragged<?x{}x*xf32>", field.width);
    break;
  }
  if (field.isHashed)
    text += " hash(#nn.hash<xxh64, salt = slot>)";
  if (field.mayBeMissing && field.type == Type::Numbers)
    text += " missing(0.0)";
  if (field.mayBeMissing && field.type == Type::Ids)
    text += field.isHashed ? " missing(\"?\")" : " missing(0)";
  if (!field.values.empty()) {
    text += " values({";
    for (size_t i = 0; i < field.values.size(); ++i)
      text += fmt::format("{}{} = {:.1f}", i ? ", " : "",
                          quotedMlir(field.values[i].first),
                          field.values[i].second);
    text += "})";
  }
  if (!field.columns.empty())
    text += " columns(" +
            listText(field.columns, !proposal.hasPositions, quotedMlir) + ")";
  if (field.separator)
    text += " separator(" + quotedMlir(std::string(1, field.separator)) + ")";
  return text + "\n";
}

std::string dialectText(const Proposal &proposal) {
  std::string text = commentsOf(proposal, "//");
  text += fmt::format("nn.record @{}", proposal.name);
  if (proposal.missingTexts)
    text += " missing_texts(" +
            listText(*proposal.missingTexts, /*isQuoted=*/true, quotedMlir) +
            ")";
  text += " {\n";
  for (const ProposedField &field : proposal.fields)
    text += dialectField(proposal, field);
  return text + "}\n";
}
