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

/// Phases in which an op may occur. If `last` precedes `first`, the op occurs
/// in no phase: one pass creates it and a later pass of the same phase replaces
/// it.
struct PhaseSpan {
  Phase first = Phase::Model, last = Phase::LLVM;
  /// Explanations for error messages. `maker` says which pass creates the op in
  /// phase `first`. `fate` says what becomes of the op after `last`.
  llvm::StringRef maker, fate;

  bool contains(Phase phase) const { return first <= phase && phase <= last; }
};

/// Trait: the op works on ids and can fail. Therefore it runs in stage prepare,
/// before the step's trained values are known, and so do all ops that it
/// depends on.
template <typename ConcreteType>
class PreparesStep
    : public mlir::OpTrait::TraitBase<ConcreteType, PreparesStep> {};

/// Trait: the results depend on values of the model, not only on the operands.
/// They are therefore unknown when a step is prepared: values that are trained
/// are known only after the previous step has been applied, and the values of
/// servers only after they have arrived.
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

/// Trait: a symbol of the role that applies rules. Only servers have it, except
/// in mode geo, and for the rules that `ps-share-rules` copies to trainers.
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

/// Attaches `Model`, an implementation of another interface, to each op of the
/// dialect that implements `Interface`. An op that has its own implementation
/// of the other interface keeps it.
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
