//===- RunningEpoch.cpp - Accumulated loss and metrics of an epoch --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/RunningEpoch.h"

#include "pdlabi/metrics.h"
#include "pdlabi/names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

using namespace pdlrt;

/// Returns the name of the tensor with a metric's sums. It contains the kind of
/// the metric. It also contains the metric's parameter, unless that follows
/// from the number of sums.
static std::string tensorName(const pdl_metric &metric) {
  if (pdlabi::sumCountDefinesParameter(metric.kind))
    return fmt::format("metric.{}.{}.sums", metric.name, metric.kind);
  return fmt::format("metric.{}.{}.{}.sums", metric.name, metric.kind,
                     metric.parameter);
}

/// Returns the name of a tensor with samples that a group metric keeps for a
/// replica. `part`: the stored property of each sample, which is its group,
/// prediction, label or weight.
static std::string groupTensor(const pdl_metric &metric, int replica,
                               const char *part) {
  return fmt::format("metric.{}.{}.{}.{}", metric.name, metric.kind, replica,
                     part);
}

/// Calls visit(metric, replica, index in `RunningEpoch::groups`) for all group
/// metrics.
template <typename Visit>
static void forEachGroups(const pdl_descriptor &descriptor, int replicas,
                          Visit visit) {
  for (int32_t m = 0; m < descriptor.metric_count; ++m)
    for (int r = 0; r < replicas; ++r)
      if (pdlabi::observesGroups(descriptor.metrics[m].kind))
        visit(descriptor.metrics[m], r, size_t(m) * replicas + r);
}

static Status saveGroups(const pdl_metric &metric, int replica,
                         const pdlabi::GroupedSamples &samples,
                         SafetensorsWriter &tensors) {
  const std::vector<int64_t> shape = {int64_t(samples.size())};
  const std::vector<int32_t> labels(samples.labels.begin(),
                                    samples.labels.end());
  PDLRT_RETURN_IF_ERROR(tensors.add(groupTensor(metric, replica, "groups"),
                                    TensorType::I64, shape,
                                    samples.groups.data()));
  PDLRT_RETURN_IF_ERROR(tensors.add(groupTensor(metric, replica, "predictions"),
                                    TensorType::F64, shape,
                                    samples.predictions.data()));
  PDLRT_RETURN_IF_ERROR(tensors.addCopy(groupTensor(metric, replica, "labels"),
                                        TensorType::I32, shape, labels.data()));
  return tensors.add(groupTensor(metric, replica, "weights"), TensorType::F64,
                     shape, samples.weights.data());
}

static Status saveRest(const EpochRest &rest, SafetensorsWriter &tensors) {
  const int64_t numbers[] = {rest.windows, rest.steps};
  std::vector<int64_t> runs, places;
  for (const RowRun &run : rest.runs)
    runs.insert(runs.end(), {run.file, run.begin, run.end});
  for (const StartPlace &place : rest.places)
    places.insert(places.end(),
                  {place.file, place.row, place.byte, place.line});
  PDLRT_RETURN_IF_ERROR(
      tensors.addCopy("rest.numbers", TensorType::I64, {2}, numbers));
  PDLRT_RETURN_IF_ERROR(tensors.addCopy("rest.runs", TensorType::I64,
                                        {int64_t(rest.runs.size()), 3},
                                        runs.data()));
  return tensors.addCopy("rest.places", TensorType::I64,
                         {int64_t(rest.places.size()), 4}, places.data());
}

Status pdlrt::saveRunningEpoch(const pdl_descriptor &descriptor,
                               const RunningEpoch &running, int replicas,
                               CheckpointWriter &writer) {
  SafetensorsWriter tensors;
  const double loss[] = {running.lossSum, running.weightSum};
  PDLRT_RETURN_IF_ERROR(tensors.addCopy("loss", TensorType::F64, {2}, loss));
  MetricSums metrics = running.metrics;
  Status status;
  forEachMetric(descriptor, replicas, metrics, [&](const MetricBlock &block) {
    if (status.ok())
      status =
          tensors.addCopy(tensorName(descriptor.metrics[block.index]),
                          TensorType::F64, {replicas, block.size}, block.sums);
  });
  forEachGroups(descriptor, replicas,
                [&](const pdl_metric &metric, int replica, size_t place) {
                  if (status.ok() && !running.groups.empty())
                    status = saveGroups(metric, replica, running.groups[place],
                                        tensors);
                });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  if (running.rest)
    PDLRT_RETURN_IF_ERROR(saveRest(*running.rest, tensors));
  CheckpointPart part;
  part.file = "trainer.safetensors";
  part.kind = PartKind::Trainer;
  return writer.addPart(part, tensors);
}

static Status copyTensor(const Checkpoint &checkpoint,
                         const SafetensorsFile &file, const std::string &name,
                         const std::vector<int64_t> &shape, void *out,
                         TensorType type = TensorType::F64) {
  Expected<const TensorView *> tensor =
      checkpoint.tensorOf(file, name, type, shape);
  if (!tensor)
    return tensor.status();
  return (*tensor)->copyTo(out);
}

