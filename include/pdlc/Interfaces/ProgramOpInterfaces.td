//===- ProgramOpInterfaces.td - What passes ask of ops -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Properties of ops that passes over a model ask for, so that none of them has
// a list of ops.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_PROGRAMOPINTERFACES_TD
#define PDLC_INTERFACES_PROGRAMOPINTERFACES_TD

include "mlir/IR/OpBase.td"

def PhasedOpInterface : OpInterface<"PhasedOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that may not stand in every phase: a pass makes it, or replaces it.
  }];
  let methods = [
    StaticInterfaceMethod<"The phases that the op may stand in.",
      "::pdlc::PhaseSpan", "getPhases">
  ];
}

def SampleMixingOpInterface : OpInterface<"SampleMixingOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op whose results for one sample may depend on other samples of the batch as
    it stands, though that is not what it is for (`MixesSamples`): a model may not
    say that.
  }];
  let methods = [
    InterfaceMethod<[{
      How it does so as it stands here: the end of a sentence that begins with
      the op's name. Nothing if samples stay apart.
    }], "std::optional<std::string>", "mixesSamples">
  ];
}

def CompositeOpInterface : OpInterface<"CompositeOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that others can say: `nn-lower-model` puts them in its place, so that
    it needs no adjoint and no code of its own, and the interpreter evaluates them.
    They may be composite themselves.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the ops that compute the result, and returns it. Null if the op, as it
      stands here, is none that others say: then nothing is built.
    }], "::mlir::Value", "spellOut", (ins "::mlir::ImplicitLocOpBuilder &":$builder)>
  ];
}

def DrawingOpInterface : OpInterface<"DrawingOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op that draws random numbers. `nn-lower-model` gives each a stream of its own,
    which stays what it is whatever later passes do.
  }];
  let methods = [
    InterfaceMethod<"The number of its stream; null in phase `model`.",
      "std::optional<uint64_t>", "getDrawStream", (ins), "", [{
      return $_op.getStream();
    }]>,
    InterfaceMethod<"Sets the stream.",
      "void", "setDrawStream", (ins "uint64_t":$number), "", [{
      $_op.setStream(number);
    }]>,
    InterfaceMethod<[{
      What stands for the result in a program that is frozen; null if it draws
      there, too.
    }], "::mlir::Value", "getFrozenValue", (ins), "", [{
      return {};
    }]>
  ];
}

def RowsOpInterface : OpInterface<"RowsOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op whose tensors do not all count the same things in their dynamic first
    dimension. That dimension counts samples, or the ids of bags (a ragged value);
    of any other op with a result, all operands and results count the same.
  }];
  let methods = [
    InterfaceMethod<[{
      The ragged value whose ids the operand's first dimension counts; null for
      samples.
    }], "::mlir::Value", "getRowsOfOperand", (ins "::mlir::OpOperand &":$operand)>,
    InterfaceMethod<"... of the result.",
      "::mlir::Value", "getRowsOfResult">,
    InterfaceMethod<[{
      Whether that holds for the op as it stands here; else it is like any other.
    }], "bool", "leadsToOtherRows", (ins), "", [{
      return true;
    }]>
  ];
}

def BagsOpInterface : OpInterface<"BagsOpInterface"> {
  let cppNamespace = "::pdlc";
  let description = [{
    An op on the rows of bags. In phase `model` its operand `bags` is ragged; from
    `merged` on it is the splits of the bags, and an op that makes rows has an
    operand `like` that says how many there are.
  }];
  let methods = [
    InterfaceMethod<"The ragged value, or the splits; null for an op of samples.",
      "::mlir::Value", "getBagsOperand", (ins), "", [{
      return $_op.getBags();
    }]>,
    InterfaceMethod<"Puts ids and splits in place of the ragged value.",
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
    An op with bodies: each of its regions is one block of ops that compute, which
    see nothing but the arguments of the block. Arguments are rows of operands, or
    operands as they are.
  }];
  let methods = [
    InterfaceMethod<[{
      The argument of a body that is `value` as it is. If there is none, the value
      becomes an operand, and an argument of each body.
    }], "::mlir::Value", "share", (ins "::mlir::Block &":$body, "::mlir::Value":$value)>,
    InterfaceMethod<[{
      The operand that counts as much in its first dimension as the argument of a
      body; null for an argument that is one row, or that has a static shape.
    }], "::mlir::Value", "getCounted", (ins "::mlir::BlockArgument":$argument)>,
    InterfaceMethod<[{
      The arguments of the bodies that no operand holds: they need memory.
    }], "::llvm::ArrayRef<::mlir::BlockArgument>", "getStateArguments", (ins), "", [{
      return {};
    }]>
  ];
}

// Traits; ProgramOpInterfaces.h says what they mean.
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
