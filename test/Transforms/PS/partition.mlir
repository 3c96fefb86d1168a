// RUN: pdl-opt %s --ps-partition | FileCheck %s --check-prefixes=CHECK,SLICED
// RUN: pdl-opt %s --ps-partition="mode=async slice=false" | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: sed '/nn.table/s/$/ stored(bf16)/' %s | pdl-opt --ps-partition | FileCheck %s --check-prefix=STORED
// RUN: pdl-opt %s --ps-partition="min-block-elements=1 target-block-bytes=1" | FileCheck %s --check-prefix=UNITS
// RUN: pdl-opt %s --ps-partition="min-block-elements=100000 target-block-bytes=1" | FileCheck %s --check-prefix=LEAST
// RUN: pdl-opt %s --ps-partition --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT-DAG: blocks=17
// COUNT-DAG: shards=3072

// SLICED: ps.mode = #ps.mode<sync>
// WHOLE: ps.mode = #ps.mode<async>
module attributes {nn.phase = "fused"} {
nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @c : tensor<?x3xi64>
  nn.field @bags : !nn.ragged<?x2x*xi64>
}
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %gradient : f32
}
nn.group @g rule(@sgd) rate(1.0)

// Cut by bytes: a block has about 128 KiB, here 512 rows of 256 bytes. No
// program updates it, so a step sends nothing, and each block costs 1.
// CHECK-LABEL: nn.param @by_bytes
// SLICED-NEXT: ps.blocks @by_bytes rows [0, 512, 1024] costs [1, 1]
// WHOLE-NEXT: ps.blocks @by_bytes rows [0, 1024] costs [1]
// UNITS: ps.blocks @by_bytes rows [0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024]
// LEAST: ps.blocks @by_bytes rows [0, 1024]
nn.param @by_bytes : tensor<1024x64xf32> in @g init(#nn.zeros)

// If the last block would be short, rows are distributed: 1000 rows are two
// blocks of 5 units and one of 6, whose last unit is short. With one more
// block, each would be smaller than the target.
// SLICED: ps.blocks @double rows [0, 320, 640, 1000] costs [1, 1, 1]
// WHOLE: ps.blocks @double rows [0, 1000] costs [1]
nn.param @double : tensor<1000x64xf64> init(#nn.zeros)

// The same rows as f32: one block, as two would be smaller than the target.
// SLICED: ps.blocks @single rows [0, 1000] costs [1]
nn.param @single : tensor<1000x64xf32> in @g init(#nn.zeros)

// One unit of 64 rows is larger than the target, so blocks are single units.
// SLICED: ps.blocks @wide rows [0, 64, 128] costs [1, 1]
// LEAST: ps.blocks @wide rows [0, 64, 128]
nn.param @wide : tensor<128x4096xf32> init(#nn.zeros)

// Less than one unit of rows is never cut, for any width.
// SLICED: ps.blocks @few_rows rows [0, 63] costs [1]
// UNITS: ps.blocks @few_rows rows [0, 63]
nn.param @few_rows : tensor<63x1048576xf32> init(#nn.zeros)

// Below the minimum number of elements there is one block.
// SLICED: ps.blocks @small rows [0, 200] costs [1]
// UNITS: ps.blocks @small rows [0, 64, 128, 200]
nn.param @small : tensor<200x8xf32> init(#nn.zeros)

// Parameters with more than two dimensions are cut along the first.
// SLICED: ps.blocks @cube rows [0, 64, 128] costs [1, 1]
nn.param @cube : tensor<128x32x32xf32> init(#nn.zeros)

// A vector is one unit of squared norms, so it is one block; so is a scalar.
// SLICED: ps.blocks @vector rows [0, 1] costs [1]
// UNITS: ps.blocks @vector rows [0, 1]
nn.param @vector : tensor<1048576xf32> init(#nn.zeros)
// SLICED: ps.blocks @scalar rows [0, 1] costs [1]
nn.param @scalar : tensor<f32> init(#nn.zeros)

// Servers own a state like a parameter.
// SLICED: nn.state @mean
// SLICED-NEXT: ps.blocks @mean rows [0, 1] costs [1]
nn.state @mean : tensor<13xf32> init(#nn.zeros)

// A step sends the gradient and the value of a trained parameter: 2 * 4 bytes.
// SLICED: ps.blocks @trained rows [0, 1] costs [8]
nn.param @trained : tensor<1xf32> in @g init(#nn.zeros)

// If a rule reduces over a whole parameter, the parameter stays in one block.
// It has the rows of @by_bytes.
// SLICED: ps.blocks @undivided rows [0, 1024] costs [524288]
// UNITS: ps.blocks @undivided rows [0, 1024]
nn.param @undivided : tensor<1024x64xf32> in @g init(#nn.zeros)

// 512 samples of 3 ids and 2 bags with one id each: 2560 keys of 8 bytes with
// two rows of 16 bytes, divided by 1024 shards. Stored in bf16, 8 bytes are
// sent and 16 received.
// CHECK-LABEL: nn.table @emb
// CHECK-NEXT: ps.shards @emb count 1024 cost 100
// STORED: ps.shards @emb count 1024 cost 80
nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.zeros)

// Without updates only values are sent: 1536 keys of 8 + 16 bytes.
// CHECK: ps.shards @read_only count 1024 cost 36
// STORED: ps.shards @read_only count 1024 cost 24
nn.table @read_only : i64 -> tensor<4xf32> init(#nn.zeros)

// Never looked up.
// CHECK: ps.shards @unused count 1024 cost 1
nn.table @unused : i64 -> tensor<4xf32> init(#nn.zeros)

nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>, %c: tensor<?x3xi64>, %bags: tensor<?xi64>, %splits: tensor<?xi32>):
  %ids = nn.reshape %c : (tensor<?x3xi64>) -> tensor<?xi64>
  %k0, %i0, %s0, %o0 = nn.unique %ids, %bags
  %rows = nn.pull @emb[%k0] : tensor<?x4xf32>
  %k1, %i1, %s1, %o1 = nn.unique %ids
  %fixed = nn.pull @read_only[%k1] : tensor<?x4xf32>
  %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
  %g = nn.reduce sum %x axes [0] : tensor<?x1xf32>
  %scalars = nn.once @g weight(%weight) -> (weight) {
  ^bb0(%step: f64, %w: f64, %squared_norm: f64):
    nn.yield %w : f64
  } : tensor<f32>
  nn.update @trained gradient(%g) scalars(%scalars) {
  ^bb0(%value: f32, %gradient: f32, %w: f32):
    nn.yield %gradient : f32
  } : tensor<1xf32>, tensor<f32>
  %all = nn.read @undivided : tensor<1024x64xf32>
  nn.update @undivided gradient(%all) scalars(%scalars) sum {
  ^bb0(%value: f32, %gradient: f32, %w: f32):
    %wide = arith.extf %gradient : f32 to f64
    nn.yield %wide : f64
  } param {
  ^bb0(%count: f64, %total: f64, %w: f32):
    %narrow = arith.truncf %total : f64 to f32
    nn.yield %narrow : f32
  } each {
  ^bb0(%value: f32, %gradient: f32, %w: f32, %pace: f32):
    nn.yield %pace : f32
  } : tensor<1024x64xf32>, tensor<f32>
  nn.update @emb keys(%k0) gradient(%rows) scalars(%scalars) {
  ^bb0(%value: f32, %gradient: f32, %w: f32):
    nn.yield %gradient : f32
  } : tensor<?x4xf32>, tensor<f32>
}
// Lookups of a frozen program do not add to the traffic of a training step, and
// do not count twice.
nn.program @predict frozen reads(@r except @x) {
^bb0(%c: tensor<?x3xi64>, %bags: tensor<?xi64>, %splits: tensor<?xi32>):
  %k0, %i0, %s0, %o0 = nn.unique %bags
  %rows = nn.pull @emb[%k0] : tensor<?x4xf32>
}
}
