//===- Passes.td - Passes from model to tasks -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_PASSES_TD
#define PDLC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

// Statistics of a pass are reported by its code with `reportStatistic`
// (pdlc/Support/Statistics.h) under the names given here; `pdl-opt
// --remarks-filter=statistics` prints them.

//===----------------------------------------------------------------------===//
// Phase `model`
//===----------------------------------------------------------------------===//

def NNLinkStd : Pass<"nn-link-std", "::mlir::ModuleOp"> {
  let summary = "Adds the standard rules and schedules that a model names";
  let description = [{
    Puts a rule or schedule that a group names, and the module does not define,
    before that group. `pdl-opt --print-std` lists what there is,
    `--print-std=adam` prints one. In a module whose state is f64 the region
    `each` of a rule becomes f64.

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
    its own `nn.unique`, `nn.pull` and `nn.pool`.

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

def NNMergeLookups : Pass<"nn-merge-lookups", "::mlir::ModuleOp"> {
  let summary = "One deduplicated lookup for each table and program";
  let description = [{
    Joins all `nn.unique`, `nn.pull` and `nn.pool` of one table in a program
    into one of each, at the place of the first pool, after hoisting the ids
    that later lookups need (ids derive from fields alone, so that this is
    always possible).

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
    that depend on trained symbols, and groups that the losses do not reach.

    Before:
    ```mlir
    %w = nn.read @w : tensor<1xf32>
    %y = nn.mul %x, %w : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    nn.minimize %y over [@g] : tensor<?x1xf32>
    ```
    After:
    ```mlir
    %w = nn.read @w : tensor<1xf32>
    %y = nn.mul %x, %w : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %dw = nn.reduce sum %x axes [0] : (tensor<?x1xf32>) -> tensor<1xf32>
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
    them count the steps that the group would have counted.

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

def NNFuseGemm : Pass<"nn-fuse-gemm", "::mlir::ModuleOp"> {
  let summary = "Products with bias, activation and its gradient";
  let description = [{
    Turns every `nn.matmul` into `nn.gemm`, whose post-op list takes up a bias,
    a relu, or the gradient of a relu where that follows as the only use. The
    order of operations on each element, and so every bit, stays.

    Before:
    ```mlir
    %0 = nn.matmul %x, %w : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
    %1 = nn.add %0, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %2 = nn.relu %1 : tensor<?x4xf32>
    ```
    After:
    ```mlir
    %2 = nn.gemm %x, %w bias(%b) post [bias, relu]
      : (tensor<?x3xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::nn::NNDialect"];
  let statistics = [
    Statistic<"numPosts", "posts-fused", "Ops taken up as post-ops">
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
    %bucket = nn.bucketize %age boundaries [18.0] : (tensor<?x1xf32>) -> tensor<?x1xi64>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    ```
    After:
    ```mlir
    %bucket = nn.bucketize %age boundaries [18.0] {stage = #nn.stage<prepare>} : (tensor<?x1xf32>) -> tensor<?x1xi64>
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
    Stands behind each phase, so that a broken pass fails at the border. Checks
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

//===----------------------------------------------------------------------===//
// Phase `placed`
//===----------------------------------------------------------------------===//

def PSPartition : Pass<"ps-partition", "::mlir::ModuleOp"> {
  let summary = "Cuts parameters and tables into what servers own";
  let description = [{
    Adds a `ps.blocks` for each parameter and state and a `ps.shards` for each
    table, and sets `ps.mode`. Blocks are whole units of 64 rows, of about
    `target-block-bytes` and at least `min-block-elements`
    (`pdlabi/placement.h`); with `slice=false` each is one block. No server is
    known here.

    Costs are the bytes that a step moves: twice the block for a trained
    parameter (gradient and value), 1 for one that is only read at the start; for
    a shard the keys, rows and gradients of 512 samples, if keys are spread
    evenly and each occurs once.

    Before:
    ```mlir
    nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
    ```
    After:
    ```mlir
    nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
    ps.blocks @w1 rows [0, 64, 128, 273] costs [204800, 204800, 464000]
    ```
  }];
  let dependentDialects = ["::pdlc::ps::PSDialect"];
  let options = [
    Option<"mode", "mode", "std::string", "\"sync\"", "sync or async">,
    Option<"slice", "slice", "bool", "true", "Cut parameters into several blocks">,
    Option<"minBlockElements", "min-block-elements", "int64_t", "8192",
           "The least elements of a block, at least 1">,
    Option<"targetBlockBytes", "target-block-bytes", "int64_t", "131072",
           "About how many bytes a block has, at least 1">
  ];
  let statistics = [
    Statistic<"numBlocks", "blocks", "Row blocks of all parameters">,
    Statistic<"numShards", "shards", "Shards of all tables">
  ];
}

def PSPlace : Pass<"ps-place", "::mlir::ModuleOp"> {
  let summary = "Shows which server owns which unit";
  let description = [{
    What every process computes when it starts (`pdlabi/placement.h`), for a
    given number of servers: notes at each `ps.blocks` and `ps.shards` the server
    of each unit. For readers and tests: programs do not contain it.

    Before:
    ```mlir
    ps.blocks @w1 rows [0, 64, 128, 273] costs [204800, 204800, 464000]
    ```
    After, with `servers=2`:
    ```mlir
    ps.blocks @w1 rows [0, 64, 128, 273] costs [204800, 204800, 464000] {servers = array<i32: 1, 1, 0>}
    ```
  }];
  let options = [
    Option<"servers", "servers", "int32_t", "1", "How many servers">,
    Option<"policy", "policy", "std::string", "\"least-loaded\"",
           "round-robin, hash-name or least-loaded">
  ];
}

def PSReport : Pass<"ps-report", "::mlir::ModuleOp"> {
  let summary = "What a job will move, hold and compute";
  let description = [{
    Runs in phase `placed` and prints for a human: parameters and their blocks;
    units, bytes and messages a step of each server, and how evenly they are
    spread; memory of each role; flops a sample; with the constants of a machine,
    which `pdl-measure` writes, the predicted shares of time. Changes nothing.

    Bytes are those of whole messages with their heads, as trainers and servers
    count them too; what the network adds is not in them. Rows of tables are counted
    for `unique-share` of the ids of a step, spread evenly over shards. In mode
    `async` each worker is a sender by itself.

    Example:
    ```
    pdl-opt model.mlir --pdl-pipeline="to=placed mode=sync" --ps-report="servers=2" -o /dev/null
    ```
  }];
  let options = [
    Option<"servers", "servers", "int32_t", "1", "How many servers">,
    Option<"policy", "policy", "std::string", "\"least-loaded\"",
           "round-robin, hash-name or least-loaded">,
    Option<"trainers", "trainers", "int32_t", "1", "How many trainers">,
    Option<"workers", "workers", "int32_t", "1", "Workers of a trainer">,
    Option<"batchSize", "batch-size", "int64_t", "pdlabi::defaultBatchSize",
           "Samples of a worker and step; a trainer's default unless given">,
    Option<"uniqueShare", "unique-share", "double", "1.0",
           "Distinct keys of a trainer's step over its ids">,
    Option<"machine", "machine", "std::string", "\"\"",
           "A file that pdl-measure wrote">,
    Option<"output", "output", "std::string", "\"-\"", "Where to; - is the standard output">
  ];
}

//===----------------------------------------------------------------------===//
// Phase `split`
//===----------------------------------------------------------------------===//

def PSInsertSendRecv : Pass<"ps-insert-send-recv", "::mlir::ModuleOp"> {
  let summary = "State moves to servers; programs send and receive";
  let description = [{
    Runs behind `nn-assign-stages`. Declares the channels of each program, and
    replaces `nn.read` by `ps.recv`, `nn.pull` by `ps.pull`. What stage apply
    did moves into `ps.handler`s: gradients go there by `ps.send` and `ps.push`.

    In mode `sync` the pushes end in a `ps.barrier`, and a clip's norm, which no
    server can form alone, takes a handler more: servers answer partial norms,
    trainers join them and send the norm back. In mode `async` a worker knows its
    whole gradient, so it computes the norm itself.

    Before:
    ```mlir
    %w = nn.read @w {stage = #nn.stage<compute>} : tensor<4x1xf32>
    ...
    nn.update @w gradient(%g) scalars(%s#0) { ... } {stage = #nn.stage<apply>} : ...
    ```
    After:
    ```mlir
    %w = ps.recv @train.value.w {stage = #nn.stage<receive>} : tensor<4x1xf32>
    ...
    %t = ps.send %g to @train.gradient.w {stage = #nn.stage<send>} : tensor<4x1xf32>
    ```
  }];
  let dependentDialects = ["::pdlc::ps::PSDialect"];
  let statistics = [
    Statistic<"numChannels", "channels", "Channels of all programs">
  ];
}

def PSFuseMessages : Pass<"ps-fuse-messages", "::mlir::ModuleOp"> {
  let summary = "One message for each process, server and step";
  let description = [{
    Replaces the sends, receives, pulls and pushes of a program by `ps.wait` at
    its entry and `ps.post` at its end. The push of a step and the pull of the
    next one are one message: keys are sent ahead. In mode `sync` a clip's norm
    needs a second one.

    Before:
    ```mlir
    %w = ps.recv @train.value.w {stage = #nn.stage<receive>} : tensor<4x1xf32>
    ...
    %t = ps.send %g to @train.gradient.w {stage = #nn.stage<send>} : tensor<4x1xf32>
    ```
    After:
    ```mlir
    ps.message @train.exchange in "train" round sends [@train.gradient.w, @train.loss]
      ahead [] receives [@train.loss, @train.value.w]
    ...
    %loss:2, %w = ps.wait @train.exchange {stage = #nn.stage<receive>} : ...
    ...
    ps.post @train.exchange(%g, %sum, %weight) {stage = #nn.stage<send>} : ...
    ```
  }];
  let dependentDialects = ["::pdlc::ps::PSDialect"];
  let statistics = [
    Statistic<"numBefore", "messages-before", "Messages a step and server before">,
    Statistic<"numAfter", "messages-after", "Messages a step and server after">
  ];
}

//===----------------------------------------------------------------------===//
// Phase `roles`
//===----------------------------------------------------------------------===//

def PSOutlineRoles : Pass<"ps-outline-roles", "::mlir::ModuleOp"> {
  let summary = "Cuts out the modules of trainers and of servers";
  let description = [{
    `@trainer` gets the record, metrics and programs, and of parameters and
    tables what a layout needs; `@pserver` gets groups, rules and handlers. Both
    get channels, messages and units. They share no symbol.

    Before:
    ```mlir
    module attributes {ps.mode = #ps.mode<sync>} { nn.record ... nn.program ... ps.handler ... }
    ```
    After:
    ```mlir
    module attributes {ps.mode = #ps.mode<sync>} {
      module @trainer attributes {ps.role = "trainer", ...} { nn.record ... nn.program ... }
      module @pserver attributes {ps.role = "pserver", ...} { nn.group ... ps.handler ... }
    }
    ```
  }];
  let dependentDialects = ["::pdlc::ps::PSDialect"];
}

def PSVerifyRoles : Pass<"ps-verify-roles", "::mlir::ModuleOp"> {
  let summary = "Proves that the roles fit together";
  let description = [{
    Fails, at the op in question, unless

    - there are one `@trainer` and one `@pserver`, of one mode, fingerprint and
      wire, and the wire is the digest of what they declare;
    - both declare the same parameters, states, tables and clips, but for groups;
    - both declare the same channels, messages and units, in the same order;
    - each parameter, state and table is cut into units exactly once;
    - each channel travels in a message; each that goes to servers is posted by
      the trainer and used by a handler, each that goes to trainers is awaited;
    - what sends results forms rounds in mode sync, and nothing else does; keys
      that go with results are those of the next step;
    - no message waits for itself: keys come from fields alone; a message that
      brings what a step begins with is awaited before it is posted, for the next
      step, and any other one is posted before it is awaited;
    - rows are read, and gradients of rows sent, by the keys that they were asked
      by; the loss that is posted is a loss and its weight;
    - the norm that is posted for a clip is joined of the partials of the symbols
      that it clips: all of them, each once, no other, in the order of one process
      (in mode async: formed of the gradients that are posted);
    - state is updated on servers only, each symbol once for each program, when its
      gradient has come and before its value goes out, by its own gradient, keys
      and group's scalars, and nothing that has no group;
    - a group counts each step once, divides by the summed weight and clips by its
      own clip's norm; partials are answered once, of the symbols that they are
      named by.

    Example:
    ```
    model.mlir:31:5: error: 'ps.channel' op @train.gradient.w has number 2 in
    @trainer, but number 3 in @pserver
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Phase `tasks`
//===----------------------------------------------------------------------===//

def RTOutlineKernels : Pass<"rt-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Kernels from the loops of stages";
  let description = [{
    Moves each loop nest of a stage, parallel or ordered, into a function of plain
    pointers and numbers, together with the loads that feed it and the stores of what it
    carries out; the stage calls it. Nests that differ only in names, in the
    memory that they are given, in numbers from outside and in numbers of rows
    share one kernel: constants on which all of them agree stay inside, the others
    become parameters. Inner dimensions are part of a kernel, so that LLVM sees its
    strides and trip counts.

    Each pointer is `llvm.noalias`: the plan of buffers lets no op write
    memory that it reads through another pointer, so LLVM needs no check of
    overlaps at run time. Kernels are never inlined back, which keeps the time
    to compile linear in the number of distinct kernels.

    A kernel's name says what it does: `fill`, `copy`, `elementwise` or `reduce`,
    the scalar ops of its body (six at most) and the type of the elements that it
    writes; the symbol table adds a number where a name is taken.

    Before:
    ```mlir
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      ...
      %x = rt.view %arena[%a] size(%n) : !llvm.ptr -> memref<?xf32>
      %y = rt.view %arena[%b] size(%n) : !llvm.ptr -> memref<?xf32>
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        %0 = memref.load %x[%i] : memref<?xf32>
        %1 = arith.mulf %0, %half : f32
        memref.store %1, %y[%i] : memref<?xf32>
      }
    ```
    After:
    ```mlir
    func.func private @kernel.elementwise_mul_f32(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %n: index) attributes {passthrough = ["noinline"]} {
      ...
    }
    func.func @train_compute(%context: !llvm.ptr) -> i32 {
      ...
      %0 = rt.address %arena[%a] : !llvm.ptr
      %1 = rt.address %arena[%b] : !llvm.ptr
      call @kernel.elementwise_mul_f32(%0, %1, %n) : (!llvm.ptr, !llvm.ptr, index) -> ()
    ```
  }];
  let dependentDialects = ["::pdlc::rt::RTDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numNests", "nests", "Loop nests of stages">,
    Statistic<"numKernels", "kernels", "Distinct kernels made of them">
  ];
}

def RTDeduplicateKernels : Pass<"rt-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "One function for equal bodies";
  let description = [{
    Merges functions with equal types and bodies, whatever their names, and lets
    all users of the later ones use the first: parameters of one group share a
    kernel, tables of one group and width likewise.

    Before:
    ```mlir
    rt.update_kernel @w1 calls @update_w1
    rt.update_kernel @w2 calls @update_w2
    ```
    After:
    ```mlir
    rt.update_kernel @w1 calls @update_w1
    rt.update_kernel @w2 calls @update_w1
    ```
  }];
  let statistics = [
    Statistic<"numMerged", "kernels-merged", "Functions that an earlier one replaced">
  ];
}

def RTVectorizeRows : Pass<"rt-vectorize-rows", "::mlir::ModuleOp"> {
  let summary = "Short rows as vectors of a power of two";
  let description = [{
    The kernel that updates the rows of a table is a parallel loop over rows
    around one over the elements of a row, and both take the largest of what tells
    whether all that they wrote is finite. Rows are short, ten elements, and of an
    odd length: a vectoriser masks the last vector, and joins the lanes for each
    row. This pass, for a core with vectors, writes a row of at most 64 elements as
    vectors of 16, 8, 4, 2 and 1 elements, and lets the loop over rows carry the
    largest by lane: lanes are joined once, behind it.

    It takes loops whose turns load and store elements of rows by their number,
    compute elementwise, and keep the largest of integers; others stay. Elements
    keep their bits.

    Before:
    ```mlir
    %s = scf.parallel (%r) = (%c0) to (%rows) step (%c1) init (%zero) -> i32 {
      %row = llvm.load ...
      %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
        %at = llvm.getelementptr %row[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %x = llvm.load %at : !llvm.ptr -> f32
        ...
        scf.reduce(%y : i32) { ... arith.maxsi %a, %b : i32 ... }
      }
      scf.reduce(%t : i32) { ... }
    }
    ```
    After:
    ```mlir
    %s:2 = scf.parallel (%r) = (%c0) to (%rows) step (%c1) init (%zeros8, %zeros2) -> (vector<8xi32>, vector<2xi32>) {
      %row = llvm.load ...
      %x = llvm.load %row : !llvm.ptr -> vector<8xf32>
      ...
      %at = llvm.getelementptr %row[%c8] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x2 = llvm.load %at : !llvm.ptr -> vector<2xf32>
      ...
      scf.reduce(%y, %y2 : vector<8xi32>, vector<2xi32>) { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numRows", "rows", "Loops over elements of rows that became vectors">
  ];
}

def RTSerializeLoops : Pass<"rt-serialize-loops", "::mlir::ModuleOp"> {
  let summary = "Parallel loops in an order that suits one core";
  let description = [{
    Up to phase `tasks` a loop whose turns are independent is an `scf.parallel`,
    and only sums whose order is settled are `scf.for` inside of one: what a
    device would launch. This pass gives the turns an order, for a core with
    vectors: the last dimension runs innermost. Two things make that as fast as a
    nest written by hand:

    - A load that does not depend on inner dimensions moves out of their loops,
      where those are known to run and nothing in the loop writes to that memory.
    - Ordered sums, one for each turn, are walked in the order of the memory that
      they read: a sum over leading dimensions adds row after row into all results
      at once; a product of matrices, whose terms no single load has, adds term
      after term into all columns of a row. Each result still collects its elements
      in the same order, so that no bit changes.

    What the turns combine (`scf.reduce`) must be integers, the same in any order;
    loops carry it. Floats are refused.

    Before:
    ```mlir
    scf.parallel (%j) = (%c0) to (%c400) step (%c1) {
      %0 = memref.load %sums[%j] : memref<?xf32>
      %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> (f32) {
        %2 = memref.load %x[%i, %j] : memref<?x400xf32>
        %3 = arith.addf %sum, %2 : f32
        scf.yield %3 : f32
      }
      memref.store %1, %sums[%j] : memref<?xf32>
      scf.reduce
    }
    ```
    After:
    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %c400 step %c1 {
        %0 = memref.load %sums[%j] : memref<?xf32>
        %1 = memref.load %x[%i, %j] : memref<?x400xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %sums[%j] : memref<?xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numLoops", "loops", "Parallel loops that got an order">,
    Statistic<"numSums", "sums", "Of these, those of ordered sums">
  ];
}

#endif // PDLC_TRANSFORMS_PASSES_TD
