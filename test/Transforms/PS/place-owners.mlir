// RUN: pdl-opt %s --ps-place="trainers=2" | FileCheck %s --check-prefix=TWO
// RUN: sed s/collective/hybrid/ %s | pdl-opt --ps-place="servers=1 trainers=2" | FileCheck %s --check-prefix=HYBRID
// RUN: not pdl-opt %s --ps-place="servers=1 trainers=2" 2>&1 | FileCheck %s --check-prefix=SERVERS
// RUN: not pdl-opt %s --ps-place="trainers=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed s/collective/hybrid/ %s | not pdl-opt --ps-place="servers=0" 2>&1 | FileCheck %s --check-prefix=NOSERVER

// If trainers own state, it is distributed to them: all of it in mode
// collective, only parameters in mode hybrid, after the servers.
// SERVERS: error: a job of mode collective has no servers, because its trainers own all state; leave servers out, and say trainers
// NONE: error: a job has at least one trainer, not 0
// NOSERVER: error: a job has at least one server, not 0
module attributes {nn.phase = "placed", ps.mode = #ps.mode<collective>} {
  nn.param @w : tensor<256x1xf32> init(#nn.zeros)
  // TWO: ps.blocks @w {{.*}} {owners = array<i32: 0, 1, 1>}
  // HYBRID: ps.blocks @w {{.*}} {owners = array<i32: 1, 2, 2>}
  ps.blocks @w rows [0, 64, 128, 256] costs [1000, 600, 400]
  nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
  // TWO: ps.shards @t {{.*}} {owners = array<i32: {{([01], )+[01]}}>}
  // HYBRID: ps.shards @t {{.*}} {owners = array<i32: {{(0, )+0}}>}
  ps.shards @t count 1024 cost 1
}
