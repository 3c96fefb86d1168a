// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s
// RUN: sed s/f32/f64/g %s | pdl-opt --nn-assign-stages --nn-to-rt --cse | FileCheck %s --check-prefix=F64

// Each elementwise op alone: one loop with its formula.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x4xf32>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @neg_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.negf %[[X]] : f32
// CHECK:         memref.store
nn.program @neg frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.neg %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @abs_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.absf %[[X]] : f32
// CHECK:         memref.store
nn.program @abs frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.abs %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sign_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.cmpf uno, %[[X]], %[[X]] : f32
// CHECK:         arith.select
// CHECK-DAG:     arith.cmpf olt, %[[X]]
// CHECK-DAG:     arith.cmpf ogt, %[[X]]
// CHECK:         arith.select
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @sign frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.sign %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @exp_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.exp %[[X]] : f32
// CHECK:         memref.store
nn.program @exp frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.exp %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @log_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.log %[[X]] : f32
// CHECK:         memref.store
nn.program @log frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.log %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @log1p_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.log1p %[[X]] : f32
// CHECK:         memref.store
nn.program @log1p frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.log1p %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sqrt_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.sqrt %[[X]] : f32
// CHECK:         memref.store
nn.program @sqrt frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.sqrt %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @tanh_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.tanh %[[X]] : f32
// CHECK:         memref.store
nn.program @tanh frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.tanh %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sigmoid_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         call @pdlabi_sigmoidf(%[[X]]) : (f32) -> f32
// CHECK:         memref.store
// There is no fixed function for 64 bits, so the definition is used.
// F64-LABEL:   func.func @sigmoid_compute
// F64:           arith.negf
// F64:           math.exp
// F64:           arith.addf
// F64:           arith.divf
nn.program @sigmoid frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.sigmoid %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @relu_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.cmpf ole, %[[X]], %{{.*}} : f32
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[X]] : f32
// CHECK:         memref.store
nn.program @relu frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.relu %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @gelu_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[SQUARE]], %{{.*}} : f32
// CHECK:         %[[FACTOR:.*]] = arith.addf %{{.*}}, %[[SCALED]] : f32
// CHECK:         %[[U:.*]] = arith.mulf %[[X]], %[[FACTOR]] : f32
// CHECK:         %[[T:.*]] = math.tanh %[[U]] : f32
// CHECK:         %[[SUM:.*]] = arith.addf %{{.*}}, %[[T]] : f32
// CHECK:         %[[HALF:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         arith.mulf %[[HALF]], %[[SUM]] : f32
// CHECK:         memref.store
nn.program @gelu frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.gelu %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @erf_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.absf %[[X]] : f32
// CHECK:         math.fma
// CHECK:         math.exp
// CHECK:         math.copysign %{{.*}}, %[[X]] : f32
// CHECK:         memref.store
nn.program @erf frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.erf %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @gelu_erf_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[SCALED:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         math.absf %[[SCALED]] : f32
// CHECK:         %[[HALF:.*]] = arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         arith.mulf %[[HALF]], %{{.*}} : f32
// CHECK:         memref.store
nn.program @gelu_erf frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.gelu_erf %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @signed_log1p_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.absf %[[X]] : f32
// CHECK:         math.log1p
// CHECK:         math.copysign %{{.*}}, %[[X]] : f32
// CHECK:         memref.store
nn.program @signed_log1p frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.signed_log1p %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @add_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.addf %[[X]], %[[Y]] : f32
// CHECK:         memref.store
nn.program @add frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.add %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sub_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.subf %[[X]], %[[Y]] : f32
// CHECK:         memref.store
nn.program @sub frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.sub %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @mul_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.mulf %[[X]], %[[Y]] : f32
// CHECK:         memref.store
nn.program @mul frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.mul %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @div_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.divf %[[X]], %[[Y]] : f32
// CHECK:         memref.store
nn.program @div frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.div %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @max_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.maximumf %[[X]], %[[Y]] : f32
// CHECK:         memref.store
nn.program @max frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.max %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @min_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.minimumf %[[X]], %[[Y]] : f32
// CHECK:         memref.store
nn.program @min frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.min %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @equal_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf oeq, %[[X]], %[[Y]] : f32
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @equal frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.equal %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @greater_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf ogt, %[[X]], %[[Y]] : f32
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @greater frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.greater %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @greater_equal_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf oge, %[[X]], %[[Y]] : f32
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @greater_equal frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.greater_equal %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @less_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf olt, %[[X]], %[[Y]] : f32
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @less frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.less %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @less_equal_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf ole, %[[X]], %[[Y]] : f32
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @less_equal frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.less_equal %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @not_equal_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf une, %[[X]], %[[Y]] : f32
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @not_equal frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.not_equal %x, %y : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @relu_gradient_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.cmpf ole, %[[Y]], %{{.*}} : f32
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[X]] : f32
// CHECK:         memref.store
nn.program @relu_gradient frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.relu_gradient %x, %y : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sigmoid_cross_entropy_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         arith.mulf %[[X]], %[[Y]] : f32
// CHECK:         arith.maximumf %[[X]]
// CHECK:         math.absf %[[X]]
// CHECK:         arith.negf
// CHECK:         math.exp
// CHECK:         math.log1p
// CHECK:         arith.subf
// CHECK:         arith.addf
// CHECK:         memref.store
nn.program @sigmoid_cross_entropy frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.sigmoid_cross_entropy %x, %y : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @squared_error_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[Y:.*]] = memref.load
// CHECK:         %[[D:.*]] = arith.subf %[[X]], %[[Y]] : f32
// CHECK:         arith.mulf %[[D]], %[[D]] : f32
// CHECK:         memref.store
nn.program @squared_error frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.squared_error %x, %y : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// Numbers of attributes are constants of the program, which are read along the
// columns.
// CHECK-LABEL: func.func @standardize_compute
// CHECK:         %[[MEAN:.*]] = llvm.mlir.addressof @constant
// CHECK:         %[[DEVIATION:.*]] = llvm.mlir.addressof @constant
// CHECK:         scf.parallel (%{{.*}}, %[[J:.*]]) = (%{{.*}}) to (%{{.*}}, %c4)
// CHECK:           %[[X:.*]] = memref.load
// CHECK:           %[[M:.*]] = memref.load %{{.*}}[%[[J]]]
// CHECK:           %[[S:.*]] = memref.load %{{.*}}[%[[J]]]
// CHECK:           %[[D:.*]] = arith.subf %[[X]], %[[M]] : f32
// CHECK:           arith.divf %[[D]], %[[S]] : f32
nn.program @standardize frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.standardize %x mean [1.0, 2.0, 3.0, 4.0] deviation [1.0, 2.0, 4.0, 8.0] : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// Of `like` only the size is used; nothing of it is loaded.
// CHECK-LABEL: func.func @broadcast_compute
// CHECK-NOT:     field_values
// CHECK:         scf.parallel (%{{.*}}, %[[J:.*]]) =
// CHECK:           %[[W:.*]] = memref.load %{{.*}}[%[[J]]]
// CHECK-NEXT:      memref.store %[[W]]
nn.program @broadcast frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %w = nn.read @w : tensor<4xf32>
  %0 = nn.broadcast %w like %x : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// A view of its operand: only its reader has a loop.
