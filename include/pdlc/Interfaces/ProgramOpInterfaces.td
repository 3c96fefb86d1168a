//===- ProgramOpInterfaces.td - Properties of ops for passes -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Properties of ops that passes query, so that passes need no lists of ops.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_PROGRAMOPINTERFACES_TD
#define PDLC_INTERFACES_PROGRAMOPINTERFACES_TD

include "mlir/IR/OpBase.td"

def PhasedOpInterface : OpInterface<"PhasedOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that may occur only in some phases, because a pass creates it or
    replaces it.
  }];
  let methods = [
    StaticInterfaceMethod<"Returns the phases in which the op may occur.",
      "::pdlc::PhaseSpan", "getPhases">
  ];
}

def SampleMixingOpInterface : OpInterface<"SampleMixingOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op whose results for one sample may depend on other samples of the batch,
    although this is not its purpose (see `MixesSamples`). A model must not
    contain such a use of the op.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns how the op mixes samples in this use, as the end of an error
      message that starts with the name of the op. Returns nothing if samples
      stay separate.
    }], "std::optional<std::string>", "mixesSamples">
  ];
}

def CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that expands to other ops. `nn-lower-model` replaces it by them, so it
    needs no adjoint and no lowering of its own. The interpreter evaluates the
    expansion. The other ops may be composite too.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the ops that compute the result, and returns it. Returns null, and
      builds nothing, if this use of the op does not expand.
    }], "::mlir::Value", "spellOut", (ins "::mlir::ImplicitLocOpBuilder &":$builder)>
  ];
}

def DrawingOpInterface : OpInterface<"DrawingOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that draws random numbers. `nn-lower-model` gives each such op its own
    stream, which later passes do not change.
  }];
  let methods = [
    InterfaceMethod<"Returns the number of its stream, or null in phase `model`.",
      "std::optional<uint64_t>", "getDrawStream", (ins), "", [{
      return $_op.getStream();
    }]>,
    InterfaceMethod<"Sets the stream.",
      "void", "setDrawStream", (ins "uint64_t":$number), "", [{
      $_op.setStream(number);
    }]>,
    InterfaceMethod<[{
      Returns the value that replaces the result in a frozen program, or null if
      the op draws there too.
    }], "::mlir::Value", "getFrozenValue", (ins), "", [{
      return {};
    }]>
  ];
}

def RowsOpInterface : OpInterface<"RowsOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that combines tensors whose dynamic first dimensions count different
    things. Such a dimension counts samples, or the ids of a ragged value. The
    operands and results of any other op with a result must all count the same
    things.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the ragged value whose ids the operand's first dimension counts,
      or null for samples.
    }], "::mlir::Value", "getRowsOfOperand", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<"Returns the same for the result.",
      "::mlir::Value", "getRowsOfResult">,
    InterfaceMethod<[{
      Returns true if this use of the op combines tensors that count different
      things. Otherwise, the op is checked like an op without this interface.
    }], "bool", "leadsToOtherRows", (ins), "", [{
      return true;
    }]>
  ];
}

def BagsOpInterface : OpInterface<"BagsOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op on the rows of bags. In phase `model`, its operand `bags` is ragged.
    From `merged` on, it is the splits of the bags. An op that creates rows then
    has an operand `like`, which gives their number.
  }];
  let methods = [
    InterfaceMethod<"Returns the ragged value or the splits, or null for an op of samples.",
      "::mlir::Value", "getBagsOperand", (ins), "", [{
      return $_op.getBags();
    }]>,
    InterfaceMethod<"Replaces the ragged value by ids and splits.",
      "void", "setExplicitBags", (ins "::mlir::Value":$ids, "::mlir::Value":$splits), "", [{
      $_op.getBagsMutable().assign(splits);
      if constexpr (requires { $_op.getLikeMutable(); })
        $_op.getLikeMutable().assign(ids);
    }]>
  ];
}

def BodyOpInterface : OpInterface<"BodyOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op with bodies. Each of its regions is one block of ops that only compute
    and use only the arguments of the block. Arguments are rows of operands, or
    whole operands.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the argument of a body that is equal to `value`. If there is none,
      adds the value as an operand, and as an argument of each body.
    }], "::mlir::Value", "share", (ins "::mlir::Block &":$body, "::mlir::Value":$value)>,
    InterfaceMethod<[{
      Returns the operand whose first dimension has the same size as that of a
      body's argument. Returns null for an argument that is one row, or that has
      a static shape.
    }], "::mlir::Value", "getCounted", (ins "::mlir::BlockArgument":$argument)>,
    InterfaceMethod<[{
      Returns the arguments of the bodies that are states. Their values come
      from the previous row and not from an operand, so they need memory.
    }], "::llvm::ArrayRef<::mlir::BlockArgument>", "getStateArguments", (ins), "", [{
      return {};
    }]>
  ];
}

// Traits; ProgramOpInterfaces.h documents them.
class PDLC_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::pdlc"; }
def ReadsModel : PDLC_Trait<"ReadsModel">;
def PreparesStep : PDLC_Trait<"PreparesStep">;
def AppliesStep : PDLC_Trait<"AppliesStep">;
def AccumulatesState : PDLC_Trait<"AccumulatesState">;
def HoldsState : PDLC_Trait<"HoldsState">;
def MixesSamples : PDLC_Trait<"MixesSamples">;
def MeasuresLoss : PDLC_Trait<"MeasuresLoss">;
def SharedByRoles : PDLC_Trait<"SharedByRoles">;
def OwnedByServers : PDLC_Trait<"OwnedByServers">;
def StopsGradients : PDLC_Trait<"StopsGradients">;

// The phases of an op, as the initializer of a PhaseSpan.
class PDLC_HasPhases<string span> : NativeOpTrait<"HasPhases", [], [{
  static ::pdlc::PhaseSpan getPhases() { return ::pdlc::PhaseSpan}] # span # [{; }
}]> {
  let cppNamespace = "::pdlc";
}
class StandsIn<string first, string maker, string last, string fate> : TraitList<[
  PhasedOpInterface,
  PDLC_HasPhases<"{::pdlc::Phase::" # first # ", ::pdlc::Phase::" # last # ", \"" #
                 maker # "\", \"" # fate # "\"}">]>;
class StandsFrom<string first, string maker> : StandsIn<first, maker, "LLVM", "">;
class StandsUntil<string last, string fate> : StandsIn<"Model", "", last, fate>;

#endif // PDLC_INTERFACES_PROGRAMOPINTERFACES_TD
