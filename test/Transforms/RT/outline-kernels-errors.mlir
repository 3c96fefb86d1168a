// RUN: pdl-opt %s --rt-outline-kernels -split-input-file -verify-diagnostics

func.func @f(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.alloca() : memref<1xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{uses memory that is no rt.view, so its loop cannot become a kernel}}
    %0 = memref.load %x[%i] : memref<1xf32>
    memref.store %0, %x[%i] : memref<1xf32>
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@f, <0 + 0 * batch>) compute(@f, <0 + 0 * batch>)

// -----

func.func @f(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant dense<0.0> : vector<4xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{uses a value of type 'vector<4xf32>' from outside of its loop; kernels take pointers and numbers}}
    llvm.store %v, %context : vector<4xf32>, !llvm.ptr
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@f, <0 + 0 * batch>) compute(@f, <0 + 0 * batch>)

// -----

func.func @f(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{has branches, so it cannot become a kernel}}
    scf.execute_region {
      cf.br ^next
    ^next:
      scf.yield
    }
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@f, <0 + 0 * batch>) compute(@f, <0 + 0 * batch>)
