//===- Infer.cpp - Proposes a record for files ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Infer.h"

#include "ColumnStats.h"
#include "Data/CellSyntax.h"
#include "Data/FileFormat.h"
#include "Output.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/StandardStreams.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <set>

using namespace pdlrt;

namespace {

/// The way in which a record finds the columns of a format.
enum class Addressing {
  Names,     ///< By names, which `columns(...)` of a field lists.
  Positions, ///< By positions from 0.
  Order,     ///< Each field has the next slots.
  Tensors,   ///< By the names of the fields alone.
  Libsvm,
  Libffm
};

/// Use of a column.
enum class Use { LeftOut, Label, Number, Numbers, Id, Bag, NumberBag };

/// A column with its statistics, and what is proposed for it.
struct Column : NamedStats {
  explicit Column(NamedStats from) : NamedStats(std::move(from)) {}

  Use use = Use::LeftOut;
  char separator = 0;
  int64_t vocabulary = 0;
};

/// Decides what the columns of files are.
class Inference {
public:
  Inference(const InputFlags &input, const InferFlags &flags);

  Status read(InputReport &report);
  Expected<Proposal> propose();

private:
  void decide(Column &column);
  void decideNumber(Column &column);
  void decideText(Column &column);
  void decideList(Column &column);
  char separatorOf(const Column &column);
  void leaveOut(Column &column, const std::string &why) {
    column.use = Use::LeftOut;
    if (addressing != Addressing::Order)
      proposal.leftOut.push_back(titleOf(column) + why);
  }
  std::string titleOf(const Column &column) const {
    return (hasNames ? "`" + column.name + "`" : "column " + column.name);
  }
  Status chooseLabel();
  ProposedField labelField(const Column &column);
  void addFields();
  void addJoined(Use use, const std::string &name);
  void addAlone(const Column &column);
  void addInOrder();
  void addLibsvm();
  void addLibffm();
  void chooseMissing();
  void noteJoined(const std::vector<std::string> &names,
                  const std::string &what);
  std::string uniqueName(const std::string &wanted);
  std::string trainCommand() const;

  const InputFlags &input;
  const InferFlags &flags;
  Addressing addressing;
  bool hasNames;
  bool areSlots;   ///< The columns are slots with names.
  bool marksLists; ///< FormatTraits::marksLists of the files.
  std::vector<std::unique_ptr<Column>> columns;
  Column *label = nullptr;
  Proposal proposal;
  std::set<std::string> usedNames;
  std::set<std::string> missingWords;
  std::vector<std::string> wholeNumbers, numericIds;
};

} // namespace

static Addressing addressingOf(const FileFormat &format, bool hasHeader) {
  const std::string_view flag = format.flag();
  if (flag == "libsvm")
    return Addressing::Libsvm;
  if (flag == "libffm")
    return Addressing::Libffm;
  if (flag == "safetensors")
    return Addressing::Tensors;
  if (format.traits().hasNames)
    return Addressing::Names;
  if (format.traits().hasCells)
    return hasHeader ? Addressing::Names : Addressing::Positions;
  return Addressing::Order;
}

/// Returns the name of a model for a file, such as "clicks" for "a/clicks.csv".
static std::string modelNameOf(const std::string &path) {
  std::string name = std::filesystem::path(path).filename().string();
  name = name.substr(0, name.find('.'));
  std::string identifier = identifierOf(name.empty() ? "samples" : name);
  return identifier == "f_" ? "samples" : identifier;
}

Inference::Inference(const InputFlags &input, const InferFlags &flags)
    : input(input), flags(flags) {
  const FileFormat &format = fileFormatOf(input.data.files.front(), input.data);
  addressing = addressingOf(format, input.data.header);
  hasNames =
      addressing != Addressing::Positions && addressing != Addressing::Order;
  areSlots = format.flag() == "slots" || format.flag() == "signs";
  marksLists = format.traits().marksLists;
  proposal.name = modelNameOf(input.data.files.front());
  proposal.hasPositions = addressing == Addressing::Positions;
}

