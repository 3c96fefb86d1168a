// RUN: pdl-opt %s --ps-place="servers=2" | FileCheck %s --check-prefix=LEAST
// RUN: pdl-opt %s --ps-place="servers=2 policy=round-robin" | FileCheck %s --check-prefix=ROBIN
// RUN: pdl-opt %s --ps-place="servers=1 policy=hash-name" | FileCheck %s --check-prefix=ONE

// The most expensive unit is placed first, each on the server with the least
// load so far.
module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.param @w : tensor<256x1xf32> init(#nn.zeros)
  // LEAST: ps.blocks @w {{.*}} {servers = array<i32: 0, 1, 1>}
  // ROBIN: ps.blocks @w {{.*}} {servers = array<i32: 0, 1, 0>}
  // ONE: ps.blocks @w {{.*}} {servers = array<i32: 0, 0, 0>}
  ps.blocks @w rows [0, 64, 128, 256] costs [1000, 600, 400]
  nn.param @b : tensor<8xf32> init(#nn.zeros)
  // LEAST: ps.blocks @b {{.*}} {servers = array<i32: {{[01]}}>}
  // ROBIN: ps.blocks @b {{.*}} {servers = array<i32: 1>}
  ps.blocks @b rows [0, 1] costs [1]
  nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
  // ROBIN: ps.shards @t {{.*}} {servers = array<i32: 0, 1, 0, 1,
  // ONE: ps.shards @t {{.*}} {servers = array<i32: 0, 0, 0,
  ps.shards @t count 1024 cost 1
}
