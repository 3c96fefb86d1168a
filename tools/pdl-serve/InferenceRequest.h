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
  /// Tensor of the input. If the input is ragged, the tensor of its values.
  Tensor values;
  /// Start of each bag in `values`, and then the end of the last bag. Only for
  /// ragged inputs.
  std::vector<int32_t> splits;

  bool hasTexts() const { return values.type == DataType::Bytes; }
};

/// An inference request, from its arrival until its response. Each protocol has
/// a derived class with the data that its response needs.
class InferenceRequest {
public:
  InferenceRequest() = default;
  InferenceRequest(const InferenceRequest &) = delete;
  InferenceRequest &operator=(const InferenceRequest &) = delete;
  virtual ~InferenceRequest() = default;

  /// Returns true if the client no longer waits for the response. May be called
  /// on any thread before the request is finished.
  virtual bool isCancelled() const { return false; }
  /// Sends the response, which is made from `outcome` and `outputs`. Called
  /// once, on any thread. The request is destroyed afterwards. May throw.
  virtual void finish() = 0;
  /// Closes the connection or call without a response, after `finish` has
  /// thrown.
  virtual void abandon() noexcept = 0;
  /// Returns the number of bytes that a response with `elements` numbers of
  /// `valueBytes` bytes needs in addition to `outputs`.
  virtual uint64_t responseBytes(uint64_t elements,
                                 uint64_t valueBytes) const = 0;

  /// Adds an output to `wanted`, unless it is already there. Returns an error
  /// if the program has no such output. `metadata`: where the client can list
  /// the outputs, for the error message.
  Outcome want(std::string_view output, std::string_view metadata);
  /// Sets `wanted` to all outputs of the program.
  void wantAll();
  /// Reserves memory for the outputs and the response in the budget. Call after
  /// `bindTensors`, before the request is submitted.
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
  /// Outputs that the response includes, in this order.
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

/// Sends the response to a request, then destroys the request.
void finishRequest(std::unique_ptr<InferenceRequest> job) noexcept;

/// Assigns the tensors of a request to the inputs of its program: sets
/// `job.inputs` and `job.batch`. An error names the tensor that does not fit,
/// and says what the model expects.
///
/// A dense input, or one of ids, is one tensor [batch, width] with the name of
/// the input. A ragged input consists of two tensors. NAME.values has all
/// elements, bag by bag. NAME.splits has the starts of the batch * width bags,
/// and the end of the last one. If all bags have the same length, a ragged
/// input may also be one tensor NAME: [batch, width] if each bag has one
/// element, or [batch, width, length].
Outcome bindTensors(std::vector<Tensor> tensors, InferenceRequest &job);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_INFERENCEREQUEST_H