Status Inference::read(InputReport &report) {
  std::vector<std::unique_ptr<NamedStats>> all;
  auto done = readColumnStats(input, all);
  PDLRT_RETURN_IF_ERROR(done.status());
  report = *std::move(done);
  for (auto &each : all)
    columns.push_back(std::make_unique<Column>(std::move(*each)));
  if (report.rows == report.bad)
    return Status::invalidArgument(
        input.data.files.front() +
        ": there are no good rows to infer a record from" +
        (report.messages.empty() ? std::string()
                                 : "; " + report.messages.front()));
  return {};
}

//===----------------------------------------------------------------------===//
// What a column is
//===----------------------------------------------------------------------===//

static std::string lowerCase(std::string text) {
  for (char &c : text)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Returns true if a name says that its numbers are ids.
static bool namesIds(const std::string &name) {
  static const std::set<std::string> words = {
      "id",      "uid",      "user",       "item",      "ad",    "category",
      "cat",     "code",     "zip",        "type",      "class", "region",
      "country", "city",     "device",     "brand",     "movie", "product",
      "shop",    "campaign", "advertiser", "publisher", "site",  "app",
      "slot",    "query",    "page"};
  const std::string lower = lowerCase(name);
  if (lower.ends_with("id") || lower.ends_with("ids"))
    return true;
  size_t begin = 0;
  while (begin <= lower.size()) {
    size_t end = lower.find_first_of("_. -", begin);
    end = end == std::string::npos ? lower.size() : end;
    if (words.contains(lower.substr(begin, end - begin)))
      return true;
    begin = end + 1;
  }
  return false;
}

/// Returns true if a slot has a number for a name. Its values are ids: slots of
/// numbers have words for names.
static bool isSlotNumber(const std::string &name) {
  return name.find_first_not_of("0123456789") == std::string::npos;
}

/// Returns true if almost each row has another value.
static bool isUnique(const ColumnStats &stats) {
  constexpr int64_t minRows = 200;
  const double needed =
      stats.distinct.isExact() ? 1 : 1 - 3 * DistinctCounter::relativeError;
  return stats.values >= minRows && !stats.hasLists() &&
         double(stats.distinct.count()) >= needed * double(stats.values);
}

void Inference::decideNumber(Column &column) {
  // Ids of a catalog rarely begin near 0, and they reoccur.
  constexpr double minCode = 1000;
  constexpr int64_t minOccurrences = 5;
  const ColumnStats &stats = column.stats;
  column.use = Use::Number;
  if (stats.decimals > 0)
    return;
  if (hasNames &&
      (namesIds(column.name) || (areSlots && isSlotNumber(column.name)))) {
    column.use = Use::Id;
  } else if (stats.numbers.min() >= minCode &&
             minOccurrences * stats.distinct.count() <= stats.values) {
    column.use = Use::Id;
    numericIds.push_back(titleOf(column));
  } else {
    wholeNumbers.push_back(titleOf(column));
  }
  if (column.use == Use::Id && isUnique(stats))
    leaveOut(column, " has another value in each row; a field of ids of this "
                     "column is useful for `predict --id`");
}

/// Returns the character that separates the values of bags in the cells of a
/// column; 0: none.
char Inference::separatorOf(const Column &column) {
  constexpr double minShare = 0.1, minReuse = 0.9;
  constexpr int64_t minDistinctWords = 100;
  const ColumnStats &stats = column.stats;
  const double cells =
      double(stats.texts() + stats.oddNumbers + stats.numeric());
  char best = 0;
  int64_t bestCells = 0;
  for (size_t i = 0; i < stats.parts.size(); ++i) {
    const PartStats &parts = stats.parts[i];
    const char separator = ColumnStats::separators[i];
    if (double(parts.cells) < minShare * cells || parts.cells <= bestCells)
      continue;
    const bool varies =
        parts.minParts != parts.maxParts || parts.cells < stats.values;
    const bool areReused = double(parts.distinct.count()) <
                           minReuse * double(stats.distinct.count());
    if (!varies || !areReused || parts.maxParts < 2)
      continue;
    if (separator == ' ' && stats.distinct.count() < minDistinctWords)
      continue;
    best = separator;
    bestCells = parts.cells;
  }
  return best;
}

void Inference::decideText(Column &column) {
  const ColumnStats &stats = column.stats;
  column.use = Use::Id;
  column.vocabulary = stats.distinct.count();
  // A few words among numbers mean that the number is missing.
  constexpr int64_t minNumbersPerWord = 50;
  if (!stats.hasManyWords && stats.words.size() <= 2 && stats.oddNumbers == 0 &&
      stats.numeric() >= minNumbersPerWord * stats.texts()) {
    for (const auto &[word, count] : stats.words) {
      missingWords.insert(word);
      proposal.notes.push_back(
          fmt::format("{} has numbers, and {} times the text `{}`, which is "
                      "taken for a missing value in all fields",
                      titleOf(column), count, word));
    }
    decideNumber(column);
    return;
  }
  column.separator =
      addressing == Addressing::Tensors ? '\0' : separatorOf(column);
  if (column.separator) {
    const PartStats &parts =
        stats.parts[ColumnStats::separators.find(column.separator)];
    column.use = Use::Bag;
    column.vocabulary = parts.distinct.count();
    proposal.notes.push_back(fmt::format(
        "cells of {} are read as bags of up to {} ids, which `{}` separates",
        titleOf(column), parts.maxParts,
        column.separator < ' ' ? fmt::format("\\x{:02x}", column.separator)
                               : std::string(1, column.separator)));
    return;
  }
  if (isUnique(stats))
    leaveOut(column, " has another text in each row; a field of ids of this "
                     "column is useful for `predict --id`");
}

void Inference::decideList(Column &column) {
  const ColumnStats &stats = column.stats;
  column.vocabulary = stats.distinct.count();
  const bool areNumbers = stats.decimals > 0 && stats.texts() == 0;
  if (!areNumbers)
    column.use = Use::Bag;
  else if (stats.minList == stats.maxList && stats.missing == 0)
    column.use = Use::Numbers;
  else
    column.use = Use::NumberBag;
}

void Inference::decide(Column &column) {
  const ColumnStats &stats = column.stats;
  if (&column == label) {
    column.use = Use::Label;
    return;
  }
  if (stats.values == 0)
    return leaveOut(column, " has no value in any row");
  if (stats.hasLists() || (marksLists && stats.lists > 0))
    return decideList(column);
  if (stats.distinct.isExact() && stats.distinct.count() == 1 &&
      stats.missing == 0)
    return leaveOut(column, fmt::format(" has the same value in each row: {}",
                                        stats.frequent.top(1)[0].first));
  if (stats.numeric() == stats.values)
    decideNumber(column);
  else
    decideText(column);
  if (column.use == Use::Id)
    column.vocabulary = stats.distinct.count();
}

//===----------------------------------------------------------------------===//
// The label
//===----------------------------------------------------------------------===//

/// Returns true if the column may be a label: it has two values.
static bool isBinary(const ColumnStats &stats) {
  return stats.distinct.isExact() && stats.distinct.count() == 2 &&
         !stats.hasLists();
}

static bool isZeroOrOne(const ColumnStats &stats) {
  const double min = stats.numbers.min(), max = stats.numbers.max();
  return isBinary(stats) && stats.numeric() == stats.values && max == 1 &&
         (min == 0 || min == -1);
}

Status Inference::chooseLabel() {
  static constexpr std::string_view names[] = {
      "label",  "click",    "clicked",   "is_click",   "target",
      "y",      "income",   "converted", "conversion", "purchase",
      "bought", "survived", "outcome",   "default"};
  if (!flags.label.empty()) {
    for (const auto &column : columns)
      if (column->name == flags.label) {
        if (!isBinary(column->stats) && flags.model != ModelKind::None)
          return Status::invalidArgument(fmt::format(
              "--label {}: the column has {} values, but a model for clicks "
              "needs two; name another column, or give --model none",
              flags.label, column->stats.distinct.count()));
        label = column.get();
        return {};
      }
    std::string known;
    for (const auto &column : columns)
      known += (known.empty() ? "" : ", ") + column->name;
    return Status::invalidArgument("--label " + flags.label +
                                   ": there is no such column, only " + known);
  }
  for (const std::string_view name : names)
    for (const auto &column : columns)
      if (!label && lowerCase(column->name) == name && isBinary(column->stats))
        label = column.get();
  if (label)
    return {};
  for (const auto &column : columns)
    if (!label && isZeroOrOne(column->stats))
      label = column.get();
  for (auto column = columns.rbegin(); column != columns.rend(); ++column)
    if (!label && isBinary((*column)->stats))
      label = column->get();
  if (label)
    proposal.notes.push_back(titleOf(*label) +
                             " is taken for the label, because it has two "
                             "values; --label chooses another column");
  return {};
}

ProposedField Inference::labelField(const Column &column) {
  ProposedField field{.name = "label", .isLabel = true};
  if (column.stats.missing > 0)
    proposal.notes.push_back(fmt::format(
        "{} rows have no label, which makes them bad rows (--max-bad-rows)",
        column.stats.missing));
  auto values = column.stats.frequent.top(2);
  if (values.size() < 2)
    return field;
  const bool areNumbers = column.stats.numeric() == column.stats.values;
  const auto isSpelled = [&](const char *zero, const char *one) {
    return (values[0].first == zero && values[1].first == one) ||
           (values[0].first == one && values[1].first == zero);
  };
  if (isSpelled("0", "1") || (areNumbers && isSpelled("0.0", "1.0")))
    return field;
  // The value of 1 comes last.
  static const std::set<std::string> positives = {
      "1", "yes", "true", "y", "t", "click", "clicked", "pos", "positive"};
  if (areNumbers) {
    std::ranges::sort(values, {},
                      [](const auto &value) { return std::stod(value.first); });
  } else if (positives.contains(lowerCase(values[0].first))) {
    std::swap(values[0], values[1]);
  } else if (!positives.contains(lowerCase(values[1].first))) {
    proposal.notes.push_back(fmt::format(
        "the rarer text of the label, `{}`, is taken for 1", values[1].first));
  }
  field.values = {{values[0].first, 0.0}, {values[1].first, 1.0}};
  return field;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

std::string Inference::uniqueName(const std::string &wanted) {
  std::string name = wanted;
  for (int i = 2; !usedNames.insert(name).second; ++i)
    name = fmt::format("{}_{}", wanted, i);
  return name;
}

/// Adds one field for all columns of a use.
void Inference::addJoined(Use use, const std::string &name) {
  ProposedField field;
  field.type = use == Use::Number ? ProposedField::Type::Numbers
                                  : ProposedField::Type::Ids;
  field.isHashed = use == Use::Id;
  for (const auto &column : columns)
    if (column->use == use) {
      field.columns.push_back(column->name);
      field.mayBeMissing |=
          column->stats.missing > 0 || column->stats.texts() > 0;
      field.vocabulary += use == Use::Id ? column->vocabulary : 0;
    }
  if (use == Use::Id)
    field.mayBeMissing = std::ranges::any_of(columns, [&](const auto &column) {
      return column->use == use && column->stats.missing > 0;
    });
  if (field.columns.empty())
    return;
  field.name = uniqueName(name);
  field.width = int64_t(field.columns.size());
  proposal.fields.push_back(std::move(field));
}

/// Adds a field for one column.
void Inference::addAlone(const Column &column) {
  using Type = ProposedField::Type;
  const bool isTensor = addressing == Addressing::Tensors;
  ProposedField field;
  field.name = isTensor ? column.name : uniqueName(identifierOf(column.name));
  if (!isTensor)
    field.columns = {column.name};
  field.separator = column.separator;
  switch (column.use) {
  case Use::LeftOut:
  case Use::Label:
    return;
  case Use::Number:
  case Use::Numbers:
    field.type = Type::Numbers;
    field.width = column.stats.maxList;
    field.mayBeMissing = column.stats.missing > 0;
    if (!isTensor && field.width > 1) {
      // A list is found by the name of the field.
      field.name = column.name;
      field.columns.clear();
    }
    break;
  case Use::Id:
    field.type = Type::Ids;
    field.width = std::max<int64_t>(column.stats.maxList, 1);
    field.isHashed = !isTensor;
    field.vocabulary = column.vocabulary;
    break;
  case Use::Bag:
    field.type = Type::Bags;
    field.isHashed = !isTensor;
    field.vocabulary = column.vocabulary;
    break;
  case Use::NumberBag:
    field.type = Type::NumberBags;
    break;
  }
  proposal.fields.push_back(std::move(field));
}

/// Adds a field for each slot, because slots belong to fields by their order.
void Inference::addInOrder() {
  using Type = ProposedField::Type;
  for (const auto &column : columns) {
    if (column->use == Use::Label) {
      ProposedField field = labelField(*column);
      usedNames.insert(field.name);
      proposal.fields.push_back(std::move(field));
      continue;
    }
    ProposedField field{.name = uniqueName("slot_" + column->name)};
    const ColumnStats &stats = column->stats;
    field.isUnused = column->use == Use::LeftOut;
    if (column->use == Use::Number || column->use == Use::Numbers) {
      field.width = std::max<int64_t>(stats.maxList, 1);
      field.mayBeMissing = stats.missing > 0;
    } else if (column->use == Use::NumberBag) {
      field.type = Type::NumberBags;
    } else {
      // Slots with one value may have none in other rows.
      field.type = Type::Bags;
      field.isHashed = true;
      field.vocabulary = column->vocabulary;
    }
    proposal.fields.push_back(std::move(field));
  }
}

void Inference::addLibsvm() {
  const auto find = [&](std::string_view name) -> Column * {
    for (const auto &column : columns)
      if (column->name == name && column->stats.given > 0)
        return column.get();
    return nullptr;
  };
  if (label)
    proposal.fields.push_back(labelField(*label));
  if (find("qid"))
    proposal.leftOut.emplace_back("`qid`, which no model for clicks reads");
  const Column *index = find("index"), *value = find("value");
  if (!index)
    return;
  proposal.fields.push_back({.name = "indices",
                             .type = ProposedField::Type::Bags,
                             .columns = {"index"},
                             .vocabulary = index->stats.distinct.count()});
  const bool areOnes = value && value->stats.distinct.isExact() &&
                       value->stats.distinct.count() == 1 &&
                       value->stats.numbers.min() == 1;
  if (value && !areOnes)
    proposal.fields.push_back({.name = "amounts",
                               .type = ProposedField::Type::NumberBags,
                               .columns = {"value"},
                               .weightsOf = "indices"});
}

void Inference::addLibffm() {
  if (label)
    proposal.fields.push_back(labelField(*label));
  ProposedField indices{.name = "indices", .type = ProposedField::Type::Bags};
  indices.width = 0;
  bool areOnes = true;
  for (const auto &column : columns) {
    if (column->name.find_first_not_of("0123456789") == std::string::npos) {
      ++indices.width;
      indices.vocabulary += column->stats.distinct.count();
    } else if (column->name.ends_with(".value") && column->stats.given > 0) {
      areOnes &=
          column->stats.numbers.min() == 1 && column->stats.numbers.max() == 1;
    }
  }
  if (!areOnes)
    proposal.notes.emplace_back(
        "values other than 1 are not read; a field float_bags after `indices` "
        "reads them");
  if (indices.width > 0)
    proposal.fields.push_back(std::move(indices));
}

void Inference::noteJoined(const std::vector<std::string> &names,
                           const std::string &what) {
  constexpr size_t shown = 12;
  if (names.empty())
    return;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), shown); ++i)
    text += (i ? ", " : "") + names[i];
  if (names.size() > shown)
    text += fmt::format(" and {} more", names.size() - shown);
  proposal.notes.push_back(text + what);
}

