// RUN: pdl-opt %s -split-input-file -verify-diagnostics

//===----------------------------------------------------------------------===//
// ps.blocks
//===----------------------------------------------------------------------===//

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{@emb is neither an nn.param nor an nn.state (C1)}}
ps.blocks @emb rows [0, 1] costs [1]

// -----

// expected-error @+1 {{@nobody is neither an nn.param nor an nn.state (C1)}}
ps.blocks @nobody rows [0, 1] costs [1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{covers rows of @w other than 0 to 130 (C2)}}
ps.blocks @w rows [0, 64] costs [1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{covers rows of @w other than 0 to 130 (C2)}}
ps.blocks @w rows [64, 130] costs [1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{covers rows of @w other than 0 to 130 (C2)}}
ps.blocks @w rows [] costs []

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{covers rows of @w other than 0 to 130 (C2)}}
ps.blocks @w rows [0] costs []

// -----

// A vector is one row, however long it is.
nn.param @b : tensor<4096xf32> init(#nn.zeros)
// expected-error @+1 {{covers rows of @b other than 0 to 1 (C2)}}
ps.blocks @b rows [0, 64, 4096] costs [1, 1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{has a block from row 64 to row 64, which holds none (C2)}}
ps.blocks @w rows [0, 64, 64, 130] costs [1, 1, 1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{has a block from row 0 to row -64, which holds none (C2)}}
ps.blocks @w rows [0, -64, 130] costs [1, 1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{has a block that begins at row 65, which is no multiple of 64 (C2)}}
ps.blocks @w rows [0, 65, 130] costs [1, 1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{needs 2 costs of at least 1, one for each block (C3)}}
ps.blocks @w rows [0, 64, 130] costs [1]

// -----

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{needs 2 costs of at least 1, one for each block (C3)}}
ps.blocks @w rows [0, 64, 130] costs [1, 0]

// -----

//===----------------------------------------------------------------------===//
// ps.shards
//===----------------------------------------------------------------------===//

nn.param @w : tensor<130x4xf32> init(#nn.zeros)
// expected-error @+1 {{@w is not an nn.table (C1)}}
ps.shards @w count 1024 cost 1

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{has 16 shards, expected 1024 (C2)}}
ps.shards @emb count 16 cost 1

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{has cost 0, expected at least 1 (C3)}}
ps.shards @emb count 1024 cost 0

// -----

//===----------------------------------------------------------------------===//
// ps.channel
//===----------------------------------------------------------------------===//

// expected-error @+1 {{has a negative number (C1)}}
ps.channel @loss number -1 in "train" loss : tensor<2xf64>

// -----

// expected-error @+1 {{of kind gradient needs a symbol (C2)}}
ps.channel @c number 0 in "train" gradient : tensor<4xf32>

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind loss has no symbol (C2)}}
ps.channel @c number 0 in "train" loss of @w : tensor<2xf64>

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{of kind value: @emb is not an nn.param or nn.state (C2)}}
ps.channel @c number 0 in "train" value of @emb : tensor<?x3xf32>

// -----

// A state is never trained.
nn.state @mean : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind gradient: @mean is not an nn.param (C2)}}
ps.channel @c number 0 in "train" gradient of @mean : tensor<4xf32>

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind keys: @w is not an nn.table (C2)}}
ps.channel @c number 0 in "train" keys of @w : tensor<?xi64>

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind rows: @w is not an nn.table (C2)}}
ps.channel @c number 0 in "train" rows of @w : tensor<4xf32>

// -----

// expected-error @+1 {{of kind row_gradient: @nobody is not an nn.table (C2)}}
ps.channel @c number 0 in "train" row_gradient of @nobody : tensor<?x3xf32>

// -----

nn.clip @joint : global_norm(1.0)
nn.state @mean : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind partial_norm: @mean is not an nn.param or nn.table (C2)}}
ps.channel @c number 0 in "train" partial_norm of @mean clip @joint : tensor<?xf64>

// -----

// expected-error @+1 {{of kind norm needs a clip (C3)}}
ps.channel @c number 0 in "train" norm : tensor<f64>

// -----

nn.clip @joint : global_norm(1.0)
// expected-error @+1 {{of kind loss has no clip (C3)}}
ps.channel @c number 0 in "train" loss clip @joint : tensor<2xf64>

// -----

nn.clip @joint : global_norm(1.0)
nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind value has no clip (C3)}}
ps.channel @c number 0 in "train" value of @w clip @joint : tensor<4xf32>

// -----

