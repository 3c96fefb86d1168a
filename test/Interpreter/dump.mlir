// Two steps in one run, and one step, a dump, and another step from the dump,
// write the same file. Values, rows, slots, and the group's number of updates,
// which Adam's bias correction needs, are stored and restored bit by bit. The
// rows have random initial values, which depend only on the seed.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.all x I64 4,1 3,-9223372036854775808,3,0 y F32 4,1 1,2,3,4
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.second x I64 2,1 3,0 y F32 2,1 3,4
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.all batch-size=2 seed=5 dump=%t.both dump-slots=true" -o /dev/null
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.all batch-size=2 seed=5 steps=1 dump=%t.one dump-slots=true" -o /dev/null
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.second seed=5 init=%t.one dump=%t.two dump-slots=true" -o /dev/null
// RUN: cmp %t.both %t.two
// RUN: not cmp -s %t.both %t.one

// Another seed gives other rows.
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.all batch-size=2 seed=6 dump=%t.other dump-slots=true" -o /dev/null
// RUN: not cmp -s %t.both %t.other

// Slots without numbers of updates cause a warning.
// RUN: python3 %S/Inputs/strip_metadata.py %t.one %t.stripped
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.second seed=5 init=%t.stripped dump=%t.two dump-slots=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRIPPED
// RUN: not cmp -s %t.both %t.two
// STRIPPED: warning: {{.*}}.stripped: has slots, but does not say how many updates the group had: bias corrections and schedules begin anew

// Keys are in ascending order. Slots are written only if they are requested,
// and only of trained symbols.
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.all dump=%t.plain" -o /dev/null
// RUN: head -c 800 %t.both | FileCheck %s
// RUN: head -c 800 %t.plain | FileCheck %s --check-prefix=PLAIN
// CHECK: {"__metadata__":{"group.g.steps":"2","group.idle.steps":"0","keys.emb":"integer","layout_version":"2","model":"m","seed":"5"}
// CHECK-SAME: "emb.keys":{"data_offsets":[0,24],"dtype":"I64","shape":[3]}
// CHECK-SAME: "emb.slot.m":
// CHECK-SAME: "emb.slot.v":
// CHECK-SAME: "emb.values":
// CHECK-SAME: "unread":
// CHECK-NOT: unread.slot
// PLAIN: "emb.keys"
// PLAIN-NOT: slot
// PLAIN-NOT: steps
module @m {
  nn.record @sample {
    nn.field @x : tensor<?x1xi64>
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @g rule(@adam) rate(0.5) untouched(lazy)
  nn.group @idle rule(@adam) rate(0.5)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.normal<0.0, 1.0>)
  nn.param @unread : tensor<2xf32> in @idle init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %e = nn.lookup @emb[%x] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %p = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %l = nn.squared_error %p, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
