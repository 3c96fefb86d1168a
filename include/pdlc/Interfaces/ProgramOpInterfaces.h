//===- ProgramOpInterfaces.h - What passes ask of ops -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_PROGRAMOPINTERFACES_H
#define PDLC_INTERFACES_PROGRAMOPINTERFACES_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "pdlc/Support/Phases.h"
#include <optional>
#include <string>

namespace pdlc {

/// The phases that an op may stand in; none if `last` comes before `first`: the
/// op is made and replaced on the way from one phase to the next.
struct PhaseSpan {
  Phase first = Phase::Model, last = Phase::LLVM;
  /// Who makes it in phase `first`, and what becomes of it behind `last`: half
  /// sentences for diagnostics.
  llvm::StringRef maker, fate;

  bool contains(Phase phase) const { return first <= phase && phase <= last; }
};

/// Trait: the op works on ids and can fail, so it runs in stage prepare, before
/// the step's trained values are known, and so do all ops that it depends on.
template <typename ConcreteType>
class PreparesStep
    : public mlir::OpTrait::TraitBase<ConcreteType, PreparesStep> {};

/// Trait: the op's results depend on values of the model beside its operands:
/// trained ones are known when the step before has been applied, and all when
/// servers have sent them.
template <typename ConcreteType>
class ReadsModel : public mlir::OpTrait::TraitBase<ConcreteType, ReadsModel> {};

/// Trait: the op sees sums over all replicas, so it runs in stage apply.
template <typename ConcreteType>
class AppliesStep : public mlir::OpTrait::TraitBase<ConcreteType, AppliesStep> {
};

/// Trait: a symbol whose values live from step to step.
template <typename ConcreteType>
class HoldsState : public mlir::OpTrait::TraitBase<ConcreteType, HoldsState> {};

/// Trait: a symbol that trainers and servers both know.
template <typename ConcreteType>
class SharedByRoles
    : public mlir::OpTrait::TraitBase<ConcreteType, SharedByRoles> {};

/// Trait: a symbol that only servers know.
template <typename ConcreteType>
class OwnedByServers
    : public mlir::OpTrait::TraitBase<ConcreteType, OwnedByServers> {};

/// Trait: the op has no adjoint, and that is meant: it is a source or an end,
/// it computes ids, or only adjoints use it. A loss that needs its gradient is
/// refused.
template <typename ConcreteType>
class StopsGradients
    : public mlir::OpTrait::TraitBase<ConcreteType, StopsGradients> {};

/// Trait: a sample's result depends on other samples of the replica's batch, in
/// every mode, and that is what the op is for: losses may depend on it.
template <typename ConcreteType>
class MixesSamples
    : public mlir::OpTrait::TraitBase<ConcreteType, MixesSamples> {};

/// Trait: the op says how far a sample's prediction is from its label. That is
/// a number of samples, for `nn.minimize` or a metric.
template <typename ConcreteType>
class MeasuresLoss
    : public mlir::OpTrait::TraitBase<ConcreteType, MeasuresLoss> {};

/// Trait: in a program that trains, the op accumulates into the states that its
/// attributes name.
template <typename ConcreteType>
class AccumulatesState
    : public mlir::OpTrait::TraitBase<ConcreteType, AccumulatesState> {};

/// Trait: the op says its phases.
template <typename ConcreteType>
class HasPhases : public mlir::OpTrait::TraitBase<ConcreteType, HasPhases> {};

} // namespace pdlc

#include "pdlc/Interfaces/ProgramOpInterfaces.h.inc"

namespace pdlc {

/// Attaches `Model`, an implementation of another interface, to each op of a
/// dialect that implements `Interface` and not that other one itself.
template <typename Interface, typename Model>
void attachToOpsWith(mlir::MLIRContext &context, llvm::StringRef dialect) {
  // getRegisteredOperationsByDialect of MLIR 22 finds nothing where several
  // dialects are loaded.
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        name.template hasInterface<Interface>())
      name.template attachInterface<Model>();
}

} // namespace pdlc

#endif // PDLC_INTERFACES_PROGRAMOPINTERFACES_H