/// Returns true if the file has the metric's sums, `size` for each replica.
/// Does not check the number of replicas: `copyTensor` reports a wrong one.
static bool holdsMetric(const pdl_metric &metric, int64_t size,
                        const SafetensorsFile &file) {
  const TensorView *found = file.find(tensorName(metric));
  return found && found->type == TensorType::F64 && found->shape.size() == 2 &&
         found->shape[1] == size;
}

static Status loadGroups(const pdl_metric &metric, int replica,
                         const Checkpoint &checkpoint,
                         const SafetensorsFile &file,
                         pdlabi::GroupedSamples &samples) {
  const TensorView *groups = file.find(groupTensor(metric, replica, "groups"));
  // The program that trained does not have the metric.
  if (!groups)
    return {};
  const int64_t count = groups->elementCount;
  std::vector<int32_t> labels(count);
  samples.groups.resize(count);
  samples.predictions.resize(count);
  samples.weights.resize(count);
  const auto copy = [&](const char *part, TensorType type, void *out) {
    return copyTensor(checkpoint, file, groupTensor(metric, replica, part),
                      {count}, out, type);
  };
  PDLRT_RETURN_IF_ERROR(copy("groups", TensorType::I64, samples.groups.data()));
  PDLRT_RETURN_IF_ERROR(
      copy("predictions", TensorType::F64, samples.predictions.data()));
  PDLRT_RETURN_IF_ERROR(copy("labels", TensorType::I32, labels.data()));
  PDLRT_RETURN_IF_ERROR(
      copy("weights", TensorType::F64, samples.weights.data()));
  for (int32_t label : labels)
    samples.labels.push_back(label != 0);
  return {};
}

/// Returns true if all runs have rows and are in ascending order.
static bool areRuns(const std::vector<RowRun> &runs) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const RowRun &run = runs[i];
    if (run.file < 0 || run.begin < 0 || run.end <= run.begin ||
        (i > 0 && std::pair(run.file, run.begin) <
                      std::pair(runs[i - 1].file, runs[i - 1].end)))
      return false;
  }
  return true;
}

static Expected<EpochRest> readRest(const Checkpoint &checkpoint,
                                    const SafetensorsFile &file) {
  EpochRest rest;
  int64_t numbers[2];
  PDLRT_RETURN_IF_ERROR(copyTensor(checkpoint, file, "rest.numbers", {2},
                                   numbers, TensorType::I64));
  rest.windows = numbers[0];
  rest.steps = numbers[1];
  const auto rowsOf = [&](const char *name) {
    const TensorView *found = file.find(name);
    return found && !found->shape.empty() ? found->shape[0] : 0;
  };
  std::vector<int64_t> runs(3 * rowsOf("rest.runs")),
      places(4 * rowsOf("rest.places"));
  PDLRT_RETURN_IF_ERROR(copyTensor(checkpoint, file, "rest.runs",
                                   {int64_t(runs.size()) / 3, 3}, runs.data(),
                                   TensorType::I64));
  PDLRT_RETURN_IF_ERROR(copyTensor(checkpoint, file, "rest.places",
                                   {int64_t(places.size()) / 4, 4},
                                   places.data(), TensorType::I64));
  for (size_t i = 0; i < runs.size(); i += 3)
    rest.runs.push_back({runs[i], runs[i + 1], runs[i + 2]});
  for (size_t i = 0; i < places.size(); i += 4)
    rest.places.push_back(
        {places[i], places[i + 1], places[i + 2], places[i + 3]});
  if (!areRuns(rest.runs) || rest.windows < 0 || rest.steps < 1)
    return checkpoint.damaged("the rows that it says are left are none");
  return rest;
}

Expected<std::shared_ptr<const EpochRest>>
pdlrt::loadRest(const Checkpoint &checkpoint) {
  Expected<const SafetensorsFile *> file = checkpoint.only(PartKind::Trainer);
  if (!file)
    return file.status();
  if (!(*file)->find("rest.numbers"))
    return std::shared_ptr<const EpochRest>();
  Expected<EpochRest> rest = readRest(checkpoint, **file);
  if (!rest)
    return rest.status();
  return std::make_shared<const EpochRest>(std::move(*rest));
}

static constexpr std::string_view fromStep = " from step ", on = " on";

std::string EpochDivision::text() const {
  std::string text = fmt::format("{}x{}", groups, workers);
  // Older versions do not accept this text. So they refuse to resume in the
  // middle of an epoch that began with another number of replicas.
  if (steps > 0)
    text += fmt::format("{}{}{}", fromStep, steps, on);
  return text;
}

void pdlrt::noteDivision(int64_t steps, CheckpointManifest &manifest) {
  for (auto &[flag, value] : manifest.settings)
    if (flag == "--replicas")
      value += fmt::format("{}{}{}", fromStep, steps, on);
}

static constexpr std::string_view inTurn = " files, in turn";

std::string pdlrt::inTurnText(size_t files) {
  return fmt::format("{}{}", files, inTurn);
}

bool EpochDivision::isInTurn(const std::string &setting) {
  return setting.ends_with(inTurn);
}

