//===- JobMetrics.cpp - Metrics that all programs of jobs have ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/JobMetrics.h"

#include "Protocol/SessionMetrics.h"
#include "Server/ServerMetrics.h"
#include "pdlrt/Checkpoint/CheckpointMetrics.h"
#include "pdlrt/Core/ProcessMetrics.h"
#include "pdlrt/Files/StoreMetrics.h"
#include "pdlrt/State/ModelMetrics.h"

using namespace pdlrt;

void pdlrt::declareJobMetrics() {
  declareProcessMetrics();
  declareModelMetrics();
  declareCheckpointMetrics();
  declareSessionMetrics();
  declareServerMetrics();
  declareStoreMetrics();
}