// CHECK-LABEL: func.func @stop_gradient_compute
// CHECK:         scf.parallel
// CHECK-NOT:     scf.parallel
// CHECK:         rt.program @stop_gradient
nn.program @stop_gradient frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.stop_gradient %x : tensor<?x4xf32>
  %1 = nn.exp %0 : tensor<?x4xf32>
  nn.return %1 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @floor_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.floor %[[X]] : f32
// CHECK:         memref.store
nn.program @floor frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.floor %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @rsqrt_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         %[[R:.*]] = math.sqrt %[[X]] : f32
// CHECK:         arith.divf %{{.*}}, %[[R]] : f32
// CHECK:         memref.store
nn.program @rsqrt frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.rsqrt %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @softplus_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.log1p
// CHECK:         arith.addf
// CHECK:         memref.store
nn.program @softplus frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.softplus %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @swish_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.mulf %[[X]], %{{.*}} : f32
// CHECK:         memref.store
nn.program @swish frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.swish %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.addf %[[X]]
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK:         arith.divf
// CHECK:         memref.store
nn.program @hard_sigmoid frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.hard_sigmoid %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @leaky_relu_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.mulf %{{.*}}, %[[X]] : f32
// CHECK:         arith.cmpf ogt, %[[X]]
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @leaky_relu frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.leaky_relu %x slope 0.25 : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @elu_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.tanh
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @elu frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.elu %x : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @clamp_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.maximumf %[[X]]
// CHECK:         arith.minimumf
// CHECK:         memref.store
nn.program @clamp frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.clamp %x from -1.0 to 1.0 : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @pow_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         math.powf
// CHECK:         memref.store
nn.program @pow frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.pow %x exponent 1.5 : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @select_compute
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         arith.cmpf
// CHECK:         arith.select
// CHECK:         memref.store
nn.program @select frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.select %x, %x, %x : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

}
