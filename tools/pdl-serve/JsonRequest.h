//===- JsonRequest.h - Parses JSON requests ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_JSONREQUEST_H
#define PDL_TOOLS_PDL_SERVE_JSONREQUEST_H

#include "Outcome.h"
#include "Tensor.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlserve {

/// Output that a request selects.
struct WantedOutput {
  std::string name;
  /// True if the output should be binary; not set if the request does not
  /// specify it.
  std::optional<bool> isBinary;
};

/// A JSON request of the V2 protocol.
struct JsonRequest {
  std::string id;
  bool hasId = false;
  std::vector<Tensor> inputs;
  /// Selected outputs, in the order of the response. Empty: all outputs.
  std::vector<WantedOutput> outputs;
  /// Default for outputs without their own setting.
  std::optional<bool> areOutputsBinary;
};

/// Parses the body of a request. If a header has set `jsonSize`, the JSON has
/// that many bytes, and the data of binary tensors follow it. Otherwise the
/// whole body is JSON. Checks only the JSON; `bindTensors` compares the tensors
/// with the model's inputs. Tensors point into `body`, which is extended by
/// padding. Reserves memory in `memory` before it allocates.
Outcome parseJsonRequest(std::string &body, std::optional<size_t> jsonSize,
                         Reservation &memory, JsonRequest &request);

/// Returns an error if a parameter of an input, an output or a request would
/// change the response in a way that the server does not support. `isSet`: the
/// value of the parameter is not 0, false or an empty text.
Outcome checkParameter(std::string_view name, bool isSet);

/// Appends a text as quoted JSON. Bytes that are not UTF-8 are kept.
void appendQuoted(std::string &json, std::string_view text);
/// Returns {"error": "..."}.
std::string errorJson(std::string_view message);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_JSONREQUEST_H
