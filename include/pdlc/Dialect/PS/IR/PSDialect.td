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
    What cutting a model in two needs: who may own what (`ps.blocks`,
    `ps.shards`), what travels (`ps.channel`, `ps.message`), where it leaves and
    arrives in a trainer's program, and what servers do with it
    (`ps.handler`). Nothing here knows how many trainers or servers there are:
    that is decided when programs start.

    From phase `placed` on, in the modes with servers. The module says its
    mode in `ps.mode`. In phase `roles` it holds two modules, `@trainer` and
    `@pserver`, each with `ps.role`, that share no symbol: they meet at channels
    of equal numbers, whose layout both declare.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    /// Module attributes: a `#ps.mode`; "trainer" or "pserver"; and, of both
    /// roles, 16 hexadecimal digits that differ where mode, layouts, units
    /// or channels do.
    static constexpr ::llvm::StringLiteral kModeAttrName = "ps.mode";
    static constexpr ::llvm::StringLiteral kRoleAttrName = "ps.role";
    static constexpr ::llvm::StringLiteral kWireAttrName = "ps.wire";
  }];
}

class PS_Op<string mnemonic, list<Trait> traits = []>
    : Op<PS_Dialect, mnemonic, traits>;

def PS_Token : TypeDef<PS_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Something was sent";
  let description = "What an op that waits names, to say what it waits behind.";
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
    The attribute `ps.mode` of a module whose state is dealt to owners. Passes ask
    its properties, and compare no names:

    | mode | parameters are with | tables are with | a step is a round of all trainers | each worker sends by itself | a worker forms norms itself |
    |---|---|---|---|---|---|
    | `local` | the process | the process | yes | | |
    | `sync` | servers | servers | yes | | |
    | `async` | servers | servers | | yes | yes |
    | `half_async` | servers | servers | | | yes |
    | `quorum` | servers | servers | of those that come first | | yes |
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
