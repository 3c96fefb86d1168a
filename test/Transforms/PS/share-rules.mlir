// Trainers that own parameters get the rules of these as kernels of a device,
// and no rules of tables. Other trainers get none.

// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=collective target=cuda" -o %t.mlir
// RUN: FileCheck %s --check-prefix=RULES < %t.mlir
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=hybrid target=cuda" | FileCheck %s --check-prefix=RULES
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=collective" | FileCheck %s --check-prefix=NONE
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=sync target=cuda" | FileCheck %s --check-prefix=NONE
// RUN: pdl-opt %t.mlir --pdl-pipeline="from=roles to=tasks mode=collective target=cuda" | FileCheck %s --check-prefix=KERNELS
// RUN: not pdl-opt %s --ps-share-rules -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// RULES: module @trainer
// RULES: nn.param @w : tensor<2x1xf32> in @wide
// RULES: nn.table @emb : i64 -> tensor<3xf32> init
// RULES: nn.program @train
// RULES: nn.group @wide
// RULES: ps.handler
// RULES-NOT: nn.update @emb
// RULES: nn.update @w
// RULES-NOT: nn.update @emb
// RULES: module @pserver
// RULES-DAG: nn.update @emb
// RULES-DAG: nn.update @w

// NONE: module @trainer
// NONE: nn.param @w : tensor<2x1xf32> init
// NONE-NOT: nn.group
// NONE: module @pserver

// KERNELS: module @trainer
// KERNELS-NOT: rt.update_kernel @emb
// KERNELS: rt.update_kernel @w calls @update_w launches @update_w.device
// KERNELS-NOT: ps.handler
// KERNELS: rt.device_kernel @update_w.device
// KERNELS: module @pserver
// KERNELS-DAG: rt.update_kernel @emb calls @update_emb
// KERNELS-DAG: rt.update_kernel @w calls @update_w slots
// KERNELS-NOT: rt.device_kernel @update_w.device

// ERROR: error: holds no module of role trainer: run ps-outline-roles first

module @small {
  nn.record @sample {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
    nn.field @id : tensor<?x1xi64>
  }
  nn.group @wide rule(@adagrad) rate(1.0e-1)
  nn.group @deep rule(@adagrad) rate(1.0e-1)
  nn.param @w : tensor<2x1xf32> in @wide init(#nn.zeros)
  nn.table @emb : i64 -> tensor<3xf32> in @deep init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>, %id: tensor<?x1xi64>):
    %w = nn.read @w : tensor<2x1xf32>
    %h = nn.matmul %x, %w : tensor<?x2xf32>, tensor<2x1xf32>
    %r = nn.lookup @emb[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x3xf32>
    %s = nn.reduce sum %r axes [2] : tensor<?x1x3xf32>
    %z = nn.add %h, %s : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@wide, @deep] : tensor<?x1xf32>
  }
}
