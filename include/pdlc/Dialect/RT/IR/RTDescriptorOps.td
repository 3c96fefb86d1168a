//===- RTDescriptorOps.td - What the descriptor says -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RTDESCRIPTOROPS_TD
#define PDLC_DIALECT_RT_IR_RTDESCRIPTOROPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "pdlc/Dialect/RT/IR/RTDialect.td"

def RT_SymbolRefArrayAttr : TypedArrayAttrBase<FlatSymbolRefAttr, "array of symbols">;

def RT_ProgramOp : RT_Op<"program", [Symbol,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The stages of a program and what they exchange";
  let description = [{
    All that `pdl_program` says. Positions in the lists are the indices that the
    stages use in `pdl_step_context`: field i of `fields` is `fields[i]`, table l
    of `lookups` is `lookups[l]`, update u writes `gradients[u]`, output o
    `outputs[o]`.

    - `reads(@record [@a, @b])`: the fields that the program reads.
    - `joined [1, 0]`: pairs of indices of ragged `fields` whose bags have to be
      equally long in each sample; readers then tell the row that is bad.
    - `lookups [@emb]`: the table of each deduplicated lookup.
    - `updates [@w, @emb] lookup_of [-1, 0]`: which symbol each gradient
      updates, and for a table the lookup whose keys its rows belong to.
    - `outputs ["output0"] widths [1] types [f32]`: elements a sample of each
      output, and their type.
    - `counts [0, 2]`: how many numbers stand behind the gradient of each row of a
      table; without the list none.
    - `objectives [0, 1]`: whose weights divide each gradient; without the list, all
      are of one. `loss`: compute writes the sum of losses and of weights of each
      objective.
    - `grouped`: compute feeds a metric of groups of samples.
    - `prepare(@f, size)`, `compute(@f, size)`: the stage functions
      `(!llvm.ptr) -> i32` and the bytes that each needs in its arena.

    Constraints:
    - (C1) Stage functions are `func.func` (later `llvm.func`) of the module.
    - (C2) The record is an `nn.record` and has each field; each lookup names an
      `nn.table`; each update names an `nn.param` or `nn.table`, a table with
      its lookup, a parameter with -1.
    - (C3) As many widths and types as outputs, types f32, f64 or i64, `lookup_of` entries as updates, as many `objectives`
      or none, as many `counts` or none, of which only tables have some, and `keys` and `occurrences` entries of both sizes as lookups, and `ids`
      entries, where there are any, as fields.
    - (C4) A frozen program has neither updates nor `loss`.
    - (C5) `joined` has pairs of indices of `fields`.

    Example:
    ```mlir
    rt.program @train reads(@clicks [@label, @cat]) lookups [@emb]
      updates [@w, @emb] lookup_of [-1, 0] outputs ["output0"] widths [1] types [f32] loss
      prepare(@train_prepare, <0 + 0 * batch, keys(0), occurrences(4)>)
      compute(@train_compute, <64 + 1600 * batch, keys(40), occurrences(0)>)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, UnitAttr:$frozen,
    FlatSymbolRefAttr:$record, RT_SymbolRefArrayAttr:$fields,
    DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$joined,
    DefaultValuedAttr<RT_SymbolRefArrayAttr, "{}">:$lookups,
    DefaultValuedAttr<RT_SymbolRefArrayAttr, "{}">:$updates,
    DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$update_lookups,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$update_counts,
    DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$update_objectives,
    DefaultValuedAttr<StrArrayAttr, "{}">:$output_names,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$output_widths,
    DefaultValuedAttr<TypeArrayAttr, "{}">:$output_types,
    UnitAttr:$has_loss, UnitAttr:$grouped, FlatSymbolRefAttr:$prepare, RT_SizeAttr:$prepare_arena,
    FlatSymbolRefAttr:$compute, RT_SizeAttr:$compute_arena);
  let assemblyFormat = [{
    $sym_name (`frozen` $frozen^)? `reads` `(` $record $fields `)`
    (`joined` $joined^)? (`lookups` $lookups^)? (`updates` $updates^ `lookup_of` $update_lookups)?
    (`counts` $update_counts^)? (`objectives` $update_objectives^)?
    (`outputs` $output_names^ `widths` $output_widths `types` $output_types)?
    (`loss` $has_loss^)? (`grouped` $grouped^)?
    `prepare` `(` $prepare `,` $prepare_arena `)`
    `compute` `(` $compute `,` $compute_arena `)` attr-dict
  }];
  let hasVerifier = 1;
}

def RT_GradientOp : RT_Op<"gradient", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A sum of gradients that the runtime takes";
  let description = [{
    In an `nn.program` of a trainer whose state is elsewhere, between `ps-to-rt`
    and `nn-to-rt`: what `nn.update` is in a program that owns its state. The
    program writes the gradient to `gradients[u]` of its step context. With
    `early` stage compute tells the runtime when it has (`rt.gradient_ready`), so
    that the gradient may leave while the stage goes on.

    Constraints:
    - (C1) The symbol is an `nn.param`, or an `nn.table` and the keys are given.
    - (C2) What is `early` is of an `nn.param`: rows leave together.

    Example:
    ```mlir
    rt.gradient @emb keys(%keys : tensor<?xi64>) sum(%g : tensor<?x10xf32>)
    rt.gradient @w sum(%gw : tensor<10x4xf32>) early
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, Optional<AnyRankedTensor>:$keys,
    AnyRankedTensor:$gradient, UnitAttr:$early);
  let assemblyFormat = [{
    $symbol (`keys` `(` $keys^ `:` type($keys) `)`)? `sum` `(` $gradient `:` type($gradient) `)`
    (`early` $early^)? attr-dict
  }];
}

def RT_OnceKernelOp : RT_Op<"once_kernel", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The function that runs once for a group and step";
  let description = [{
    `pdl_group::once`, the names of the scalars that it writes, which of them
    the group's update kernels divide by, and their type, which is that of all
    symbols that the group updates.

    Constraints:
    - (C1) The symbol is an `nn.group`, the callee a function of the module.
    - (C2) At least one scalar, which is the sum of weights; all are f32 or f64.
    - (C3) Divisors are indices of scalars.

    Example:
    ```mlir
    rt.once_kernel @dense calls @once_dense scalars ["sum of weights", "rate"] divisors [0] : f32
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$group, FlatSymbolRefAttr:$callee,
    StrArrayAttr:$scalar_names, DefaultValuedAttr<DenseI32ArrayAttr, "{}">:$divisors,
    TypeAttr:$element_type);
  let assemblyFormat = [{
    $group `calls` $callee `scalars` $scalar_names (`divisors` $divisors^)? `:` $element_type
    attr-dict
  }];
  let hasVerifier = 1;
}

def RT_UpdateKernelOp : RT_Op<"update_kernel", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The function that applies a group's rule to a symbol";
  let description = [{
    `pdl_symbol::dense_kernel` of a parameter, `pdl_symbol::row_kernel` of a
    table; the slots of the group's rule, with their initial values. The last
    `row_slots` of them have one element for each row, and `counts` numbers stand
    behind the gradient of each row; their `weights` are `pdl_symbol::admission_weights`. `whole_rows` says that the
    kernel of a parameter must be called for whole rows, `whole_parameter` that it is
    called once for all of it. `frozen_part` is
    `pdl_symbol::frozen_part`: frozen programs read that slot, counted from 1, in the
    place of the value. With `seen` the function is `pdl_symbol::late_dense_kernel` or
    `pdl_symbol::late_row_kernel`, and takes the values on which gradients were computed.
    What a device `launches` in the place of the callee takes the number of its turns
    (elements, or rows with `whole_rows`), the addresses of the value, of each slot, of the
    gradient and of the group's scalars, and that of a number (i32) that it sets to 1 where
    what it writes is not finite. Of a table it takes, in the place of value and slots, an array
    of the addresses of rows, whose gradients stand one behind the other with their counts.

    Constraints:
    - (C1) The symbol is an `nn.param` or `nn.table`, the callee a function of
      the module.
    - (C2) As many initial values as slots, and no more row slots than slots.
    - (C3) `frozen_part` is none of the row slots.
    - (C4) `whole_parameter` is of an `nn.param`, without `whole_rows` and row slots.
    - (C5) `counts` are of an `nn.table`; there are as many weights, or none.
    - (C6) `seen` is of a symbol whose group compensates delays.
    - (C7) What a device `launches` is a function of the module, without
      `seen` and `whole_parameter`.

    Example:
    ```mlir
    rt.update_kernel @w calls @update_w slots ["m", "v"] from [0.0, 0.0]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, FlatSymbolRefAttr:$callee,
    OptionalAttr<FlatSymbolRefAttr>:$on_device,
    DefaultValuedAttr<StrArrayAttr, "{}">:$slot_names,
    DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$slot_values,
    DefaultValuedAttr<I32Attr, "0">:$row_slots,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$counts,
    DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$count_weights, UnitAttr:$whole_rows,
    UnitAttr:$whole_parameter, DefaultValuedAttr<I32Attr, "0">:$frozen_part,
    UnitAttr:$seen);
  let assemblyFormat = [{
    $symbol `calls` $callee (`launches` $on_device^)? (`slots` $slot_names^ `from` $slot_values)?
    (`row_slots` `(` $row_slots^ `)`)? (`counts` `(` $counts^ `)`)? (`weights` $count_weights^)? (`whole_rows` $whole_rows^)?
    (`whole_parameter` $whole_parameter^)?
    (`frozen_part` `(` $frozen_part^ `)`)? (`seen` $seen^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_RT_IR_RTDESCRIPTOROPS_TD
