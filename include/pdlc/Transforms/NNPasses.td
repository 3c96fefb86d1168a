//===- NNPasses.td - Passes on the model: from `model` to stages -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_NNPASSES_TD
#define PDLC_TRANSFORMS_NNPASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Phase `model`
//===----------------------------------------------------------------------===//

def NNLinkStd : Pass<"nn-link-std", "::mlir::ModuleOp"> {
  let summary = "Adds the standard rules and schedules that a model names";
  let description = [{
    Puts a rule or schedule that a group names, and the module does not define,
    before that group. `pdl-opt --print-std` lists what there is,
    `--print-std=adam` prints one. For a group of f64 symbols the regions of a
    rule that work on elements become f64; where groups of both types name a rule,
    it is added twice, and the name of the second one ends in its type
    (`@adam.f64`).

    Before:
    ```mlir
    nn.group @dense rule(@sgd) rate(0.1)
    ```
    After:
    ```mlir
    nn.rule @sgd hyper() slots() once { ... } each { ... }
    nn.group @dense rule(@sgd) rate(0.1)
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numLinked", "definitions-linked", "Rules and schedules added">
  ];
}

def NNAddAverages : Pass<"nn-add-averages", "::mlir::ModuleOp"> {
  let summary = "Makes one rule of a group's rule and its average";
  let description = [{
    The average of a group's symbols is one more slot of its rule, `average`, which
    the average's own rule writes from the new value, together with slots of its own
    (`average_weight`); frozen programs read it. So whatever knows rules keeps
    averages. The hyper-parameters of the average stand behind those of the rule.

    Before:
    ```mlir
    nn.group @dense rule(@sgd) rate(0.1) average(@ema {decay = 0.99})
    ```
    After:
    ```mlir
    nn.rule @sgd_with_ema hyper(average_decay = 0.999) slots(average = 0.0, average_weight = 0.0)
      frozen("average") once { ... } each { ... }
    nn.group @dense rule(@sgd_with_ema {average_decay = 0.99}) rate(0.1)
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numAveraged", "groups-averaged", "Groups whose rule keeps an average">
  ];
}

def NNConvertElementType : Pass<"nn-convert-element-type", "::mlir::ModuleOp"> {
  let summary = "The same model in double precision";
  let description = [{
    With `type=f64`, turns f32 into f64 everywhere: fields, state, constants,
    programs, and the regions `each` of rules. `nn.constant` has the numbers that
    were written; other numbers of type f32 keep the value that they had in f32.
    For tests against mathematics.

    Before:
    ```mlir
    nn.param @w : tensor<4x1xf32> in @dense init(#nn.zeros)
    ```
    After:
    ```mlir
    nn.param @w : tensor<4x1xf64> in @dense init(#nn.zeros)
    ```
  }];
  let options = [Option<"type", "type", "std::string", "\"f64\"", "f32 (no change) or f64">];
}

def NNSetComputeType : Pass<"nn-set-compute-type", "::mlir::ModuleOp"> {
  let summary = "What large products are computed in";
  let description = [{
    With `type=bf16`, gives the module the attribute `nn.compute`: the factors of large
    f32 products are rounded to bf16 (`nn-assign-compute-types`). It becomes part
    of `nn.fingerprint`. Stands before anything depends on it.

    Before:
    ```mlir
    module @ctr {
    }
    ```
    After:
    ```mlir
    module @ctr attributes {nn.compute = bf16} {
    }
    ```
  }];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "f32 (no change) or bf16">];
}

