// RUN: pdl-opt %S/Inputs/two_roles.mlir --pdl-pipeline="to=split mode=sync" -o %t
// RUN: pdl-opt %t --ps-outline-roles | FileCheck %s
// The digest of the wire is the same for the same source. It changes with mode,
// units, channels or messages, and with nothing else.
// RUN: pdl-opt %t --ps-outline-roles | grep -o 'ps.wire = "[0-9a-f]*"' | sort -u > %t.wire
// RUN: pdl-opt %t --ps-outline-roles | grep -o 'ps.wire = "[0-9a-f]*"' | sort -u | diff - %t.wire
// RUN: sed 's/rate(1.0*e-01)/rate(0.5)/' %t | pdl-opt --ps-outline-roles | grep -o 'ps.wire = "[0-9a-f]*"' | sort -u | diff - %t.wire
// RUN: sed 's/costs \[1664\]/costs [1665]/' %t | pdl-opt --ps-outline-roles | grep -o 'ps.wire = "[0-9a-f]*"' | sort -u > %t.other
// RUN: not diff %t.other %t.wire
// RUN: sed 's/number 8 in "train"/number 80 in "train"/' %t | pdl-opt --ps-outline-roles | grep -o 'ps.wire = "[0-9a-f]*"' | sort -u > %t.other
// RUN: not diff %t.other %t.wire
// RUN: sed 's/ps.mode = #ps.mode<sync>/ps.mode = #ps.mode<async>/' %t | pdl-opt --ps-outline-roles | grep -o 'ps.wire = "[0-9a-f]*"' | sort -u > %t.other
// RUN: not diff %t.other %t.wire
// RUN: wc -l < %t.wire | FileCheck %s --check-prefix=ONE
// ONE: {{^ *1$}}

// Both roles have mode, role and wire. A trainer only has the layout of state.
// CHECK: module @two_roles attributes {{{.*}}ps.mode = #ps.mode<sync>}
// CHECK-NEXT: module @trainer attributes {nn.phase = "split", ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "[[WIRE:[0-9a-f]{16}]]"} {
// CHECK-NEXT: nn.record @clicks
// CHECK: nn.clip @joint
// CHECK-NEXT: nn.table @emb : i64 -> tensor<4xf32> init(
// CHECK-NEXT: ps.shards @emb
// CHECK-NEXT: nn.param @w : tensor<208x1xf32> init(
// CHECK-NEXT: ps.blocks @w
// CHECK-NEXT: nn.param @v : tensor<208x1xf32> init(
// CHECK-NEXT: ps.blocks @v
// CHECK-NEXT: nn.param @scale : tensor<8xf32> init(
// CHECK-NEXT: ps.blocks @scale
// CHECK-NEXT: nn.metric @auc
// CHECK-NEXT: nn.metric @labels.range
// CHECK-NEXT: ps.channel @train.value.scale number 0
// CHECK: ps.message @train.exchange
// CHECK: nn.program @train
// CHECK: ps.message @predict.pull
// CHECK: nn.program @predict frozen
// CHECK-NOT: nn.group
// CHECK-NOT: nn.rule
// CHECK-NOT: ps.handler
// CHECK: module @pserver attributes {nn.phase = "split", ps.mode = #ps.mode<sync>, ps.role = "pserver", ps.wire = "[[WIRE]]"} {
// CHECK-NEXT: nn.clip @joint
// CHECK-NEXT: nn.rule @adagrad
// CHECK: nn.group @all rule(@adagrad)
// CHECK-NEXT: nn.table @emb : i64 -> tensor<4xf32> in @all init(
// CHECK-NEXT: ps.shards @emb
// CHECK-NEXT: nn.param @w : tensor<208x1xf32> in @all init(
// CHECK: nn.param @scale : tensor<8xf32> init(
// CHECK-NEXT: ps.blocks @scale
// CHECK-NEXT: ps.channel @train.value.scale number 0
// CHECK: ps.message @train.exchange
// CHECK: ps.handler @train.apply
// CHECK: ps.handler @train.norms
// CHECK: ps.message @predict.pull
// CHECK-NOT: nn.record
// CHECK-NOT: nn.metric
// CHECK-NOT: nn.program
