// RUN: pdl-opt %s --pdl-pipeline="from=tasks to=llvm" -o %t.mlir
// RUN: pdl-translate %t.mlir -o %t --emit=llvm
// RUN: FileCheck %s < %t/model.ll
// RUN: pdl-opt %s --pdl-pipeline="from=tasks to=llvm target-cpu=x86-64-v4" -o %t.v4.mlir
// RUN: pdl-translate %t.v4.mlir -o %t.v4 --emit=llvm --target-cpu=x86-64-v4
// RUN: FileCheck %s --check-prefix=V4 < %t.v4/model.ll

// Scalar functions with fixed results are inlined into the loop, which becomes
// a loop over vectors. The only FMAs are those that the functions contain, and
// no flag allows LLVM to change a bit.

// CHECK-LABEL: define hidden {{.*}}@pdl.train_compute
// CHECK: vector.body
// CHECK: call <8 x float> @llvm.fma.v8f32
// CHECK-NOT: pdlabi
// CHECK-NOT: contract
// CHECK-NOT: fast <
// CHECK: ret i32

// V4-LABEL: define hidden {{.*}}@pdl.train_compute
// V4: target-cpu"="x86-64-v4"
module attributes {nn.phase = "tasks"} {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  func.func @train_prepare(%context: !llvm.ptr) -> i32 {
    %0 = arith.constant 0 : i32
    return %0 : i32
  }
  func.func @train_compute(%context: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %count = llvm.load %context : !llvm.ptr -> i64
    %from = llvm.getelementptr %context[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %x = llvm.load %from : !llvm.ptr -> !llvm.ptr
    %to = llvm.getelementptr %context[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %y = llvm.load %to : !llvm.ptr -> !llvm.ptr
    scf.for %i = %c0 to %count step %c1 : i64 {
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %q = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm.load %p : !llvm.ptr -> f32
      %e = math.exp %v : f32
      %s = arith.addf %e, %v : f32
      llvm.store %s, %q : f32, !llvm.ptr
    }
    %0 = arith.constant 0 : i32
    return %0 : i32
  }
  rt.program @train frozen reads(@clicks [@label])
    prepare(@train_prepare, <0 + 0 * batch>) compute(@train_compute, <0 + 0 * batch>)
}
