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

/// An output that a request asks for.
struct WantedOutput {
  std::string name;
  /// True if the output should be binary; none if the request does not say.
  std::optional<bool> isBinary;
};

/// A JSON request of the V2 protocol.
struct JsonRequest {
  std::string id;
  bool hasId = false;
  std::vector<Tensor> inputs;
  /// In the order of the answer; empty: all outputs.
  std::vector<WantedOutput> outputs;
  /// Default for outputs without their own setting.
  std::optional<bool> areOutputsBinary;
};

/// Parses the body of a request. It is JSON; if a header sets `jsonSize`, the
/// data of binary tensors follow after that many bytes. Tensors point into
/// `body`, to which padding is added. Only the JSON is checked; bindTensors
/// checks the model's inputs. Reserves allocated memory in `memory` first.
Outcome parseJsonRequest(std::string &body, std::optional<size_t> jsonSize,
                         Reservation &memory, JsonRequest &request);

/// Returns an error if a parameter of an input, an output or a request asks for
/// something that the server does not support and that would change the answer.
/// `isSet`: the value is not 0, false or an empty text.
Outcome checkParameter(std::string_view name, bool isSet);

/// Appends a text as quoted JSON. Bytes that are not UTF-8 are kept.
void appendQuoted(std::string &json, std::string_view text);
/// Returns {"error": "..."}.
std::string errorJson(std::string_view sentence);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_JSONREQUEST_H
