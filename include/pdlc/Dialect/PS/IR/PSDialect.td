//===- PSDialect.td - The distribution dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_PS_IR_PSDIALECT_TD
#define PDLC_DIALECT_PS_IR_PSDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def PS_Dialect : Dialect {
  let name = "ps";
  let cppNamespace = "::pdlc::ps";
  let summary = "A model that trainers and servers share";
  let description = [{
    Splits a model between trainers and servers. The dialect describes the units
    that have owners (`ps.blocks`, `ps.shards`), the data that is sent
    (`ps.channel`, `ps.message`), the places in a trainer's program that send
    and receive it, and the work of servers (`ps.handler`). It does not contain
    the numbers of trainers and servers, which are chosen when the programs
    start.

    It is used from phase `placed` on, in the modes with servers. The attribute
    `ps.mode` of the module names the mode. In phase `roles`, the module
    contains two modules, `@trainer` and `@pserver`, each with `ps.role`. They
    share no symbol. They communicate through channels with equal numbers, whose
    layout both declare.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    /// Module attributes. The mode is a `#ps.mode`. The role is "trainer" or
    /// "pserver". The wire, on both roles, is a digest of mode, units, channels
    /// and messages, with 16 hexadecimal digits.
    static constexpr ::llvm::StringLiteral kModeAttrName = "ps.mode";
    static constexpr ::llvm::StringLiteral kRoleAttrName = "ps.role";
    static constexpr ::llvm::StringLiteral kWireAttrName = "ps.wire";
  }];
}

class PS_Op<string mnemonic, list<Trait> traits = []>
    : Op<PS_Dialect, mnemonic, traits>;

def PS_Token : TypeDef<PS_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Token of a completed send";
  let description = "Lets an op that waits name the sends that it waits for.";
}

def PS_Mode : I32EnumAttr<"Mode", "how trainers share a model", [
    I32EnumAttrCase<"local", 0>, I32EnumAttrCase<"sync", 1>,
    I32EnumAttrCase<"async", 2>, I32EnumAttrCase<"half_async", 3>,
    I32EnumAttrCase<"quorum", 4>, I32EnumAttrCase<"collective", 5>,
    I32EnumAttrCase<"hybrid", 6>, I32EnumAttrCase<"geo", 7>]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::pdlc::ps";
}
def PS_ModeAttr : EnumAttr<PS_Dialect, PS_Mode, "mode"> {
  let summary = "How trainers share a model";
  let description = [{
    The attribute `ps.mode` of a module whose state is assigned to owners.
    Passes query its properties and do not compare names:

    | mode | owner of parameters | owner of tables | a step is a round of all trainers | each worker sends separately | a worker computes norms itself |
    |---|---|---|---|---|---|
    | `local` | the process | the process | yes | | |
    | `sync` | servers | servers | yes | | |
    | `async` | servers | servers | | yes | yes |
    | `half_async` | servers | servers | | | yes |
    | `quorum` | servers | servers | of the first ones that arrive | | yes |
    | `collective` | trainers | trainers | yes | | |
    | `hybrid` | trainers | servers | yes | | |
    | `geo` | servers; trainers apply rules to a copy | the same | | | yes |

    Example:
    ```mlir
    module attributes {ps.mode = #ps.mode<sync>} {}
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
  let extraClassDeclaration = [{
    const ::pdlc::ps::ModeProperties &getProperties() const;
  }];
}

#endif // PDLC_DIALECT_PS_IR_PSDIALECT_TD
