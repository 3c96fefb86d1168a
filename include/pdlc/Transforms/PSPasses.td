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
  let summary = "Cuts parameters and tables into units that servers own";
  let description = [{
    Adds a `ps.blocks` for each parameter and state, and a `ps.shards` for each
    table. Sets `ps.mode`. Blocks consist of whole units of 64 rows. They have
    about `target-block-bytes` and at least `min-block-elements`
    (`pdlabi/placement.h`). With `slice=false`, each parameter is one block. A
    parameter is also one block if its rule reduces over the whole parameter.
    The number of servers is not known yet.

    The cost of a unit is the number of bytes that a step moves for it. For a
    block of a trained parameter, it is twice the size of the block (gradient
    and value). For a block that is only read at the start, the cost is 1. For a
    shard, the cost counts the keys, rows and gradients of 512 samples, if keys
    are spread evenly and each key occurs once.

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
           "Minimum number of elements of a block, at least 1">,
    Option<"targetBlockBytes", "target-block-bytes", "int64_t", "131072",
           "Approximate number of bytes of a block, at least 1">
  ];
  let statistics = [
    Statistic<"numBlocks", "blocks", "Row blocks of all parameters">,
    Statistic<"numShards", "shards", "Shards of all tables">
  ];
}

def PSCheckCopies : Pass<"ps-check-copies", "::mlir::ModuleOp"> {
  let summary = "Checks that model deltas can be merged in mode geo";
  let description = [{
    In mode `geo`, each trainer applies the rules to its own copy. Servers merge
    the model deltas (GEO-SGD): they add the changes of each trainer, divided by
    the number of trainers. The pass reports an error, with the reason, if
    something that a program updates has

    - an average: frozen programs would read a slot, and slots stay on each
      trainer;
    - `untouched(dense)` and a table: all rows of the table would be sent;
    - a table with `admit`, `shrink` or `widen`: each trainer would admit and
      drop other rows;
    - a table with `stored`: small changes would be lost in 16 bits;
    - the state that selects the program of an `nn.cycle`: it cannot be
      averaged.

    In other modes, the pass does nothing.

    Example:
    ```
    model.mlir:9:3: error: 'nn.group' op is not for mode geo: ...
    ```
  }];
}

