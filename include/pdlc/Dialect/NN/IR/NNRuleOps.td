//===- NNRuleOps.td - Groups, clips, rules, schedules -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNRULEOPS_TD
#define PDLC_DIALECT_NN_IR_NNRULEOPS_TD

include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "pdlc/Dialect/NN/IR/NNAttributes.td"
include "pdlc/Dialect/NN/IR/NNTypes.td"

def NN_ClipOp : NN_Op<"clip", [Symbol, SharedByRoles]> {
  let summary = "A limit for the gradients of the groups that name it";
  let description = [{
    Limits the gradients of all symbols of all groups that name this clip. The
    gradients are divided by the summed weight first.

    - `global_norm(limit)`: all of them are scaled by limit / max(norm, limit),
      where norm is their joint Euclidean norm.
    - `norm(limit)`: the gradient of each symbol is scaled in the same way, by
      its own norm. The norm of a table is taken over all rows that the step
      touches.
    - `value(limit)`: each element is clamped to [-limit, limit].

    Phase `gradient` expands clips by norm and by value (`nn-split-clips`,
    `nn-expand-updates`). After it, only joint clips remain.

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
  let summary = "Symbols that are trained in the same way";
  let description = [{
    The parts of an update have a fixed order: sum over replicas, divide by the
    summed weight, clip, add the regularizers, apply the rule.

    Clauses, in any order; `rule` and `rate` are required:

    - `rule(@adam {beta1 = 0.8})`: the optimizer rule. The dictionary overrides
      defaults of its hyper-parameters. If the module does not define a rule or
      schedule of that name, it comes from the standard library.
    - `rate(1.0e-3)`: the base learning rate.
      `schedule(@cosine {steps = 1000.0})` makes it depend on the step.
    - `decay(#nn.l2<1.0e-6>, #nn.l1<1.0e-7>)`: regularizers, added in order to
      the mean gradient, once for each update of a value. With
      `untouched(lazy)`, a row of a table is updated once in each step in which
      a sample uses it, no matter how many samples do. So the effect of the
      regularizer on the row, relative to that of a single sample, grows with
      the batch size (docs/Optimizers.md, "Batch sizes and published settings").
    - `clip(@joint)`: the limit for gradients.
    - `untouched(lazy|dense)`: whether rows of tables that a batch did not touch
      stay unchanged (`lazy`), or are updated with a zero gradient (`dense`).
    - `average(@ema {decay = 0.999})`: frozen programs read an average over the
      steps instead of the value. The average starts as the value. After each
      update, a rule of its own updates it: this rule gets the average as its
      value, and the new value of the symbol as its gradient, neither divided
      nor clipped.
    - `merge(mean|sum)`: how gradients of several steps combine. In mode async,
      a worker can push the gradients of several of its steps as one (trainer
      flag `--max-merge`). The rule then gets their mean over all samples
      (`mean`, the default), or the sum of the steps' means, so that each step
      counts in full (`sum`). In mode geo, the model delta of a trainer is
      divided by the number of trainers (`mean`), or counts in full (`sum`).
      Other modes ignore the clause.
    - `rate_over(pushers)`: for modes in which each push is a step of the rule.
      The learning rate, after the schedule, is divided by the number of senders
      of pushes: all workers of the job in mode async and with `--hogwild`, and
      all trainers in mode half-async. In all other modes the number is 1, and
      the clause changes nothing.
    - `compensate(@delay_compensation {strength = 0.04})`: corrects late
      gradients. If the gradient of a push was computed on an older value than
      the current one, a rule `of delays` corrects it after clips and before
      regularizers and the group's rule. If the value is still the same, the
      gradient stays unchanged. The clause is for modes in which each push is a
      step of its own; it has no effect if no push is late (`ps-settle-delays`).

    Constraints:
    - (C1) `rule` names an `nn.rule`, `schedule` an `nn.schedule`, `clip` an
      `nn.clip`, `average` an `nn.rule` without region `row`, and `compensate` a
      rule `of delays`.
    - (C2) Each name in a dictionary of hyper-parameters is one of the rule or
      schedule. Its value is a finite number.
    - (C3) The learning rate is finite.
    - (C4) Decay contains only `#nn.l1` and `#nn.l2`.
    - (C5) If the rule or decay of a group changes a row even under a zero
      gradient, and the group has a table, it must say `untouched` (checked by
      `nn-check-untouched`).
    - (C6) All symbols of a group have one element type.
    - (C7) The learning rate after the schedule, and the results of the rule's
      `once`, are finite in that type at the first update (checked by
      `nn-check-scalars`).
    - (C8) A group whose rule is for states does not say `merge(sum)`, because
      states accumulate means.
    - (C9) All groups of one clip have the same `merge`.
    - (C10) A group that compensates has a rule for gradients. Its tables are
      not stored in 16 bits, because such rows are rounded when they are sent.
      They are not `untouched(dense)`, because no worker has seen a row that it
      did not request.

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
  let summary = "An optimizer rule, written in the dialect";
  let description = [{
    Defines how an update changes a value and its optimizer state (slots). The
    regions hold `arith` and `math` ops on scalars. The same rule becomes a loop
    over a dense block and a kernel over rows; the results are bit-identical.

    | region | runs | arguments | yields |
    |---|---|---|---|
    | `once` | once for each group and step, in f64 | the step (1 at the first update), the learning rate, the hyper-parameters | scalars |
    | `each` | once for each element | the value, the gradient, the slots, the scalars of `once` rounded to the element type | the new value, the new slots |

    **Purposes.** A rule is for gradients unless it says otherwise:

    - `of states`: for states that `nn.accumulate` adds to. It gets means or
      sums instead of gradients.
    - `of averages`: for the clause `average` of a group.
    - `of delays`: for the clause `compensate` of a group. It corrects a late
      gradient. Region `each` gets the value, the gradient, the value on which
      the gradient was computed, and the scalars of `once`. It yields the
      corrected gradient.

    **Bounds.** A hyper-parameter may have bounds. `from 0.0` and `to 1.0`
    include the bound, `above 0.0` and `below 1.0` exclude it. The values that a
    group gives must lie within them.

    **Sums.** With `undivided`, the rule gets the sum of gradients over samples,
    not their mean. This is for states that `nn.accumulate` adds to, and for
    rules whose hyper-parameters are meant for single samples. The clips, the
    compensation and the `decay` of the group see the mean. The rule gets their
    result times the summed weight.

    **Rules over rows.** A rule that depends on a whole row has two more
    regions. Region `sum` runs once for each element, with the arguments of
    `each`, before the row is written. Its results, in f64, are added over the
    row (docs/Numerics.md: sums over the last dimensions). Region `row` then
    runs once for the row. Its arguments are the width of the row and the sums,
    in f64, then the row slots and the scalars of `once`. It yields the new row
    slots, then scalars of the row. Region `each` gets these scalars after those
    of `once`. A row slot is one element for each row. The rows of a parameter
    are those of its first dimension; a parameter of rank 0 or 1 is one row.

    **Rules over parameters.** A rule that depends on a whole parameter has
    region `param` instead of `row`. It works in the same way, with the whole
    parameter as one row. A server owns such a parameter as one block.

    **Counts.** A rule with `counts` is for tables. It gets numbers of each row
    that `nn.count` adds up, for example how often the row was shown and clicked
    in the step. They are sums over the samples of the step, neither divided nor
    clipped. They are 0 for a row that was not counted. Region `row` gets them
    after the row slots.

    **Frozen programs.** If `frozen` names a slot, that slot starts as the
    value, whatever its initial number, and frozen programs read it instead of
    the value. `nn-add-averages` makes such rules from a group's rule and its
    average.

    Constraints:
    - (C1) `once` has 2 + hypers arguments of type f64, and yields f64 values.
      `each` has 2 + slots + (yields of `once`) + (yields of `row` after its row
      slots) arguments of one float type, and yields 1 + slots values of that
      type.
    - (C2) The regions contain only `nn.yield` and the ops that the fixed scalar
      numerics define, on scalars of f32, f64 and i1. These are
      `arith.{constant, addf, subf, mulf, divf, negf, cmpf, select, maximumf,
      minimumf, extf, truncf}` and
      `math.{sqrt, absf, fma, copysign, powf, cos, exp, log}`; powf, cos, exp
      and log are allowed only on f64.
    - (C3) Defaults of hyper-parameters and initial values of slots are finite;
      those of slots are finite in the element type (checked by
      `nn-check-model`). A slot and a row slot have different names.
    - (C4) `sum` has 2 + slots + (yields of `once`) arguments of the element
      type, and yields f64 values. `row` has 1 + (yields of `sum`) arguments of
      f64, then (row slots) + (counts) + (yields of `once`) of the element type.
      It yields at least as many values of the element type as there are row
      slots. If one of the two regions exists, or there are row slots or counts,
      both regions exist. With `param`, there are no row slots and no counts.
    - (C5) `frozen` names a slot that is not a row slot.
    - (C6) Defaults of hyper-parameters lie within their bounds.
    - (C7) Counts have different names.
    - (C8) A rule of delays has no slots, counts, or regions `sum` and `row`,
      and is not undivided. Its `each` has 3 + (yields of `once`) arguments and
      yields one value.

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
    /// Returns names for the results of region `once`, for use in messages. If
    /// a result is the learning rate or a hyper-parameter itself, it has the
    /// name that the rule uses.
    ::llvm::SmallVector<std::string> getScalarNames();
    /// Returns true if the rule reduces over rows, or over a parameter
    /// (`getWhole`).
    bool hasRow() { return !getRow().empty(); }
    /// Return the names and the initial values of the slots, then those of the
    /// row slots.
    ::mlir::ArrayAttr getAllSlotNames();
    ::llvm::SmallVector<double> getAllSlotValues();
    /// Returns the part that frozen programs read: 0 for the value, 1 + s for
    /// slot s.
    int32_t getFrozenPart();
    /// Returns true if the rule is for late gradients.
    bool isOfDelays() {
      return getPurpose() == ::pdlc::nn::RulePurpose::delays;
    }
  }];
}

def NN_ScheduleOp : NN_Op<"schedule", [Symbol, OwnedByServers, IsolatedFromAbove]> {
  let summary = "A learning rate as a function of the step";
  let description = [{
    Computes the learning rate of a step. The arguments, all f64, are the step
    (1 at the first update), the base learning rate of the group, and the
    hyper-parameters.

    Constraints:
    - (C1) The region has 2 + hypers arguments of type f64 and yields one f64.
    - (C2) The region contains the ops of `nn.rule` (C2), on f64.
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
  let summary = "Ends a region of scalars, or the body of a scan or a choice";
  let description = [{
    Yields the results of the region.

    Example:
    ```mlir
    nn.yield %value, %slot : f32, f32
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[NN_Float, NN_FloatTensor]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // PDLC_DIALECT_NN_IR_NNRULEOPS_TD
