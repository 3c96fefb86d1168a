// RUN: pdl-opt %s --rt-vectorize-rows -split-input-file | FileCheck %s

// A row of ten becomes eight and two. The maximum is kept by lane until the
// last row.

// CHECK-LABEL: func.func private @rows
// CHECK-SAME: %[[N:.*]]: i64, %[[TABLE:.*]]: !llvm.ptr, %[[GRADIENTS:.*]]: !llvm.ptr, %[[RATE:.*]]: f32)
// CHECK: %[[ONE:.*]] = llvm.insertelement %[[RATE]]
// CHECK: %[[RATE8:.*]] = llvm.shufflevector %[[ONE]], %{{.*}} [0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
// CHECK: %[[ONE2:.*]] = llvm.insertelement %[[RATE]]
// CHECK: %[[RATE2:.*]] = llvm.shufflevector %[[ONE2]], %{{.*}} [0, 0] : vector<2xf32>
// CHECK: %[[SUMS:.*]]:2 = scf.parallel (%{{.*}}) = {{.*}} -> (vector<8xi32>, vector<2xi32>) {
// CHECK-NOT: scf.parallel
// CHECK: %[[X:.*]] = llvm.load %[[AT:.*]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[G:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK-NEXT: %[[G1:.*]] = arith.mulf %[[G]], %[[HALF]] : vector<8xf32>
// CHECK-NEXT: %[[STEP:.*]] = arith.mulf %[[G1]], %[[RATE8]] : vector<8xf32>
// CHECK-NEXT: %[[NEW:.*]] = arith.subf %[[X]], %[[STEP]] : vector<8xf32>
// CHECK-NEXT: llvm.store %[[NEW]], %[[AT]] {alignment = 4 : i64} : vector<8xf32>
// CHECK-NEXT: %[[T8:.*]] = arith.bitcast %[[NEW]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-NEXT: %[[INDEX:.*]] = arith.index_cast %[[EIGHT]]
// CHECK-NEXT: %[[AT2:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[INDEX]]]
// CHECK: llvm.store %[[NEW2:.*]], %[[AT2]] {alignment = 4 : i64} : vector<2xf32>
// CHECK-NEXT: %[[T2:.*]] = arith.bitcast %[[NEW2]]
// CHECK: scf.reduce(%[[T8]], %[[T2]] : vector<8xi32>, vector<2xi32>)
// CHECK-COUNT-2: arith.maxsi {{.*}} : vector
// Ten lanes are joined by nine comparisons.
// CHECK-COUNT-9: arith.maxsi {{.*}} : i32
// CHECK-NOT: arith.maxsi
// CHECK: return
func.func private @rows(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %g = llvm.getelementptr inbounds %gradient[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %5 = arith.bitcast %4 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}

// -----

// A row with one element is not a vector.

// CHECK-LABEL: func.func private @one
// CHECK: scf.parallel (%{{.*}}) = {{.*}} -> i32 {
// CHECK-NOT: scf.parallel
// CHECK-NOT: vector<
// CHECK: return
func.func private @one(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %g = llvm.getelementptr inbounds %gradient[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %5 = arith.bitcast %4 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}

// -----

// LLVM handles long rows well.

// CHECK-LABEL: func.func private @long
// CHECK-COUNT-2: scf.parallel
// CHECK-NOT: vector<
// CHECK: return
func.func private @long(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 65 : index
  %zero = arith.constant 0 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %g = llvm.getelementptr inbounds %gradient[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %5 = arith.bitcast %4 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}

// -----

// Rows whose start does not depend on the loop over rows.

// CHECK-LABEL: func.func private @starts
// CHECK-COUNT-2: scf.parallel
// CHECK-NOT: vector<
// CHECK: return
func.func private @starts(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %seven = arith.constant 7 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%seven) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %g = llvm.getelementptr inbounds %gradient[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %5 = arith.bitcast %4 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}

// -----

// A function of numbers does not accept vectors.

// CHECK-LABEL: func.func private @call
// CHECK-COUNT-2: scf.parallel
// CHECK-NOT: vector<
// CHECK: return
func.func private @call(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %g = llvm.getelementptr inbounds %gradient[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %7 = func.call @exp(%4) : (f32) -> f32
      %5 = arith.bitcast %7 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}
func.func private @exp(f32) -> f32

// -----

// Elements of the row that do not have the number of the iteration.

// CHECK-LABEL: func.func private @shifted
// CHECK-COUNT-2: scf.parallel
// CHECK-NOT: vector<
// CHECK: return
func.func private @shifted(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %next = arith.addi %index, %index : i64
      %g = llvm.getelementptr inbounds %gradient[%next] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %5 = arith.bitcast %4 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}

// -----

// The maximum of a row has another reader.

// CHECK-LABEL: func.func private @used
// CHECK-COUNT-2: scf.parallel
// CHECK-NOT: vector<
// CHECK: return
func.func private @used(%n: i64, %table: !llvm.ptr, %gradients: !llvm.ptr, %rate: f32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %zero = arith.constant 0 : i32
  %count = arith.index_cast %n : i64 to index
  %s = scf.parallel (%r) = (%c0) to (%count) step (%c1) init (%zero) -> i32 {
    %at = arith.index_cast %r : index to i64
    %p = llvm.getelementptr inbounds %table[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %row = llvm.load %p : !llvm.ptr -> !llvm.ptr
    %q = llvm.getelementptr inbounds %gradients[%at] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
    %gradient = llvm.load %q : !llvm.ptr -> !llvm.ptr
    %t = scf.parallel (%i) = (%c0) to (%c10) step (%c1) init (%zero) -> i32 {
      %index = arith.index_cast %i : index to i64
      %x = llvm.getelementptr inbounds %row[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %g = llvm.getelementptr inbounds %gradient[%index] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %x : !llvm.ptr -> f32
      %1 = llvm.load %g : !llvm.ptr -> f32
      %half = arith.constant 5.000000e-01 : f32
      %2 = arith.mulf %1, %half : f32
      %3 = arith.mulf %2, %rate : f32
      %4 = arith.subf %0, %3 : f32
      llvm.store %4, %x : f32, !llvm.ptr
      %5 = arith.bitcast %4 : f32 to i32
      scf.reduce(%5 : i32) {
      ^bb0(%a: i32, %b: i32):
        %6 = arith.maxsi %a, %b : i32
        scf.reduce.return %6 : i32
      }
    }
    llvm.store %t, %row : i32, !llvm.ptr
    scf.reduce(%t : i32) {
    ^bb0(%a: i32, %b: i32):
      %6 = arith.maxsi %a, %b : i32
      scf.reduce.return %6 : i32
    }
  }
  return %s : i32
}
