//===- JsonRequest.h - The body of a request in JSON ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_JSONREQUEST_H
#define PDLSERVE_JSONREQUEST_H

#include "Outcome.h"
#include "Tensor.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlserve {

/// What a request wants of an output.
struct WantedOutput {
  std::string name;
  /// Whether it says so itself.
  std::optional<bool> isBinary;
};

/// A request of the V2 protocol in JSON.
struct JsonRequest {
  std::string id;
  bool hasId = false;
  std::vector<Tensor> inputs;
  /// In the order of the answer; none: all outputs.
  std::vector<WantedOutput> outputs;
  /// Of outputs that do not say so themselves.
  std::optional<bool> areOutputsBinary;
};

/// Reads the body of a request: JSON, and after its first `jsonSize` bytes the
/// data of binary tensors, if a header says so. Tensors point into `body`,
/// which is padded. Only JSON is read here: bindTensors knows the model. What
/// is allocated is taken from `memory` first.
Outcome parseJsonRequest(std::string &body, std::optional<size_t> jsonSize,
                         Reservation &memory, JsonRequest &request);

/// Not ok: a parameter of an input, an output or a request asks for something
/// that the server does not do, and that would change the answer. `isSet`: it
/// has another value than 0, false or an empty text.
Outcome checkParameter(std::string_view name, bool isSet);

/// Writes a text as JSON, in quotes. Bytes that are no UTF-8 stay.
void appendQuoted(std::string &json, std::string_view text);
/// {"error": "..."}.
std::string errorJson(std::string_view sentence);

} // namespace pdlserve

#endif // PDLSERVE_JSONREQUEST_H
