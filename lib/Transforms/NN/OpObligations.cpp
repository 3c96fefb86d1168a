//===- OpObligations.cpp - Table of the properties of ops -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Transforms/OpObligations.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Interfaces/InterpretableOpInterface.h"
#include "pdlc/Interfaces/StageOpInterface.h"

using namespace mlir;
using namespace pdlc;

static PhaseSpan phasesOf(RegisteredOperationName name) {
  auto *phased = name.getInterface<PhasedOpInterface>();
  return phased ? phased->getPhases() : PhaseSpan();
}

void pdlc::printOpObligations(llvm::raw_ostream &stream,
                              const DialectRegistry &registry) {
  MLIRContext context(registry);
  context.loadDialect<nn::NNDialect>();
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.hasTrait<nn::InProgram>())
      continue;
    PhaseSpan span = phasesOf(name);
    stream << name << " " << stringify(span.first) << " "
           << stringify(span.last);
    auto say = [&](bool holds, StringRef word) {
      if (holds)
        stream << " " << word;
    };
    say(name.hasInterface<ElementwiseOpInterface>(), "elementwise");
    say(name.hasInterface<DifferentiableOpInterface>(), "adjoint");
    say(name.hasTrait<StopsGradients>(), "stops-gradients");
    say(name.hasInterface<InterpretableOpInterface>(), "interpreted");
    say(name.hasInterface<StageOpInterface>(), "staged");
    say(name.hasTrait<AppliesStep>(), "applied");
    stream << "\n";
  }
}
