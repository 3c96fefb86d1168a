// RUN: pdl-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// ps.send
//===----------------------------------------------------------------------===//

nn.func private @f(%w: tensor<4xf32>) {
  // expected-error @+1 {{@nobody is not a ps.channel (C1)}}
  %t = ps.send %w to @nobody : tensor<4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @value number 0 in "train" value of @w : tensor<4xf32>
nn.func private @f(%w: tensor<4xf32>) {
  // expected-error @+1 {{uses channel @value of kind value, expected gradient or loss or norm (C1)}}
  %t = ps.send %w to @value : tensor<4xf32>
  nn.return
}

// -----

// Rows are sent with ps.push.
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @c number 0 in "train" row_gradient of @emb : tensor<?x3xf32>
nn.func private @f(%g: tensor<?x3xf32>) {
  // expected-error @+1 {{uses channel @c of kind row_gradient, expected gradient or loss or norm (C1)}}
  %t = ps.send %g to @c : tensor<?x3xf32>
  nn.return
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-note @+1 {{the channel is declared here}}
ps.channel @c number 0 in "train" gradient of @w : tensor<4xf32>
nn.func private @f(%g: tensor<5xf32>) {
  // expected-error @+1 {{has the types ('tensor<5xf32>'), but channel @c carries ('tensor<4xf32>') (C2)}}
  %t = ps.send %g to @c : tensor<5xf32>
  nn.return
}

// -----

// expected-note @+1 {{the channel is declared here}}
ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.func private @f(%sum: tensor<2xf64>) {
  // expected-error @+1 {{has the types ('tensor<2xf64>'), but channel @loss carries ('tensor<f64>', 'tensor<f64>') (C2)}}
  %t = ps.send %sum to @loss : tensor<2xf64>
  nn.return
}

// -----

// expected-note @+1 {{the channel is declared here}}
ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.func private @f() {
  // expected-error @+1 {{has the types (), but channel @loss carries ('tensor<f64>', 'tensor<f64>') (C2)}}
  %t = "ps.send"() <{channel = @loss}> : () -> !ps.token
  nn.return
}

// -----

//===----------------------------------------------------------------------===//
// ps.recv
//===----------------------------------------------------------------------===//

nn.func private @f() {
  // expected-error @+1 {{@nobody is not a ps.channel (C1)}}
  %w = ps.recv @nobody : tensor<4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @c number 0 in "train" gradient of @w : tensor<4xf32>
nn.func private @f() {
  // expected-error @+1 {{uses channel @c of kind gradient, expected value or loss or partial_norm (C1)}}
  %w = ps.recv @c : tensor<4xf32>
  nn.return
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-note @+1 {{the channel is declared here}}
ps.channel @c number 0 in "train" value of @w : tensor<4xf32>
nn.func private @f() {
  // expected-error @+1 {{has the types ('tensor<4xf32>', 'tensor<4xf32>'), but channel @c carries ('tensor<4xf32>') (C2)}}
  %w:2 = ps.recv @c : tensor<4xf32>, tensor<4xf32>
  nn.return
}

// -----

//===----------------------------------------------------------------------===//
// ps.pull
//===----------------------------------------------------------------------===//

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{uses channel @keys of kind keys, expected rows (C1)}}
  %r = ps.pull @keys[%k] by @keys : tensor<?xi64> -> tensor<?xi64>
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @rows number 0 in "train" rows of @emb : tensor<?x3xf32>
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{uses channel @rows of kind rows, expected keys (C1)}}
  %r = ps.pull @rows[%k] by @rows : tensor<?xi64> -> tensor<?x3xf32>
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
nn.table @other : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @other : tensor<?xi64>
ps.channel @rows number 1 in "train" rows of @emb : tensor<?x3xf32>
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{asks by keys of @other for rows of @emb (C1)}}
  %r = ps.pull @rows[%k] by @keys : tensor<?xi64> -> tensor<?x3xf32>
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-note @+1 {{the channel is declared here}}
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
ps.channel @rows number 1 in "train" rows of @emb : tensor<?x3xf32>
nn.func private @f(%k: tensor<?xi32>) {
  // expected-error @+1 {{has the types ('tensor<?xi32>'), but channel @keys carries ('tensor<?xi64>') (C2)}}
  %r = ps.pull @rows[%k] by @keys : tensor<?xi32> -> tensor<?x3xf32>
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
// expected-note @+1 {{the channel is declared here}}
ps.channel @rows number 1 in "train" rows of @emb : tensor<?x3xf32>
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{has the types ('tensor<?x4xf32>'), but channel @rows carries ('tensor<?x3xf32>') (C2)}}
  %r = ps.pull @rows[%k] by @keys : tensor<?xi64> -> tensor<?x4xf32>
  nn.return
}