void Inference::addFields() {
  if (addressing == Addressing::Libsvm)
    return addLibsvm();
  if (addressing == Addressing::Libffm)
    return addLibffm();
  if (addressing == Addressing::Order)
    return addInOrder();
  const bool joins = addressing != Addressing::Tensors;
  if (label) {
    ProposedField field = labelField(*label);
    if (joins)
      field.columns = {label->name};
    else
      field.name = label->name;
    usedNames.insert(field.name);
    proposal.fields.push_back(std::move(field));
  }
  if (joins) {
    addJoined(Use::Number, "numbers");
    addJoined(Use::Id, "categories");
  }
  for (const auto &column : columns)
    if (!joins || (column->use != Use::Number && column->use != Use::Id))
      addAlone(*column);
}

/// Lists the texts of missing values, unless PDL assumes the same.
void Inference::chooseMissing() {
  std::set<std::string> seen = missingWords;
  for (const auto &column : columns)
    if (column->use != Use::LeftOut)
      for (const auto &[text, count] : column->stats.missingByText)
        if (!text.empty())
          seen.insert(text);
  if (seen.empty() || (seen.size() == 1 && seen.contains("?")))
    return;
  proposal.missingTexts.emplace(seen.begin(), seen.end());
}

/// Returns a word of a command of the shell.
static std::string shellWord(const std::string &text) {
  if (!text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                             "XYZ0123456789_-./@=,:") == std::string::npos)
    return text;
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Inference::trainCommand() const {
  const DataOptions &data = input.data;
  std::string command = "out/trainer train --data";
  for (const std::string &file : data.files)
    command += " " + shellWord(file);
  if (!data.format.empty())
    command += " --format " + data.format;
  if (!data.pipe.empty())
    command += " --data-pipe " + shellWord(data.pipe);
  if (data.delimiter)
    command += " --delimiter " + shellWord(std::string(1, data.delimiter));
  if (data.quote)
    command += " --quote " +
               (*data.quote ? shellWord(std::string(1, *data.quote)) : "none");
  if (data.header)
    command += " --header";
  return command + " --rows 0%:80% --evaluate-rows 80%:";
}

