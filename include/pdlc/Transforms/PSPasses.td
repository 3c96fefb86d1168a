//===- PSPasses.td - Passes that share a model among processes -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_PSPASSES_TD
#define PDLC_TRANSFORMS_PSPASSES_TD

include "mlir/Pass/PassBase.td"

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
    Option<"mode", "mode", "std::string", "\"sync\"",
           "sync, half-async, async, quorum, collective, hybrid or geo">,
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

def PSCheckCopies : Pass<"ps-check-copies", "::mlir::ModuleOp"> {
  let summary = "Refuses what copies of trainers cannot be put together of";
  let description = [{
    In mode `geo` each trainer applies the rules to a copy, and servers add what
    was changed, divided by the number of trainers. Refused at its place, with
    the reason, is a group that a program updates, or its table, with

    - an average: frozen programs read a slot, and slots stay with each trainer;
    - `untouched(dense)` for a table: all of its rows would travel;
    - a table with `stored`: small changes are lost in 16 bits;
    - the turns of an `nn.cycle`: whose turn it is cannot be averaged.

    In other modes it does nothing.

    Example:
    ```
    model.mlir:9:3: error: 'nn.group' op is not for mode geo: ...
    ```
  }];
}

def PSSettleDelays : Pass<"ps-settle-delays", "::mlir::ModuleOp"> {
  let summary = "Leaves out what compensates delays where there are none";
  let description = [{
    Updates of groups that say `compensate` ask for the value on which a gradient was
    computed. Where the push of a sender is a step by itself (modes `async` and
    `half-async`) servers know it, and the module stays as it is. Where all that is
    sent for a step is joined, or each trainer updates the copy that it computes on,
    the value is the one that was seen, and what was to be done otherwise is removed:
    such a program updates as that of a model without the clause (its `nn.once`
    still makes the numbers that the clause has, which nothing uses).

    In mode `quorum` a round adds gradients that were computed on different values,
    some of them late: the clause is refused at the group.

    Before:
    ```mlir
    nn.update @w gradient(%g) seen scalars(%weights, %rates, %strengths) {
    ^bb0(%value: f32, %sum: f32, %seen: f32, %weight: f32, %rate: f32, %strength: f32):
      %g1 = arith.divf %sum, %weight : f32
      %same = arith.cmpf oeq, %value, %seen : f32
      %moved = arith.subf %value, %seen : f32
      %0 = arith.mulf %g1, %g1 : f32
      %1 = arith.mulf %strength, %0 : f32
      %2 = arith.mulf %1, %moved : f32
      %3 = arith.addf %g1, %2 : f32
      %g2 = arith.select %same, %g1, %3 : f32
      %4 = arith.mulf %rate, %g2 : f32
      %5 = arith.subf %value, %4 : f32
      nn.yield %5 : f32
    } : tensor<273x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
    After, with `mode=sync`:
    ```mlir
    nn.update @w gradient(%g) scalars(%weights, %rates, %strengths) {
    ^bb0(%value: f32, %sum: f32, %weight: f32, %rate: f32, %strength: f32):
      %g1 = arith.divf %sum, %weight : f32
      %4 = arith.mulf %rate, %g1 : f32
      %5 = arith.subf %value, %4 : f32
      nn.yield %5 : f32
    } : tensor<273x400xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    ```
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"local\"",
           "The mode that the module will be cut for">,
  ];
  let statistics = [
    Statistic<"numSettled", "updates-settled", "Updates without delays">,
  ];
}

def PSPlace : Pass<"ps-place", "::mlir::ModuleOp"> {
  let summary = "Shows which server owns which unit";
  let description = [{
    What every process computes when it starts (`pdlabi/placement.h`), for a
    given number of servers: notes at each `ps.blocks` and `ps.shards` the server
    of each unit. For readers and tests: programs do not contain it.

    In modes in which trainers own state, such as `collective`, it notes `owners`
    instead: 0 to S-1 are the servers, those behind them the trainers.

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
    Option<"servers", "servers", "int32_t", "-1",
           "How many servers; -1: one, or none in a mode without">,
    Option<"trainers", "trainers", "int32_t", "1",
           "How many trainers, where these own state">,
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
    `async` each worker is a sender by itself. Where trainers own state, they are
    among the owners, and what a trainer says to its own owner is counted too,
    though it stays in the process. Whether their devices add gradients of parameters, which
    then are in no message (docs/Modes.md), is known when a job starts. So there are two pairs of
    bytes of a trainer: with owners that add, which all else is said of, and with devices that do. How much of
    what devices add goes between them is a matter of what connects them: a ring sends and gets
    2 (n - 1) / n of it between n devices.
    In mode `geo` bytes are those of a step on average, where an exchange is each
    `geo-steps`; keys that others have changed count as if nobody else had. With
    `push-queue` in mode `async` each push leaves by itself, unmerged.

    Times: with `machine` alone of products only, and of the bytes that messages
    and rules touch. With `costs` from what one process measured of this very
    model: `trainer train --costs FILE` of `--mode=local`, which scales with the
    batch. Nothing is fitted to a job. What is predicted is a trainer's step after
    the others', each worker with a core of its own; with `hosts=shared`, where
    all processes have the cores of one machine, at least what these can do.
    Waiting for data is none of it, nor that some host is slower than others.

    Memory: of tables as large as the measured ones. Where `costs` are those of a program for
    devices, on one of them, also what the device of a trainer needs, all its replicas there
    and tables on the host: what does not grow with the batch was measured, the rest goes by samples and
    distinct keys. Memory that a driver or a library takes for itself is not counted.

    Example:
    ```
    pdl-opt model.mlir --pdl-pipeline="to=placed mode=sync" --ps-report="servers=2" -o /dev/null
    ```
  }];
  let options = [
    Option<"servers", "servers", "int32_t", "-1",
           "How many servers; -1: one, or none in a mode without">,
    Option<"policy", "policy", "std::string", "\"least-loaded\"",
           "round-robin, hash-name or least-loaded">,
    Option<"trainers", "trainers", "int32_t", "1", "How many trainers">,
    Option<"workers", "workers", "int32_t", "1", "Workers of a trainer">,
    Option<"batchSize", "batch-size", "int64_t", "0",
           "Samples of a worker and step; 0: as in `costs`, else a trainer's "
           "default">,
    Option<"uniqueShare", "unique-share", "double", "0",
           "Distinct keys of a trainer's step (geo: between exchanges) over its "
           "ids; 0: as in `costs`, else 1">,
    Option<"machine", "machine", "std::string", "\"\"",
           "A file that pdl-measure wrote">,
    Option<"costs", "costs", "std::string", "\"\"",
           "A file that 'trainer train --costs' of mode local wrote">,
    Option<"hosts", "hosts", "std::string", "\"own\"",
           "own: each process has a host; shared: all have one">,
    Option<"geoSteps", "geo-steps", "int64_t", "pdlabi::defaultGeoSteps",
           "Mode geo: steps between exchanges">,
    Option<"pushQueue", "push-queue", "int64_t", "0",
           "Mode async: pushes travel beside steps">,
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

    In mode `geo` programs stay as they are: a `ps.share` at the entry says how the
    changes of each symbol that is updated travel, and the handler adds them.

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
    get channels, messages and units. They share no symbol. In mode `geo` groups
    and rules go to `@trainer`, and `@pserver` has the layout alone.

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
    - in mode geo: a program exchanges once, between two steps, the changes of all
      symbols that it updates and of no other; servers apply no rule, and add each
      change once, to its own symbol and by the keys that it came with;
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

def PSShareRules : Pass<"ps-share-rules", "::mlir::ModuleOp"> {
  let summary = "Gives trainers the rules of parameters that their owners apply";
  let description = [{
    Where trainers own parameters (modes collective and hybrid), they may have all
    of them on devices, and apply the rules there. `@trainer` gets copies of
    `@pserver`'s groups, rules and handlers, without the updates of tables. Runs
    behind `ps-verify-roles`, which proves what the roles mean without it;
    `nn-updates-to-kernels` makes kernels of the copies.

    Before:
    ```mlir
    module @trainer { nn.param @w : tensor<8xf32> ... nn.program ... }
    module @pserver { nn.group @dense ... nn.param @w : tensor<8xf32> in @dense ... ps.handler ... }
    ```
    After:
    ```mlir
    module @trainer { nn.param @w : tensor<8xf32> in @dense ... nn.group @dense ... ps.handler ... }
    module @pserver { nn.group @dense ... nn.param @w : tensor<8xf32> in @dense ... ps.handler ... }
    ```
  }];
  let dependentDialects = ["::pdlc::ps::PSDialect"];
}

#endif // PDLC_TRANSFORMS_PSPASSES_TD
