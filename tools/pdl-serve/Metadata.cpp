//===- Metadata.cpp - Metadata of the server and its models ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metadata.h"
#include "Tensor.h"

#include <span>

using namespace pdlserve;

const char *const pdlserve::serverName = "pdl-serve";
const char *const pdlserve::serverVersion = PDL_VERSION;
const std::vector<std::string> pdlserve::serverExtensions = {
    "binary_tensor_data", "model_repository"};
const char *const pdlserve::platformName = "pdl";

std::vector<TensorMetadata> pdlserve::inputsOf(const Version &version,
                                               int32_t index) {
  const pdl_serving_program &program = version.program(index);
  std::vector<TensorMetadata> tensors;
  for (int32_t i = 0; i < program.input_count; ++i) {
    const pdl_serving_tensor &input = program.inputs[i];
    const std::string name = input.name;
    const char *type = nameOf(dataTypeOf(input));
    if (input.kind == PDL_SERVING_RAGGED) {
      tensors.push_back({name + ".values", type, {-1}});
      tensors.push_back({name + ".splits", nameOf(DataType::Int32), {-1}});
    } else {
      tensors.push_back({name, type, {-1, input.width}});
    }
    const pdl_serving_input_rules rules = version.rulesOf(index, i);
    if (rules.missing == PDL_SERVING_REQUIRED)
      continue;
    const bool isRagged = input.kind == PDL_SERVING_RAGGED;
    for (TensorMetadata &tensor : std::span(tensors).last(isRagged ? 2 : 1))
      tensor.isOptional = true;
    TensorMetadata &values = *(tensors.end() - (isRagged ? 2 : 1));
    if (rules.missing == PDL_SERVING_MISSING_NUMBER)
      values.missingNumber = rules.missing_number;
    else if (rules.missing == PDL_SERVING_MISSING_TEXT)
      values.missingText = rules.missing_text;
  }
  return tensors;
}

std::vector<TensorMetadata>
pdlserve::outputsOf(const pdl_serving_program &program) {
  std::vector<TensorMetadata> tensors;
  for (int32_t i = 0; i < program.output_count; ++i)
    tensors.push_back({program.outputs[i].name,
                       nameOf(valueTypeOf(program.outputs[i])),
                       {-1, program.outputs[i].width}});
  return tensors;
}

std::vector<IndexLine> pdlserve::indexOf(const Repository &repository,
                                         bool onlyReady) {
  std::vector<IndexLine> lines;
  for (const Repository::Entry &entry : repository.entries()) {
    if (!entry.isReady() && onlyReady)
      continue;
    const char *state = entry.isLoading   ? "LOADING"
                        : entry.isReady() ? "READY"
                                          : "UNAVAILABLE";
    if (!entry.loaded) {
      lines.push_back({entry.model, entry.version, state, entry.reason});
      continue;
    }
    for (int32_t p = 0; p < entry.loaded->description().program_count; ++p)
      lines.push_back(
          {entry.loaded->nameOf(p), entry.version, state, entry.reason});
  }
  return lines;
}
