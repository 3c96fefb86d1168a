// Every statistic that a pass declares is reported as a remark with its count.

// RUN: pdl-opt %s --pdl-pipeline="to=tasks" --remarks-filter=statistics -o /dev/null 2>&1 | grep remark: | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=tasks" -o /dev/null 2>&1 | count 0

// The names are those of the .td files, from which docs/Reference is generated.
// RUN: pdl-opt %s --pdl-pipeline="to=llvm" --remarks-filter=statistics -o /dev/null > %t.all 2>&1
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=sync" --remarks-filter=statistics -o /dev/null >> %t.all 2>&1
// RUN: pdl-opt %s --pdl-pipeline="to=tasks target=cuda" --remarks-filter=statistics -o %t.tasks >> %t.all 2>&1
// RUN: pdl-opt %S/keep-serving.mlir --pdl-pipeline="to=merged serving=true" --remarks-filter=statistics -o /dev/null >> %t.all 2>&1
// RUN: pdl-opt %t.tasks --pdl-device-pipeline --remarks-filter=statistics -o /dev/null >> %t.all 2>&1
// RUN: FileCheck %s --check-prefix=SYNC < %t.all
// RUN: FileCheck %s --check-prefix=DEVICE < %t.all
// RUN: sed -n "s/.*Category:statistics | \(.*\)=.*/\1/p" %t.all | sort -u > %t.reported
// RUN: cat %pdl_src/docs/Reference/Passes*.md | sed -n "/^#### Statistics/,/^### /s/^\([a-z-]*\) *: .*/\1/p" | sort -u > %t.declared
// RUN: diff %t.declared %t.reported

// CHECK: statistics.mlir:[[# @LINE + 39]]:1: remark: [Analysis] nn-link-std | Category:statistics | definitions-linked=1{{$}}
// CHECK-NEXT: nn-add-averages | Category:statistics | groups-averaged=0{{$}}
// CHECK-NEXT: nn-split-tables | Category:statistics | tables-split=0{{$}}
// CHECK-NEXT: nn-merge-lookups | Category:statistics | lookups-merged=1{{$}}
// CHECK-NEXT: nn-autodiff | Category:statistics | ops-differentiated=10{{$}}
// CHECK-NEXT: nn-split-clips | Category:statistics | groups-split=0{{$}}
// CHECK-NEXT: nn-expand-updates | Category:statistics | symbols-updated=3{{$}}
// CHECK-NEXT: nn-gate-turns | Category:statistics | ops-gated=0{{$}}
// CHECK-NEXT: nn-canonicalize | Category:statistics | ops-removed=2{{$}}
// CHECK-NEXT: nn-fuse-gemm | Category:statistics | posts-fused=2{{$}}
// CHECK-NEXT: nn-assign-compute-types | Category:statistics | products-rounded=0{{$}}
// CHECK-NEXT: nn-broadcast-splats | Category:statistics | splats-broadcast=0{{$}}
// CHECK-NEXT: ps-settle-delays | Category:statistics | updates-settled=0{{$}}
// CHECK-NEXT: nn-assign-stages | Category:statistics | prepare=4{{$}}
// CHECK-NEXT: nn-assign-stages | Category:statistics | compute=18{{$}}
// CHECK-NEXT: nn-assign-stages | Category:statistics | apply=4{{$}}
// CHECK-NEXT: nn-updates-to-kernels | Category:statistics | kernels=4{{$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | fused=4{{$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | row-loops=0{{$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | in-place=0{{$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | repeats=0{{$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | places={{[0-9]+$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | arena-bytes={{[0-9]+$}}
// CHECK-NEXT: nn-to-rt | Category:statistics | arena-bound={{[0-9]+$}}
// CHECK-NEXT: rt-outline-kernels | Category:statistics | nests=4{{$}}
// CHECK-NEXT: rt-outline-kernels | Category:statistics | kernels=4{{$}}
// CHECK-NEXT: rt-deduplicate-kernels | Category:statistics | kernels-merged=1{{$}}
// CHECK-NOT: statistics

// DEVICE: rt-launch-kernels | Category:statistics | device-kernels=28{{$}}
// DEVICE: rt-distribute-loops | Category:statistics | distributed-kernels=5{{$}}
// DEVICE: rt-extract-kernels | Category:statistics | extracted-kernels=28{{$}}

// SYNC: ps-partition | Category:statistics | blocks=2{{$}}
// SYNC: ps-partition | Category:statistics | shards=1024{{$}}
// SYNC: ps-insert-send-recv | Category:statistics | channels=8{{$}}
// SYNC: ps-fuse-messages | Category:statistics | messages-before=9{{$}}
// SYNC: ps-fuse-messages | Category:statistics | messages-after=1{{$}}

module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
    nn.field @a : tensor<?x1xi64>
    nn.field @b : tensor<?x1xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<2x1xf32> in @g init(#nn.zeros)
  nn.param @c : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>, %a: tensor<?x1xi64>, %b: tensor<?x1xi64>):
    %0 = nn.lookup @t[%a] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %1 = nn.lookup @t[%b] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %2 = nn.add %0, %1 : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %3 = nn.flatten %2 from 1 : tensor<?x1x1xf32>
    %4 = nn.linear %x, @w, @c act(relu) : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %5 = nn.add %3, %4 : tensor<?x1xf32>, tensor<?x1xf32>
    %6 = nn.sigmoid_cross_entropy %5, %y : tensor<?x1xf32>
    nn.minimize %6 over [@g] : tensor<?x1xf32>
  }
}
