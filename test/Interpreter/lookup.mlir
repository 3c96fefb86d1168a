// Bags of a table with the rows 7 -> (1, 2) and -1 -> (4, 6). Key 5 is unknown.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.data c.values I64 5 7,-1,7,5,5 c.splits I32 5 0,2,2,3,5
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.init emb.keys I64 2 7,-1 emb.values F32 2,2 1,2,4,6
// RUN: pdl-opt %s --nn-interpret="program=predict data=%t.data init=%t.init outputs=-" -o /dev/null | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=merged" --nn-interpret="program=predict data=%t.data init=%t.init outputs=-" -o /dev/null | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="program=predict data=%t.data init=%t.init outputs=-" -o /dev/null | FileCheck %s

// Sample 0: bags {7, -1} and {}; sample 1: {7} and {5, 5}.
// CHECK: output0.0	output0.1	output0.2	output0.3	output1.0
// CHECK-NEXT: {{^}}5	8	0	0	2.5	4	0	0{{$}}
// CHECK-NEXT: {{^}}1	2	0.5	0.5	1	2	0.25	0.25{{$}}
module @bags {
  nn.record @sample {
    nn.field @c : !nn.ragged<?x2x*xi64>
  }
  nn.table @emb : i64 -> tensor<2xf32> init(#nn.constant<0.25>)
  nn.program @predict frozen reads(@sample) {
  ^bb0(%c: !nn.ragged<?x2x*xi64>):
    %s = nn.lookup @emb[%c] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %m = nn.lookup @emb[%c] pool(mean) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    nn.return %s, %m : tensor<?x2x2xf32>, tensor<?x2x2xf32>
  }
}