/// Returns the number of files if `--data` distributes the rows of several
/// files round-robin. Otherwise returns 0.
static int64_t filesInTurn(const CheckpointManifest &manifest) {
  int64_t files = 0;
  for (const auto &[flag, value] : manifest.settings)
    if (flag == "--data" && EpochDivision::isInTurn(value))
      std::from_chars(value.data(), value.data() + value.size(), files);
  return std::max<int64_t>(files, 0);
}

Expected<EpochDivision> EpochDivision::of(const Checkpoint &checkpoint) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  const auto entry =
      std::ranges::find(manifest.settings, "--replicas",
                        &std::pair<std::string, std::string>::first);
  if (entry == manifest.settings.end())
    return checkpoint.damaged("it does not say --replicas");
  EpochDivision division;
  const std::string &text = entry->second;
  const char *const end = text.data() + text.size();
  const auto groups = std::from_chars(text.data(), end, division.groups);
  if (groups.ptr < end && *groups.ptr == 'x') {
    const auto workers = std::from_chars(groups.ptr + 1, end, division.workers);
    const std::string_view left(workers.ptr, size_t(end - workers.ptr));
    if (left.starts_with(fromStep))
      std::from_chars(left.data() + fromStep.size(), end, division.steps);
  }
  if (division.groups < 1 || division.workers < 1 || division.text() != text ||
      manifest.progress.positions.size() != size_t(division.groups))
    return checkpoint.damaged(fmt::format(
        "it has positions of {} groups, and was written with --replicas {}",
        manifest.progress.positions.size(), text));
  division.files = filesInTurn(manifest);
  return division;
}

void pdlrt::giveToFirst(const pdl_descriptor &descriptor, int from, int to,
                        RunningEpoch &running) {
  MetricSums all(descriptor, to);
  std::vector<std::span<double>> firsts;
  forEachMetric(descriptor, to, all, [&](const MetricBlock &block) {
    firsts.push_back({block.sums, size_t(block.size)});
  });
  forEachMetric(descriptor, from, running.metrics,
                [&](const MetricBlock &block) {
                  for (int r = 0; r < from; ++r)
                    addMetric(block.of(r), firsts[size_t(block.index)]);
                });
  running.metrics = std::move(all);
  if (running.groups.empty())
    return;
  std::vector<pdlabi::GroupedSamples> groups(size_t(descriptor.metric_count) *
                                             to);
  forEachGroups(descriptor, from, [&](const pdl_metric &, int, size_t place) {
    const pdlabi::GroupedSamples &samples = running.groups[place];
    pdlabi::GroupedSamples &first = groups[place / size_t(from) * size_t(to)];
    for (size_t i = 0; i < samples.size(); ++i)
      first.add(samples.groups[i], samples.predictions[i],
                samples.labels[i] != 0, samples.weights[i]);
  });
  running.groups = std::move(groups);
}

Expected<RunningEpoch> pdlrt::loadRunningEpoch(const pdl_descriptor &descriptor,
                                               int replicas,
                                               const Checkpoint &checkpoint) {
  Expected<const SafetensorsFile *> file = checkpoint.only(PartKind::Trainer);
  if (!file)
    return file.status();
  double loss[2];
  PDLRT_RETURN_IF_ERROR(copyTensor(checkpoint, **file, "loss", {2}, loss));
  RunningEpoch running = {
      loss[0], loss[1], MetricSums(descriptor, replicas), {}};
  auto rest = loadRest(checkpoint);
  if (!rest)
    return rest.status();
  running.rest = std::move(*rest);
  running.groups.resize(size_t(descriptor.metric_count) * replicas);
  Status status;
  forEachMetric(descriptor, replicas, running.metrics,
                [&](const MetricBlock &block) {
                  const pdl_metric &metric = descriptor.metrics[block.index];
                  if (!holdsMetric(metric, block.size, **file)) {
                    if (pdlabi::isMetricOfModel(metric.name))
                      running.newMetrics.emplace_back(metric.name);
                  } else if (status.ok())
                    status = copyTensor(checkpoint, **file, tensorName(metric),
                                        {replicas, block.size}, block.sums);
                });
  forEachGroups(descriptor, replicas,
                [&](const pdl_metric &metric, int replica, size_t place) {
                  if (status.ok() &&
                      holdsMetric(metric, metricSumSize(metric), **file))
                    status = loadGroups(metric, replica, checkpoint, **file,
                                        running.groups[place]);
                });
  PDLRT_RETURN_IF_ERROR(std::move(status));
  return running;
}

Status pdlrt::commitTraining(const pdl_descriptor &descriptor,
                             const RunningEpoch *running, int replicas,
                             const CheckpointFolder &folder,
                             CheckpointWriter &writer,
                             CheckpointManifest manifest, uint64_t *digest) {
  if (running)
    PDLRT_RETURN_IF_ERROR(
        saveRunningEpoch(descriptor, *running, replicas, writer));
  // Servers may have accepted a newer incarnation since they saved.
  PDLRT_RETURN_IF_ERROR(folder.checkOwner());
  return writer.commit(std::move(manifest), digest);
}
