//===- ConnectedLibrary.cpp - A library with simulated servers ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library with one program, which can only be connected to servers. Its
// refreshes last as long as the test wants.
//
//===----------------------------------------------------------------------===//

#include "ConnectedLibrary.h"
#include "pdl/serving.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

static ConnectedState &sharedState() {
  return *reinterpret_cast<ConnectedState *>(
      std::strtoull(std::getenv(connectedStateVariable), nullptr, 16));
}

static const char *lastError() { return "not in this library"; }

static pdl_serving_model *openNothing(const char *) { return nullptr; }

static void close(pdl_serving_model *) {}

static int32_t reload(pdl_serving_model *, const char *) { return 1; }

static int32_t fillState(pdl_serving_model *, pdl_serving_state *state) {
  *state = {sizeof(*state), 1, 0, 0, 0};
  return 0;
}

static const pdl_serving_description *describe() {
  static const pdl_serving_program program = {"predict", 0, nullptr, 0,
                                              nullptr};
  static const pdl_serving_description description = {
      sizeof(description), "connected", "", "x86-64-v3", "strict", 1, &program};
  return &description;
}

static int32_t findProgram(const char *) { return 0; }

static int32_t run(pdl_serving_model *, int32_t, int64_t,
                   const pdl_serving_input *, void *const *) {
  return 1;
}

static pdl_serving_model *connect(const pdl_serving_connection *) {
  ++sharedState().connects;
  return reinterpret_cast<pdl_serving_model *>(&sharedState());
}

static int32_t refresh(pdl_serving_model *) {
  ConnectedState &state = sharedState();
  ++state.refreshes;
  ++state.running;
  while (state.isHeld)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --state.running;
  return 0;
}

static int32_t rowCounts(pdl_serving_model *, pdl_serving_row_counts *) {
  return 0;
}

extern "C" const pdl_serving *pdl_serving_query(uint32_t) {
  static const pdl_serving functions = [] {
    pdl_serving made = {};
    made.struct_size =
        offsetof(pdl_serving, row_counts) + sizeof(made.row_counts);
    made.version = PDL_SERVING_VERSION;
    made.last_error = lastError;
    made.open = openNothing;
    made.close = close;
    made.reload = reload;
    made.state = fillState;
    made.describe = describe;
    made.find_program = findProgram;
    made.run = run;
    made.connect = connect;
    made.refresh = refresh;
    made.row_counts = rowCounts;
    return made;
  }();
  return &functions;
}
