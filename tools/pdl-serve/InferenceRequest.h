//===- InferenceRequest.h - An inference request ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_INFERENCEREQUEST_H
#define PDL_TOOLS_PDL_SERVE_INFERENCEREQUEST_H

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

/// Values of a request for one input of the program.
struct RequestInput {
  /// The tensor, or, for a ragged input, its values.
  Tensor values;
  /// Ragged inputs: starts with 0; has one element more than there are bags.
  std::vector<int32_t> splits;

  bool hasTexts() const { return values.type == DataType::Bytes; }
};

/// An inference request until it is answered. Each protocol derives a class
/// that holds the data for its answer.
class InferenceRequest {
public:
  InferenceRequest() = default;
  InferenceRequest(const InferenceRequest &) = delete;
  InferenceRequest &operator=(const InferenceRequest &) = delete;
  virtual ~InferenceRequest() = default;

  /// Returns true if the client no longer waits for the answer. Callable on any
  /// thread, before the request is finished.
  virtual bool isCancelled() const { return false; }
  /// Sends the answer made from `outcome` and `outputs`. Called once, on any
  /// thread; then the job is destroyed. May throw.
  virtual void finish() = 0;
  /// Closes the connection or call without an answer, because `finish` threw.
  virtual void abandon() noexcept = 0;
  /// Returns the memory that an answer with `elements` numbers of `valueBytes`
  /// bytes needs in addition to `outputs`.
  virtual uint64_t responseBytes(uint64_t elements,
                                 uint64_t valueBytes) const = 0;

  /// Adds an output to `wanted`, unless it is already there. `metadata`: where
  /// the outputs are listed, for the error message.
  Outcome want(std::string_view output, std::string_view metadata);
  /// Sets `wanted` to all outputs of the program.
  void wantAll();
  /// Reserves memory for the outputs and the answer in the budget. Call after
  /// `bindTensors`, before the job is submitted.
  Outcome reserveResponse();

  const pdl_serving_program &program() const;
  /// Returns the values of an output for all samples.
  const std::byte *outputAt(int32_t output) const {
    return outputs.get() + outputOffsets[output];
  }

  std::shared_ptr<Version> version;
  int32_t programIndex = 0;
  /// Number of samples, at least one.
  int64_t batch = 0;
  /// In the order of the program's inputs.
  std::vector<RequestInput> inputs;
  /// Outputs to include in the answer, in this order.
  std::vector<int32_t> wanted;
  Outcome outcome;
  std::unique_ptr<std::byte[]> outputs;
  std::vector<size_t> outputOffsets;
  /// Memory of the request, out of the budget of all requests.
  Reservation memory;
  /// Maximum number of samples in a request.
  int64_t maxSamples = 0;
  Clock::time_point arrived = Clock::now();
};

/// Finishes a job and destroys it.
void finishRequest(std::unique_ptr<InferenceRequest> job) noexcept;

/// Assigns the tensors of a request to the inputs of its program: sets `inputs`
/// and `batch` of the job. An error names the tensor that does not fit, and
/// says what the model expects.
///
/// A dense input or ids are one tensor [batch, width] with the input's name. A
/// ragged input consists of NAME.values, all elements bag by bag, and
/// NAME.splits, the starts of the batch * width bags and the end of the last
/// one. If all bags have the same length, it may be one tensor NAME [batch,
/// width] (one element per bag) or [batch, width, length].
Outcome bindTensors(std::vector<Tensor> tensors, InferenceRequest &job);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_INFERENCEREQUEST_H