def NNCheckModel : Pass<"nn-check-model", "::mlir::ModuleOp"> {
  let summary = "What a model says in vain";
  let description = [{
    Refuses a second `nn.record`, and programs that do not do what their command
    is for: a `@train` without `nn.minimize`, an `@evaluate` or `@predict` that
    is not `frozen`, a `@predict` without outputs; numbers of fields and initial
    values of slots that are not finite in their element type, which is chosen by
    now. Warns of what is legal, but
    hardly meant: a program whose name is nearly that of one that commands run
    (`train`, `evaluate`, `predict`), or a model of which they run none; a group
    that no `nn.minimize` names, in a model that trains others; a parameter or
    table without group that a training reads; a parameter, state or table that
    nothing reads. Changes nothing.

    Before, and after:
    ```mlir
    nn.program @trian reads(@clicks) { ... }
    // warning: no command runs program @trian; ... did you mean 'train'?
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Phase `merged`
//===----------------------------------------------------------------------===//

def NNLowerModel : Pass<"nn-lower-model", "::mlir::ModuleOp"> {
  let summary = "Inlines functions, reads state once, makes bags explicit";
  let description = [{
    Inlines every `nn.call` and erases the functions; turns `nn.linear` into
    `nn.read`, `nn.matmul`, `nn.add` and the activation, `nn.flatten` into
    `nn.reshape`; reads each parameter once, at program entry; replaces a ragged
    argument by a tensor of ids and a tensor of splits, and each `nn.lookup` by
    its own `nn.unique`, `nn.pull` and `nn.pool`. Clauses of tables that admit
    every key, `admit(count = 1)` and `admit(probability = 1)`, are removed.

    A program that would hold more than `max-ops` ops is refused before anything
    is inlined: functions that call each other twice double it with each level.

    Before:
    ```mlir
    nn.program @predict frozen reads(@r) {
    ^bb0(%c: !nn.ragged<?x2x*xi64>):
      %e = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
      nn.return %e : tensor<?x2x4xf32>
    }
    ```
    After:
    ```mlir
    nn.program @predict frozen reads(@r) {
    ^bb0(%ids: tensor<?xi64>, %splits: tensor<?xi32>):
      %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
      %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
      %p = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids bags(%splits) sum)
        : (tensor<?x4xf32>) -> tensor<?x4xf32>
      %e = nn.reshape %p : (tensor<?x4xf32>) -> tensor<?x2x4xf32>
      nn.return %e : tensor<?x2x4xf32>
    }
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "uint64_t", "100000",
           "The most ops of a program with its functions inlined">
  ];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
}