// expected-error @+1 {{@nobody is not an nn.clip (C3)}}
ps.channel @c number 0 in "train" norm clip @nobody : tensor<f64>

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{@w is not an nn.clip (C3)}}
ps.channel @c number 0 in "train" gradient of @w clip @w : tensor<4xf32>

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{@nobody is not an nn.clip (C3)}}
ps.channel @c number 0 in "train" row_gradient of @emb clip @nobody : tensor<?x3xf32>

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{of kind value carries 'tensor<5xf32>', expected 'tensor<4xf32>' (C4)}}
ps.channel @c number 0 in "train" value of @w : tensor<5xf32>

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{of kind keys carries 'tensor<?xi32>', expected 'tensor<?xi64>' (C4)}}
ps.channel @c number 0 in "train" keys of @emb : tensor<?xi32>

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
// expected-error @+1 {{of kind rows carries 'tensor<?x3xf64>', expected 'tensor<?x3xf32>' (C4)}}
ps.channel @c number 0 in "train" rows of @emb : tensor<?x3xf64>

// -----

// expected-error @+1 {{of kind loss has objective 1; gradients alone have one, from 0 on (C5)}}
ps.channel @c number 0 in "train" loss objective 1 : tensor<2xf64>

// -----

// expected-error @+1 {{of kind loss carries 'none', expected 'tensor<2xf64>' (C4)}}
ps.channel @c number 0 in "train" loss : none

// -----

nn.clip @joint : global_norm(1.0)
// expected-error @+1 {{of kind norm carries 'tensor<1xf64>', expected 'tensor<f64>' (C4)}}
ps.channel @c number 0 in "train" norm clip @joint : tensor<1xf64>

// -----

// expected-error @+1 {{Invalid attribute `kind` in property conversion: 11 : i32}}
"ps.channel"() <{kind = 11 : i32, number = 0 : i64, program = "train", sym_name = "c", type = tensor<2xf64>}> : () -> ()

// -----

// expected-error @+1 {{requires attribute 'type'}}
"ps.channel"() <{kind = 5 : i32, number = 0 : i64, program = "train", sym_name = "c"}> : () -> ()

// -----

//===----------------------------------------------------------------------===//
// ps.message
//===----------------------------------------------------------------------===//

nn.param @w : tensor<4xf32> init(#nn.zeros)
// expected-error @+1 {{@w is not a ps.channel (C1)}}
ps.message @m in "train" sends [@w] ahead [] receives []

// -----

ps.channel @loss number 0 in "other" loss : tensor<2xf64>
// expected-error @+1 {{@loss is a channel of program "other", not of "train" (C1)}}
ps.message @m in "train" sends [@loss] ahead [] receives []

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @value number 0 in "train" value of @w : tensor<4xf32>
// expected-error @+1 {{sends @value, which goes to trainers (C1)}}
ps.message @m in "train" sends [@value] ahead [] receives []

// -----

nn.param @w : tensor<4xf32> init(#nn.zeros)
ps.channel @gradient number 0 in "train" gradient of @w : tensor<4xf32>
// expected-error @+1 {{receives @gradient, which goes to servers (C1)}}
ps.message @m in "train" sends [] ahead [] receives [@gradient]

// -----

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
// expected-error @+1 {{names @loss twice (C1)}}
ps.message @m in "train" sends [@loss, @loss] ahead [] receives []

// -----

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
// expected-error @+1 {{names @loss twice (C1)}}
ps.message @m in "train" sends [@loss] ahead [@loss, @loss] receives []

// -----

ps.channel @loss number 0 in "train" loss : tensor<2xf64>
// expected-error @+1 {{sends @loss ahead, but does not send it (C2)}}
ps.message @m in "train" sends [] ahead [@loss] receives [@loss]

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @keys number 0 in "train" keys of @emb : tensor<?xi64>
ps.channel @more number 1 in "train" keys of @emb : tensor<?xi64>
// expected-error @+1 {{sends keys of @emb twice (C3)}}
ps.message @m in "train" sends [@keys, @more] ahead [] receives []

// -----

nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)
ps.channel @rows number 0 in "train" rows of @emb : tensor<?x3xf32>
// expected-error @+1 {{receives rows of @emb, but sends no keys of it (C3)}}
ps.message @m in "train" sends [] ahead [] receives [@rows]

// -----

// expected-error @+1 {{attribute 'sends' failed to satisfy constraint: array of symbols}}
"ps.message"() <{ahead = [], program = "train", receives = [], sends = [1], sym_name = "m"}> : () -> ()

// -----

// expected-error @+1 {{attribute 'sends' failed to satisfy constraint: array of symbols}}
"ps.message"() <{ahead = [], program = "train", receives = [], sends = [@a::@b], sym_name = "m"}> : () -> ()
