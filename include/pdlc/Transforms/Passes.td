//===- Passes.td - Passes from model to tasks -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_PASSES_TD
#define PDLC_TRANSFORMS_PASSES_TD

// Passes report their statistics with `reportStatistic`
// (pdlc/Support/Statistics.h), under the names given here.
// `pdl-opt --remarks-filter=statistics` prints them.
include "pdlc/Transforms/NNPasses.td"
include "pdlc/Transforms/PSPasses.td"
include "pdlc/Transforms/RTPasses.td"

#endif // PDLC_TRANSFORMS_PASSES_TD
