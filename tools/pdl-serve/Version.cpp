//===- Version.cpp - One version of a model that answers ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Version.h"
#include "Batcher.h"

using namespace pdlserve;
using pdlrt::Expected;
using pdlrt::Status;

Expected<std::shared_ptr<Version>>
Version::open(std::string model, int64_t number, const std::string &libraryPath,
              const std::string &valuesPath, Metrics &metrics) {
  auto library = Library::open(libraryPath);
  if (!library)
    return std::move(library).status();
  std::shared_ptr<Version> version(new Version());
  version->modelName = std::move(model);
  version->numberText = std::to_string(number);
  version->library = *std::move(library);
  const pdl_serving &functions = version->library->functions();
  version->values = functions.open(valuesPath.c_str());
  if (!version->values)
    return Status::invalid(functions.last_error());
  const int32_t programs = version->description().program_count;
  version->lanes.resize(size_t(programs));
  for (int32_t p = 0; p < programs; ++p)
    version->metrics.push_back(&metrics.ofProgram(
        version->modelName, version->numberText, version->program(p).name));
  return version;
}

Version::~Version() {
  if (values)
    library->functions().close(values);
}

Status Version::reload(const std::string &valuesPath) {
  const pdl_serving &functions = library->functions();
  if (functions.reload(values, valuesPath.c_str()))
    return Status::invalid(functions.last_error());
  return {};
}

pdl_serving_state Version::state() const {
  pdl_serving_state state = {};
  state.struct_size = sizeof(state);
  (void)library->functions().state(values, &state);
  return state;
}

Status Version::run(int32_t program, int64_t batch,
                    const pdl_serving_input *inputs, void *const *outputs) {
  const pdl_serving &functions = library->functions();
  const int32_t code = functions.run(values, program, batch, inputs, outputs);
  if (code)
    return {static_cast<pdl_status>(code), functions.last_error()};
  return {};
}

int32_t Version::findProgram(std::string_view name) const {
  const std::string_view wanted = name.empty() ? "predict" : name;
  for (int32_t p = 0; p < description().program_count; ++p)
    if (wanted == program(p).name)
      return p;
  return name.empty() ? 0 : -1;
}

std::string Version::nameOf(int32_t index) const {
  return index == findProgram("") ? modelName
                                  : modelName + "@" + program(index).name;
}