def PSSettleDelays : Pass<"ps-settle-delays", "::mlir::ModuleOp"> {
  let summary = "Removes delay compensation if no gradient can be late";
  let description = [{
    Updates of groups with `compensate` use the value on which a gradient was
    computed. If each push is a step of its own (modes `async` and
    `half-async`), servers know this value, and the pass changes nothing.

    In the other modes, a step joins the pushes of all senders, or each trainer
    updates the copy on which it computes. The current value is then the one on
    which the gradient was computed. The pass removes the compensation, so that
    the program updates like that of a model without the clause. Its `nn.once`
    still computes the numbers of the clause, but nothing uses them.

    In mode `quorum`, a round adds gradients that were computed on different
    values, and some of them are late. The pass reports an error at the group.

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
           "The mode to compile for">,
  ];
  let statistics = [
    Statistic<"numSettled", "updates-settled", "Updates without delays">,
  ];
}

def PSPlace : Pass<"ps-place", "::mlir::ModuleOp"> {
  let summary = "Shows which server owns each unit";
  let description = [{
    Adds to each `ps.blocks` and `ps.shards` the server of each unit, for a
    given number of servers. Every process computes the same placement when it
    starts (`pdlabi/placement.h`). The pass is for readers and tests; programs
    do not contain its result.

    In modes in which trainers own state, such as `collective`, the pass adds
    `owners` instead. Owners 0 to S-1 are the servers, and the following ones
    the trainers.

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
           "Number of servers; -1: one, or none in a mode without servers">,
    Option<"trainers", "trainers", "int32_t", "1",
           "Number of trainers, if these own state">,
    Option<"policy", "policy", "std::string", "\"least-loaded\"",
           "round-robin, hash-name or least-loaded">
  ];
}

def PSReport : Pass<"ps-report", "::mlir::ModuleOp"> {
  let summary = "Estimates the traffic, memory and compute time of a job";
  let description = [{
    Runs in phase `placed` and prints a report for people. Changes nothing. The
    report contains:

    - parameters and their blocks;
    - units, bytes and messages of each server in a step, and how evenly they
      are spread;
    - memory of each role;
    - flops of a sample;
    - the predicted shares of time, if the constants of a machine are given,
      which `pdl-measure` writes.

    **Bytes.** These are whole messages with their headers, as trainers and
    servers count them; network overhead is not included. Rows of tables are
    counted for `unique-share` of the ids of a step, spread evenly over shards.

    - In mode `async`, each worker sends its own messages. With `push-queue`,
      each push is sent separately, without merging.
    - If trainers own state, they are among the owners. Messages of a trainer to
      its own owner are counted too, although they stay in the process.
    - If trainers compute on devices, the devices may add the gradients of
      parameters, which are then in no message (docs/Modes.md). This is known
      only when a job starts. The report therefore shows two pairs of bytes for
      a trainer: with owners that add gradients, and with devices that add them.
      All other figures are for owners that add. The traffic between devices
      depends on their interconnect: in a ring of n devices, each sends and
      receives 2 (n - 1) / n of the added bytes.
    - In mode `geo`, bytes are averages over steps, with one exchange every
      `geo-steps`. The keys that other trainers change are counted as if no two
      of them changed the same key; with `costs`, overlaps are estimated.

    **Times.** With `machine` alone, they cover only products, and the bytes
    that messages and rules touch. With `costs`, they use measurements of this
    model in one process, which `trainer train --costs FILE` of `--mode=local`
    writes; they are scaled to the batch size. No number is fitted to a job. The
    prediction is the time from one step of a trainer to its next, with one core
    for each worker. With `hosts=shared`, all processes share the cores of one
    machine; the prediction then takes at least the time that these cores need.
    It does not include waiting for data, or differences between hosts.

    **Memory.** Tables have the size that was measured. If `costs` are those of
    a program for devices on one device, the report also estimates the memory of
    a trainer's device, with all its replicas on that device and tables on the
    host. The part that does not grow with the batch was measured; the rest is
    scaled by samples and distinct keys. Memory that a driver or a library
    allocates for itself is not counted.

    Example:
    ```
    pdl-opt model.mlir --pdl-pipeline="to=placed mode=sync" --ps-report="servers=2" -o /dev/null
    ```
  }];
  let options = [
    Option<"servers", "servers", "int32_t", "-1",
           "Number of servers; -1: one, or none in a mode without servers">,
    Option<"policy", "policy", "std::string", "\"least-loaded\"",
           "round-robin, hash-name or least-loaded">,
    Option<"trainers", "trainers", "int32_t", "1", "Number of trainers">,
    Option<"workers", "workers", "int32_t", "1", "Number of workers of a trainer">,
    Option<"batchSize", "batch-size", "int64_t", "0",
           "Samples of a worker and step; 0: as in `costs`, else the default of "
           "trainers">,
    Option<"uniqueShare", "unique-share", "double", "0",
           "Distinct keys of a trainer's step (geo: between exchanges) over its "
           "ids; 0: as in `costs`, else 1">,
    Option<"machine", "machine", "std::string", "\"\"",
           "A file that pdl-measure wrote">,
    Option<"costs", "costs", "std::string", "\"\"",
           "A file that 'trainer train --costs' of mode local wrote">,
    Option<"hosts", "hosts", "std::string", "\"own\"",
           "own: each process has its own host; shared: all share one host">,
    Option<"geoSteps", "geo-steps", "int64_t", "pdlabi::defaultGeoSteps",
           "Mode geo: steps between exchanges">,
    Option<"pushQueue", "push-queue", "int64_t", "0",
           "Mode async: pushes are sent in the background">,
    Option<"output", "output", "std::string", "\"-\"",
           "The file to write; - is the standard output">
  ];
}

//===----------------------------------------------------------------------===//
// Phase `split`
//===----------------------------------------------------------------------===//

def PSInsertSendRecv : Pass<"ps-insert-send-recv", "::mlir::ModuleOp"> {
  let summary = "Moves state to servers; programs send and receive";
  let description = [{
    Runs after `nn-assign-stages`. Declares the channels of each program.
    Replaces `nn.read` by `ps.recv`, and `nn.pull` by `ps.pull`. The ops of
    stage `apply` move into `ps.handler`s, which receive gradients by `ps.send`
    and `ps.push`.

    In modes whose steps are rounds of all trainers, such as `sync`, the pushes
    end in a `ps.barrier`. No owner alone can compute the norm of a clip, so it
    needs one more handler: owners respond with partial norms, and trainers
    combine them and send the norm back. In modes `async`, `half-async` and
    `quorum`, a sender has its whole gradient and computes the norm itself.

    In mode `geo`, programs do not change. A `ps.share` at the entry describes
    how the changes of each updated symbol are sent, and the handler adds them.

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
  let summary = "Combines messages into one for each process, server and step";
  let description = [{
    Replaces the sends, receives, pulls and pushes of a program by a `ps.wait`
    at its entry and a `ps.post` at its end. The push of a step and the pull of
    the next step are one message, which sends keys ahead. In modes whose steps
    are rounds of all trainers, the norm of a clip needs a second message.

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
  let summary = "Outlines the modules of trainers and servers";
  let description = [{
    `@trainer` gets the record, metrics and programs, and the parts of
    parameters and tables that a layout needs. `@pserver` gets groups, rules and
    handlers. Both get channels, messages and units. They share no symbol. In
    mode `geo`, groups and rules go to `@trainer`, and `@pserver` has only the
    layout.

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
    Reports an error, at the op in question, unless all of the following hold.

    **Modules and symbols**

    - There are one `@trainer` and one `@pserver`, with the same mode,
      fingerprint and wire. The wire is the digest of mode, units, channels and
      messages (`ps.wire`).
    - Both declare the same parameters, states, tables and clips, apart from
      groups.
    - Both declare the same channels, messages and units, in the same order.
    - Each parameter, state and table is cut into units exactly once.

    **Messages**

    - Each channel is part of a message. Each channel to servers is posted by
      the trainer and used by a handler. Each channel to trainers is awaited.
    - If the steps of the mode are rounds of all trainers, messages that send
      results form rounds. No other messages do. Keys that are sent together
      with results are those of the next step.
    - No message waits for itself. Keys depend only on fields. A message that
      brings the state for a step is awaited before it is posted for the next
      step. Any other message is posted before it is awaited.
    - Rows are read, and gradients of rows are sent, by the keys that requested
      them. The posted loss is a loss and its weight.
    - The norm that is posted for a clip combines the partial norms of the
      symbols that it clips. It contains each of them once, no others, in the
      order of a single process. In modes such as async, in which a worker
      computes norms itself, it is computed from the posted gradients.

    **Updates**

    - Except in mode geo, only `@pserver` updates state. Each symbol is updated
      once for each program, after its gradient has arrived and before its value
      is sent. The update uses the symbol's own gradient, its keys and the
      scalars of its group. Symbols without a group are not updated.
    - In mode geo, a program has one exchange between two steps. It exchanges
      the changes of all symbols that it updates, and of no others. Servers
      apply no rule. They add each change once, to its own symbol and by the
      keys that were sent with it.
    - A group counts each step once, divides by the summed weight, and clips by
      the norm of its own clip. Partial norms are sent once, each for the symbol
      that its channel names.

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
    In modes `collective` and `hybrid`, trainers own parameters. They may hold
    all of them on devices and apply the rules there. `@trainer` gets copies of
    the groups, rules and handlers of `@pserver`, without the updates of tables.
    The pass runs after `ps-verify-roles`, which checks the roles without these
    copies. `nn-updates-to-kernels` makes kernels of the copies.

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