// -----

//===----------------------------------------------------------------------===//
// ps.push
//===----------------------------------------------------------------------===//

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @c number 0 in "train" gradient of @w : tensor<4xf32>
nn.func private @f(%g: tensor<4xf32>, %k: tensor<?xi64>) {
  // expected-error @+1 {{uses channel @c of kind gradient, expected row_gradient (C1)}}
  %t = ps.push %g[%k] to @c : tensor<4xf32>[tensor<?xi64>]
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-note @+1 {{the channel is declared here}}
ps.channel @c number 0 in "train" row_gradient of @emb : tensor<?x3xf32>
nn.func private @f(%g: tensor<?x4xf32>, %k: tensor<?xi64>) {
  // expected-error @+1 {{has the types ('tensor<?x4xf32>'), but channel @c carries ('tensor<?x3xf32>') (C2)}}
  %t = ps.push %g[%k] to @c : tensor<?x4xf32>[tensor<?xi64>]
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @c number 0 in "train" row_gradient of @emb : tensor<?x3xf32>
nn.func private @f(%g: tensor<?x3xf32>) {
  // expected-error @+1 {{has keys of type 'tensor<?x3xf32>', expected 'tensor<?xi64>' (C3)}}
  %t = ps.push %g[%g] to @c : tensor<?x3xf32>[tensor<?x3xf32>]
  nn.return
}

// -----

//===----------------------------------------------------------------------===//
// ps.barrier, ps.join_norms
//===----------------------------------------------------------------------===//

nn.func private @f() {
  // expected-error @+1 {{waits after no post (C1)}}
  %t = "ps.barrier"() : () -> !ps.token
  nn.return
}

// -----

nn.func private @f() {
  // expected-error @+1 {{joins nothing (C1)}}
  %n = "ps.join_norms"() : () -> tensor<f64>
  nn.return
}

// -----

nn.func private @f(%p: tensor<?xf64>, %q: tensor<7xf64>) {
  // expected-error @+1 {{joins a 'tensor<7xf64>', expected 'tensor<?xf64>' (C1)}}
  %n = ps.join_norms %p, %q : tensor<?xf64>, tensor<7xf64> -> tensor<f64>
  nn.return
}

// -----

//===----------------------------------------------------------------------===//
// ps.wait, ps.post
//===----------------------------------------------------------------------===//

nn.func private @f() {
  // expected-error @+1 {{@nobody is not a ps.message (C1)}}
  ps.wait @nobody
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
ps.channel @rows number 1 in "train" rows of @emb : tensor<?x3xf32>
ps.message @m in "train" sends [@keys] ahead [] receives [@rows]
nn.func private @f() {
  // expected-error @+1 {{has keys of types (), but the message carries ('tensor<?xi64>') (C1)}}
  %r = ps.wait @m : tensor<?x3xf32>
  nn.return
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
ps.channel @rows number 1 in "train" rows of @emb : tensor<?x3xf32>
ps.message @m in "train" sends [@keys] ahead [] receives [@rows]
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{has results of types (), but the message carries ('tensor<?x3xf32>') (C1)}}
  ps.wait @m keys(%k : tensor<?xi64>)
  nn.return
}

// -----

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.func private @f(%s: tensor<f64>) {
  // expected-error @+1 {{@loss is not a ps.message (C1)}}
  ps.post @loss(%s) : tensor<f64>
  nn.return
}

// -----

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
ps.message @m in "train" sends [@loss] ahead [] receives []
nn.func private @f(%s: tensor<f64>) {
  // expected-error @+1 {{has operands of types ('tensor<f64>'), but the message carries ('tensor<f64>', 'tensor<f64>') (C1)}}
  ps.post @m(%s) : tensor<f64>
  nn.return
}

// -----

// ps.wait needs the keys.
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
ps.message @m in "train" sends [@keys] ahead [] receives []
nn.func private @f(%k: tensor<?xi64>) {
  // expected-error @+1 {{has operands of types ('tensor<?xi64>'), but the message carries () (C1)}}
  ps.post @m(%k) : tensor<?xi64>
  nn.return
}

// -----

//===----------------------------------------------------------------------===//
// ps.handler
//===----------------------------------------------------------------------===//

// expected-error @+1 {{@nobody is not a message of program "train" (C1)}}
ps.handler @h in "train" on @nobody {}

// -----

ps.channel @loss number 0 in "other" loss : tensor<2xf64>
ps.message @m in "other" sends [@loss] ahead [] receives []
// expected-error @+1 {{@m is not a message of program "train" (C1)}}
ps.handler @h in "train" on @m {}

// -----

ps.handler @h in "train" {
  // expected-error @+1 {{does not belong on a server: a ps.handler holds ps.merged, ps.partial_norm, ps.add_delta, nn.once and nn.update only (ps.handler, C2)}}
  %0 = nn.constant dense<1.0> : tensor<2xf32>
}

// -----

// expected-error @+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
"ps.handler"() <{program = "train", sym_name = "h"}> ({
}) : () -> ()

// -----

// expected-error @+1 {{requires attribute 'sym_name'}}
"ps.handler"() <{program = "train"}> ({
^bb0:
}) : () -> ()

// -----

//===----------------------------------------------------------------------===//
// ps.merged
//===----------------------------------------------------------------------===//

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.func private @f() {
  // expected-error @+1 {{expects parent op 'ps.handler'}}
  %0:2 = ps.merged @loss : tensor<f64>, tensor<f64>
  nn.return
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @value number 0 in "train" value of @w : tensor<4xf32>
ps.handler @h in "train" {
  // expected-error @+1 {{uses channel @value of kind value, expected gradient or row_gradient or loss or norm or delta or row_delta (C1)}}
  %0 = ps.merged @value : tensor<4xf32>
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
ps.handler @h in "train" {
  // expected-error @+1 {{uses channel @keys of kind keys, expected gradient or row_gradient or loss or norm or delta or row_delta (C1)}}
  %0 = ps.merged @keys : tensor<?xi64>
}

// -----

// expected-note @+1 {{the channel is declared here}}
ps.channel @loss number 0 in "train" loss : tensor<2xf64>
ps.handler @h in "train" {
  // expected-error @+1 {{has the types ('tensor<2xf64>'), but channel @loss carries ('tensor<f64>', 'tensor<f64>') (C2)}}
  %0 = ps.merged @loss : tensor<2xf64>
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @c number 0 in "train" row_gradient of @emb : tensor<?x3xf32>
ps.handler @h in "train" {
  // expected-error @+1 {{gives the keys, 'tensor<?xi64>', and the rows of a row_gradient (C2)}}
  %0 = ps.merged @c : tensor<?x3xf32>
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-note @+1 {{the channel is declared here}}
ps.channel @c number 0 in "train" row_gradient of @emb : tensor<?x3xf32>
ps.handler @h in "train" {
  // expected-error @+1 {{has the types ('tensor<?x4xf32>'), but channel @c carries ('tensor<?x3xf32>') (C2)}}
  %0:2 = ps.merged @c : tensor<?xi64>, tensor<?x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// ps.partial_norm
//===----------------------------------------------------------------------===//

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @gradient number 1 in "train" gradient of @w : tensor<4xf32>
ps.handler @h in "train" {
  %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
  %g = ps.merged @gradient : tensor<4xf32>
  // expected-error @+1 {{uses channel @gradient of kind gradient, expected partial_norm (C1)}}
  ps.partial_norm %g weight(%weight) to @gradient : tensor<4xf32>, tensor<f64>
}

// -----

nn.clip @joint : global_norm(1.0)
ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.param @v : tensor<4xf32> init(#nn.zeros)
nn.param @w : tensor<5xf32> init(#nn.zeros)
ps.channel @gradient number 1 in "train" gradient of @v : tensor<4xf32>
ps.channel @partial number 2 in "train" partial_norm of @w clip @joint : tensor<?xf64>
ps.handler @h in "train" {
  %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
  %g = ps.merged @gradient : tensor<4xf32>
  // expected-error @+1 {{answers for @w with a 'tensor<4xf32>', expected 'tensor<5xf32>' (C2)}}
  ps.partial_norm %g weight(%weight) to @partial : tensor<4xf32>, tensor<f64>
}

// -----

nn.clip @joint : global_norm(1.0)
ps.channel @loss number 0 in "train" loss : tensor<2xf64>
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
nn.param @w : tensor<4x3xf32> init(#nn.zeros)
ps.channel @gradient number 1 in "train" gradient of @w : tensor<4x3xf32>
ps.channel @partial number 2 in "train" partial_norm of @emb clip @joint : tensor<?xf64>
ps.handler @h in "train" {
  %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
  %g = ps.merged @gradient : tensor<4x3xf32>
  // expected-error @+1 {{answers for @emb with a 'tensor<4x3xf32>', expected 'tensor<?x3xf32>' (C2)}}
  ps.partial_norm %g weight(%weight) to @partial : tensor<4x3xf32>, tensor<f64>
}

// -----

//===----------------------------------------------------------------------===//
// Copies of trainers
//===----------------------------------------------------------------------===//

nn.state @mean : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind delta: @mean is not an nn.param (C2)}}
ps.channel @c number 0 in "train" delta of @mean : tensor<4xf32>

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind row_delta: @w is not an nn.table (C2)}}
ps.channel @c number 0 in "train" row_delta of @w : tensor<?x4xf32>

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{of kind row_delta carries 'tensor<?x4xf32>', expected 'tensor<?x3xf32>' (C4)}}
ps.channel @c number 0 in "train" row_delta of @emb : tensor<?x4xf32>

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @rows number 0 in "train" rows of @emb : tensor<?x3xf32>
// expected-error @+1 {{receives rows of @emb, but sends no keys of it (C3)}}
ps.message @m in "train" sends [] ahead [] receives [@rows]

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @value number 0 in "train" value of @w : tensor<4xf32>
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{receives 0 channels of @w, expected 1 (C1)}}
  ps.share @w sends [] receives []
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.param @v : tensor<4xf32> init(#nn.zeros)
nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @delta number 0 in "train" delta of @v : tensor<4xf32>
ps.channel @value number 1 in "train" value of @w : tensor<4xf32>
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{shares @w through @delta, a channel of @v (C1)}}
  ps.share @w sends [@delta] receives [@value]
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @gradient number 0 in "train" gradient of @w : tensor<4xf32>
ps.channel @value number 1 in "train" value of @w : tensor<4xf32>
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{uses channel @gradient of kind gradient, expected delta (C1)}}
  ps.share @w sends [@gradient] receives [@value]
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{@nobody is not a ps.message (C1)}}
  ps.exchange @nobody
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xf32>
}
ps.channel @loss number 0 in "train" loss : tensor<2xf64>
ps.message @m in "train" sends [@loss] ahead [] receives [@loss]
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{uses channel @loss of kind loss, expected}}
  ps.exchange @m
}

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @delta number 0 in "train" delta of @w : tensor<4xf32>
ps.handler @h in "train" {
  %d = ps.merged @delta : tensor<4xf32>
  // expected-error @+1 {{@delta is neither an nn.param nor an nn.table (C1)}}
  ps.add_delta @delta by %d : tensor<4xf32>
}

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @delta number 0 in "train" row_delta of @emb : tensor<?x3xf32>
ps.handler @h in "train" {
  %keys, %d = ps.merged @delta : tensor<?xi64>, tensor<?x3xf32>
  // expected-error @+1 {{adds to rows of @emb without keys (C1)}}
  ps.add_delta @emb by %d : tensor<?x3xf32>
}

// -----

nn.param @w : tensor<5xf32> init(#nn.zeros)
nn.param @v : tensor<4xf32> init(#nn.zeros)
ps.channel @delta number 0 in "train" delta of @v : tensor<4xf32>
ps.handler @h in "train" {
  %d = ps.merged @delta : tensor<4xf32>
  // expected-error @+1 {{adds a 'tensor<4xf32>' to @w, expected 'tensor<5xf32>' (C2)}}
  ps.add_delta @w by %d : tensor<4xf32>
}

//===----------------------------------------------------------------------===//
// ps.mode
//===----------------------------------------------------------------------===//

// -----

// expected-error @+1 {{has attribute 'ps.mode' with value "sync", which is no #ps.mode}}
module attributes {ps.mode = "sync"} {
}
