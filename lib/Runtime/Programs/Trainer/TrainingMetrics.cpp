//===- TrainingMetrics.cpp - Registered metrics of a training -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingMetrics.h"

#include "pdlabi/metrics.h"
#include "pdlabi/names.h"
#include "pdlrt/Kernels/Metrics.h"

#include <cmath>

using namespace pdlrt;

namespace {

/// Metric families of a training.
struct TrainingFamilies {
  const GaugeFamily epoch{{.name = "pdl_trainer_epoch",
                           .unit = "",
                           .help = "Number of the running epoch, from 1"}};
  const GaugeFamily epochSteps{
      {.name = "pdl_trainer_epoch_steps",
       .unit = "steps",
       .help = "Steps of the running epoch so far, some seconds ago at most"}};
  const GaugeFamily expectedSteps{
      {.name = "pdl_trainer_epoch_expected_steps",
       .unit = "steps",
       .help = "Steps that the running epoch will have; 0 if that is not known "
               "yet"}};
  const GaugeFamily totalSteps{
      {.name = "pdl_trainer_training_steps",
       .unit = "steps",
       .help =
           "Steps of the whole training, with those before its checkpoint"}};
  const GaugeFamily loss{
      {.name = "pdl_trainer_loss",
       .unit = "",
       .help = "Mean loss of the steps of the last few seconds: of all "
               "trainers in modes whose steps are rounds, else of this one",
       .labels = {"program"}}};
  const GaugeFamily metric{
      {.name = "pdl_trainer_metric",
       .unit = "",
       .help = "Value of a metric of the model, such as AUC, on the samples of "
               "this process in the running epoch",
       .labels = {"metric", "program"}}};
};

} // namespace

static const TrainingFamilies &trainingFamilies() {
  return processMetrics<TrainingFamilies>();
}

void pdlrt::declareTrainingMetrics() { trainingFamilies(); }

TrainingMetrics::TrainingMetrics(const pdl_descriptor &descriptor,
                                 const pdl_program &program)
    : descriptor(descriptor), program(program),
      epoch(trainingFamilies().epoch.add()),
      epochSteps(trainingFamilies().epochSteps.add()),
      expectedSteps(trainingFamilies().expectedSteps.add()),
      totalSteps(trainingFamilies().totalSteps.add()),
      metrics(size_t(descriptor.metric_count)) {}

void TrainingMetrics::setPosition(int64_t ofEpoch, int64_t steps,
                                  int64_t expected, int64_t total) {
  epoch.set(double(ofEpoch + 1));
  epochSteps.set(double(steps));
  expectedSteps.set(double(expected));
  totalSteps.set(double(total));
}

/// Sets a gauge, or removes it if the value is NaN. `add` adds the gauge.
template <typename Add>
static void setOrRemove(std::optional<Gauge> &gauge, double value, Add add) {
  if (std::isnan(value))
    return gauge.reset();
  if (!gauge)
    gauge.emplace(add());
  gauge->set(value);
}

void TrainingMetrics::setLoss(double value) {
  setOrRemove(loss, value,
              [&] { return trainingFamilies().loss.add({program.name}); });
}

void pdlrt::visitModelMetrics(
    const pdl_descriptor &descriptor, const ReplicaSet &replicas,
    const std::function<void(int32_t index, double value)> &visit) {
  for (int32_t i = 0; i < descriptor.metric_count; ++i) {
    const pdl_metric &metric = descriptor.metrics[i];
    if (!pdlabi::isMetricOfModel(metric.name) ||
        pdlabi::observesGroups(metric.kind))
      continue;
    std::vector<double> sums(metricSumSize(metric));
    replicas.sumMetric(i, sums);
    visit(i, metricValue(metric, sums));
  }
}

void TrainingMetrics::setMetrics(const ReplicaSet &replicas) {
  visitModelMetrics(descriptor, replicas, [this](int32_t index, double value) {
    setMetric(index, value);
  });
}

void TrainingMetrics::setMetric(int32_t index, double value) {
  setOrRemove(metrics[size_t(index)], value, [&] {
    return trainingFamilies().metric.add(
        {descriptor.metrics[index].name, program.name});
  });
}
