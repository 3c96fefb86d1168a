//===- GradientReady.cpp - Reports complete gradients ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlrt/Abi/Worker.h"

void pdlrt_gradient_ready(void *worker, int32_t update) {
  pdlrt::Worker::of(worker).gradientReady(update);
}
