//===- NNSymbolOps.td - Symbols of a model -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNSYMBOLOPS_TD
#define PDLC_DIALECT_NN_IR_NNSYMBOLOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "pdlc/Dialect/NN/IR/NNAttributes.td"
include "pdlc/Dialect/NN/IR/NNTypes.td"

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

def NN_RecordOp : NN_Op<"record", [Symbol, SymbolTable, NoTerminator,
    NoRegionArguments, SingleBlock, IsolatedFromAbove]> {
  let summary = "What one sample is";
  let description = [{
    Lists the fields of one sample, in file order. Readers, serving and checks
    all use this one declaration.

    - `missing_texts([...])`: texts of cells, of values in a bag and of texts in
      requests that say that a value is missing, in all fields; default: `?`. The
      empty text always says so.

    Constraints:
    - (C1) The body holds `nn.field` ops only.
    - (C2) A model has one record (checked by `nn-check-model`).
    - (C3) A missing text is not empty and has no blank at an end: cells are
      compared without such blanks.

    Example:
    ```mlir
    nn.record @clicks {
      nn.field @label : tensor<?x1xf32>
      nn.field @category : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>)
    }
    nn.record @exported missing_texts(["NULL", "NA", "\\N"]) {
      nn.field @price : tensor<?x1xf32> missing(0.0)
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrArrayAttr>:$missing_texts);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`missing_texts` `(` $missing_texts^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def NN_FieldOp : NN_Op<"field", [Symbol, HasParent<"RecordOp">]> {
  let summary = "One field of a record";
  let description = [{
    A field holds raw typed values; every transform of a feature is an op of
    the model. A float tensor `tensor<?xNxf32>` reads N numeric columns, an
    integer tensor `tensor<?xNxi64>` N ids that are always present, a ragged
    type N bags of ids, or of numbers: `!nn.ragged<?xNx*xf32>`.

    - `hash(...)`: how text becomes a key; default: a decimal integer is the key.
    - `missing(v)`: what stands for a missing value: a number for float fields,
      a string (hashed like any other text) for id fields. Without it a missing
      number or tensor id makes the row bad, and a missing ragged cell is an
      empty bag.
    - `missing_element(v)`: what stands for a missing value among others of a bag,
      so that bags of several fields keep their positions (`nn.same_bags`); written
      as `missing`. Without it a missing id of a bag is left out, a missing number
      is what `missing` says, else the row is bad, and a separator at the end of a
      cell only ends the last value.
    - `values({...})`: texts that stand for numbers, such as label names.
    - `columns([...])`: positions (from 0) or header names of the columns; default:
      the columns that follow those of the previous field.
    - `separator("|")`: several ids or numbers in one cell (ragged fields).

    Clauses may stand in any order.

    Constraints:
    - (C1) The type is `tensor<?xNx(f32|f64|i64)>` or ragged with two dimensions
      before `*`, 1 <= N <= 1048576.
    - (C2) `hash` and `separator` need ids; `values` needs floats and maps
      to numbers that are finite in the field's element type (checked by
      `nn-check-model`, which knows that type); `separator` needs a ragged type and is one ASCII character.
    - (C3) `missing_element` needs a ragged type. It and `missing` are a number for float fields, finite as (C2) says, a string for id fields
      with `hash`, a 64-bit integer for id fields without.
    - (C4) `columns` has N entries, all positions (>= 0, < 2^31) or all names.
    - (C5) No field has the name of a ragged one with `.values` or `.splits` behind
      it: files of batches give such names to the two parts of a ragged field.

    Example:
    ```mlir
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
    OptionalAttr<NN_HashAttr>:$hash, OptionalAttr<AnyAttr>:$missing,
    OptionalAttr<AnyAttr>:$missing_element, OptionalAttr<DictionaryAttr>:$values, OptionalAttr<ArrayAttr>:$columns,
    OptionalAttr<StrAttr>:$separator);
  let assemblyFormat = [{
    $sym_name `:` $type ``
    custom<FieldClauses>($hash, $missing, $missing_element, $values, $columns, $separator)
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Columns (slots) of one sample.
    int64_t getWidth();
    bool isRagged();
    bool isFloat();
  }];
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

def NN_ParamOp : NN_Op<"param", [Symbol, HoldsState, SharedByRoles,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A dense trained tensor";
  let description = [{
    Constraints:
    - (C1) The type is a static float tensor without empty dimensions, of at most
      2^40 elements.
    - (C2) The group, where given, names an `nn.group`. A parameter without
      group is never trained.
    - (C3) `#nn.xavier` and its like need rank 2. Initial values are finite in f32, in
      which programs of all element types draw them.
    - (C4) The name does not end in `.keys` or `.values` and has no `.slot.` in
      it: dumps give such names to parts of tables and to slots.

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
    Constants of a model that come from outside, such as means of features or
    a frozen vector: read like a parameter, loaded and dumped like one, never
    touched by an optimizer.

    Constraints:
    - (C1) The type is a static float tensor without empty dimensions, of at most
      2^40 elements.
    - (C3) Initial values are as those of a parameter (`nn.param`, C3).
    - (C4) The name is as that of a parameter (`nn.param`, C4).

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
  let summary = "A table from 64-bit keys to rows, growing by itself";
  let description = [{
    A total function from key to row: a row that was never trained has its
    initial value, which depends only on seed, table and key. So a lookup is a
    pure read. All 2^64 keys are legal.

    `unknown(zero)`: frozen programs see zeros, not the initial value, for keys
    that were never trained.

    `stored(bf16)`, `stored(f16)`: the values of rows are held in 16 bits each, and
    are read, updated and exported in f32; slots stay in f32. Initial values, and
    those of a file, are rounded to the nearest number. Updated ones are rounded at random, up
    or down with the probability that keeps their mean, by numbers that depend only on seed,
    table, key, element and the number of the group's update (pdlabi/rounding.h). An
    update beyond the largest finite number (65504 in f16) stops the
    training, as every update does that is not finite.

    Without more every key that is trained gets a row, for good. Two clauses bound
    what is held:

    - `admit(count = 10)`: a key gets its row in the update that brings the number of
      its occurrences in the lookups of training programs, over all replicas and from
      the first step on, to ten: that update is the first one that is applied to it.
      Before, training programs read its initial value. `admit(probability = 0.1)`: of
      all keys this part ever gets rows, drawn by seed, table and key; others stay as
      those that wait. `admit(score = 2.0) score(show = 0.1, click = 0.9)`: a key gets
      its row in the update that brings what it has scored to two. In an update it
      scores the sum of its counts (`nn.count`) of these names times their weights, 0
      where that is negative, as a part of `score = 2.0`, rounded up to a whole number of 16384ths
      (pdlabi/admission.h). The row begins as every new row, so that its slots show what it
      has counted since.
    - `shrink(every = 10000, unseen = 7)`: each 10000 updates of the group end a
      period. A row that has not been updated in the last seven periods goes at the
      end of the seventh, and so does what was counted of a key without a row. A key
      that comes again begins anew. With `score(show = 0.1, click = 0.9)` a row has a
      score, the sum of these row slots of its rule times their weights; at the end of
      each period `decay = 0.98` first multiplies the slots, and a row goes, too, whose
      score is below `least = 0.5`. What a key without a row has scored is multiplied likewise,
      rounded down to a 16384th.

    `widen(from = 1, score = 2.0) score(show = 0.1, click = 0.9)`: a row has its first column
    from the first row of its key on, and the others, its vector, only once the key has scored two,
    as with `admit(score = 2.0)`. Before, training programs read the initial values of the
    vector, frozen ones these or zeros, as `unknown` says, and nothing trains it. `init = #nn.uniform<-0.1, 0.1>` among
    these numbers gives the vector initial values of its own. Phase `merged` makes a
    table of its own of the vector, `@NAME.vector` (`nn-split-tables`): so it is called in checkpoints, dumps and messages.

    Constraints:
    - (C1) The key type is i64; the row is a static float tensor of rank 1
      with at most 1048576 elements.
    - (C2) The group, where given, names an `nn.group`.
    - (C3) Initial values are as those of a parameter (`nn.param`, C3).
    - (C4) The name is as that of a parameter (`nn.param`, C4).
    - (C5) Rows that are stored in 16 bits are of f32, and their initial values finite
      in those bits.
    - (C6) `admit` and `shrink` need a group. Keys are admitted by a count from 1 to 16383, or
      by a probability above 0, of at most 1, or by a finite score above 0.
    - (C7) A period has at least one update; `unseen` is from 1 to 16384 periods;
      `decay` above 0, at most 1; `least` finite.
    - (C8) Weights of a score are finite numbers, of row slots of the rule of the group if it
      shrinks with `decay` or `least`, and of its counts if it admits or widens by a score
      (checked by `nn-expand-updates`). It is given exactly if one of these is.
    - (C9) A table that widens has a group; both parts have columns; the score is finite and above 0. It admits
      keys by none of the ways that could leave a vector alone for good: not by probability, and by no
      larger score than that of the vector. With `least` no weight of the score is
      negative. Initial values of the vector are as (C3) and (C5) say.
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
    /// Whether keys wait for rows.
    bool admits() { return getAdmitCount() || getAdmitProbability() || getAdmitScore(); }
    /// Whether scores of rows change something at the end of a period.
    bool shrinksByScore() { return getShrinkDecay() || getShrinkLeast(); }
    /// Whether what is held depends on when keys were trained.
    bool hasLife() { return admits() || getShrinkEvery(); }
    /// Whether rows get some of their columns later: the table stands for two then, of which
    /// the second one has these columns and this name.
    bool widens() { return getWidenFrom().has_value(); }
    std::string getVectorName() { return (getSymName() + ".vector").str(); }
    /// Of a table that widens: the columns from `from` on, and what they hold at first.
    ::mlir::RankedTensorType getWeightType();
    ::mlir::RankedTensorType getVectorType();
    ::mlir::Attribute getVectorInit() { return getWidenInitAttr() ? getWidenInitAttr() : getInit(); }
    /// Leaves the group, and when rows come and go, to another module.
    void forgetGroup();
    /// The names of the attributes that go then.
    static ::llvm::ArrayRef<::llvm::StringLiteral> getNamesOfGroup();
  }];
}

def NN_MetricOp : NN_Op<"metric", [Symbol]> {
  let summary = "A figure of merit over many batches";
  let description = [{
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

//===----------------------------------------------------------------------===//
// Groups, clips, rules, schedules
//===----------------------------------------------------------------------===//

def NN_ClipOp : NN_Op<"clip", [Symbol, SharedByRoles]> {
  let summary = "A limit for the gradients of the groups that name it";
  let description = [{
    Limits the gradients, divided by the summed weight, of all symbols of all
    groups that name this clip:

    - `global_norm(limit)`: all of them are scaled by limit / max(norm, limit),
      with norm their joint Euclidean norm.
    - `norm(limit)`: the gradient of each symbol is scaled likewise, by its own
      norm; that of a table by the norm of all rows that the step touches.
    - `value(limit)`: each element is moved into [-limit, limit].

    Clips by norm and by value are spelled out in phase `gradient`
    (`nn-split-clips`, `nn-expand-updates`); from there on only joint ones stand.

    Constraints:
    - (C1) The limit is finite and > 0.

    Example:
    ```mlir
    nn.clip @joint : global_norm(10.0)
    nn.clip @each : norm(1.0)
    nn.clip @elements : value(0.5)
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, NN_ClipKindAttr:$kind, F64Attr:$limit);
  let assemblyFormat = "$sym_name `:` `` $kind `(` $limit `)` attr-dict";
  let hasVerifier = 1;
}

def NN_GroupOp : NN_Op<"group", [Symbol, OwnedByServers,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Symbols that are trained alike";
  let description = [{
    Fixed order of an update: merge over replicas, divide by the summed
    weight, clip, regularizer, rule.

    - `rule(@adam {beta1 = 0.8})`: the rule, with other hyper-parameters than
      its own defaults where the dictionary says so. A rule or schedule that the
      module does not define comes from the standard library.
    - `rate(1.0e-3)`: the base learning rate; `schedule(@cosine {steps = 1000.0})`
      makes it depend on the step.
    - `decay(#nn.l2<1.0e-6>, #nn.l1<1.0e-7>)`: regularizers, added in order.
    - `clip(@joint)`.
    - `untouched(lazy|dense)`: whether rows of tables that a batch did not touch
      stay as they are, or are updated with a zero gradient.
    - `average(@ema {decay = 0.999})`: frozen programs read an average of the
      steps in the place of the value. The average begins as the value, and is
      kept by a rule of its own after each update: to it the average is the value,
      and the new value of the symbol the gradient, neither divided nor clipped.
    - `merge(mean|sum)`: what the rule is given where a worker sends the gradients of
      several of its steps as those of one (flag `--max-merge` of trainers in mode
      async): their mean over all samples (`mean`, also where the clause is left out),
      or the sum of the steps' means, so that each step counts in full (`sum`). In mode
      geo, what a trainer has changed is divided by the number of trainers (`mean`) or
      counts in full (`sum`). It means nothing elsewhere.
    - `rate_over(pushers)`: the rate, as the schedule makes it, is divided by the
      number of pushers of the job: of senders whose gradients are each a step of the
      rule by itself. Those are all workers in mode async and of `--hogwild`, and the
      trainers in mode half-async. Where a step joins what all send there is one, so
      that the model means the same as without the clause.
    - `compensate(@delay_compensation {strength = 0.04})`: where the gradient of a push
      was computed on another value than the one that it meets, a rule `of delays`
      makes of it the gradient that regularizers and the group's rule see, behind clips. Where the value is the one that was seen, the gradient stays as it
      is. So the clause means nothing where no push is late: it is for modes in which a
      sender's push is a step of its own (`ps-settle-delays`).

    Clauses may stand in any order; `rule` and `rate` are required.

    Constraints:
    - (C1) `rule` names an `nn.rule`, `schedule` an `nn.schedule`, `clip` an `nn.clip`,
      `average` an `nn.rule` without region `row`, `compensate` one `of delays`.
    - (C2) Each name of a hyper dictionary is one of the rule's or schedule's;
      its value is a finite number.
    - (C3) The rate is finite.
    - (C4) Decay holds `#nn.l1` and `#nn.l2` only.
    - (C5) A group with a table whose rule or decay changes a row even under a
      zero gradient must say `untouched` (checked by `nn-check-untouched`).
    - (C6) All symbols of a group have one element type.
    - (C7) The rate, as the schedule makes it, and what the rule's `once` yields
      are finite in that type at the first update (checked by
      `nn-check-scalars`).
    - (C8) A group whose rule is for states does not say `merge(sum)`: what states
      accumulate are means.
    - (C9) Groups of one clip merge alike.
    - (C10) A group that compensates has a rule for gradients; its tables are not
      stored in 16 bits, whose rows travel rounded, and are not `untouched(dense)`:
      a row that nobody asked for was seen by nobody.

    Example:
    ```mlir
    nn.group @sparse rule(@adam) rate(1.0e-3) untouched(lazy)
    nn.group @words rule(@sgd) rate(0.1) merge(sum)
    nn.group @layers rule(@adam) rate(1.0e-3) rate_over(pushers) compensate(@delay_compensation)
    nn.group @dense rule(@adam) rate(1.0e-3) average(@ema {decay = 0.99})
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$rule,
    OptionalAttr<DictionaryAttr>:$rule_hyper, F64Attr:$rate,
    OptionalAttr<FlatSymbolRefAttr>:$schedule,
    OptionalAttr<DictionaryAttr>:$schedule_hyper,
    OptionalAttr<ArrayAttr>:$decay, OptionalAttr<FlatSymbolRefAttr>:$clip,
    OptionalAttr<NN_UntouchedAttr>:$untouched,
    OptionalAttr<FlatSymbolRefAttr>:$average,
    OptionalAttr<DictionaryAttr>:$average_hyper,
    OptionalAttr<NN_MergeAttr>:$merge,
    OptionalAttr<NN_RateOverAttr>:$rate_over,
    OptionalAttr<FlatSymbolRefAttr>:$compensation,
    OptionalAttr<DictionaryAttr>:$compensation_hyper);
  let assemblyFormat = [{
    $sym_name `` custom<GroupClauses>($rule, $rule_hyper, $rate, $schedule,
      $schedule_hyper, $decay, $clip, $untouched, $average, $average_hyper,
      $merge, $rate_over, $compensation, $compensation_hyper) attr-dict
  }];
  let hasVerifier = 1;
}

def NN_RuleOp : NN_Op<"rule", [Symbol, OwnedByServers, IsolatedFromAbove]> {
  let summary = "An optimizer, written in the dialect";
  let description = [{
    Region `once` runs once for each group and step, in f64: its arguments are
    the step (1 at the first update), the learning rate, and the
    hyper-parameters; it yields scalars. Region `each` runs for one element: its
    arguments are the value, the gradient, the slots, and what `once` yielded,
    rounded to the element type; it yields the new value and the new slots.
    Both hold `arith` and `math` ops on scalars. The same rule becomes a loop
    over a dense block and a kernel over rows, with equal bits.

    A rule is for gradients, if it does not say `of states` (what `nn.accumulate` adds
    to; it gets means or sums in the place of gradients), `of averages` (what the
    clause `average` of a group names) or `of delays` (what its clause `compensate`
    names). A rule of delays makes a gradient of one that is late: region `each` gets
    the value, the gradient, the value on which it was computed, and what `once`
    yielded, and yields the gradient.

    A hyper-parameter may have bounds: `from 0.0` and `to 1.0` are allowed themselves,
    `above 0.0` and `below 1.0` are not. What a group gives is held against them.

    With `undivided` the gradient is not divided by the summed weight: a sum, for
    states that `nn.accumulate` adds to. A clip by a norm multiplies it by the factor
    that it has for the divided one.

    A rule that needs to know of a whole row has two more regions, both or none.
    Region `sum` runs for one element, with the arguments of `each`, before
    anything of the row is written; what it yields, in f64, is added over the row
    (docs/Numerics.md: sums over the last dimensions). Region `row` then runs once
    for the row: its arguments are the width of the row and the sums, in f64, the
    row slots, and what `once` yielded; it yields the new row slots, and behind
    them scalars of the row, which `each` gets behind those of `once`. A row slot is
    one element for each row. The rows of a parameter are those of its first
    dimension; one of rank 0 or 1 is one row.

    A rule that needs to know of a whole parameter has region `param` in the place of
    `row`: the same, with all of the parameter as one row. Servers own such a
    parameter as one block.

    A rule with `counts` is for tables, and is given numbers of each row that
    `nn.count` adds up: how often it was shown in the step, and clicked. They are
    sums over the step's samples, undivided and unclipped, 0 for a row that was not
    counted; region `row` gets them behind the row slots.

    A slot that `frozen` names begins as the value, whatever its number, and frozen
    programs read it in the place of the value. `nn-add-averages` makes such rules of
    a group's rule and its average.

    Constraints:
    - (C1) `once` has 2 + hypers arguments of type f64; `each` has 2 + slots +
      (yields of `once`) + (yields of `row` behind its row slots) arguments of one
      float type; `each` yields 1 + slots values of that type; `once` yields f64
      values.
    - (C2) The regions hold only `nn.yield` and the ops that the settled scalar
      numerics define: arith.{constant,addf,subf,mulf,divf,negf,cmpf,select,
      maximumf,minimumf,extf,truncf}, math.{sqrt,absf,fma,copysign,powf,cos,exp,log},
      on scalars of f32, f64 and i1; powf, cos, exp and log only on f64.
    - (C3) Defaults of hyper-parameters and slots are finite, those of slots in the
      element type (checked by `nn-check-model`). A slot and a row slot have
      different names.
    - (C4) `sum` has 2 + slots + (yields of `once`) arguments of the element type and
      yields f64 values; `row` has 1 + (yields of `sum`) arguments of f64 and
      (row slots) + (counts) + (yields of `once`) of the element type, and yields at least as
      many values of the element type as there are row slots. Both regions are there
      if one is, or if there are row slots or counts. With `param` there are none of
      these.
    - (C5) `frozen` names a slot that is no row slot.
    - (C6) Defaults of hyper-parameters lie within their bounds.
    - (C7) Counts have different names.
    - (C8) A rule of delays has no slots, counts, regions `sum` and `row`, and is not
      undivided; `each` has 3 + (yields of `once`) arguments, and yields one value.

    Example:
    ```mlir
    nn.rule @sgd hyper() slots() once {
    ^bb0(%step: f64, %rate: f64):
      nn.yield %rate : f64
    } each {
    ^bb0(%value: f32, %gradient: f32, %rate: f32):
      %0 = arith.mulf %rate, %gradient : f32
      %1 = arith.subf %value, %0 : f32
      nn.yield %1 : f32
    }

    nn.rule @normalized hyper() slots() row_slots(length = 0.0) once {
    ^bb0(%step: f64, %rate: f64):
      nn.yield %rate : f64
    } sum {
    ^bb0(%value: f32, %gradient: f32, %rate: f32):
      %0 = arith.extf %gradient : f32 to f64
      %1 = arith.mulf %0, %0 : f64
      nn.yield %1 : f64
    } row {
    ^bb0(%width: f64, %squares: f64, %length: f32, %rate: f32):
      %0 = math.sqrt %squares : f64
      %1 = arith.truncf %0 : f64 to f32
      %2 = arith.divf %rate, %1 : f32
      nn.yield %1, %2 : f32, f32
    } each {
    ^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
      %0 = arith.mulf %pace, %gradient : f32
      %1 = arith.subf %value, %0 : f32
      nn.yield %1 : f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    DefaultValuedAttr<NN_RulePurposeAttr, "::pdlc::nn::RulePurpose::gradients">:$purpose,
    StrArrayAttr:$hyper_names, DenseF64ArrayAttr:$hyper_values,
    OptionalAttr<DenseF64ArrayAttr>:$hyper_bounds, StrArrayAttr:$slot_names,
    DenseF64ArrayAttr:$slot_values, UnitAttr:$undivided, DefaultValuedAttr<StrArrayAttr, "{}">:$row_slot_names,
    DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$row_slot_values,
    DefaultValuedAttr<StrArrayAttr, "{}">:$count_names,
    OptionalAttr<StrAttr>:$frozen_slot, UnitAttr:$whole);
  let regions = (region SizedRegion<1>:$once, SizedRegion<1>:$each, AnyRegion:$sum,
    AnyRegion:$row);
  let assemblyFormat = [{
    $sym_name (`of` $purpose^)? (`undivided` $undivided^)?
    `hyper` custom<Hypers>($hyper_names, $hyper_values, $hyper_bounds)
    `slots` custom<NamedNumbers>($slot_names, $slot_values)
    (`row_slots` custom<NamedNumbers>($row_slot_names, $row_slot_values)^)?
    (`counts` custom<Names>($count_names)^)?
    (`frozen` `(` $frozen_slot^ `)`)?
    attr-dict-with-keyword `once` $once (`sum` $sum^ custom<RowRegion>($row, $whole))?
    `each` $each
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// What the scalars that region `once` yields are called in messages: by the
    /// words of the rule, where it hands on the rate or a hyper-parameter.
    ::llvm::SmallVector<std::string> getScalarNames();
    /// Whether it reduces over rows, or (`getWhole`) over a parameter.
    bool hasRow() { return !getRow().empty(); }
    /// The slots, then the row slots: names and first values.
    ::mlir::ArrayAttr getAllSlotNames();
    ::llvm::SmallVector<double> getAllSlotValues();
    /// What frozen programs read: 0: the value; 1 + s: slot s.
    int32_t getFrozenPart();
    /// Whether it is for gradients that are late.
    bool isOfDelays() {
      return getPurpose() == ::pdlc::nn::RulePurpose::delays;
    }
  }];
}

def NN_ScheduleOp : NN_Op<"schedule", [Symbol, OwnedByServers, IsolatedFromAbove]> {
  let summary = "A learning rate as a function of the step";
  let description = [{
    Arguments: the step (1 at the first update), the group's base rate, the
    hyper-parameters, all f64; yields the rate.

    Constraints:
    - (C1) 2 + hypers arguments of type f64, one f64 yielded.
    - (C2) The ops of `nn.rule` (C2), on f64.
    - (C3) Defaults of hyper-parameters are finite, and lie within their bounds
      (`nn.rule`).

    Example:
    ```mlir
    nn.schedule @constant hyper() {
    ^bb0(%step: f64, %rate: f64):
      nn.yield %rate : f64
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$hyper_names,
    DenseF64ArrayAttr:$hyper_values, OptionalAttr<DenseF64ArrayAttr>:$hyper_bounds);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `hyper` custom<Hypers>($hyper_names, $hyper_values, $hyper_bounds)
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def NN_YieldOp : NN_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["RuleOp", "ScheduleOp", "OnceOp", "UpdateOp", "ScanOp", "IfOp"]>]> {
  let summary = "Ends a region of scalars, or the body of a scan";
  let description = [{
    Example:
    ```mlir
    nn.yield %value, %slot : f32, f32
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[NN_Float, NN_FloatTensor]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Functions and programs
//===----------------------------------------------------------------------===//

def NN_FuncOp : NN_Op<"func", [StandsUntil<"Model", "nn-lower-model inlines functions">,
    FunctionOpInterface, IsolatedFromAbove,
    AffineScope, SingleBlock, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A function that programs share";
  let description = [{
    Inlined into its callers by phase `merged`.

    Beside values a function may take symbols: `with(@w: tensor<4x8xf32>,
    @emb: i64 -> tensor<8xf32>)`. Its body names them as it would name a parameter or
    state of that type, or a table with such rows, and each call says which ones
    stand for them. So one function is many layers.

    Constraints:
    - (C1) It has a body of one block that ends in `nn.return`, and does not call
      itself, directly or through others.
    - (C2) The symbols that it takes have types of parameters (`nn.param`, C1) or of
      tables (`nn.table`, C1), and names that are their own: the model has no other
      symbol of that name, and the function none twice.

    Example:
    ```mlir
    nn.func private @double(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = nn.add %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
      nn.return %0 : tensor<?x4xf32>
    }
    nn.func private @expert(%x: tensor<?x4xf32>) with(@w: tensor<4x8xf32>, @b: tensor<8xf32>) -> tensor<?x8xf32> {
      %0 = nn.linear %x, @w, @b act(relu) : (tensor<?x4xf32>) -> tensor<?x8xf32>
      nn.return %0 : tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    OptionalAttr<FlatSymbolRefArrayAttr>:$symbols, OptionalAttr<TypeArrayAttr>:$symbol_types,
    OptionalAttr<StrAttr>:$sym_visibility,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool isDeclaration() { return false; }
    /// The symbols that it takes, and the type of each: of a table, the function
    /// type from key to row.
    ::llvm::SmallVector<std::pair<::mlir::FlatSymbolRefAttr, ::mlir::Type>> getTakenSymbols();
  }];
}

def NN_CallOp : NN_BodyOp<"call", [StandsUntil<"Model", "nn-lower-model inlines functions">,
    CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls an nn.func";
  let description = [{
    Constraints:
    - (C1) The callee is an `nn.func` with these operand and result types.
    - (C2) `with(...)` gives, in order, a symbol for each that the callee takes, of
      the type that it says; in a function it may be one that the function takes.

    Example:
    ```mlir
    %0 = nn.call @double(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %1 = nn.call @expert(%x) with(@w1, @b1) : (tensor<?x4xf32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
    OptionalAttr<FlatSymbolRefArrayAttr>:$symbols,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` (`with` `` custom<SymbolArguments>($symbols)^)? attr-dict
    `:` functional-type($operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(
          ::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getOperands(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
  }];
}

def NN_ReturnOp : NN_Op<"return", [Pure, Terminator, ReturnLike,
    ParentOneOf<["FuncOp", "ProgramOp"]>]> {
  let summary = "Ends a function or a program";
  let description = [{
    In a program the operands are its outputs, such as predictions, which may have
    names: those of the columns that `predict` writes. Outputs without names are
    `output0`, `output1` and so on; of an output of several elements a sample, the
    columns are `name.0`, `name.1` and so on.

    Constraints:
    - (C1) In a function, the operand types are the function's result types; in
      a program they are float tensors with the batch as first dimension.
    - (C2) Names stand in programs only, behind each output or behind none. They are
      not empty, hold no control characters, and name each column once.

    Example:
    ```mlir
    nn.return %0 : tensor<?x1xf32>
    nn.return %p as "ctr", %q as "cvr" : tensor<?x1xf32>, tensor<?x1xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$operands, OptionalAttr<StrArrayAttr>:$names);
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange(), ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "custom<Returned>($operands, type($operands), $names) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the output of that number is called.
    std::string getOutputName(unsigned number);
  }];
}

def NN_ProgramOp : NN_Op<"program", [Symbol, IsolatedFromAbove,
    SingleBlockImplicitTerminator<"ReturnOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One thing that the executable does with batches";
  let description = [{
    Block arguments are the fields of the record that are not excepted, in
    record order. From phase `merged` on, a ragged field has two arguments: its
    ids `tensor<?xi64>` and its splits `tensor<?xi32>` (bags + 1 entries).

    A `frozen` program only reads: it inserts no key, updates nothing, counts
    nothing but metrics.

    Constraints:
    - (C1) `reads` names an `nn.record`; each excepted name is one of its fields.
    - (C2) The arguments are as described, by the module's phase.
    - (C3) A frozen program holds no `nn.minimize`, `nn.accumulate`, `nn.once`,
      `nn.update`.
    - (C4) Each group is trained by one `nn.minimize`; groups with one joint clip are
      trained by the same one.
    - (C5, snapshot rule, from `merged` on) Each parameter or state is read at
      most once and each table pulled at most once; each symbol is updated at
      most once, by the last op that mentions it.

    Example:
    ```mlir
    nn.program @predict frozen reads(@clicks except @label) {
    ^bb0(%c: !nn.ragged<?x26x*xi64>):
      %p = nn.call @score(%c) : (!nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
      nn.return %p : tensor<?x1xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$record,
    OptionalAttr<FlatSymbolRefArrayAttr>:$except, UnitAttr:$frozen);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`frozen` $frozen^)? `reads` `(` $record
    (`except` custom<SymbolList>($except)^)? `)` attr-dict-with-keyword
    custom<ProgramBody>($body)
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The fields that the program reads, in argument order.
    ::llvm::SmallVector<::pdlc::nn::FieldOp> getFields();
    ::pdlc::nn::ReturnOp getReturn();
  }];
}

def NN_CycleOp : NN_Op<"cycle", [Symbol,
    StandsUntil<"Model", "nn-join-cycle makes one program of its programs">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Programs that take turns in a training";
  let description = [{
    One step is that of one program: so many steps of the first, then of the second, and
    from the last to the first again. Each step reads the next batch. Commands name the
    cycle as they name a program: `train` runs what is called `@train`.

    The programs train groups of their own, and see the others' parameters as
    the steps before have left them. Phase `merged` has one program instead of them
    (`nn-join-cycle`), with a state that says whose turn it is (`@NAME.turn`, by the rule
    `@cyclic_counter`): it is saved with the model, and all replicas and servers see it alike.
    So the loss of the first program is reported as that of the training, the others' as
    means, as of several `nn.minimize` of one program.

    Constraints:
    - (C1) There is at least one turn; each has 1 to 65536 steps, and all together at most
      as many.
    - (C2) Each name is a program that trains, has no outputs, and is not frozen.
    - (C3) No two of the programs train one group, or accumulate into one (checked by
      `nn-join-cycle`).
    - (C4) Rules of states that the programs accumulate into are not `undivided`: they would
      run in every step, whoever's turn it is (checked by `nn-join-cycle`).
    - (C5) The model has no `@cyclic_counter` of its own (checked by `nn-link-std`).

    Example:
    ```mlir
    nn.cycle @train [@train_critic * 5, @train_generator]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$programs,
    DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$sym_name custom<Turns>($programs, $steps) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The rule of the state that counts the steps of the cycle.
    static constexpr ::llvm::StringLiteral kRule = "cyclic_counter";
  }];
}

#endif // PDLC_DIALECT_NN_IR_NNSYMBOLOPS_TD
