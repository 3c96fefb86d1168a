// Two steps at once, and one step, a dump, and another step from the dump, leave
// the same file: values, rows and slots go out and come in bit for bit. The
// rows start from random numbers, which depend on the seed alone.
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

// Keys stand in ascending order, slots only where they are asked for.
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.all dump=%t.plain" -o /dev/null
// RUN: head -c 400 %t.both | FileCheck %s
// RUN: head -c 400 %t.plain | FileCheck %s --check-prefix=PLAIN
// CHECK: {"__metadata__":{"model":"m","seed":"5"}
// CHECK-SAME: "emb.keys":{"data_offsets":[0,24],"dtype":"I64","shape":[3]}
// CHECK-SAME: "emb.slot.accumulator":
// CHECK-SAME: "emb.values":
// PLAIN: "emb.keys"
// PLAIN-NOT: slot
module @m {
  nn.record @sample {
    nn.field @x : tensor<?x1xi64>
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @g rule(@adagrad) rate(0.5)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.normal<0.0, 1.0>)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %e = nn.lookup @emb[%x] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %p = nn.flatten %e from 1 : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %p, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
