//===- Job.h - A request on its way to a model ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_JOB_H
#define PDLSERVE_JOB_H

#include "MemoryBudget.h"
#include "Outcome.h"
#include "Tensor.h"
#include "pdl/serving.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace pdlserve {

class Version;

using Clock = std::chrono::steady_clock;

/// What a request gives for one input of the program.
struct JobInput {
  /// Of the tensor, or of both of a ragged input.
  Tensor values;
  /// Ragged: from 0, one more than there are bags.
  std::vector<int32_t> splits;

  bool hasTexts() const { return values.type == DataType::Bytes; }
};

/// A request that scores samples, until it is answered. Protocols derive from
/// it to keep what they answer with.
class Job {
public:
  Job() = default;
  Job(const Job &) = delete;
  Job &operator=(const Job &) = delete;
  virtual ~Job() = default;

  /// Whether nobody waits for the answer any more. By any thread, before it is
  /// finished.
  virtual bool isCancelled() const { return false; }
  /// Answers with `outcome` and `outputs`. Called once, by any thread; the job
  /// ends right after. May throw.
  virtual void finish() = 0;
  /// Ends the connection or the call without an answer, because `finish` threw.
  virtual void abandon() noexcept = 0;
  /// The bytes that an answer of `elements` numbers, which take `valueBytes`,
  /// needs besides `outputs`.
  virtual uint64_t answerBytes(uint64_t elements,
                               uint64_t valueBytes) const = 0;

  /// Adds an output to `wanted`, which has each once. `metadata`: what names
  /// the outputs, for the error.
  Outcome want(std::string_view output, std::string_view metadata);
  /// Makes `wanted` all outputs of the program.
  void wantAll();
  /// Takes the bytes of the outputs and of the answer from the budget. Call
  /// after `bindTensors`, before the job is submitted.
  Outcome reserveAnswer();

  const pdl_serving_program &program() const;
  /// Where the values of an output lie, all samples of it.
  const std::byte *outputAt(int32_t output) const {
    return outputs.get() + outputOffsets[output];
  }

  std::shared_ptr<Version> version;
  int32_t programIndex = 0;
  /// How many samples, at least one.
  int64_t batch = 0;
  /// In the order of the program's inputs.
  std::vector<JobInput> inputs;
  /// The program's outputs that the answer has, in its order.
  std::vector<int32_t> wanted;
  Outcome outcome;
  std::unique_ptr<std::byte[]> outputs;
  std::vector<size_t> outputOffsets;
  /// What the request takes of the bytes of all requests in flight.
  Reservation memory;
  /// The most samples that a request may have.
  int64_t maxSamples = 0;
  Clock::time_point arrived = Clock::now();
};

/// Finishes a job and destroys it.
void finishJob(std::unique_ptr<Job> job) noexcept;

/// Gives the tensors of a request to the inputs of its program: `inputs` and
/// `batch` of the job. An outcome that is not ok says which tensor does not fit
/// and what the model takes.
///
/// A dense input or ids are one tensor [batch, width] of the input's name. A
/// ragged input is NAME.values, all elements bag by bag, and NAME.splits, where
/// each of the batch * width bags begins and the last one ends; or, where all
/// bags are equally long, one tensor NAME [batch, width] (one element a bag) or
/// [batch, width, length].
Outcome bindTensors(std::vector<Tensor> tensors, Job &job);

} // namespace pdlserve

#endif // PDLSERVE_JOB_H