Expected<Proposal> Inference::propose() {
  PDLRT_RETURN_IF_ERROR(chooseLabel());
  for (const auto &column : columns)
    decide(*column);
  addFields();
  chooseMissing();
  if (addressing != Addressing::Libsvm && addressing != Addressing::Libffm) {
    noteJoined(wholeNumbers, ": whole numbers, which are read as numbers; if "
                             "they are codes, make them ids");
    noteJoined(numericIds, ": whole numbers from 1,000 on, which are read as "
                           "ids; if they are amounts, make them numbers");
  }
  proposal.trainCommand = trainCommand();
  if (!label && flags.model != ModelKind::None)
    return Status::invalidArgument(
        "no column has two values, so that none can be the label of a model "
        "for clicks; name one with --label, or give --model none for the "
        "record alone");
  if (std::ranges::count_if(proposal.fields, [](const ProposedField &field) {
        return !field.isUnused && !field.isLabel;
      }) == 0)
    return Status::invalidArgument(
        input.data.files.front() +
        ": no column is left for a model to read; `pdl-data describe` shows "
        "the columns");
  return std::move(proposal);
}

int inferRecord(InputFlags input, const InferFlags &flags) {
  const auto header = prepareInput(input);
  if (!header)
    return failUsage(header.status());
  Inference inference(input, flags);
  InputReport report;
  if (const Status status = inference.read(report); !status.ok())
    return fail(status);
  auto proposal = inference.propose();
  if (!proposal)
    return fail(proposal.status());
  if (!header->isSure)
    proposal->notes.insert(
        proposal->notes.begin(),
        std::string("the first line is taken for ") +
            (header->isHeader ? "names of columns; --no-header reads it as a "
                                "row"
                              : "a row; --header reads it as names"));
  warnOfBadRows(report);
  proposal->source = fmt::format(
      "pdl-data infer, from {} rows of {}", report.rows - report.bad,
      input.data.files.front() +
          (input.data.files.size() > 1 ? " and other files" : ""));
  const std::string text = flags.isDialect ? dialectText(*proposal)
                                           : pythonText(*proposal, flags.model);
  for (const std::string &note : proposal->notes)
    writeError("note: unsure: " + note + "\n");
  return writeOutput(flags.output, text);
}
