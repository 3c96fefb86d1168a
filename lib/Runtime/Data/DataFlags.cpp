//===- DataFlags.cpp - Validates data flags -------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/DataFlags.h"

#include "Data/CellParser.h"
#include "Data/CellSyntax.h"
#include "Data/ColumnMap.h"
#include "Data/FileFormat.h"
#include "Data/KafkaAddress.h"
#include "Data/Unpacker.h"
#include "pdlrt/Core/WholeNumber.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace pdlrt;

/// Returns an error unless the field of --id is in the record and has one id
/// per sample.
static Status checkId(const std::string &id, const pdl_descriptor &descriptor) {
  std::string known;
  for (int32_t i = 0; i < descriptor.field_count; ++i) {
    const pdl_field &field = descriptor.fields[i];
    const bool isId = field.kind == PDL_FIELD_IDS && field.width == 1;
    if (id != field.name) {
      if (isId)
        known += (known.empty() ? "" : ", ") + std::string(field.name);
      continue;
    }
    if (isId)
      return {};
    return Status::invalidArgument(
        "--id names " + fieldText(field) +
        ", which is not one id a sample; an id is a field "
        "of type tensor<?x1xi64>, with hash(...) if it is "
        "text");
  }
  return Status::invalidArgument(
      "--id names " + quoteText(id) +
      ", but the record has no such field, only " +
      (known.empty() ? "none of one id a sample" : known));
}

/// Returns an error unless the fields in `--columns` are in the record, without
/// duplicates, and include those that the program reads and the one of --id.
static Status checkColumns(const DataOptions &data,
                           const pdl_descriptor &descriptor,
                           const pdl_program &program) {
  std::vector<bool> isNamed(size_t(descriptor.field_count));
  for (const std::string &entry : data.columns) {
    if (entry == "_")
      continue;
    int32_t index = 0;
    while (index < descriptor.field_count &&
           entry != descriptor.fields[index].name)
      ++index;
    if (index == descriptor.field_count) {
      std::string known;
      for (int32_t i = 0; i < descriptor.field_count; ++i)
        known += (i ? ", " : "") + std::string(descriptor.fields[i].name);
      return Status::invalidArgument(
          "--columns names " + quoteText(entry) +
          ", but the record has no such field, only " + known +
          "; write _ for a column that is none");
    }
    if (isNamed[size_t(index)])
      return Status::invalidArgument(
          "--columns names " + fieldText(descriptor.fields[index]) + " twice");
    isNamed[size_t(index)] = true;
  }
  for (int32_t i = 0; i < program.field_count; ++i)
    if (!isNamed[size_t(program.fields[i])])
      return Status::invalidArgument(
          "--columns does not name " +
          fieldText(descriptor.fields[program.fields[i]]) +
          ", which the program reads");
  for (int32_t i = 0; i < descriptor.field_count; ++i)
    if (!isNamed[size_t(i)] && data.idField == descriptor.fields[i].name)
      return Status::invalidArgument("--columns does not name " +
                                     fieldText(descriptor.fields[i]) +
                                     ", which --id wants");
  return {};
}

/// Returns an error if messages cannot hold a format.
static Status checkMessages(const std::string &name, const FileFormat &format) {
  if (format.traits().mayBePacked || format.traits().hasMessages)
    return {};
  return Status::invalidArgument(
      name + ": messages hold lines of text or Arrow record batches, but " +
      std::string(format.name()) +
      " files are read from a file; choose another format");
}

Status pdlrt::checkKafkaFormat(const KafkaAddress &address) {
  const std::string &named = address.format;
  if (named.empty() || named == "csv" || named == "tsv")
    return {};
  PDLRT_RETURN_IF_ERROR(parseFileFormat(named).status().withContext(
      address.name() + ": format (csv and tsv are allowed too)"));
  for (const FileFormat *format : fileFormats())
    if (format->flag() == named)
      return checkMessages(address.name(), *format);
  return {};
}

/// Returns an error if flags mean nothing for a topic of Kafka.
static Status checkKafka(const std::string &file, const DataOptions &data) {
  const auto address = KafkaAddress::parse(file);
  PDLRT_RETURN_IF_ERROR(address.status());
  const std::string name = address->name();
  const std::string &format = address->format;
  if (!format.empty() && !data.format.empty())
    return Status::invalidArgument(
        name + ": format= and --format both name a format; give one");
  PDLRT_RETURN_IF_ERROR(checkKafkaFormat(*address));
  if (data.header && !fileFormatOf(file, data).traits().hasMessages)
    return Status::invalidArgument(
        name + ": messages have no header; name the columns with --columns");
  if (!data.cache.empty())
    return Status::invalidArgument(
        name + ": --cache stores rows of files only; leave it out");
  if (!data.pipe.empty())
    return Status::invalidArgument(name +
                                   ": --data-pipe is for files; leave it out");
  if (address->end.kind == KafkaBound::Kind::None && data.shuffleWindow > 0)
    return Status::invalidArgument(
        name + ": --shuffle-window needs data with an end; add end= to the "
               "address, or leave the flag out");
  return {};
}

/// Returns an error if a format cannot be read as a stream, but the file is
/// compressed as a whole or a topic.
static Status checkStreamed(const std::string &file, const FileFormat &format) {
  if (isKafkaAddress(file))
    return checkMessages(file, format);
  if (format.traits().mayBePacked)
    return {};
  if (unpackedName(file).size() != file.size())
    return Status::invalidArgument(
        file + ": is compressed as a whole, but " + std::string(format.name()) +
        " files are read in parts; decompress it into a file first");
  return {};
}

Status pdlrt::checkDataFlags(const DataOptions &data,
                             const pdl_descriptor &descriptor,
                             const pdl_program &program) {
  if (data.delimiter == '"' || data.delimiter == '\n' || data.delimiter == '\r')
    return Status::invalidArgument(
        "quotes and line breaks cannot end a cell; choose "
        "another delimiter (--delimiter)");
  if (data.delimiter)
    PDLRT_RETURN_IF_ERROR(checkQuote(data, data.delimiter));
  for (const std::string &file : data.files) {
    if (isKafkaAddress(file))
      PDLRT_RETURN_IF_ERROR(checkKafka(file, data));
    const FileFormat &format = fileFormatOf(file, data);
    PDLRT_RETURN_IF_ERROR(checkStreamed(file, format));
    PDLRT_RETURN_IF_ERROR(format.checkFlags(file, data));
  }
  if (!data.idField.empty())
    PDLRT_RETURN_IF_ERROR(checkId(data.idField, descriptor));
  if (!data.columns.empty())
    PDLRT_RETURN_IF_ERROR(checkColumns(data, descriptor, program));
  for (auto column = data.copyColumns.begin(); column != data.copyColumns.end();
       ++column)
    if (std::find(data.copyColumns.begin(), column, *column) != column)
      return Status::invalidArgument("--copy-column names " +
                                     quoteText(*column) +
                                     " twice; let each column through once");
  const bool hasNames =
      data.header || std::ranges::all_of(data.files, [&](const auto &file) {
        return fileFormatOf(file, data).traits().hasNames;
      });
  for (const std::string &column : data.copyColumns)
    if (!hasNames && !columnNumberOf(column))
      return Status::invalidArgument(
          "--copy-column " + quoteText(column) +
          " is no number of a column, counted from 1; a "
          "name needs a header (--header)");
  return {};
}
