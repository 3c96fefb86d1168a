//===- ObservedFile.cpp - Inputs of metrics as a file ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ObservedFile.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

Status pdlrt::checkObservedFile(const pdl_descriptor &descriptor,
                                const SessionOptions &options) {
  if (options.output == "-")
    return Status::invalidArgument(
        "--output of evaluate is a file, because metrics "
        "are printed to the standard output; name one");
  if (descriptor.target != PDL_TARGET_CPU)
    return Status::invalidArgument(
        "--output shows what metrics observe on the host; "
        "translate the model with --target=cpu, whose "
        "programs read the same values");
  if (options.groups * options.workers != 1)
    return Status::invalidArgument(
        "--output writes the rows of one replica, in the "
        "order of the data; leave --replicas out");
  return {};
}

Status ObservedFile::begin(const pdl_program &observing, StepEngine &engine) {
  PDLRT_RETURN_IF_ERROR(checkObservedFile(descriptor, options));
  program = &observing;
  replica = &engine.replicas()[0];
  replica->keepObserved();
  return {};
}

/// Returns the prefix of the columns for the metric whose sums are at `sums`.
std::string ObservedFile::nameOf(const double *sums) const {
  int32_t metric = 0;
  while (metric + 1 < descriptor.metric_count &&
         replica->metric(metric) != sums)
    ++metric;
  std::string name = descriptor.metrics[metric].name;
  const auto isTaken = [&](const std::string &wanted) {
    return std::ranges::any_of(names, [&](const std::string &taken) {
      return taken == wanted + ".prediction" || taken == wanted + ".value";
    });
  };
  for (int time = 2; isTaken(name); ++time)
    name = descriptor.metrics[metric].name + ("." + std::to_string(time));
  return name;
}

void ObservedFile::addColumn(const std::string &name, int32_t type,
                             int64_t width) {
  columns.push_back({names.emplace_back(name).c_str(), type, width});
}

/// Opens the file and defines its columns. Called after the first step, because
/// the observed values are not known earlier.
Status ObservedFile::open() {
  const auto &seen = replica->observed()->all();
  if (seen.empty())
    return Status::invalidArgument(
        std::string("program @") + program->name +
        " observes nothing that --output could write; "
        "leave it out, or observe a metric");
  addColumn("row", PDL_I64, 1);
  for (const ObservedSamples::Observation &each : seen) {
    const std::string name = nameOf(each.sums);
    addColumn(name + (each.labels.empty() ? ".value" : ".prediction"),
              each.type, each.width);
    if (!each.labels.empty())
      addColumn(name + ".label", each.type, each.labelWidth);
    if (!each.weights.empty())
      addColumn(name + ".weight", each.type, 1);
    if (!each.groups.empty())
      addColumn(name + ".group", PDL_I64, 1);
  }
  shown.name = program->name;
  shown.outputs = columns.data();
  shown.output_count = int32_t(columns.size());
  Expected<std::unique_ptr<PredictionWriter>> opened = PredictionWriter::open(
      formatOf(options), options.output, shown, /*copied=*/{});
  if (!opened)
    return std::move(opened).status();
  writer = std::move(*opened);
  return {};
}

Status ObservedFile::write(int64_t samples) {
  if (samples == 0)
    return {};
  const ObservedSamples &seen = *replica->observed();
  if (seen.lostSome())
    return Status::outOfMemory("out of memory for what metrics observe of a "
                               "batch; use a smaller --batch-size");
  if (!writer)
    PDLRT_RETURN_IF_ERROR(open());
  const Batch &batch = *replica->current().input().batch;
  rows.clear();
  for (int64_t i = 0; i < samples; ++i)
    rows.push_back(batch.row(i));
  std::vector<const void *> values = {rows.data()};
  for (const ObservedSamples::Observation &each : seen.all()) {
    values.push_back(each.predictions.data());
    for (const std::vector<std::byte> *more : {&each.labels, &each.weights})
      if (!more->empty())
        values.push_back(more->data());
    if (!each.groups.empty())
      values.push_back(each.groups.data());
  }
  if (values.size() != columns.size())
    return Status::internal("a batch observed other metrics than the first");
  for (int64_t i = 0; i < samples; ++i)
    PDLRT_RETURN_IF_ERROR(writer->write(values.data(), i, ""));
  return {};
}

Status ObservedFile::finish() { return writer ? writer->finish() : Status(); }
