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
  let summary = "Adds the standard rules and schedules that a model uses";
  let description = [{
    If a group names a rule or schedule that the module does not define, inserts
    the definition of the standard library before that group. This includes
    rules of averages and of delay compensation. A model with an `nn.cycle` gets
    the rule `@cyclic_counter`. `pdl-opt --print-std` lists the library, and
    `--print-std=adam` prints one definition. For a group of f64 symbols, the
    element regions of a rule are converted to f64. If groups of both types name
    a rule, it is added twice. The name of the second one then ends in its type
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
  let summary = "Combines a group's rule and its average into one rule";
  let description = [{
    Adds the average of a group's symbols as a slot of its rule, `average`. The
    rule of the average updates this slot from the new value, together with its
    own slots (`average_weight`). Frozen programs read the average. Every
    component that handles rules therefore handles averages too. The
    hyper-parameters of the average follow those of the rule.

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
  let summary = "Converts a model to double precision";
  let description = [{
    With `type=f64`, converts f32 to f64 everywhere: in fields, state,
    constants, programs, and the regions `each` of rules. An `nn.constant` gets
    the numbers as they are written in the text. Other numbers keep the value to
    which they were rounded in f32. The pass is for tests that compare results
    with exact mathematics.

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
  let summary = "Sets the type in which large products are computed";
  let description = [{
    Gives the module the attribute `nn.compute`. With `bf16`, the factors of
    large f32 products are rounded to bf16. With `bf16x3` and `bf16x6`, these
    products are sums of three or six products of bf16 parts
    (`nn-assign-compute-types`). The attribute becomes part of `nn.fingerprint`.
    The pass must run before passes that depend on the attribute.

    Before:
    ```mlir
    module @ctr {
    }
    ```
    After:
    ```mlir
    module @ctr attributes {nn.compute = "bf16"} {
    }
    ```
  }];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "f32 (no change), bf16, bf16x3 or bf16x6">];
}

def NNCheckModel : Pass<"nn-check-model", "::mlir::ModuleOp"> {
  let summary = "Checks the model for errors and probable mistakes";
  let description = [{
    Reports an error for:

    - a second `nn.record`;
    - a `@train` without `nn.minimize`;
    - an `@evaluate` or `@predict` that is not `frozen`;
    - a `@predict` without outputs;
    - numbers of fields and initial values of slots that are not finite in their
      element type. The element type is fixed at this point.

    Warns of legal models that are probably mistakes:

    - a program whose name is similar to that of a program that commands run
      (`train`, `evaluate`, `predict`), or a model without any such program;
    - a group that no `nn.minimize` names, in a model that trains other groups;
    - a parameter or table without a group that a training reads;
    - a parameter, state or table that nothing reads.

    Changes nothing.

    Before and after:
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
    Lowers the ops that exist only in phase `model`:

    - inlines every `nn.call` and erases the functions;
    - turns `nn.linear` into `nn.read`, `nn.matmul`, `nn.add` and the
      activation, and `nn.flatten` into `nn.reshape`;
    - reads each parameter once, at program entry;
    - replaces a ragged argument by a tensor of ids and a tensor of splits;
    - replaces each `nn.lookup` by its own `nn.unique`, `nn.pull` and `nn.pool`;
    - removes clauses that admit every key, `admit(count = 1)` and
      `admit(probability = 1)`.

    If a program would have more than `max-ops` ops, the pass reports an error
    before it inlines anything. Functions that each call another one twice
    double the number of ops with each level.

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
           "Maximum number of ops of a program with its functions inlined">
  ];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
}

def NNSplitTables : Pass<"nn-split-tables", "::mlir::ModuleOp"> {
  let summary = "Splits tables with deferred embedding vectors in two";
  let description = [{
    A table with `widen(from = F, score = S)` becomes two tables. The first one
    has the first F columns, the weight, and keeps the clauses of the table. The
    second one has the other columns, the vector, and a name with the suffix
    `.vector`. It admits keys by score S.

    Both tables are pulled by the keys of one `nn.unique`, pooled by the same
    bags, and counted alike. Their columns are concatenated to replace those of
    the original table. A slice of columns of the weight reads only the first
    table; in frozen programs, a slice of columns of the vector reads only the
    second one. A program that trains always looks up weights together with
    vectors. It looks up vectors that nothing reads only if their rows are
    counted and not looked up elsewhere.

    After this pass, only passes that take a norm of each symbol
    (`nn-split-clips`) know that the two belong together. They use the attribute
    `nn.widens`.

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
  let summary = "Joins alternating training programs into one";
  let description = [{
    Replaces an `nn.cycle` and its programs with one program that has the name
    of the cycle. It contains the ops of all programs, one after the other, and
    reads each symbol once. A state of the model counts the steps of the cycle.
    In the losses, sums and metrics of an inactive program, samples have no
    weight, so its groups are not updated.

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
    into one of each, at the position of the first pool. First, it hoists the
    ids that later lookups need. This is always possible, because ids depend
    only on fields. Lookups that nothing reads have been removed before.

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
    `nn.apply_gradients`. The pass walks from the losses back to every read or
    pull of a symbol in the named groups. Each op on the way builds its own
    adjoint (`DifferentiableOpInterface`). The cotangent of a loss is its
    weight, because the weighted sum is differentiated. If a value has several
    uses, its cotangents are added in reverse order of use. Cotangents that are
    zero are never created.

    Reports errors for ops without a gradient on the way, losses that mix
    samples, weights that depend on trained symbols, and groups that the losses
    do not depend on. Warns of a parameter or table that a program reads and
    whose group is trained, if no gradient reaches it. Such a symbol keeps its
    initial values.

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
  let summary = "Makes a group for each symbol that is clipped by its own norm";
  let description = [{
    Replaces a group whose clip is `norm` by one group for each of its symbols.
    Each new group has its own joint clip, so that later passes handle only one
    kind of clip by norm. The new groups are named after the group and the
    symbol, also in checkpoints. Each of them counts the steps that the group
    would have counted. Two tables that `nn-split-tables` made from one table
    stay in one group.

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
  let summary = "Expands rules, clips and schedules";
  let description = [{
    Replaces `nn.apply_gradients` by:

    - an `nn.loss_sum`;
    - an `nn.squared_norm` for each joint clip;
    - an `nn.once` for each group, with the schedule, the clip factor and the
      region `once` of the rule inlined, and hyper-parameters as constants;
    - an `nn.update` for each symbol, with the division by the summed weight,
      the clip, the regularizers and the region `each` of the rule inlined.

    Erases schedules, and rules that no group names. The other rules remain,
    because they declare slots. A clip by value becomes two ops in each
    `nn.update`.

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
  let summary = "Checks that learning rates and hyper-parameters are finite";
  let description = [{
    Computes the results of each `nn.once` at the first update, as far as they
    depend on neither weights nor norms. Reports an error if a group's rule
    would get infinity or NaN, for example from a schedule that divides by zero
    steps, or from a learning rate that f32 cannot represent. Warns if a number
    becomes 0 when it is rounded to the type of the elements. Numbers of later
    steps are checked when these steps run. Changes nothing.

    Before and after:
    ```mlir
    nn.group @dense rule(@sgd) rate(0.1) schedule(@cosine {steps = 1000.0})
    ```
  }];
}

def NNCheckUntouched : Pass<"nn-check-untouched", "::mlir::ModuleOp"> {
  let summary = "Requires a choice between lazy and dense if it matters";
  let description = [{
    Evaluates each `nn.update` of a table under a zero gradient. If the update
    may change the value or a slot (momentum, Adam, L2, ...), the result for
    rows that a batch does not touch is ambiguous. The group must then say
    `untouched(lazy)` or `untouched(dense)`. Changes nothing.

    Before and after:
    ```mlir
    nn.group @sparse rule(@adam) rate(1.0e-3) untouched(lazy)
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Phase `fused`
//===----------------------------------------------------------------------===//

def NNCanonicalize : Pass<"nn-canonicalize", "::mlir::ModuleOp"> {
  let summary = "Simplifies ops that only move elements";
  let description = [{
    Applies the folders and canonicalization patterns of dialect `nn` to the
    pure ops of programs. They simplify slices of slices and of concatenations,
    reshapes of reshapes, nested concatenations, and ops that nothing uses.
    Elements stay bit-identical.

    The pass runs after `nn-autodiff`, because a shorter chain of ops would add
    cotangents in another order. MLIR's own `canonicalize` is not used, because
    it folds constants of rules with the math functions of the compiling
    machine.

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
  let summary = "Skips computations for losses without weight";
  let description = [{
    If all weights of a loss are 0 in a step, the loss, its gradients and its
    metrics do not count. The pass handles weights that are an `nn.broadcast` of
    a scalar, alone or multiplied by other weights, as `nn-join-cycle` creates
    them: they are all 0 if the scalar is 0. The pass moves the ops that only
    such a loss, its gradients and its metrics need into an `nn.if` on the
    scalar. If the scalar is 0, the `nn.if` gives zeros. Forward and backward
    ops move together, so nothing is computed twice. Values that do not count
    are zeros, and cannot become infinite or NaN.

    Lookups, random draws, ids, and ops on bags or on several samples stay where
    they are.

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
  let summary = "Fuses products with bias, activation and its gradient";
  let description = [{
    Turns every `nn.matmul` into `nn.gemm`. If a bias, a relu, or the gradient
    of a relu follows as the only use, it becomes a post-op of the product. The
    order of operations on each element stays the same, so results are
    bit-identical. Products of single rows in a scan are not converted. However,
    a shared matrix that they use transposed is transposed once, before the
    scan. With `post-ops=false` there are no post-ops, so that tests can compare
    fused with unfused programs.

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
           "Fuse elementwise ops into the products before them">
  ];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numPosts", "posts-fused", "Ops fused as post-ops">
  ];
}

def NNAssignComputeTypes : Pass<"nn-assign-compute-types", "::mlir::ModuleOp"> {
  let summary = "Selects the products that round their factors";
  let description = [{
    In a module with `nn.compute = "bf16"`, adds `compute bf16` to each `nn.gemm`
    of f32, unless one of its sizes (rows, columns, depth) is known to be less
    than 16. Such a narrow product is bound by memory, so bf16 would not make it
    faster; its results stay bit-identical. The same holds for `bf16x3` and
    `bf16x6`.

    The following stay in f32: weights, losses, norms, softmax, metrics,
    row-by-row computations of scans, products of each sample
    (`nn.batch_matmul`), and in-batch scores. The pass treats forward products
    and their gradients alike, and programs that train like programs that serve.

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
  let summary = "Stores constants of equal elements as one number";
  let description = [{
    If an op needs a constant of more than 64 equal elements in memory, the
    constant becomes an `nn.broadcast` of one element. It is then filled when
    the program runs, and not stored in the executable. Elementwise ops read the
    single number directly.

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
  let summary = "Assigns each op to a stage of the step";
  let description = [{
    Sets the attribute `stage` on each op of a program:

    - `prepare`: `nn.unique`, `nn.pull`, `nn.check_bags`, `nn.log_probability`,
      crosses of bags, and all ops that compute their operands;
    - `apply`: `nn.squared_norm`, `nn.once`, `nn.update`;
    - `compute`: all other ops.

    A step may be prepared before the previous step has been applied, and before
    servers have sent anything. Stage `prepare` therefore must not depend on
    values of the model. All ops that can fail belong to `prepare`.

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
  let summary = "Checks that a pipeline may start with the module";
  let description = [{
    Runs at the beginning of each pipeline, and changes nothing. Reports an
    error for a module that

    - is not in phase `from`;
    - was cut for another mode than `mode` (up to phase `fused`, a module suits
      all modes);
    - lacks the modules of roles that later phases need, if trainers and servers
      are separate.
  }];
  let options = [
    Option<"from", "from", "std::string", "\"model\"", "The phase to start with">,
    Option<"mode", "mode", "std::string", "\"local\"", "The mode to compile for">,
    Option<"isRole", "is-role", "bool", "false", "The module is that of one role">
  ];
}

def NNSetPhase : Pass<"nn-set-phase", "::mlir::ModuleOp"> {
  let summary = "Sets the phase that a module has reached";
  let description = [{
    Used for phases that have no passes in a mode. For example, in mode `local`,
    nothing is placed and no roles are outlined.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"\"", "The phase">];
}

def NNVerifyPhase : Pass<"nn-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Checks the guarantees of a phase";
  let description = [{
    Runs after each phase, so that errors of a pass are found at the end of its
    phase. It verifies all ops; from phase `merged` on, pdl-translate verifies
    them nowhere else. It checks that the module names this phase, that it
    contains only ops of the phase, and these rules:

    - Names are UTF-8 without control characters. No tensor is named
      `__metadata__`, which safetensors files reserve. Ids depend only on
      fields, and samples do not mix (`model`).
    - The snapshot rule holds (from `merged` on).
    - Each op has a stage, and no op waits for a later stage (from `split` on).
    - There are no tensors (from `buffers` on).
    - There is a target triple (`llvm`).
  }];
  let options = [Option<"phase", "phase", "std::string", "\"model\"", "The phase to check for">];
}

//===----------------------------------------------------------------------===//
// Fingerprint
//===----------------------------------------------------------------------===//

def NNFingerprint : Pass<"nn-fingerprint", "::mlir::ModuleOp"> {
  let summary = "Adds the properties that a checkpoint and a program must share";
  let description = [{
    Adds the module's `nn.fingerprint`. It runs at the end of phase `merged`. At
    this point, names of values, comments, functions and the notation of lookups
    no longer matter. Everything that training depends on is still there.
    Fields are identified by their numbers in the record, from 1, and not by
    name. The mode is not part of the fingerprint, so checkpoints can be used in all
    modes.

    The digests of losses, and of the keys of tables, include the ops between
    them and the fields. Ops that only metrics, outputs or frozen programs need
    are not included.

    Before:
    ```mlir
    nn.group @dense rule(@sgd) rate(0.1)
    nn.param @w : tensor<13x1xf32> in @dense init(#nn.zeros)
    ```
    After, in addition:
    ```mlir
    nn.fingerprint state {
      "shape of @w" = "f32 [13, 1]"
    } optimizer {
      "groups with steps" = "@dense"
    } training {
      "field 1" = "tensor<?x13xf32> from column 0",
      "group of @w" = "@dense",
      "losses of @train" = "8f14e45fceea167a",
      "rate of group @dense" = "0.1",
      "rule of group @dense" = "{} slots {}, c9f0f895fb98ab9145c48cce2e2d7fbd"
    }
    ```
  }];
}

def NNKeepServing : Pass<"nn-keep-serving", "::mlir::ModuleOp"> {
  let summary = "Removes everything that serving does not need";
  let description = [{
    For serving libraries (`serving=true` in the pipeline, `--emit=library` of
    pdl-translate). It runs at the end of phase `merged`, after
    `nn-fingerprint`, so that a library accepts the checkpoints of its model.
    The pass keeps:

    - frozen programs with outputs, without the ops that only metrics need;
    - the fields that they read; these keep their columns;
    - the parameters, states and tables that they read.

    It erases everything else: other programs, groups, rules, schedules, clips
    and metrics. If frozen programs read a slot of a rule, such as an average,
    the symbol gets the attribute `nn.served_slot` with the name of the slot. A
    library then loads this slot.

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
    Statistic<"numPrograms", "programs-erased", "Programs without outputs for serving">,
    Statistic<"numSymbols", "symbols-erased", "Parameters, states and tables that nothing reads">,
    Statistic<"numFields", "fields-erased", "Fields that nothing reads">
  ];
}

#endif // PDLC_TRANSFORMS_NNPASSES_TD
