#alias_scope_domain = #llvm.alias_scope_domain<id = "pdl.update">
#alias_scope = #llvm.alias_scope<id = "pdl.update.1", domain = #alias_scope_domain>
#alias_scope1 = #llvm.alias_scope<id = "pdl.update.0", domain = #alias_scope_domain>
#alias_scope2 = #llvm.alias_scope<id = "pdl.update.2", domain = #alias_scope_domain>
module @logistic_regression attributes {nn.phase = "buffers"} {
  func.func private @pdlabi_sigmoidf(f32) -> f32
  llvm.mlir.global internal constant @constant4(dense<[2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01]> : tensor<9xf64>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<9 x f64>
  llvm.mlir.global internal constant @constant3(dense<[1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03]> : tensor<8xf64>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<8 x f64>
  llvm.mlir.global internal constant @constant2(dense<[1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04]> : tensor<8xf64>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<8 x f64>
  llvm.mlir.global internal constant @constant1(dense<[5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01]> : tensor<9xf64>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<9 x f64>
  llvm.mlir.global internal constant @constant0(dense<[2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01]> : tensor<11xf64>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<11 x f64>
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    nn.field @categories : tensor<?x8xi64> hash(<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.000000e+00 : f64, ">50K" = 1.000000e+00 : f64}) columns([14])
  }
  nn.group @linear rule(@adagrad) rate(1.000000e-01)
  nn.table @weights : i64 -> tensor<1xf32> in @linear init(#nn.zeros)
  nn.param @bias : tensor<1xf32> in @linear init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  func.func @train_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c-64 = arith.constant -64 : index
    %c8 = arith.constant 8 : index
    %c152 = arith.constant 152 : index
    %1 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %2 = rt.pointer  prepare_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %3 = llvm.mlir.addressof @constant0 : !llvm.ptr
    %4 = llvm.mlir.addressof @constant1 : !llvm.ptr
    %5 = llvm.mlir.addressof @constant2 : !llvm.ptr
    %6 = llvm.mlir.addressof @constant3 : !llvm.ptr
    %7 = llvm.mlir.addressof @constant4 : !llvm.ptr
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c12 = arith.constant 12 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    %c15 = arith.constant 15 : index
    %c16 = arith.constant 16 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c19 = arith.constant 19 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = arith.muli %0, %c4 : index
    %12 = arith.addi %11, %c63 : index
    %13 = arith.andi %12, %c-64 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %13 : index
    %16 = arith.addi %15, %13 : index
    %17 = arith.addi %16, %13 : index
    %18 = arith.muli %0, %c8 : index
    %19 = arith.addi %18, %c63 : index
    %20 = arith.andi %19, %c-64 : index
    %21 = arith.addi %17, %20 : index
    %22 = arith.addi %21, %20 : index
    %23 = arith.addi %22, %20 : index
    %24 = arith.addi %23, %20 : index
    %25 = arith.addi %24, %20 : index
    %26 = arith.addi %25, %20 : index
    %27 = arith.addi %26, %20 : index
    %28 = arith.addi %27, %20 : index
    %29 = arith.addi %28, %20 : index
    %30 = arith.addi %29, %20 : index
    %31 = arith.addi %30, %20 : index
    %32 = arith.addi %31, %20 : index
    %33 = arith.addi %32, %20 : index
    %34 = arith.muli %0, %c152 : index
    %35 = arith.addi %34, %c63 : index
    %36 = arith.andi %35, %c-64 : index
    %37 = rt.view %1[%c0] size(%0) : !llvm.ptr -> memref<?x5xf32>
    %38 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = memref.load %37[%arg1, %c0] : memref<?x5xf32>
      memref.store %88, %38[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %39 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c1 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %39[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %40 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c2 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %40[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %41 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c3 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %41[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %42 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c4 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %42[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %43 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %44 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    %45 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %44, %43 into %45 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %46 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 100 into %46 : (memref<?xi64>), memref<?xi64>
    %47 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %48 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %48, %47 into %45 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %49 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 101 into %49 : (memref<?xi64>), memref<?xi64>
    %50 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %51 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %51, %50 into %45 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %52 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 102 into %52 : (memref<?xi64>), memref<?xi64>
    %53 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %54 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %54, %53 into %45 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %55 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 103 into %55 : (memref<?xi64>), memref<?xi64>
    %56 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %57 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %57, %56 into %45 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %58 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 104 into %58 : (memref<?xi64>), memref<?xi64>
    %59 = rt.view %8[%c0] size(%0) : !llvm.ptr -> memref<?x8xi64>
    %60 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = memref.load %59[%arg1, %c0] : memref<?x8xi64>
      memref.store %88, %60[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %61 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c1 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %61[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %62 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c2 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %62[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %63 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c3 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %63[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %64 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c4 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %64[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %65 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    %66 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    %67 = rt.view %2[%30] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%65, %66) salt 110 into %67 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %68 = rt.view %2[%31] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%46, %65, %66) salt 111 into %68 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %69 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    %70 = rt.view %2[%32] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%69, %46) salt 112 into %70 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %71 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%71, %65) salt 113 into %69 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    rt.cross(%66, %58) salt 114 into %65 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    rt.cross(%45, %66) salt 115 into %71 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %72 = rt.view %2[%33] size(%0) : !llvm.ptr -> memref<?x19xi64>
    %73 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %74 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %75 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %76 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %77 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %78 = rt.view %2[%30] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %79 = rt.view %2[%31] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %80 = rt.view %2[%32] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c8) step (%c1) {
        %110 = memref.load %59[%arg1, %arg2] : memref<?x8xi64>
        memref.store %110, %72[%arg1, %arg2] : memref<?x19xi64>
        scf.reduce 
      }
      %88 = memref.load %73[%arg1, %c0] : memref<?x1xi64>
      %89 = arith.addi %c0, %c8 : index
      memref.store %88, %72[%arg1, %89] : memref<?x19xi64>
      %90 = memref.load %74[%arg1, %c0] : memref<?x1xi64>
      %91 = arith.addi %c0, %c9 : index
      memref.store %90, %72[%arg1, %91] : memref<?x19xi64>
      %92 = memref.load %75[%arg1, %c0] : memref<?x1xi64>
      %93 = arith.addi %c0, %c10 : index
      memref.store %92, %72[%arg1, %93] : memref<?x19xi64>
      %94 = memref.load %76[%arg1, %c0] : memref<?x1xi64>
      %95 = arith.addi %c0, %c11 : index
      memref.store %94, %72[%arg1, %95] : memref<?x19xi64>
      %96 = memref.load %77[%arg1, %c0] : memref<?x1xi64>
      %97 = arith.addi %c0, %c12 : index
      memref.store %96, %72[%arg1, %97] : memref<?x19xi64>
      %98 = memref.load %78[%arg1, %c0] : memref<?x1xi64>
      %99 = arith.addi %c0, %c13 : index
      memref.store %98, %72[%arg1, %99] : memref<?x19xi64>
      %100 = memref.load %79[%arg1, %c0] : memref<?x1xi64>
      %101 = arith.addi %c0, %c14 : index
      memref.store %100, %72[%arg1, %101] : memref<?x19xi64>
      %102 = memref.load %80[%arg1, %c0] : memref<?x1xi64>
      %103 = arith.addi %c0, %c15 : index
      memref.store %102, %72[%arg1, %103] : memref<?x19xi64>
      %104 = memref.load %64[%arg1, %c0] : memref<?x1xi64>
      %105 = arith.addi %c0, %c16 : index
      memref.store %104, %72[%arg1, %105] : memref<?x19xi64>
      %106 = memref.load %61[%arg1, %c0] : memref<?x1xi64>
      %107 = arith.addi %c0, %c17 : index
      memref.store %106, %72[%arg1, %107] : memref<?x19xi64>
      %108 = memref.load %62[%arg1, %c0] : memref<?x1xi64>
      %109 = arith.addi %c0, %c18 : index
      memref.store %108, %72[%arg1, %109] : memref<?x19xi64>
      scf.reduce 
    }
    %81 = arith.muli %0, %c19 : index
    %82 = rt.view %2[%33] size(%81) : !llvm.ptr -> memref<?xi64>
    %83 = rt.unique %9, (%82) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %84 = arith.cmpi ne, %83, %c0_i32 : i32
    cf.cond_br %84, ^bb3(%83 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %85 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %86 = arith.cmpi ne, %85, %c0_i32 : i32
    cf.cond_br %86, ^bb3(%85 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%87: i32):  // 2 preds: ^bb0, ^bb1
    return %87 : i32
  }
  func.func @train_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c-64 = arith.constant -64 : index
    %c8 = arith.constant 8 : index
    %c152 = arith.constant 152 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup_rows[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  field_values[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = rt.pointer  metric[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %8 = rt.pointer  metric[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = rt.pointer  metric[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  gradient[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %12 = rt.pointer  gradient[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %13 = rt.pointer  loss_sum[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %14 = rt.pointer  weight_sum[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %15 = arith.muli %0, %c4 : index
    %16 = arith.addi %15, %c63 : index
    %17 = arith.andi %16, %c-64 : index
    %18 = arith.addi %17, %17 : index
    %19 = arith.addi %18, %17 : index
    %20 = arith.addi %19, %17 : index
    %21 = arith.addi %20, %17 : index
    %22 = arith.muli %0, %c8 : index
    %23 = arith.addi %22, %c63 : index
    %24 = arith.andi %23, %c-64 : index
    %25 = arith.addi %21, %24 : index
    %26 = arith.addi %25, %24 : index
    %27 = arith.addi %26, %24 : index
    %28 = arith.addi %27, %24 : index
    %29 = arith.addi %28, %24 : index
    %30 = arith.addi %29, %24 : index
    %31 = arith.addi %30, %24 : index
    %32 = arith.addi %31, %24 : index
    %33 = arith.addi %32, %24 : index
    %34 = arith.addi %33, %24 : index
    %35 = arith.addi %34, %24 : index
    %36 = arith.addi %35, %24 : index
    %37 = arith.addi %36, %24 : index
    %38 = arith.muli %0, %c152 : index
    %39 = arith.addi %38, %c63 : index
    %40 = arith.andi %39, %c-64 : index
    %41 = arith.muli %1, %c4 : index
    %42 = arith.addi %41, %c63 : index
    %43 = arith.andi %42, %c-64 : index
    %44 = arith.muli %0, %c76 : index
    %45 = arith.addi %44, %c63 : index
    %46 = arith.andi %45, %c-64 : index
    %47 = arith.addi %43, %46 : index
    %48 = arith.addi %47, %17 : index
    %49 = arith.addi %48, %17 : index
    %50 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %50 : !llvm.ptr, memref<?x1xf32>
    %51 = arith.muli %c0, %c4 : index
    %52 = arith.muli %0, %c19 : index
    %53 = rt.view %4[%51] size(%52) : !llvm.ptr -> memref<?xi32>
    %54 = rt.view %3[%43] size(%52) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %50[%53] into %54 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %55 = rt.view %3[%43] size(%0) : !llvm.ptr -> memref<?x19xf32>
    %56 = rt.view %3[%47] size(%0) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      memref.store %cst, %56[%arg1] : memref<?xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %68 = memref.load %56[%arg1] : memref<?xf32>
      %69 = scf.for %arg2 = %c0 to %c19 step %c1 iter_args(%arg3 = %68) -> (f32) {
        %70 = memref.load %55[%arg1, %arg2] : memref<?x19xf32>
        %71 = arith.addf %arg3, %70 : f32
        scf.yield %71 : f32
      }
      memref.store %69, %56[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %57 = rt.view %5[%c0] : !llvm.ptr -> memref<1xf32>
    %58 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    %59 = memref.load %57[%c0] : memref<1xf32>
    %60 = rt.view %3[%48] size(%0) : !llvm.ptr -> memref<?xf32>
    %61 = rt.view %3[%49] size(%0) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %68 = memref.load %56[%arg1] : memref<?xf32>
      %69 = memref.load %58[%arg1] : memref<?xf32>
      %70 = arith.addf %68, %59 : f32
      %71 = arith.mulf %70, %69 : f32
      %72 = arith.maximumf %70, %cst : f32
      %73 = math.absf %70 : f32
      %74 = arith.negf %73 : f32
      %75 = math.exp %74 : f32
      %76 = math.log1p %75 : f32
      %77 = arith.subf %72, %71 : f32
      %78 = arith.addf %77, %76 : f32
      %79 = func.call @pdlabi_sigmoidf(%70) : (f32) -> f32
      memref.store %78, %60[%arg1] : memref<?xf32>
      memref.store %79, %61[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %62 = rt.view %3[%49] size(%0) : !llvm.ptr -> memref<?x1xf32>
    %63 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 4096> %62 labels(%63 : memref<?x1xf32>) into %7 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %62 labels(%63 : memref<?x1xf32>) into %8 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %62 labels(%63 : memref<?x1xf32>) into %9 : memref<?x1xf32>, !llvm.ptr
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %68 = memref.load %61[%arg1] : memref<?xf32>
      %69 = memref.load %58[%arg1] : memref<?xf32>
      %70 = arith.subf %68, %69 : f32
      memref.store %70, %56[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %64 = rt.view %10[%c0] : !llvm.ptr -> memref<1xf32>
    scf.parallel (%arg1) = (%c0) to (%c1) step (%c1) {
      memref.store %cst, %64[%arg1] : memref<1xf32>
      scf.reduce 
    }
    %65 = memref.load %64[%c0] : memref<1xf32>
    %66 = scf.for %arg1 = %c0 to %0 step %c1 iter_args(%arg2 = %65) -> (f32) {
      %68 = memref.load %56[%arg1] : memref<?xf32>
      %69 = arith.addf %arg2, %68 : f32
      scf.yield %69 : f32
    }
    memref.store %66, %64[%c0] : memref<1xf32>
    scf.parallel (%arg1, %arg2) = (%c0, %c0) to (%0, %c19) step (%c1, %c1) {
      %68 = memref.load %56[%arg1] : memref<?xf32>
      memref.store %68, %55[%arg1, %arg2] : memref<?x19xf32>
      scf.reduce 
    }
    %67 = rt.view %12[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.pool_gradient  sum %54 at %11[%c0, %52] into %67 : memref<?x1xf32>, !llvm.ptr, memref<?x1xf32>
    rt.loss_sum %60 into %13, %14 : memref<?xf32>, !llvm.ptr, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @train reads(@person [@numbers, @categories, @label]) lookups [@weights] updates [@weights, @bias] lookup_of [0, -1] loss prepare(@train_prepare, <1197 + 276 * batch, keys(0), occurrences(0)>) compute(@train_compute, <315 + 88 * batch, keys(4), occurrences(0)>)
  func.func @evaluate_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c-64 = arith.constant -64 : index
    %c8 = arith.constant 8 : index
    %c152 = arith.constant 152 : index
    %1 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %2 = rt.pointer  prepare_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %3 = llvm.mlir.addressof @constant0 : !llvm.ptr
    %4 = llvm.mlir.addressof @constant1 : !llvm.ptr
    %5 = llvm.mlir.addressof @constant2 : !llvm.ptr
    %6 = llvm.mlir.addressof @constant3 : !llvm.ptr
    %7 = llvm.mlir.addressof @constant4 : !llvm.ptr
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c12 = arith.constant 12 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    %c15 = arith.constant 15 : index
    %c16 = arith.constant 16 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c19 = arith.constant 19 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = arith.muli %0, %c4 : index
    %12 = arith.addi %11, %c63 : index
    %13 = arith.andi %12, %c-64 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %13 : index
    %16 = arith.addi %15, %13 : index
    %17 = arith.addi %16, %13 : index
    %18 = arith.muli %0, %c8 : index
    %19 = arith.addi %18, %c63 : index
    %20 = arith.andi %19, %c-64 : index
    %21 = arith.addi %17, %20 : index
    %22 = arith.addi %21, %20 : index
    %23 = arith.addi %22, %20 : index
    %24 = arith.addi %23, %20 : index
    %25 = arith.addi %24, %20 : index
    %26 = arith.addi %25, %20 : index
    %27 = arith.addi %26, %20 : index
    %28 = arith.addi %27, %20 : index
    %29 = arith.addi %28, %20 : index
    %30 = arith.addi %29, %20 : index
    %31 = arith.addi %30, %20 : index
    %32 = arith.addi %31, %20 : index
    %33 = arith.addi %32, %20 : index
    %34 = arith.muli %0, %c152 : index
    %35 = arith.addi %34, %c63 : index
    %36 = arith.andi %35, %c-64 : index
    %37 = rt.view %1[%c0] size(%0) : !llvm.ptr -> memref<?x5xf32>
    %38 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = memref.load %37[%arg1, %c0] : memref<?x5xf32>
      memref.store %88, %38[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %39 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c1 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %39[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %40 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c2 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %40[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %41 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c3 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %41[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %42 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c4 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %42[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %43 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %44 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    %45 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %44, %43 into %45 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %46 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 100 into %46 : (memref<?xi64>), memref<?xi64>
    %47 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %48 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %48, %47 into %45 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %49 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 101 into %49 : (memref<?xi64>), memref<?xi64>
    %50 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %51 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %51, %50 into %45 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %52 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 102 into %52 : (memref<?xi64>), memref<?xi64>
    %53 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %54 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %54, %53 into %45 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %55 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 103 into %55 : (memref<?xi64>), memref<?xi64>
    %56 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %57 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %57, %56 into %45 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %58 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 104 into %58 : (memref<?xi64>), memref<?xi64>
    %59 = rt.view %8[%c0] size(%0) : !llvm.ptr -> memref<?x8xi64>
    %60 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = memref.load %59[%arg1, %c0] : memref<?x8xi64>
      memref.store %88, %60[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %61 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c1 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %61[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %62 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c2 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %62[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %63 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c3 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %63[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %64 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c4 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %64[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %65 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    %66 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    %67 = rt.view %2[%30] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%65, %66) salt 110 into %67 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %68 = rt.view %2[%31] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%46, %65, %66) salt 111 into %68 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %69 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    %70 = rt.view %2[%32] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%69, %46) salt 112 into %70 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %71 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%71, %65) salt 113 into %69 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    rt.cross(%66, %58) salt 114 into %65 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    rt.cross(%45, %66) salt 115 into %71 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %72 = rt.view %2[%33] size(%0) : !llvm.ptr -> memref<?x19xi64>
    %73 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %74 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %75 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %76 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %77 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %78 = rt.view %2[%30] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %79 = rt.view %2[%31] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %80 = rt.view %2[%32] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c8) step (%c1) {
        %110 = memref.load %59[%arg1, %arg2] : memref<?x8xi64>
        memref.store %110, %72[%arg1, %arg2] : memref<?x19xi64>
        scf.reduce 
      }
      %88 = memref.load %73[%arg1, %c0] : memref<?x1xi64>
      %89 = arith.addi %c0, %c8 : index
      memref.store %88, %72[%arg1, %89] : memref<?x19xi64>
      %90 = memref.load %74[%arg1, %c0] : memref<?x1xi64>
      %91 = arith.addi %c0, %c9 : index
      memref.store %90, %72[%arg1, %91] : memref<?x19xi64>
      %92 = memref.load %75[%arg1, %c0] : memref<?x1xi64>
      %93 = arith.addi %c0, %c10 : index
      memref.store %92, %72[%arg1, %93] : memref<?x19xi64>
      %94 = memref.load %76[%arg1, %c0] : memref<?x1xi64>
      %95 = arith.addi %c0, %c11 : index
      memref.store %94, %72[%arg1, %95] : memref<?x19xi64>
      %96 = memref.load %77[%arg1, %c0] : memref<?x1xi64>
      %97 = arith.addi %c0, %c12 : index
      memref.store %96, %72[%arg1, %97] : memref<?x19xi64>
      %98 = memref.load %78[%arg1, %c0] : memref<?x1xi64>
      %99 = arith.addi %c0, %c13 : index
      memref.store %98, %72[%arg1, %99] : memref<?x19xi64>
      %100 = memref.load %79[%arg1, %c0] : memref<?x1xi64>
      %101 = arith.addi %c0, %c14 : index
      memref.store %100, %72[%arg1, %101] : memref<?x19xi64>
      %102 = memref.load %80[%arg1, %c0] : memref<?x1xi64>
      %103 = arith.addi %c0, %c15 : index
      memref.store %102, %72[%arg1, %103] : memref<?x19xi64>
      %104 = memref.load %64[%arg1, %c0] : memref<?x1xi64>
      %105 = arith.addi %c0, %c16 : index
      memref.store %104, %72[%arg1, %105] : memref<?x19xi64>
      %106 = memref.load %61[%arg1, %c0] : memref<?x1xi64>
      %107 = arith.addi %c0, %c17 : index
      memref.store %106, %72[%arg1, %107] : memref<?x19xi64>
      %108 = memref.load %62[%arg1, %c0] : memref<?x1xi64>
      %109 = arith.addi %c0, %c18 : index
      memref.store %108, %72[%arg1, %109] : memref<?x19xi64>
      scf.reduce 
    }
    %81 = arith.muli %0, %c19 : index
    %82 = rt.view %2[%33] size(%81) : !llvm.ptr -> memref<?xi64>
    %83 = rt.unique %9, (%82) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %84 = arith.cmpi ne, %83, %c0_i32 : i32
    cf.cond_br %84, ^bb3(%83 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %85 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %86 = arith.cmpi ne, %85, %c0_i32 : i32
    cf.cond_br %86, ^bb3(%85 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%87: i32):  // 2 preds: ^bb0, ^bb1
    return %87 : i32
  }
  func.func @evaluate_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c-64 = arith.constant -64 : index
    %c8 = arith.constant 8 : index
    %c152 = arith.constant 152 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup_rows[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  field_values[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = rt.pointer  metric[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %8 = rt.pointer  metric[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = rt.pointer  metric[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = arith.muli %0, %c4 : index
    %11 = arith.addi %10, %c63 : index
    %12 = arith.andi %11, %c-64 : index
    %13 = arith.addi %12, %12 : index
    %14 = arith.addi %13, %12 : index
    %15 = arith.addi %14, %12 : index
    %16 = arith.addi %15, %12 : index
    %17 = arith.muli %0, %c8 : index
    %18 = arith.addi %17, %c63 : index
    %19 = arith.andi %18, %c-64 : index
    %20 = arith.addi %16, %19 : index
    %21 = arith.addi %20, %19 : index
    %22 = arith.addi %21, %19 : index
    %23 = arith.addi %22, %19 : index
    %24 = arith.addi %23, %19 : index
    %25 = arith.addi %24, %19 : index
    %26 = arith.addi %25, %19 : index
    %27 = arith.addi %26, %19 : index
    %28 = arith.addi %27, %19 : index
    %29 = arith.addi %28, %19 : index
    %30 = arith.addi %29, %19 : index
    %31 = arith.addi %30, %19 : index
    %32 = arith.addi %31, %19 : index
    %33 = arith.muli %0, %c152 : index
    %34 = arith.addi %33, %c63 : index
    %35 = arith.andi %34, %c-64 : index
    %36 = arith.muli %1, %c4 : index
    %37 = arith.addi %36, %c63 : index
    %38 = arith.andi %37, %c-64 : index
    %39 = arith.muli %0, %c76 : index
    %40 = arith.addi %39, %c63 : index
    %41 = arith.andi %40, %c-64 : index
    %42 = arith.addi %38, %41 : index
    %43 = arith.addi %42, %12 : index
    %44 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %44 : !llvm.ptr, memref<?x1xf32>
    %45 = arith.muli %c0, %c4 : index
    %46 = arith.muli %0, %c19 : index
    %47 = rt.view %4[%45] size(%46) : !llvm.ptr -> memref<?xi32>
    %48 = rt.view %3[%38] size(%46) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %44[%47] into %48 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %49 = rt.view %3[%38] size(%0) : !llvm.ptr -> memref<?x19xf32>
    %50 = rt.view %3[%42] size(%0) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      memref.store %cst, %50[%arg1] : memref<?xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %56 = memref.load %50[%arg1] : memref<?xf32>
      %57 = scf.for %arg2 = %c0 to %c19 step %c1 iter_args(%arg3 = %56) -> (f32) {
        %58 = memref.load %49[%arg1, %arg2] : memref<?x19xf32>
        %59 = arith.addf %arg3, %58 : f32
        scf.yield %59 : f32
      }
      memref.store %57, %50[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %51 = rt.view %5[%c0] : !llvm.ptr -> memref<1xf32>
    %52 = memref.load %51[%c0] : memref<1xf32>
    %53 = rt.view %3[%43] size(%0) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %56 = memref.load %50[%arg1] : memref<?xf32>
      %57 = arith.addf %56, %52 : f32
      %58 = func.call @pdlabi_sigmoidf(%57) : (f32) -> f32
      memref.store %58, %53[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %54 = rt.view %3[%43] size(%0) : !llvm.ptr -> memref<?x1xf32>
    %55 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 4096> %54 labels(%55 : memref<?x1xf32>) into %7 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %54 labels(%55 : memref<?x1xf32>) into %8 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %54 labels(%55 : memref<?x1xf32>) into %9 : memref<?x1xf32>, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @evaluate frozen reads(@person [@numbers, @categories, @label]) lookups [@weights] prepare(@evaluate_prepare, <1197 + 276 * batch, keys(0), occurrences(0)>) compute(@evaluate_compute, <252 + 84 * batch, keys(4), occurrences(0)>)
  func.func @predict_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c-64 = arith.constant -64 : index
    %c8 = arith.constant 8 : index
    %c152 = arith.constant 152 : index
    %1 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %2 = rt.pointer  prepare_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %3 = llvm.mlir.addressof @constant0 : !llvm.ptr
    %4 = llvm.mlir.addressof @constant1 : !llvm.ptr
    %5 = llvm.mlir.addressof @constant2 : !llvm.ptr
    %6 = llvm.mlir.addressof @constant3 : !llvm.ptr
    %7 = llvm.mlir.addressof @constant4 : !llvm.ptr
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c12 = arith.constant 12 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    %c15 = arith.constant 15 : index
    %c16 = arith.constant 16 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c19 = arith.constant 19 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = arith.muli %0, %c4 : index
    %12 = arith.addi %11, %c63 : index
    %13 = arith.andi %12, %c-64 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %13 : index
    %16 = arith.addi %15, %13 : index
    %17 = arith.addi %16, %13 : index
    %18 = arith.muli %0, %c8 : index
    %19 = arith.addi %18, %c63 : index
    %20 = arith.andi %19, %c-64 : index
    %21 = arith.addi %17, %20 : index
    %22 = arith.addi %21, %20 : index
    %23 = arith.addi %22, %20 : index
    %24 = arith.addi %23, %20 : index
    %25 = arith.addi %24, %20 : index
    %26 = arith.addi %25, %20 : index
    %27 = arith.addi %26, %20 : index
    %28 = arith.addi %27, %20 : index
    %29 = arith.addi %28, %20 : index
    %30 = arith.addi %29, %20 : index
    %31 = arith.addi %30, %20 : index
    %32 = arith.addi %31, %20 : index
    %33 = arith.addi %32, %20 : index
    %34 = arith.muli %0, %c152 : index
    %35 = arith.addi %34, %c63 : index
    %36 = arith.andi %35, %c-64 : index
    %37 = rt.view %1[%c0] size(%0) : !llvm.ptr -> memref<?x5xf32>
    %38 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = memref.load %37[%arg1, %c0] : memref<?x5xf32>
      memref.store %88, %38[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %39 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c1 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %39[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %40 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c2 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %40[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %41 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c3 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %41[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %42 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c4 : index
      %89 = memref.load %37[%arg1, %88] : memref<?x5xf32>
      memref.store %89, %42[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %43 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %44 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    %45 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %44, %43 into %45 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %46 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 100 into %46 : (memref<?xi64>), memref<?xi64>
    %47 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %48 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %48, %47 into %45 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %49 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 101 into %49 : (memref<?xi64>), memref<?xi64>
    %50 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %51 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %51, %50 into %45 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %52 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 102 into %52 : (memref<?xi64>), memref<?xi64>
    %53 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %54 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %54, %53 into %45 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %55 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 103 into %55 : (memref<?xi64>), memref<?xi64>
    %56 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %57 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %57, %56 into %45 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %58 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%45) salt 104 into %58 : (memref<?xi64>), memref<?xi64>
    %59 = rt.view %8[%c0] size(%0) : !llvm.ptr -> memref<?x8xi64>
    %60 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = memref.load %59[%arg1, %c0] : memref<?x8xi64>
      memref.store %88, %60[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %61 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c1 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %61[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %62 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c2 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %62[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %63 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c3 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %63[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %64 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %88 = arith.addi %c0, %c4 : index
      %89 = memref.load %59[%arg1, %88] : memref<?x8xi64>
      memref.store %89, %64[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %65 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    %66 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    %67 = rt.view %2[%30] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%65, %66) salt 110 into %67 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %68 = rt.view %2[%31] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%46, %65, %66) salt 111 into %68 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %69 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    %70 = rt.view %2[%32] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%69, %46) salt 112 into %70 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %71 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%71, %65) salt 113 into %69 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    rt.cross(%66, %58) salt 114 into %65 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    rt.cross(%45, %66) salt 115 into %71 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %72 = rt.view %2[%33] size(%0) : !llvm.ptr -> memref<?x19xi64>
    %73 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %74 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %75 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %76 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %77 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %78 = rt.view %2[%30] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %79 = rt.view %2[%31] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %80 = rt.view %2[%32] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c8) step (%c1) {
        %110 = memref.load %59[%arg1, %arg2] : memref<?x8xi64>
        memref.store %110, %72[%arg1, %arg2] : memref<?x19xi64>
        scf.reduce 
      }
      %88 = memref.load %73[%arg1, %c0] : memref<?x1xi64>
      %89 = arith.addi %c0, %c8 : index
      memref.store %88, %72[%arg1, %89] : memref<?x19xi64>
      %90 = memref.load %74[%arg1, %c0] : memref<?x1xi64>
      %91 = arith.addi %c0, %c9 : index
      memref.store %90, %72[%arg1, %91] : memref<?x19xi64>
      %92 = memref.load %75[%arg1, %c0] : memref<?x1xi64>
      %93 = arith.addi %c0, %c10 : index
      memref.store %92, %72[%arg1, %93] : memref<?x19xi64>
      %94 = memref.load %76[%arg1, %c0] : memref<?x1xi64>
      %95 = arith.addi %c0, %c11 : index
      memref.store %94, %72[%arg1, %95] : memref<?x19xi64>
      %96 = memref.load %77[%arg1, %c0] : memref<?x1xi64>
      %97 = arith.addi %c0, %c12 : index
      memref.store %96, %72[%arg1, %97] : memref<?x19xi64>
      %98 = memref.load %78[%arg1, %c0] : memref<?x1xi64>
      %99 = arith.addi %c0, %c13 : index
      memref.store %98, %72[%arg1, %99] : memref<?x19xi64>
      %100 = memref.load %79[%arg1, %c0] : memref<?x1xi64>
      %101 = arith.addi %c0, %c14 : index
      memref.store %100, %72[%arg1, %101] : memref<?x19xi64>
      %102 = memref.load %80[%arg1, %c0] : memref<?x1xi64>
      %103 = arith.addi %c0, %c15 : index
      memref.store %102, %72[%arg1, %103] : memref<?x19xi64>
      %104 = memref.load %64[%arg1, %c0] : memref<?x1xi64>
      %105 = arith.addi %c0, %c16 : index
      memref.store %104, %72[%arg1, %105] : memref<?x19xi64>
      %106 = memref.load %61[%arg1, %c0] : memref<?x1xi64>
      %107 = arith.addi %c0, %c17 : index
      memref.store %106, %72[%arg1, %107] : memref<?x19xi64>
      %108 = memref.load %62[%arg1, %c0] : memref<?x1xi64>
      %109 = arith.addi %c0, %c18 : index
      memref.store %108, %72[%arg1, %109] : memref<?x19xi64>
      scf.reduce 
    }
    %81 = arith.muli %0, %c19 : index
    %82 = rt.view %2[%33] size(%81) : !llvm.ptr -> memref<?xi64>
    %83 = rt.unique %9, (%82) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %84 = arith.cmpi ne, %83, %c0_i32 : i32
    cf.cond_br %84, ^bb3(%83 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %85 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %86 = arith.cmpi ne, %85, %c0_i32 : i32
    cf.cond_br %86, ^bb3(%85 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%87: i32):  // 2 preds: ^bb0, ^bb1
    return %87 : i32
  }
  func.func @predict_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %c-64 = arith.constant -64 : index
    %c8 = arith.constant 8 : index
    %c152 = arith.constant 152 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup_rows[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  output[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = arith.muli %0, %c4 : index
    %8 = arith.addi %7, %c63 : index
    %9 = arith.andi %8, %c-64 : index
    %10 = arith.addi %9, %9 : index
    %11 = arith.addi %10, %9 : index
    %12 = arith.addi %11, %9 : index
    %13 = arith.addi %12, %9 : index
    %14 = arith.muli %0, %c8 : index
    %15 = arith.addi %14, %c63 : index
    %16 = arith.andi %15, %c-64 : index
    %17 = arith.addi %13, %16 : index
    %18 = arith.addi %17, %16 : index
    %19 = arith.addi %18, %16 : index
    %20 = arith.addi %19, %16 : index
    %21 = arith.addi %20, %16 : index
    %22 = arith.addi %21, %16 : index
    %23 = arith.addi %22, %16 : index
    %24 = arith.addi %23, %16 : index
    %25 = arith.addi %24, %16 : index
    %26 = arith.addi %25, %16 : index
    %27 = arith.addi %26, %16 : index
    %28 = arith.addi %27, %16 : index
    %29 = arith.addi %28, %16 : index
    %30 = arith.muli %0, %c152 : index
    %31 = arith.addi %30, %c63 : index
    %32 = arith.andi %31, %c-64 : index
    %33 = arith.muli %1, %c4 : index
    %34 = arith.addi %33, %c63 : index
    %35 = arith.andi %34, %c-64 : index
    %36 = arith.muli %0, %c76 : index
    %37 = arith.addi %36, %c63 : index
    %38 = arith.andi %37, %c-64 : index
    %39 = arith.addi %35, %38 : index
    %40 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %40 : !llvm.ptr, memref<?x1xf32>
    %41 = arith.muli %c0, %c4 : index
    %42 = arith.muli %0, %c19 : index
    %43 = rt.view %4[%41] size(%42) : !llvm.ptr -> memref<?xi32>
    %44 = rt.view %3[%35] size(%42) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %40[%43] into %44 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %45 = rt.view %3[%35] size(%0) : !llvm.ptr -> memref<?x19xf32>
    %46 = rt.view %3[%39] size(%0) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      memref.store %cst, %46[%arg1] : memref<?xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %50 = memref.load %46[%arg1] : memref<?xf32>
      %51 = scf.for %arg2 = %c0 to %c19 step %c1 iter_args(%arg3 = %50) -> (f32) {
        %52 = memref.load %45[%arg1, %arg2] : memref<?x19xf32>
        %53 = arith.addf %arg3, %52 : f32
        scf.yield %53 : f32
      }
      memref.store %51, %46[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %47 = rt.view %5[%c0] : !llvm.ptr -> memref<1xf32>
    %48 = memref.load %47[%c0] : memref<1xf32>
    %49 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %50 = memref.load %46[%arg1] : memref<?xf32>
      %51 = arith.addf %50, %48 : f32
      %52 = func.call @pdlabi_sigmoidf(%51) : (f32) -> f32
      memref.store %52, %49[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @predict frozen reads(@person [@numbers, @categories]) lookups [@weights] outputs ["output0"] widths [1] types [f32] prepare(@predict_prepare, <1197 + 276 * batch, keys(0), occurrences(0)>) compute(@predict_compute, <189 + 80 * batch, keys(4), occurrences(0)>)
  nn.fingerprint state {
    "keys of @weights in @train" = "8ba5e601bba5934f",
    "rows of @weights" = "f32 [1]",
    "shape of @bias" = "f32 [1]"
  } optimizer {
    "groups with steps" = "@linear",
    "slots of @bias" = "accumulator",
    "slots of @weights" = "accumulator"
  } training {
    "field @categories" = "tensor<?x8xi64> hash(<xxh64, salt = slot>) missing(\22?\22) columns([1, 3, 5, 6, 7, 8, 9, 13])",
    "field @label" = "tensor<?x1xf32> values({\22<=50K\22 = 0.000000e+00 : f64, \22>50K\22 = 1.000000e+00 : f64}) columns([14])",
    "field @numbers" = "tensor<?x5xf32> columns([0, 4, 10, 11, 12])",
    "group of @bias" = "@linear",
    "group of @weights" = "@linear",
    "initial rows of @weights" = "#nn.zeros",
    "losses of @train" = "a3728b3c7884a1c1",
    "rate of group @linear" = "0.1",
    "rule of group @linear" = "{epsilon = 1e-10} slots {accumulator = 0}, f9e77f759da8ff6fe0e8a09cc24c5336"
  }
  rt.once_kernel @linear calls @once_linear scalars ["sum of weights", "rate", "hyper-parameter epsilon"] divisors [0] : f32
  func.func private @once_linear(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
    %0 = llvm.getelementptr inbounds %arg0[0] : (!llvm.ptr) -> !llvm.ptr, f64
    %1 = llvm.getelementptr inbounds %arg0[1] : (!llvm.ptr) -> !llvm.ptr, f64
    %2 = llvm.load %1 : !llvm.ptr -> f64
    %3 = llvm.getelementptr inbounds %arg0[2] : (!llvm.ptr) -> !llvm.ptr, f64
    %cst = arith.constant 1.000000e-01 : f64
    %cst_0 = arith.constant 1.000000e-10 : f64
    %4 = arith.truncf %2 : f64 to f32
    %5 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %4, %5 : f32, !llvm.ptr
    %6 = arith.truncf %cst : f64 to f32
    %7 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %6, %7 : f32, !llvm.ptr
    %8 = arith.truncf %cst_0 : f64 to f32
    %9 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %8, %9 : f32, !llvm.ptr
    return
  }
  rt.update_kernel @weights calls @update_weights slots ["accumulator"] from [0.000000e+00]
  func.func private @update_weights(%arg0: i64, %arg1: i64, %arg2: !llvm.ptr, %arg3: !llvm.ptr, %arg4: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg4[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %1 = llvm.load %0 : !llvm.ptr -> f32
    %2 = llvm.getelementptr inbounds %arg4[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %3 = llvm.load %2 : !llvm.ptr -> f32
    %4 = llvm.getelementptr inbounds %arg4[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %5 = llvm.load %4 : !llvm.ptr -> f32
    %c1_i64 = arith.constant 1 : i64
    %6 = arith.subi %arg0, %c1_i64 : i64
    %c16_i64 = arith.constant 16 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %7 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %8 = scf.parallel (%arg5) = (%c0) to (%7) step (%c1) init (%c0_i32) -> i32 {
      %11 = arith.index_cast %arg5 : index to i64
      %12 = arith.addi %11, %c16_i64 : i64
      %13 = arith.minsi %12, %6 : i64
      %14 = llvm.getelementptr inbounds %arg2[%13] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
      %15 = llvm.load %14 : !llvm.ptr -> !llvm.ptr
      %16 = llvm.getelementptr inbounds %15[0] : (!llvm.ptr) -> !llvm.ptr, i8
      "llvm.intr.prefetch"(%16) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}> : (!llvm.ptr) -> ()
      %17 = llvm.getelementptr inbounds %arg2[%11] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
      %18 = llvm.load %17 : !llvm.ptr -> !llvm.ptr
      %19 = llvm.getelementptr inbounds %arg3[%11] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
      %20 = llvm.load %19 : !llvm.ptr -> !llvm.ptr
      %21 = llvm.getelementptr inbounds %18[1] : (!llvm.ptr) -> !llvm.ptr, f32
      %22 = scf.parallel (%arg6) = (%c0) to (%c1) step (%c1) init (%c0_i32) -> i32 {
        %23 = arith.index_cast %arg6 : index to i64
        %24 = llvm.getelementptr inbounds %18[%23] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %25 = llvm.load %24 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2]} : !llvm.ptr -> f32
        %26 = llvm.getelementptr inbounds %21[%23] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %27 = llvm.load %26 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope]} : !llvm.ptr -> f32
        %28 = llvm.getelementptr inbounds %20[%23] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %29 = llvm.load %28 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2]} : !llvm.ptr -> f32
        %30 = arith.divf %29, %1 : f32
        %31 = arith.mulf %30, %30 : f32
        %32 = arith.addf %27, %31 : f32
        %33 = math.sqrt %32 : f32
        %34 = arith.addf %33, %5 : f32
        %35 = arith.divf %30, %34 : f32
        %36 = arith.mulf %3, %35 : f32
        %37 = arith.subf %25, %36 : f32
        llvm.store %37, %24 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2]} : f32, !llvm.ptr
        %38 = arith.bitcast %37 : f32 to i32
        %c2147483647_i32 = arith.constant 2147483647 : i32
        %39 = arith.andi %38, %c2147483647_i32 : i32
        %40 = arith.maxsi %c0_i32, %39 : i32
        llvm.store %32, %26 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope]} : f32, !llvm.ptr
        %41 = arith.bitcast %32 : f32 to i32
        %42 = arith.andi %41, %c2147483647_i32 : i32
        %43 = arith.maxsi %40, %42 : i32
        scf.reduce(%43 : i32) {
        ^bb0(%arg7: i32, %arg8: i32):
          %44 = arith.maxsi %arg7, %arg8 : i32
          scf.reduce.return %44 : i32
        }
      }
      scf.reduce(%22 : i32) {
      ^bb0(%arg6: i32, %arg7: i32):
        %23 = arith.maxsi %arg6, %arg7 : i32
        scf.reduce.return %23 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %9 = arith.cmpi sge, %8, %c2139095040_i32 : i32
    %10 = arith.extui %9 : i1 to i32
    return %10 : i32
  }
  rt.update_kernel @bias calls @update_bias slots ["accumulator"] from [0.000000e+00]
  func.func private @update_bias(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %5 = llvm.load %4 : !llvm.ptr -> f32
    %6 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %10 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %11 = scf.parallel (%arg4) = (%c0) to (%10) step (%c1) init (%c0_i32) -> i32 {
      %14 = arith.index_cast %arg4 : index to i64
      %15 = llvm.getelementptr inbounds %1[%14] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %16 = llvm.load %15 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2]} : !llvm.ptr -> f32
      %17 = llvm.getelementptr inbounds %3[%14] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %18 = llvm.load %17 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope]} : !llvm.ptr -> f32
      %19 = llvm.getelementptr inbounds %arg2[%14] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %20 = llvm.load %19 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %21 = arith.divf %20, %5 : f32
      %22 = arith.mulf %21, %21 : f32
      %23 = arith.addf %18, %22 : f32
      %24 = math.sqrt %23 : f32
      %25 = arith.addf %24, %9 : f32
      %26 = arith.divf %21, %25 : f32
      %27 = arith.mulf %7, %26 : f32
      %28 = arith.subf %16, %27 : f32
      llvm.store %28, %15 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2]} : f32, !llvm.ptr
      %29 = arith.bitcast %28 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %30 = arith.andi %29, %c2147483647_i32 : i32
      %31 = arith.maxsi %c0_i32, %30 : i32
      llvm.store %23, %17 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope]} : f32, !llvm.ptr
      %32 = arith.bitcast %23 : f32 to i32
      %33 = arith.andi %32, %c2147483647_i32 : i32
      %34 = arith.maxsi %31, %33 : i32
      scf.reduce(%34 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %35 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %35 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %12 = arith.cmpi sge, %11, %c2139095040_i32 : i32
    %13 = arith.extui %12 : i1 to i32
    return %13 : i32
  }
}

