//===- ProgramOpInterfaces.h - Interfaces and traits of ops -----*- C++ -*-===//
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

/// Phases in which an op may occur. The span is empty if `last` precedes
/// `first`: then the op exists only between two phases.
struct PhaseSpan {
  Phase first = Phase::Model, last = Phase::LLVM;
  /// Parts of diagnostics. `maker` names what creates the op in phase `first`,
  /// and `fate` names what replaces it after `last`.
  llvm::StringRef maker, fate;

  bool contains(Phase phase) const { return first <= phase && phase <= last; }
};

/// Trait: the op works on ids and can fail. Therefore it runs in stage prepare,
/// before the step's trained values are known, and so do all ops that it
/// depends on.
template <typename ConcreteType>
class PreparesStep
    : public mlir::OpTrait::TraitBase<ConcreteType, PreparesStep> {};

/// Trait: the results depend on values of the model in addition to the
/// operands. Trained values are known after the previous step has been applied.
/// All values are known after the servers have sent them.
template <typename ConcreteType>
class ReadsModel : public mlir::OpTrait::TraitBase<ConcreteType, ReadsModel> {};

/// Trait: the op reads sums over all replicas, so it runs in stage apply.
template <typename ConcreteType>
class AppliesStep : public mlir::OpTrait::TraitBase<ConcreteType, AppliesStep> {
};

/// Trait: a symbol whose values persist from step to step.
template <typename ConcreteType>
class HoldsState : public mlir::OpTrait::TraitBase<ConcreteType, HoldsState> {};

/// Trait: a symbol that exists on both trainers and servers.
template <typename ConcreteType>
class SharedByRoles
    : public mlir::OpTrait::TraitBase<ConcreteType, SharedByRoles> {};

/// Trait: a symbol that exists only on servers.
template <typename ConcreteType>
class OwnedByServers
    : public mlir::OpTrait::TraitBase<ConcreteType, OwnedByServers> {};

/// Trait: the op intentionally has no adjoint, because it is a source or a
/// sink, computes ids, or occurs only in adjoints. A loss that needs its
/// gradient is rejected.
template <typename ConcreteType>
class StopsGradients
    : public mlir::OpTrait::TraitBase<ConcreteType, StopsGradients> {};

/// Trait: a sample's result depends, by design, on other samples of the
/// replica's batch in every mode. Losses may depend on it.
template <typename ConcreteType>
class MixesSamples
    : public mlir::OpTrait::TraitBase<ConcreteType, MixesSamples> {};

/// Trait: the op computes a per-sample distance between prediction and label,
/// for `nn.minimize` or a metric.
template <typename ConcreteType>
class MeasuresLoss
    : public mlir::OpTrait::TraitBase<ConcreteType, MeasuresLoss> {};

/// Trait: in a training program, the op accumulates into the states that its
/// attributes name.
template <typename ConcreteType>
class AccumulatesState
    : public mlir::OpTrait::TraitBase<ConcreteType, AccumulatesState> {};

/// Trait: the op declares the phases in which it may occur.
template <typename ConcreteType>
class HasPhases : public mlir::OpTrait::TraitBase<ConcreteType, HasPhases> {};

} // namespace pdlc

#include "pdlc/Interfaces/ProgramOpInterfaces.h.inc"

namespace pdlc {

/// Attaches `Model`, which implements another interface, to each op of a
/// dialect that implements `Interface` but does not itself implement the other
/// one.
template <typename Interface, typename Model>
void attachToOpsWith(mlir::MLIRContext &context, llvm::StringRef dialect) {
  // MLIR 22's getRegisteredOperationsByDialect finds nothing if several
  // dialects are loaded.
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        name.template hasInterface<Interface>())
      name.template attachInterface<Model>();
}

} // namespace pdlc

#endif // PDLC_INTERFACES_PROGRAMOPINTERFACES_H
