//===- RTDescriptorOps.td - Contents of the descriptor -*- tablegen -*-===//
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
  let summary = "The stages of a program and the data that they exchange";
  let description = [{
    Contains the contents of `pdl_program`. Positions in the lists are the
    indices that the stages use in `pdl_step_context`: field i of `fields` is
    `fields[i]`, table l of `lookups` is `lookups[l]`, update u writes
    `gradients[u]`, and output o writes `outputs[o]`.

    - `reads(@record [@a, @b])`: the fields that the program reads.
    - `joined [1, 0]`: pairs of indices of ragged `fields` whose bags must have
      the same length in each sample. Readers report any other row as bad.
    - `ids [#rt.id_range<...>]`: the ids that stage prepare accepts from columns
      of `fields`. Readers report a row with any other id as bad.
    - `lookups [@emb]`: the table of each deduplicated lookup.
    - `updates [@w, @emb] lookup_of [-1, 0]`: the symbol that each gradient
      updates, and for a table the lookup whose keys its rows belong to.
    - `outputs ["output0"] widths [1] types [f32]`: the number of elements of
      each output for a sample, and their type.
    - `counts [0, 2]`: how many numbers follow the gradient of each row of a
      table. Without the list, none do.
    - `objectives [0, 1]`: the objective whose weights divide each gradient.
      Without the list, all belong to one objective. `loss`: compute writes the
      sum of losses and of weights of each objective.
    - `grouped`: compute adds samples to a metric of groups of samples.
    - `prepare(@f, size)`, `compute(@f, size)`: the stage functions
      `(!llvm.ptr) -> i32`, and the bytes that each needs in its arena.

    Constraints:
    - (C1) Stage functions are `func.func` (later `llvm.func`) of the module.
    - (C2) The record is an `nn.record` and has each field. Each lookup names an
      `nn.table`. Each update names an `nn.param` or `nn.table`; a table has its
      lookup, and a parameter has -1.
    - (C3) There are as many widths and types as outputs, and types are f32, f64
      or i64. There are as many `lookup_of` entries as updates. There are as
      many `objectives` as updates, or none, and as many `counts`, or none; only
      tables have counts. In the sizes of both stages, there are as many `keys`
      and `occurrences` entries as lookups, and as many `ids` entries, if any,
      as fields.
    - (C4) A frozen program has neither updates nor `loss`.
    - (C5) `joined` consists of pairs of indices of `fields`. The field of each
      of `ids` is an index of `fields`.

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
    DefaultValuedAttr<TypedArrayAttrBase<RT_IdRangeAttr, "array of ranges of ids">, "{}">:$id_ranges,
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
    (`joined` $joined^)? (`ids` $id_ranges^)? (`lookups` $lookups^)? (`updates` $updates^ `lookup_of` $update_lookups)?
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
  let summary = "Hands a sum of gradients over to the runtime";
  let description = [{
    Used between `ps-to-rt` and `nn-to-rt`, in a trainer's program whose updates
    are applied elsewhere. It takes the place that `nn.update` has in a program
    that applies updates itself. The program writes the gradient to
    `gradients[u]` of its step context. With `early`, stage compute tells the
    runtime when the gradient is complete (`rt.gradient_ready`), so that it can
    be sent while the stage continues.

    Constraints:
    - (C1) The symbol is an `nn.param`, or an `nn.table` and the keys are given.
    - (C2) `early` requires an `nn.param`, because rows are sent together.

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
    Names the function `pdl_group::once` and the scalars that it writes.
    `divisors` are the scalars by which update kernels of the group divide. The
    type of the scalars is that of all symbols that the group updates.

    Constraints:
    - (C1) The symbol is an `nn.group`, and the callee is a function of the
      module.
    - (C2) There is at least one scalar, the sum of weights. All are f32 or f64.
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
  let summary = "The function that applies the rule of a group to a symbol";
  let description = [{
    Names `pdl_symbol::dense_kernel` of a parameter or `pdl_symbol::row_kernel`
    of a table, and the slots of the group's rule with their initial values.

    - `row_slots`: so many of the last slots have one element for each row.
    - `counts`: so many numbers follow the gradient of each row. Their `weights`
      are `pdl_symbol::admission_weights`.
    - `whole_rows`: the kernel of a parameter must be called for whole rows.
    - `whole_parameter`: it is called once for the whole parameter.
    - `frozen_part`: `pdl_symbol::frozen_part`. Frozen programs read this slot,
      counted from 1, instead of the value.
    - `seen`: the function is `pdl_symbol::late_dense_kernel` or
      `pdl_symbol::late_row_kernel`, and also takes the values on which
      gradients were computed.
    - `launches`: the function that a device launches instead of the callee. It
      takes the number of its iterations (elements, or rows with `whole_rows`),
      and the addresses of the value, of each slot, of the gradient, of the
      group's scalars, and of a number (i32). It sets this number to 1 if it
      writes a value that is not finite. For a table, it takes an array of the
      addresses of rows instead of value and slots. Their gradients, with
      counts, are stored one after the other.

    Constraints:
    - (C1) The symbol is an `nn.param` or `nn.table`, and the callee is a
      function of the module.
    - (C2) There are as many initial values as slots, and at most as many row
      slots as slots.
    - (C3) `frozen_part` is not a row slot.
    - (C4) `whole_parameter` requires an `nn.param`, without `whole_rows` and
      row slots.
    - (C5) `counts` require an `nn.table`. There are as many weights as counts,
      or none.
    - (C6) `seen` requires a symbol whose group compensates delays.
    - (C7) The function that a device `launches` is a function of the module,
      without `seen` and `whole_parameter`.

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
