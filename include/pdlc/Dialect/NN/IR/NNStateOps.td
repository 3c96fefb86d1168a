//===- NNStateOps.td - Parameters, states, tables, metrics -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNSTATEOPS_TD
#define PDLC_DIALECT_NN_IR_NNSTATEOPS_TD

include "mlir/Interfaces/FunctionInterfaces.td"
include "pdlc/Dialect/NN/IR/NNAttributes.td"

def NN_ParamOp : NN_Op<"param", [Symbol, HoldsState, SharedByRoles,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A dense trained tensor";
  let description = [{
    Declares a dense tensor that the rule of its group trains.

    Constraints:
    - (C1) The type is a static float tensor without empty dimensions. It has at
      most 2^40 elements.
    - (C2) The group, if given, names an `nn.group`. A parameter without a group
      is never trained.
    - (C3) `#nn.xavier` and the other fan-based initializers require rank 2.
      Initial values are finite in f32, because programs of all element types
      draw them in f32.
    - (C4) The name does not end in `.keys` or `.values` and does not contain
      `.slot.`. Dumps use these names for parts of tables and for slots.

    Example:
    ```mlir
    nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
    OptionalAttr<FlatSymbolRefAttr>:$group, AnyAttr:$init);
  let assemblyFormat = [{
    $sym_name `:` $type `` custom<StateClauses>($group, $init) attr-dict
  }];
  let hasVerifier = 1;
}

def NN_StateOp : NN_Op<"state", [Symbol, HoldsState, SharedByRoles]> {
  let summary = "A dense tensor that is not trained";
  let description = [{
    Declares a constant of the model that comes from outside, such as feature
    means or a frozen vector. It is read, loaded and dumped like a parameter,
    but no optimizer changes it.

    Constraints:
    - (C1) The type is a static float tensor without empty dimensions. It has at
      most 2^40 elements.
    - (C3) Initial values are as for a parameter (`nn.param`, C3).
    - (C4) The name is as for a parameter (`nn.param`, C4).

    Example:
    ```mlir
    nn.state @mean : tensor<13xf32> init(#nn.zeros)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, AnyAttr:$init);
  let assemblyFormat = "$sym_name `:` $type `init` `(` $init `)` attr-dict";
  let hasVerifier = 1;
}

def NN_TableOp : NN_Op<"table", [Symbol, HoldsState, SharedByRoles,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An embedding table from 64-bit keys to rows, which grows as keys are trained";
  let description = [{
    Maps every key to a row. All 2^64 keys are legal. A row that was never
    trained has its initial value, which depends only on the seed, the table and
    the key. A lookup is therefore a pure read.

    `unknown(zero)`: for keys that were never trained, frozen programs read
    zeros instead of the initial value.

    `stored(bf16)`, `stored(f16)`: quantized rows. The values of rows are stored
    in 16 bits each, and are read, updated and exported in f32. Slots stay in
    f32. Initial values, and those loaded from a file, are rounded to the
    nearest number. Updated values use stochastic rounding: they are rounded up
    or down with the probability that keeps their mean. The random numbers
    depend only on the seed, table, key, element and number of the group's
    update (pdlabi/rounding.h). An update beyond the largest finite number
    (65504 in f16) stops the training, like every update that is not finite.

    By default, every key that is trained gets a row, and the row is kept
    forever. Two clauses, for feature admission and for eviction, limit the
    number of rows:

    - `admit(count = 10)`: a key gets its row in the update that brings its
      occurrences to ten. Occurrences are counted in the lookups of training
      programs, over all replicas, since the first step. This update is the
      first one that is applied to the row. Until then, training programs read
      the initial value of the key.
    - `admit(probability = 0.1)`: a tenth of all keys can ever get rows. They
      are drawn by seed, table and key. The other keys never get one.
    - `admit(score = 2.0) score(show = 0.1, click = 0.9)`: a key gets its row in
      the update that brings its accumulated score to two. In each update, the
      key scores the weighted sum of its counts (`nn.count`) with these names,
      or 0 if the sum is negative. The score is kept as a fraction of
      `score = 2.0`, rounded up to a whole number of 16384ths
      (pdlabi/admission.h). The row starts like every new row, so its slots hold
      only what was counted after its creation.
    - `shrink(every = 10000, unseen = 7)`: a period ends after each 10000
      updates of the group. A row that was not updated in the last seven periods
      is evicted at the end of the seventh. The count or score of a key without
      a row expires in the same way. A key that occurs again starts as a new
      key.
    - `shrink` with `score(show = 0.1, click = 0.9)`: a row has a score, which
      is the weighted sum of these row slots of its rule. At the end of each
      period, `decay = 0.98` first multiplies the slots. A row whose score is
      then below `least = 0.5` is evicted too. The score of a key without a row
      is multiplied likewise, and rounded down to a 16384th.

    `widen(from = 1, score = 2.0) score(show = 0.1, click = 0.9)`: a table with
    deferred embedding vectors. A row has its first column, the weight, from its
    creation. It gets the other columns, the vector, only after the key has
    scored two, as with `admit(score = 2.0)`. Until then, no program trains the
    vector: training programs read its initial values, and frozen programs read
    these or zeros, according to `unknown`. `init = #nn.uniform<-0.1, 0.1>` in
    this clause gives the vector initial values of its own. Phase `merged` moves
    the vector into a table of its own, `@NAME.vector` (`nn-split-tables`).
    Checkpoints, dumps and messages use this name.

    Constraints:
    - (C1) The key type is i64. The row is a static float tensor of rank 1 with
      at most 1048576 elements.
    - (C2) The group, if given, names an `nn.group`.
    - (C3) Initial values are as for a parameter (`nn.param`, C3).
    - (C4) The name is as for a parameter (`nn.param`, C4).
    - (C5) Rows that are stored in 16 bits have type f32. Their initial values
      are finite in these 16 bits.
    - (C6) `admit` and `shrink` require a group. Keys are admitted by a count
      from 1 to 16383, by a probability above 0 and at most 1, or by a finite
      score above 0.
    - (C7) A period has at least one update. `unseen` is from 1 to 16384
      periods. `decay` is above 0 and at most 1. `least` is finite.
    - (C8) Weights of a score are finite numbers. They name row slots of the
      group's rule if the table shrinks with `decay` or `least`, and counts of
      that rule if it admits or widens by a score (checked by
      `nn-expand-updates`). `score(...)` is given exactly if the table has one
      of these.
    - (C9) A table that widens has a group. Both parts have columns. The score
      is finite and above 0. Its `admit` clause must not exclude a vector
      forever: it is not a probability, and not a score above that of the
      vector. With `least`, no weight of the score is negative. Initial values
      of the vector are as in (C3) and (C5).
    - (C10) No other symbol has the name of the vector.

    Example:
    ```mlir
    nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-0.01, 0.01>)
    nn.table @user : i64 -> tensor<32xf32> in @sparse init(#nn.zeros) stored(bf16)
    nn.table @item : i64 -> tensor<32xf32> in @sparse init(#nn.zeros) admit(count = 10) shrink(every = 10000, unseen = 7)
    nn.table @ad : i64 -> tensor<9xf32> in @clicks init(#nn.zeros) score(show = 0.1, click = 0.9) widen(from = 1, score = 2.0, init = #nn.uniform<-0.1, 0.1>)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$key, TypeAttr:$row,
    OptionalAttr<FlatSymbolRefAttr>:$group, AnyAttr:$init,
    OptionalAttr<NN_UnknownAttr>:$unknown, OptionalAttr<NN_StorageAttr>:$stored,
    OptionalAttr<I64Attr>:$admit_count, OptionalAttr<F64Attr>:$admit_probability,
    OptionalAttr<F64Attr>:$admit_score, OptionalAttr<I64Attr>:$shrink_every, OptionalAttr<I64Attr>:$shrink_unseen,
    OptionalAttr<F64Attr>:$shrink_decay, OptionalAttr<F64Attr>:$shrink_least,
    OptionalAttr<DictionaryAttr>:$score, OptionalAttr<I64Attr>:$widen_from,
    OptionalAttr<F64Attr>:$widen_score, OptionalAttr<AnyAttr>:$widen_init);
  let assemblyFormat = [{
    $sym_name `:` $key `->` $row ``
    custom<TableClauses>($group, $init, $unknown, $stored, $admit_count,
      $admit_probability, $admit_score, $shrink_every, $shrink_unseen, $shrink_decay, $shrink_least,
      $score, $widen_from, $widen_score, $widen_init) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getRowType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getRow());
    }
    int64_t getWidth() { return getRowType().getNumElements(); }
    /// Returns true if the table has a clause `admit`: keys must then qualify
    /// before they get rows.
    bool admits() { return getAdmitCount() || getAdmitProbability() || getAdmitScore(); }
    /// Returns true if the scores of rows have an effect at the end of a
    /// period.
    bool shrinksByScore() { return getShrinkDecay() || getShrinkLeast(); }
    /// Returns true if the set of rows depends on when keys were trained.
    bool hasLife() { return admits() || getShrinkEvery(); }
    /// Returns true if rows get some of their columns later. The op then stands
    /// for two tables; the second one has these columns and the name
    /// `getVectorName`.
    bool widens() { return getWidenFrom().has_value(); }
    std::string getVectorName() { return (getSymName() + ".vector").str(); }
    /// Return the types of the two parts of a table with the clause `widen`:
    /// the columns before `from` (the weight), and the columns from `from` on
    /// (the vector). `getVectorInit` returns the initial values of the vector.
    ::mlir::RankedTensorType getWeightType();
    ::mlir::RankedTensorType getVectorType();
    ::mlir::Attribute getVectorInit() { return getWidenInitAttr() ? getWidenInitAttr() : getInit(); }
    /// Removes the group, and the clauses for admission and eviction.
    void forgetGroup();
    /// Returns the names of the attributes that `forgetGroup` removes.
    static ::llvm::ArrayRef<::llvm::StringLiteral> getNamesOfGroup();
  }];
}

def NN_MetricOp : NN_Op<"metric", [Symbol]> {
  let summary = "A metric over many batches";
  let description = [{
    Declares a metric. `nn.observe` gives it values, and the kind says how they
    are combined.

    Constraints:
    - (C1) The kind is an attribute with `MetricAttrInterface`.

    Example:
    ```mlir
    nn.metric @auc : #nn.auc<buckets = 4096>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, AnyAttr:$kind);
  let assemblyFormat = "$sym_name `:` $kind attr-dict";
  let hasVerifier = 1;
}

#endif // PDLC_DIALECT_NN_IR_NNSTATEOPS_TD
