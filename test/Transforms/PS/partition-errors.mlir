// RUN: rm -rf %t && split-file %s %t
// RUN: not pdl-opt %t/model.mlir --ps-partition="mode=local" 2>&1 | FileCheck %s --check-prefix=LOCAL
// LOCAL: model.mlir:1:1: error: ps-partition knows no mode 'local'; expected sync, {{.*}}geo, or no ps pass at all for one process
// RUN: not pdl-opt %t/model.mlir --ps-partition="min-block-elements=0" 2>&1 | FileCheck %s --check-prefix=LEAST
// LEAST: model.mlir:1:1: error: ps-partition: min-block-elements and target-block-bytes are at least 1, not 0 and 131072
// RUN: not pdl-opt %t/model.mlir --ps-partition="target-block-bytes=-1" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: model.mlir:1:1: error: ps-partition: min-block-elements and target-block-bytes are at least 1, not 8192 and -1
// RUN: not pdl-opt %t/model.mlir --ps-partition --ps-partition 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: model.mlir:2:3: error: 'ps.blocks' op is there before ps-partition has run
// RUN: not pdl-opt %t/shards.mlir --ps-partition 2>&1 | FileCheck %s --check-prefix=SHARDS
// SHARDS: shards.mlir:3:3: error: 'ps.shards' op is there before ps-partition has run

// The same options, given to the pipeline.
// RUN: not pdl-opt %t/program.mlir --pdl-pipeline="to=placed mode=sync min-block-elements=0" 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: error: ps-partition: min-block-elements and target-block-bytes are at least 1, not 0 and 131072
// RUN: not pdl-opt %t/program.mlir --pdl-pipeline="to=placed mode=nowhere" 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: --pdl-pipeline knows no mode 'nowhere'; expected local, sync, {{.*}}geo

//--- model.mlir
module {
  nn.param @w : tensor<4xf32> init(#nn.zeros)
}
//--- shards.mlir
module {
  nn.table @emb : i64 -> tensor<4xf32> init(#nn.zeros)
  ps.shards @emb count 1024 cost 1
}
//--- program.mlir
module {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
  }
  nn.param @w : tensor<4xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>):
    %w = nn.read @w : tensor<4xf32>
    %0 = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    nn.return %0 : tensor<?x4xf32>
  }
}