def NNSplitTables : Pass<"nn-split-tables", "::mlir::ModuleOp"> {
  let summary = "Two tables where rows get some columns later";
  let description = [{
    A table with `widen(from = F, score = S)` becomes two: one of the first F columns, with
    all that the table says, and one of the others, by the name with `.vector` behind it, which
    admits keys by score S. Both are pulled by the keys of one `nn.unique`, pooled by the
    same bags and counted alike; their columns stand beside each other where the
    table's stood. A slice of the weight's columns is one of the weight alone; in frozen programs the
    same goes for the vector. A program that trains looks weights up wherever it does vectors,
    and vectors where it would count their rows and look none up. Behind it nothing knows that they were one, but what takes a norm of
    each symbol (`nn-split-clips`), by the attribute `nn.widens`.

    Before:
    ```mlir
    nn.table @t : i64 -> tensor<9xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 5.0)
    ...
    %r = nn.pull @t[%keys] : tensor<?x9xf32>
    %p = nn.pool %r[%inverse, %key_splits, %occurrences] of (%ids sum) : (tensor<?x9xf32>) -> tensor<?x9xf32>
    ```
    After:
    ```mlir
    nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
    nn.table @t.vector : i64 -> tensor<8xf32> in @g init(#nn.zeros) admit(score = 5.0) score(show = 1.0) {nn.widens = @t}
    ...
    %r0 = nn.pull @t[%keys] : tensor<?x1xf32>
    %r1 = nn.pull @t.vector[%keys] : tensor<?x8xf32>
    %p0 = nn.pool %r0[%inverse, %key_splits, %occurrences] of (%ids sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %p1 = nn.pool %r1[%inverse, %key_splits, %occurrences] of (%ids sum) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %p = nn.concat %p0, %p1 axis 1 : tensor<?x1xf32>, tensor<?x8xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numSplit", "tables-split", "Tables that became two">
  ];
}

def NNJoinCycle : Pass<"nn-join-cycle", "::mlir::ModuleOp"> {
  let summary = "Makes one program of those that take turns";
  let description = [{
    Replaces an `nn.cycle` and its programs by one program with the name of the cycle:
    their ops behind each other, and each symbol read once. A state of the model
    counts the steps of the cycle; samples have no weight in the losses,
    sums and metrics of a program whose turn it is not, so that its groups stay as
    they are.

    Before:
    ```mlir
    nn.program @critic reads(@r) {
    ^bb0(%x: tensor<?x1xf32>):
      ...
      nn.minimize %l over @a : tensor<?x1xf32>
    }
    nn.program @generator reads(@r) { ... nn.minimize %m over @b ... }
    nn.cycle @train [@critic * 5, @generator]
    ```
    After:
    ```mlir
    nn.group @"train.turns" rule(@cyclic_counter {length = 6.0}) rate(1.0)
    nn.param @train.turn : tensor<1xf32> in @"train.turns" init(#nn.zeros)
    nn.program @train reads(@r) {
    ^bb0(%x: tensor<?x1xf32>):
      %turn = nn.read @train.turn : tensor<1xf32>
      ... // %now0: 1 while %turn < 5, else 0; %now1: 1 from there on
      %w = nn.broadcast %now0 like %l : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      nn.minimize %l weight %w over @a : tensor<?x1xf32>, tensor<?x1xf32>
      ...
      nn.accumulate @train.turn(%ones) : tensor<?x1xf32>
    }
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
}

def NNMergeLookups : Pass<"nn-merge-lookups", "::mlir::ModuleOp"> {
  let summary = "One deduplicated lookup for each table and program";
  let description = [{
    Joins all `nn.unique`, `nn.pull` and `nn.pool` of one table in a program
    into one of each, at the place of the first pool, after hoisting the ids
    that later lookups need (ids derive from fields alone, so that this is
    always possible). Lookups that nothing reads are gone before.

    Before:
    ```mlir
    %k0, %i0, %s0, %o0 = nn.unique %a
    %r0 = nn.pull @emb[%k0] : tensor<?x4xf32>
    %k1, %i1, %s1, %o1 = nn.unique %b
    %r1 = nn.pull @emb[%k1] : tensor<?x4xf32>
    ```
    After:
    ```mlir
    %k, %i, %s, %o = nn.unique %a, %b
    %r = nn.pull @emb[%k] : tensor<?x4xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numMerged", "lookups-merged", "Lookups that joined an earlier one">
  ];
}

//===----------------------------------------------------------------------===//
// Phase `gradient`
//===----------------------------------------------------------------------===//

def NNAutodiff : Pass<"nn-autodiff", "::mlir::ModuleOp"> {
  let summary = "Gradients of losses, by reverse mode";
  let description = [{
    Replaces `nn.minimize`, at the end of the program, by the adjoint ops and
    `nn.apply_gradients`. Walks from the losses back to every read or pull of a
    symbol in the named groups; each op on the way builds its own adjoint
    (`DifferentiableOpInterface`). The cotangent of a loss is its weight, since
    the weighted sum is differentiated. Cotangents of a value with several uses
    are added in reverse order of use; one that is zero is never made.

    Rejects ops without a gradient on the way, losses that mix samples, weights
    that depend on trained symbols, and groups that the losses do not reach. Warns
    of a parameter or table that a program reads, whose group is trained, and that
    no gradient reaches: it keeps its initial values.

    Before:
    ```mlir
    %w = nn.read @w : tensor<1xf32>
    %y = nn.mul %x, %w : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %y over [@g] : tensor<?x1xf32>
    ```
    After:
    ```mlir
    %w = nn.read @w : tensor<1xf32>
    %y = nn.mul %x, %w : tensor<?x1xf32>, tensor<1xf32>
    %dw = nn.reduce sum %x axes [0] : tensor<?x1xf32>
    nn.apply_gradients %y {@w = %dw : tensor<1xf32>} over [@g] : tensor<?x1xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numDifferentiated", "ops-differentiated", "Ops that built their adjoint">
  ];
}

def NNSplitClips : Pass<"nn-split-clips", "::mlir::ModuleOp"> {
  let summary = "A group for each symbol that is clipped by its own norm";
  let description = [{
    Replaces a group whose clip is `norm` by one group for each of its symbols,
    with a joint clip of its own: norms, steps and messages then know one kind of
    clip. The groups are named after group and symbol, in checkpoints too. All of
    them count the steps that the group would have counted. The two tables that
    `nn-split-tables` makes of one stay in one group.

    Before:
    ```mlir
    nn.clip @c : norm(1.0)
    nn.group @g rule(@sgd) rate(0.5) clip(@c)
    nn.param @a : tensor<2xf32> in @g init(#nn.zeros)
    nn.param @b : tensor<2xf32> in @g init(#nn.zeros)
    nn.apply_gradients %y {@a = %da : tensor<2xf32>, @b = %db : tensor<2xf32>} over [@g] : tensor<?x1xf32>
    ```
    After:
    ```mlir
    nn.clip @c.a : global_norm(1.0)
    nn.group @g.a rule(@sgd) rate(0.5) clip(@c.a)
    nn.clip @c.b : global_norm(1.0)
    nn.group @g.b rule(@sgd) rate(0.5) clip(@c.b)
    nn.param @a : tensor<2xf32> in @g.a init(#nn.zeros)
    nn.param @b : tensor<2xf32> in @g.b init(#nn.zeros)
    nn.apply_gradients %y {@a = %da : tensor<2xf32>, @b = %db : tensor<2xf32>} over [@g.a, @g.b] : tensor<?x1xf32>
    ```
  }];
  let statistics = [
    Statistic<"numSplit", "groups-split", "Groups that became one for each symbol">
  ];
}

def NNExpandUpdates : Pass<"nn-expand-updates", "::mlir::ModuleOp"> {
  let summary = "Rules, clips and schedules, spelled out";
  let description = [{
    Replaces `nn.apply_gradients` by `nn.loss_sum`, an `nn.squared_norm` for
    each joint clip, an `nn.once` for each group (schedule, clip factor and the rule's
    region `once` inlined, hyper-parameters as constants), and an `nn.update`
    for each symbol: division by the summed weight, clip, regularizers, and the
    rule's region `each`, inlined. Erases schedules, and rules that no group
    names; the other rules still declare slots. Of a clip by value nothing is
    left but the two ops in each `nn.update`.

    Before:
    ```mlir
    nn.apply_gradients %y {@w = %dw : tensor<1xf32>} over [@g] : tensor<?x1xf32>
    ```
    After, with `nn.group @g rule(@sgd) rate(0.5)`:
    ```mlir
    %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
    %s:2 = nn.once @g weight(%weight) -> (weight, "rate") {
    ^bb0(%step: f64, %w: f64, %squared_norm: f64):
      %rate = arith.constant 5.000000e-01 : f64
      nn.yield %w, %rate : f64, f64
    } : tensor<f32>, tensor<f32>
    nn.update @w gradient(%dw) scalars(%s#0, %s#1) {
    ^bb0(%value: f32, %g: f32, %w: f32, %rate: f32):
      %0 = arith.divf %g, %w : f32
      %1 = arith.mulf %rate, %0 : f32
      %2 = arith.subf %value, %1 : f32
      nn.yield %2 : f32
    } : tensor<1xf32>, tensor<f32>, tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
  let statistics = [
    Statistic<"numUpdates", "symbols-updated", "Symbols that are updated">
  ];
}

def NNCheckScalars : Pass<"nn-check-scalars", "::mlir::ModuleOp"> {
  let summary = "Rates and hyper-parameters must be numbers";
  let description = [{
    Computes what each `nn.once` yields at the first update, as far as that
    depends on neither weights nor norms, and refuses a group whose rule would
    get infinity or NaN: a schedule that divides by zero steps, a rate that f32
    does not hold. What only a later step shows is tested when it is reached.
    Changes nothing.

    Before, and after:
    ```mlir
    nn.group @dense rule(@sgd) rate(0.1) schedule(@cosine {steps = 1000.0})
    ```
  }];
}

def NNCheckUntouched : Pass<"nn-check-untouched", "::mlir::ModuleOp"> {
  let summary = "Lazy or dense must be said where it matters";
  let description = [{
    Follows each `nn.update` of a table under a zero gradient. Where that may
    change the value or a slot (momentum, Adam, L2, ...), a row that a batch
    does not touch has two meanings, and the group must say `untouched(lazy)` or
    `untouched(dense)`. Changes nothing.

    Before, and after:
    ```mlir
    nn.group @sparse rule(@adam) rate(1.0e-3) untouched(lazy)
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Phase `fused`
//===----------------------------------------------------------------------===//

def NNCanonicalize : Pass<"nn-canonicalize", "::mlir::ModuleOp"> {
  let summary = "Moves of elements in their shortest form";
  let description = [{
    Applies the folders and canonicalization patterns of dialect `nn` to the pure
    ops of programs: slices of slices and of concatenations, reshapes of reshapes,
    nested concatenations, and ops that nothing uses. Elements keep their bits.

    Runs behind `nn-autodiff`: before, a shorter chain would bring cotangents
    together in another order. MLIR's own `canonicalize` is not used, because it
    folds constants of rules with the functions of the machine that compiles.

    Before:
    ```mlir
    %0 = nn.reshape %e : (tensor<?x10xf32>) -> tensor<?x26x10xf32>
    %1 = nn.reshape %0 : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    ```
    After:
    ```mlir
    %1 = nn.reshape %e : (tensor<?x10xf32>) -> tensor<?x260xf32>
    ```
  }];
  let statistics = [
    Statistic<"numRemoved", "ops-removed", "Ops that are not needed any more">
  ];
}

def NNGateTurns : Pass<"nn-gate-turns", "::mlir::ModuleOp"> {
  let summary = "Computes only what losses with weights need";
  let description = [{
    Where all samples of a step weigh the same number (`nn.broadcast` of a scalar, alone or
    times other weights, as `nn-join-cycle` makes them) and that is 0, a loss, its
    gradients and metrics do not count. What only they need goes into an `nn.if` of that
    number, which gives zeros else: forward and backward together, so that nothing is
    computed again, and nothing that does not count can be infinite or NaN.

    Lookups, what is drawn, ids, and ops on bags or on several samples stay where they
    are.

    Before:
    ```mlir
    %h = nn.matmul %x, %w : tensor<?x3xf32>, tensor<3x4xf32>
    %l = nn.reduce sum %h axes [1] keep : tensor<?x4xf32>
    %c = nn.broadcast %now like %l : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %loss, %weight = nn.loss_sum %l weight %c ...
    ```
    After:
    ```mlir
    %l = nn.if %now with(%x, %w) {
    ^bb0(%0: tensor<?x3xf32>, %1: tensor<3x4xf32>):
      %h = nn.matmul %0, %1 : tensor<?x3xf32>, tensor<3x4xf32>
      %2 = nn.reduce sum %h axes [1] keep : tensor<?x4xf32>
      nn.yield %2 : tensor<?x1xf32>
    } else { ... nn.yield %zeros : tensor<?x1xf32> } : ...
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numOps", "ops-gated", "Ops that run only where their losses count">
  ];
}

def NNFuseGemm : Pass<"nn-fuse-gemm", "::mlir::ModuleOp"> {
  let summary = "Products with bias, activation and its gradient";
  let description = [{
    Turns every `nn.matmul` into `nn.gemm`, whose post-op list takes up a bias,
    a relu, or the gradient of a relu where that follows as the only use. The
    order of operations on each element, and so every bit, stays. Products of the
    single rows of a scan stay as they are, but a shared matrix that they take
    transposed is transposed once, before the scan. With `post-ops=false` no list
    takes up anything, so that what is fused can be compared with what is not.

    Before:
    ```mlir
    %0 = nn.matmul %x, %w : tensor<?x3xf32>, tensor<3x4xf32>
    %1 = nn.add %0, %b : tensor<?x4xf32>, tensor<4xf32>
    %2 = nn.relu %1 : tensor<?x4xf32>
    ```
    After:
    ```mlir
    %2 = nn.gemm %x, %w bias(%b) post [bias, relu]
      : (tensor<?x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let options = [
    Option<"postOps", "post-ops", "bool", "true",
           "Let products take up what follows them">
  ];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numPosts", "posts-fused", "Ops taken up as post-ops">
  ];
}

def NNAssignComputeTypes : Pass<"nn-assign-compute-types", "::mlir::ModuleOp"> {
  let summary = "Which products round their factors";
  let description = [{
    In a module with `nn.compute = bf16`, gives each `nn.gemm` of f32 `compute bf16`, if
    none of its sizes (rows, columns, depth) is known to be less than 16: a
    narrower one is bound by memory, which bf16 would not help, and keeps its bits. Weights
    stay f32; so do losses, norms, softmax, metrics, what scans do row by row,
    products of each sample (`nn.batch_matmul`) and in-batch scores. Forward products and
    their gradients are treated alike, and so are programs that train and those that
    serve.

    Before:
    ```mlir
    %0 = nn.gemm %x, %w bias(%b) post [bias, relu]
      : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    ```
    After:
    ```mlir
    %0 = nn.gemm %x, %w bias(%b) post [bias, relu] compute bf16
      : (tensor<?x273xf32>, tensor<273x400xf32>, tensor<400xf32>) -> tensor<?x400xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numProducts", "products-rounded", "Products with rounded factors">
  ];
}

def NNBroadcastSplats : Pass<"nn-broadcast-splats", "::mlir::ModuleOp"> {
  let summary = "Constants of one number stay one number";
  let description = [{
    A constant of more than 64 equal elements that an op needs in memory becomes
    an `nn.broadcast` of one element, which is filled when the program runs
    instead of standing in the executable. Elementwise ops read the number
    itself.

    Before:
    ```mlir
    %c = nn.constant dense<0.5> : tensor<400x400xf32>
    %y = nn.gemm %x, %c post [] : (tensor<?x400xf32>, tensor<400x400xf32>) -> tensor<?x400xf32>
    ```
    After:
    ```mlir
    %0 = nn.constant dense<0.5> : tensor<1x1xf32>
    %c = nn.broadcast %0 : (tensor<1x1xf32>) -> tensor<400x400xf32>
    %y = nn.gemm %x, %c post [] : (tensor<?x400xf32>, tensor<400x400xf32>) -> tensor<?x400xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numBroadcasts", "splats-broadcast", "Constants that are filled at run time">
  ];
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

def NNAssignStages : Pass<"nn-assign-stages", "::mlir::ModuleOp"> {
  let summary = "Says which stage of a step computes each op";
  let description = [{
    Sets attribute `stage` on each op of a program: `prepare` (`nn.unique`,
    `nn.pull`, crosses of bags, and what their ids derive from), `apply`
    (`nn.squared_norm`, `nn.once`, `nn.update`), `compute` (the rest). A step
    may be prepared before the one before it has been applied, and before servers
    have sent anything; so `prepare` may not depend on values of the model, and
    whatever can fail stands in it.

    Before:
    ```mlir
    %bucket = nn.bucketize %age boundaries [18.0] : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    ```
    After:
    ```mlir
    %bucket = nn.bucketize %age boundaries [18.0] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
    %p = nn.sigmoid %z {stage = #nn.stage<compute>} : tensor<?x1xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numPrepare", "prepare", "Ops of stage prepare">,
    Statistic<"numCompute", "compute", "Ops of stage compute">,
    Statistic<"numApply", "apply", "Ops of stage apply">
  ];
}

def PDLCheckStart : Pass<"pdl-check-start", "::mlir::ModuleOp"> {
  let summary = "Whether a pipeline may start with a module";
  let description = [{
    Stands at the begin of each pipeline, and changes nothing. Refuses a module
    that is not in phase `from`, that was cut for another mode than `mode` (up to
    phase `fused` a module suits all modes), or, where trainers and servers go
    their own ways, that lacks the modules of roles with which later phases go on.
  }];
  let options = [
    Option<"from", "from", "std::string", "\"model\"", "The phase to start with">,
    Option<"mode", "mode", "std::string", "\"local\"", "The mode to compile for">,
    Option<"isRole", "is-role", "bool", "false", "The module is that of one role">
  ];
}

def NNSetPhase : Pass<"nn-set-phase", "::mlir::ModuleOp"> {
  let summary = "Names the phase that a module has reached";
  let description = [{
    For phases in which a mode has nothing to do: in mode `local` nothing is
    placed and no role is cut out.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"\"", "The phase">];
}

def NNVerifyPhase : Pass<"nn-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Checks what a phase promises";
  let description = [{
    Stands behind each phase, so that a broken pass fails at the border. Verifies
    all ops, which pdl-translate does nowhere else from phase merged on. Checks
    that the module says it is in this phase, that only ops of the phase are
    left, and the phase's rules: names are UTF-8 without control characters, none
    of a tensor is `__metadata__`, which safetensors files reserve, ids derive from
    fields and samples do not mix (model); the snapshot rule (from merged on); each op has a stage and none
    waits for a later one (from split on); no tensors (from buffers on); a
    target triple (llvm).
  }];
  let options = [Option<"phase", "phase", "std::string", "\"model\"", "The phase to check for">];
}

//===----------------------------------------------------------------------===//
// Fingerprint
//===----------------------------------------------------------------------===//

def NNFingerprint : Pass<"nn-fingerprint", "::mlir::ModuleOp"> {
  let summary = "What a checkpoint and a program must have in common";
  let description = [{
    Adds the module's `nn.fingerprint`. Stands at the end of phase `merged`: names
    of values, comments, functions and the way in which lookups were written no
    longer matter there, while everything that training depends on does. The mode
    is not part of it: checkpoints travel between modes.

    Losses, and the keys of tables, count by the ops between them and the fields;
    what only metrics, outputs or frozen programs need does not.

    Before:
    ```mlir
    nn.group @dense rule(@sgd) rate(0.1)
    nn.param @w : tensor<13x1xf32> in @dense init(#nn.zeros)
    ```
    After, besides:
    ```mlir
    nn.fingerprint state {
      "shape of @w" = "f32 [13, 1]"
    } optimizer {
      "groups with steps" = "@dense"
    } training {
      "field @x" = "tensor<?x13xf32> from column 1",
      "group of @w" = "@dense",
      "losses of @train" = "8f14e45fceea167a",
      "rate of group @dense" = "0.1",
      "rule of group @dense" = "{} slots {}, c9f0f895fb98ab9145c48cce2e2d7fbd"
    }
    ```
  }];
}

def NNKeepServing : Pass<"nn-keep-serving", "::mlir::ModuleOp"> {
  let summary = "Keeps what answers requests";
  let description = [{
    For libraries that serve (`serving=true` in the pipeline, `--emit=library` of pdl-translate).
    Stands at the end of phase `merged`, behind `nn-fingerprint`, so that a library takes the
    checkpoints of its model. Kept are frozen programs that return something, without
    what only metrics need; the fields that they read, whose columns stay where they were;
    and the parameters, states and tables that they read. What trains is erased: other
    programs, groups, rules, schedules, clips and metrics. Where frozen programs read a slot
    of a rule, such as an average, the symbol keeps its name as `nn.served_slot`: that is
    what a library loads.

    Before:
    ```mlir
    nn.record @r {
      nn.field @label : tensor<?x1xf32>
      nn.field @x : tensor<?x3xf32>
    }
    nn.group @dense rule(@sgd) rate(0.1)
    nn.param @w : tensor<3x1xf32> in @dense init(#nn.zeros)
    nn.program @train reads(@r) { ... }
    nn.program @predict frozen reads(@r except @label) { ... nn.return %p : tensor<?x1xf32> }
    ```
    After:
    ```mlir
    nn.record @r {
      nn.field @x : tensor<?x3xf32> columns([1, 2, 3])
    }
    nn.param @w : tensor<3x1xf32> init(#nn.zeros)
    nn.program @predict frozen reads(@r) { ... nn.return %p : tensor<?x1xf32> }
    ```
  }];
  let statistics = [
    Statistic<"numPrograms", "programs-erased", "Programs that answer nothing">,
    Statistic<"numSymbols", "symbols-erased", "Parameters, states and tables that nothing reads">,
    Statistic<"numFields", "fields-erased", "Fields that nothing reads">
  ];
}

#endif // PDLC_TRANSFORMS_NNPASSES_TD
