//===- PartialSum.cpp - Gradients and losses of replicas ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sum/PartialSum.h"

#include "pdlrt/Abi/Descriptor.h"

using namespace pdlrt;

double PartialSum::otherWeights() const {
  double sum = 0;
  for (size_t o = 1; o < objectives.size(); ++o)
    sum += objectives[o].weight;
  return sum;
}

double pdlrt::divisorOf(const pdl_descriptor &descriptor, int32_t group,
                        double weight, int64_t steps) {
  return mergesBySum(descriptor, group) ? weight / double(steps) : weight;
}

std::vector<GradientBlock>
pdlrt::gradientBlocks(const pdl_descriptor &descriptor,
                      const pdl_program &program) {
  std::vector<GradientBlock> blocks;
  for (int32_t i = 0; i < program.update_count; ++i) {
    int32_t symbol = program.updates[i].symbol;
    blocks.push_back({symbol, descriptor.symbols[symbol].element_type,
                      descriptor.symbols[symbol].kind == PDL_SYMBOL_TABLE,
                      gradientElements(descriptor.symbols[symbol]),
                      program.updates[i].objective});
  }
  return blocks;
}
