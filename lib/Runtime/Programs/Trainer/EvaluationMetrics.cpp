//===- EvaluationMetrics.cpp - Registered metrics of evaluations ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EvaluationMetrics.h"

#include "pdlabi/names.h"

#include <cmath>

using namespace pdlrt;

namespace {

/// Metric families of the evaluations of a training.
struct EvaluationFamilies {
  const CounterFamily count{
      {.name = "pdl_trainer_evaluations_total",
       .unit = "evaluations",
       .help = "Evaluations during the training and after its epochs"}};
  const HistogramFamily duration{
      {.name = "pdl_trainer_evaluation_seconds",
       .unit = "seconds",
       .help = "Time of an evaluation, in which steps wait",
       .bounds = {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3600}}};
  const GaugeFamily steps{
      {.name = "pdl_trainer_evaluation_training_steps",
       .unit = "steps",
       .help = "Steps of the whole training at the last evaluation"}};
  const GaugeFamily metric{
      {.name = "pdl_trainer_evaluation_metric",
       .unit = "",
       .help = "Value of a metric of the model in the last evaluation, over "
               "the samples of all trainers",
       .labels = {"metric", "program"}}};
};

} // namespace

static const EvaluationFamilies &evaluationFamilies() {
  return processMetrics<EvaluationFamilies>();
}

void pdlrt::declareEvaluationMetrics() { evaluationFamilies(); }

EvaluationMetrics::EvaluationMetrics(const pdl_descriptor &descriptor,
                                     const pdl_program &program)
    : descriptor(descriptor), program(program),
      count(evaluationFamilies().count.add()),
      duration(evaluationFamilies().duration.add()),
      trainingSteps(evaluationFamilies().steps.add()),
      metrics(size_t(descriptor.metric_count)) {}

/// Sets a gauge, or removes it if the value is NaN.
void EvaluationMetrics::setValue(std::optional<Gauge> &gauge, const char *name,
                                 double value) {
  if (std::isnan(value))
    return gauge.reset();
  if (!gauge)
    gauge.emplace(evaluationFamilies().metric.add({name, program.name}));
  gauge->set(value);
}

void EvaluationMetrics::set(const PassReport &report, int64_t steps,
                            double seconds) {
  ++count;
  duration.observe(seconds);
  trainingSteps.set(double(steps));
  for (int32_t i = 0; i < descriptor.metric_count; ++i)
    if (pdlabi::isMetricOfModel(descriptor.metrics[i].name))
      setValue(metrics[size_t(i)], descriptor.metrics[i].name,
               report.metrics[size_t(i)].value);
}
