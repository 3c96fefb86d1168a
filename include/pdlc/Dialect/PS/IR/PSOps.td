//===- PSOps.td - All ops of the distribution dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_PS_IR_PSOPS_TD
#define PDLC_DIALECT_PS_IR_PSOPS_TD

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pdlc/Dialect/PS/IR/PSDialect.td"
include "pdlc/Interfaces/ProgramOpInterfaces.td"

def PS_Tensor : AnyTypeOf<[AnyRankedTensor], "tensor">;
def PS_SymbolList : TypedArrayAttrBase<FlatSymbolRefAttr, "array of symbols">;

//===----------------------------------------------------------------------===//
// Units, each of which one server owns
//===----------------------------------------------------------------------===//

def PS_BlocksOp : PS_Op<"blocks", [SharedByRoles, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The row blocks of a parameter";
  let description = [{
    Block i holds the rows from `rows[i]` to `rows[i + 1]`, and is placed as a
    whole. Its id is xxh64 of (id of the symbol, i), so it does not depend on
    other symbols of the model. `costs[i]` is the number of bytes that a step
    moves for it. A parameter of rank 0 or 1 is one row.

    Constraints:
    - (C1) The symbol is an `nn.param` or `nn.state`.
    - (C2) `rows` ascend from 0 to the number of rows of the parameter. All
      entries except the last are multiples of 64, the unit of squared norms.
    - (C3) There is one cost for each block, at least 1.

    Example:
    ```mlir
    ps.blocks @w1 rows [0, 128, 273] costs [409600, 464000]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, DenseI64ArrayAttr:$rows,
    DenseI64ArrayAttr:$costs);
  let assemblyFormat = "$symbol `rows` $rows `costs` $costs attr-dict";
}

def PS_ShardsOp : PS_Op<"shards", [SharedByRoles, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The logical shards of a table";
  let description = [{
    The top bits of a key's mixed value select its shard, one of `count`. Each
    shard is placed as a whole. `cost` is the number of bytes that a step of 512
    samples moves for one shard, if keys are spread evenly.

    Constraints:
    - (C1) The symbol is an `nn.table`.
    - (C2) `count` is 1024.
    - (C3) The cost is at least 1.

    Example:
    ```mlir
    ps.shards @emb count 1024 cost 1040
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, I64Attr:$count, I64Attr:$cost);
  let assemblyFormat = "$symbol `count` $count `cost` $cost attr-dict";
}

//===----------------------------------------------------------------------===//
// Channels and messages
//===----------------------------------------------------------------------===//

def PS_ChannelKind : I32EnumAttr<"ChannelKind", "kind of data of a channel", [
  I32EnumAttrCase<"value", 0>, I32EnumAttrCase<"gradient", 1>,
  I32EnumAttrCase<"keys", 2>, I32EnumAttrCase<"rows", 3>,
  I32EnumAttrCase<"row_gradient", 4>, I32EnumAttrCase<"loss", 5>,
  I32EnumAttrCase<"partial_norm", 6>, I32EnumAttrCase<"norm", 7>,
  I32EnumAttrCase<"delta", 8>, I32EnumAttrCase<"row_delta", 9>,
  I32EnumAttrCase<"changed_keys", 10>]> {
  let cppNamespace = "::pdlc::ps";
}

def PS_ChannelOp : PS_Op<"channel", [Symbol, SharedByRoles,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One kind of data between trainers and servers";
  let description = [{
    Channels are numbered within their program, and both roles declare the same
    ones. These are the kinds:

    | kind | type and contents | sent to |
    |---|---|---|
    | `value` | the parameter | trainer |
    | `gradient` | the sum of gradients, with the type of the parameter | server |
    | `keys` | distinct keys of a table, `tensor<?xi64>` | server |
    | `rows` | a row for each of those keys, `tensor<?xWxT>` | trainer |
    | `row_gradient` | a sum for each of those keys, with the same type; each is followed by its counts | server |
    | `loss` | sums of losses and of weights of one `nn.loss_sum`, `tensor<2xf64>` | both |
    | `partial_norm` | partial squared norms of a symbol's gradient, `tensor<?xf64>` | trainer |
    | `norm` | the squared norm of a clip, `tensor<f64>` | server |
    | `delta` | the change that a trainer made to a parameter, with its type (mode geo) | server |
    | `row_delta` | the changes that it made to rows, by the table's `keys`, `tensor<?xWxT>` (mode geo) | server |
    | `changed_keys` | keys of `rows` that other trainers have changed, `tensor<?xi64>` (mode geo) | trainer |

    Constraints:
    - (C1) The number is not negative.
    - (C2) `of` names an `nn.param` or `nn.state` (value), an `nn.param`
      (gradient, delta), an `nn.table` (keys, rows, row_gradient, row_delta,
      changed_keys), or an `nn.param` or
      `nn.table` (partial_norm). `loss` and `norm`
      have none.
    - (C3) `clip` names an `nn.clip` for `partial_norm` and `norm`. In modes
      async, half-async and quorum, workers compute norms themselves; `gradient`
      and `row_gradient` then have the clip of the symbol's group, if it has
      one. In other modes, they have none. No other kind has a clip.
    - (C4) The type is as in the table.
    - (C5) Only `gradient` and `row_gradient` have an `objective` other than 0.
      It selects one of the program's channels of kind `loss`, in the order of
      their numbers. The weight of that channel divides the sum.

    Example:
    ```mlir
    ps.channel @train.gradient.w1 number 3 in "train" gradient of @w1 : tensor<273x400xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$number, StrAttr:$program,
    PS_ChannelKind:$kind, OptionalAttr<FlatSymbolRefAttr>:$symbol,
    OptionalAttr<FlatSymbolRefAttr>:$clip,
    DefaultValuedAttr<I64Attr, "0">:$objective, TypeAttr:$type);
  let assemblyFormat = [{
    $sym_name `number` $number `in` $program $kind (`of` $symbol^)? (`clip` $clip^)?
    (`objective` $objective^)?
    `:` $type attr-dict
  }];
  let extraClassDeclaration = [{
    /// Return true if trainers or servers send the channel. For `loss`, both
    /// do.
    bool goesToServer();
    bool goesToTrainer();
  }];
}

def PS_MessageOp : PS_Op<"message", [Symbol, SharedByRoles,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Channels that are sent together";
  let description = [{
    Describes one request of a process to each server, and its response. For
    each channel of `sends`, in order, the request holds the data of the units
    that the server owns. The response holds the same for each channel of
    `receives`.

    - `round`: the server responds when every trainer has sent its request. It
      sums the requests in the order of the trainers' ranks. Without `round`,
      each request is applied separately, when it arrives. In mode quorum, the
      server adds requests, and applies the sum when enough have arrived.
    - `ahead`: these channels of `sends` belong to the next step. The push of a
      step and the pull of the next step are then one message.

    Constraints:
    - (C1) Names are channels of that program. Those of `sends` go to the
      server, and those of `receives` to the trainer. No channel is twice in a
      list.
    - (C2) `ahead` is a part of `sends`.
    - (C3) `sends` contains keys of a table at most once, and only if `receives`
      contains rows of that table. A response has a row for each key of its
      request. If it contains `changed_keys`, it has a row for each of these
      instead.

    Example:
    ```mlir
    ps.message @train.exchange in "train" round
      sends [@train.gradient.w1, @train.keys.emb] ahead [@train.keys.emb]
      receives [@train.value.w1, @train.rows.emb]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$program, UnitAttr:$round,
    PS_SymbolList:$sends, PS_SymbolList:$ahead, PS_SymbolList:$receives);
  let assemblyFormat = [{
    $sym_name `in` $program (`round` $round^)? `sends` $sends `ahead` $ahead `receives` $receives
    attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// In a trainer's program, one op for each channel
//===----------------------------------------------------------------------===//

class PS_ChannelUserOp<string mnemonic>
    : PS_Op<mnemonic, [DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def PS_SendOp : PS_ChannelUserOp<"send"> {
  let summary = "Sends computed values through a channel";
  let description = [{
    Does not wait. For `loss`, the operands are the two sums.

    Constraints:
    - (C1) The channel goes to the server and is of kind gradient, loss or norm.
    - (C2) The operand has the type of the channel. For `loss`, there are two
      operands, `tensor<f64>`.

    Example:
    ```mlir
    %t = ps.send %g to @train.gradient.w1 : tensor<273x400xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel, Variadic<PS_Tensor>:$values);
  let results = (outs PS_Token:$token);
  let assemblyFormat = "$values `to` $channel attr-dict `:` type($values)";
}

def PS_RecvOp : PS_ChannelUserOp<"recv"> {
  let summary = "Waits for values that servers send through a channel";
  let description = [{
    Waits until the sends of the tokens are complete. A `value` is received
    without tokens; it is the value at the entry of the program. For `loss`, the
    results are the two sums over all trainers.

    Constraints:
    - (C1) The channel goes to the trainer and is of kind value, loss or
      partial_norm.
    - (C2) The result has the type of the channel. For `loss`, there are two
      results, `tensor<f64>`.

    Example:
    ```mlir
    %w = ps.recv @train.value.w1 : tensor<273x400xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel, Variadic<PS_Token>:$after);
  let results = (outs Variadic<PS_Tensor>:$values);
  let assemblyFormat = "$channel (`after` `(` $after^ `)`)? attr-dict `:` type($values)";
}

def PS_PullOp : PS_ChannelUserOp<"pull"> {
  let summary = "Pulls the rows of distinct keys from their owners";
  let description = [{
    Sends each key to the server that owns its shard, and waits for the rows.

    Constraints:
    - (C1) The channels are of kind keys and rows, of one table.
    - (C2) The operand has the type of the channel of the keys. The result has
      the type of the channel of the rows.

    Example:
    ```mlir
    %rows = ps.pull @train.rows.emb[%keys] by @train.keys.emb : tensor<?xi64> -> tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel, PS_Tensor:$keys,
    FlatSymbolRefAttr:$keys_channel);
  let results = (outs PS_Tensor:$rows);
  let assemblyFormat = [{
    $channel `[` $keys `]` `by` $keys_channel attr-dict `:` type($keys) `->` type($rows)
  }];
}

def PS_PushOp : PS_ChannelUserOp<"push"> {
  let summary = "Pushes gradients of rows to their owners";
  let description = [{
    Sends a row for each key, in the order of the keys.

    Constraints:
    - (C1) The channel is of kind row_gradient.
    - (C2) The gradient has the type of the channel.
    - (C3) The keys are `tensor<?xi64>`.

    Example:
    ```mlir
    %t = ps.push %g[%keys] to @train.row_gradient.emb : tensor<?x10xf32>[tensor<?xi64>]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel, PS_Tensor:$gradient, PS_Tensor:$keys);
  let results = (outs PS_Token:$token);
  let assemblyFormat = [{
    $gradient `[` $keys `]` `to` $channel attr-dict `:` type($gradient) `[` type($keys) `]`
  }];
}

def PS_BarrierOp : PS_Op<"barrier"> {
  let summary = "Waits for the pushes of all trainers";
  let description = [{
    An op that uses the resulting token sees everything that all trainers have
    sent before their own barrier. Only for modes whose steps are rounds of all
    trainers (`ps.mode`).

    Constraints:
    - (C1) There is at least one token.

    Example:
    ```mlir
    %all = ps.barrier %t0, %t1
    ```
  }];
  let arguments = (ins Variadic<PS_Token>:$tokens);
  let results = (outs PS_Token:$token);
  let assemblyFormat = "$tokens attr-dict";
  let hasVerifier = 1;
}

def PS_JoinNormsOp : PS_Op<"join_norms", [Pure]> {
  let summary = "Combines partial squared norms into one";
  let description = [{
    Adds the partial norms of all symbols in f64, in the order of (symbol,
    unit). A single process adds them in the same order.

    Constraints:
    - (C1) There is at least one operand, and all are `tensor<?xf64>`.

    Example:
    ```mlir
    %n = ps.join_norms %p0, %p1 : tensor<?xf64>, tensor<?xf64> -> tensor<f64>
    ```
  }];
  let arguments = (ins Variadic<1DTensorOf<[F64]>>:$partials);
  let results = (outs 0DTensorOf<[F64]>:$norm);
  let assemblyFormat = "$partials attr-dict `:` type($partials) `->` type($norm)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// In a trainer's program, one op for each message
//===----------------------------------------------------------------------===//

def PS_WaitOp : PS_ChannelUserOp<"wait"> {
  let summary = "Waits for the response of a message";
  let description = [{
    `keys` are the keys for the message's channels of kind keys, in order. The
    results are the channels of `receives`, in order. `loss` has two results.

    Constraints:
    - (C1) The symbol is a `ps.message`. There are as many keys as it sends
      channels of kind keys. Each result has the type of its channel.

    Example:
    ```mlir
    %w, %rows = ps.wait @train.exchange keys(%k : tensor<?xi64>) : tensor<4x1xf32>, tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$message, Variadic<PS_Tensor>:$keys);
  let results = (outs Variadic<PS_Tensor>:$values);
  let assemblyFormat = [{
    $message (`keys` `(` $keys^ `:` type($keys) `)`)? attr-dict (`:` type($values)^)?
  }];
}

def PS_PostOp : PS_ChannelUserOp<"post"> {
  let summary = "Sends a message";
  let description = [{
    The operands are the channels of `sends` without those of kind keys, in
    order. `loss` has two operands. The op does not wait.

    Constraints:
    - (C1) The symbol is a `ps.message`. There is one operand for each such
      channel, with its type.

    Example:
    ```mlir
    ps.post @train.exchange(%g, %gr, %sum, %weight)
      : tensor<4x1xf32>, tensor<?x10xf32>, tensor<f64>, tensor<f64>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$message, Variadic<PS_Tensor>:$values);
  let assemblyFormat = "$message `(` $values `)` attr-dict (`:` type($values)^)?";
}

//===----------------------------------------------------------------------===//
// In a trainer's program that updates a copy of the state
//===----------------------------------------------------------------------===//

def PS_ShareOp : PS_ChannelUserOp<"share"> {
  let summary = "Sends the changes of a symbol and receives those of other trainers";
  let description = [{
    Runs once in several steps; trainers get the number of steps when they
    start. It runs at the entry of a step, after the previous step has been
    applied.

    Constraints:
    - (C1) The channels are of the symbol. For a parameter or state, they are
      delta and value. For a table, they are keys and row_delta, and
      changed_keys and rows. If the program does not update the symbol, it sends
      nothing for it.

    Example:
    ```mlir
    ps.share @w1 sends [@train.delta.w1] receives [@train.value.w1]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, PS_SymbolList:$sends,
    PS_SymbolList:$receives);
  let assemblyFormat = "$symbol `sends` $sends `receives` $receives attr-dict";
}

def PS_ExchangeOp : PS_ChannelUserOp<"exchange"> {
  let summary = "Exchanges changes with servers";
  let description = [{
    Posts the message and waits for its response, once in several steps. It runs
    at the entry of a step, after the previous step has been applied.

    Constraints:
    - (C1) The symbol is a `ps.message`, whose channels are of the kinds of
      `ps.share`.

    Example:
    ```mlir
    ps.exchange @train.exchange
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$message);
  let assemblyFormat = "$message attr-dict";
}

//===----------------------------------------------------------------------===//
// On servers
//===----------------------------------------------------------------------===//

def PS_HandlerOp : PS_Op<"handler", [Symbol, OwnedByServers, NoTerminator, SingleBlock, IsolatedFromAbove,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The work of servers when a message has arrived";
  let description = [{
    If the message forms rounds, the handler runs with the sums over all
    trainers. In mode quorum, it runs with the sums of the requests that have
    arrived. Otherwise it runs with the data of one request. Each owner runs it
    on its units. `on` is given from `ps-fuse-messages` on, which forms
    messages.

    Constraints:
    - (C1) `on` names a message of that program.
    - (C2) The region contains only `ps.merged`, `ps.partial_norm`,
      `ps.add_delta`, `nn.once` and `nn.update`.

    Example:
    ```mlir
    ps.handler @train.apply in "train" on @train.exchange {
      %sum, %weight = ps.merged @train.loss : tensor<f64>, tensor<f64>
      %g = ps.merged @train.gradient.w1 : tensor<4x1xf32>
      ...
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$program,
    OptionalAttr<FlatSymbolRefAttr>:$message);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `in` $program (`on` $message^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def PS_MergedOp : PS_Op<"merged", [ParentOneOf<["HandlerOp"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The data that arrived through a channel";
  let description = [{
    In a round, returns the sum over trainers in the order of their ranks: the
    data of the first trainer is copied, and the data of the others is added.
    For `loss`, the results are the two sums. For `row_gradient` and
    `row_delta`, they are the distinct keys and a row for each key.

    Constraints:
    - (C1) The channel goes to the server and is not of kind keys.
    - (C2) The results have the type of the channel. `loss` gives two
      `tensor<f64>`. `row_gradient` and `row_delta` give `tensor<?xi64>` before
      it.

    Example:
    ```mlir
    %keys, %g = ps.merged @train.row_gradient.emb : tensor<?xi64>, tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel);
  let results = (outs Variadic<PS_Tensor>:$values);
  let assemblyFormat = "$channel attr-dict `:` type($values)";
  let extraClassDeclaration = [{
    /// Returns the sums. Requires a channel of kind loss.
    ::pdlc::ps::LossSums getLossSums();
    /// Returns the keys of a row_gradient or row_delta, or null for any other
    /// kind.
    ::mlir::Value getKeys();
    /// Returns the gradient. Requires a channel of kind gradient or
    /// row_gradient.
    ::mlir::Value getGradient();
    /// Returns the change. Requires a channel of kind delta or row_delta.
    ::mlir::Value getDelta();
    /// Returns the squared norm. Requires a channel of kind norm.
    ::mlir::Value getNorm();
  }];
}

def PS_AddDeltaOp : PS_Op<"add_delta", [ParentOneOf<["HandlerOp"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Adds the changes of a trainer";
  let description = [{
    Adds the delta to those values of the symbol that the server owns. For a
    table, adds each row of the delta to the row of its key; a missing row
    starts with its initial value. If a job has only one trainer, the message
    contains the trainer's values instead of their changes, and they replace the
    values of the server. So nothing is rounded.

    Constraints:
    - (C1) The symbol is an `nn.param` without keys, or an `nn.table` with keys.
    - (C2) The delta has the type of the parameter, or consists of rows of the
      table.

    Example:
    ```mlir
    ps.add_delta @w1 by %d : tensor<273x400xf32>
    ps.add_delta @emb keys(%k : tensor<?xi64>) by %r : tensor<?x10xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, Optional<1DTensorOf<[I64]>>:$keys,
    PS_Tensor:$delta);
  let assemblyFormat = [{
    $symbol (`keys` `(` $keys^ `:` type($keys) `)`)? `by` $delta attr-dict `:` type($delta)
  }];
}

def PS_PartialNormOp : PS_Op<"partial_norm", [ParentOneOf<["HandlerOp"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Responds with partial squared norms of a gradient";
  let description = [{
    Computes one partial norm for each 64 rows of each block, or for each shard,
    that the server owns. The gradient is divided by the weight, and the partial
    norm is computed as in `nn.squared_norm`.

    Constraints:
    - (C1) The channel is of kind partial_norm.
    - (C2) The gradient is one of the channel's symbol: it has the type of the
      parameter, or consists of rows of the table.

    Example:
    ```mlir
    ps.partial_norm %g weight(%w) to @train.partial_norm.w1 : tensor<4x1xf32>, tensor<f64>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$channel, PS_Tensor:$gradient,
    0DTensorOf<[F64]>:$weight);
  let assemblyFormat = [{
    $gradient `weight` `(` $weight `)` `to` $channel attr-dict `:` type($gradient) `,` type($weight)
  }];
}

#endif // PDLC_DIALECT_PS_IR_PSOPS_TD
