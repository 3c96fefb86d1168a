// Case: a server without parameters. There is one parameter, which is not
// sliced, and two servers.
//
// Fluid: the second server got a program with an empty block.
//
// PDL: there are no programs for individual servers. All run the same program,
// and a map at the start says what each owns. A server that owns nothing still
// takes part in the rounds. So this is only a case of placement.
//
// RUN: sed -e '/nn.param @fc_b/d' -e 's/, @fc_b :/ :/' -e 's/over \[@weights, @biases\]/over @weights/' -e '/@biases/d' %S/Inputs/dense.mlir > %t.mlir
// RUN: pdl-opt %t.mlir --pdl-pipeline="to=placed mode=sync slice=false" --ps-place="servers=2" | FileCheck %s --check-prefix=PLACE
// RUN: pdl-opt %t.mlir --pdl-pipeline="to=roles mode=sync slice=false" | FileCheck %s --check-prefix=ROLE
// RUN: pdl-opt %t.mlir --pdl-pipeline="to=placed mode=sync slice=false" --ps-report="servers=2" -o /dev/null | FileCheck %s --check-prefix=REPORT

// PLACE: ps.blocks @fc_w {{.*}}servers = array<i32: 0>
// PLACE-NOT: servers = array<i32: 1>
// ROLE-COUNT-1: module @pserver
// ROLE-NOT: module @pserver
// It gets one message per step like the other server, so that rounds can be
// closed: headers, the sizes of sections, and losses.
// REPORT: server blocks shards
// REPORT-NEXT: {{^ *}}0 1 0 3.8 MiB 0.0 3.8 MiB 3.8 MiB 1{{$}}
// REPORT-NEXT: {{^ *}}1 0 0 0 B 0.0 96 B 96 B 1{{$}}
