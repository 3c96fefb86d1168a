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
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @labels.range : #nn.bucket_error<buckets = 2>
  func.func @train_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c240 = arith.constant 240 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c152 = arith.constant 152 : index
    %c160 = arith.constant 160 : index
    %c168 = arith.constant 168 : index
    %c176 = arith.constant 176 : index
    %c184 = arith.constant 184 : index
    %c192 = arith.constant 192 : index
    %c200 = arith.constant 200 : index
    %c208 = arith.constant 208 : index
    %c216 = arith.constant 216 : index
    %c224 = arith.constant 224 : index
    %c232 = arith.constant 232 : index
    %1 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %2 = rt.pointer  prepare_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %3 = llvm.mlir.addressof @constant0 : !llvm.ptr
    %4 = llvm.mlir.addressof @constant1 : !llvm.ptr
    %5 = llvm.mlir.addressof @constant2 : !llvm.ptr
    %6 = llvm.mlir.addressof @constant3 : !llvm.ptr
    %7 = llvm.mlir.addressof @constant4 : !llvm.ptr
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c19 = arith.constant 19 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = arith.addi %0, %c15 : index
    %12 = arith.andi %11, %c-16 : index
    %13 = arith.muli %12, %c8 : index
    %14 = arith.muli %12, %c12 : index
    %15 = arith.muli %12, %c16 : index
    %16 = arith.muli %12, %c20 : index
    %17 = arith.muli %12, %c24 : index
    %18 = arith.muli %12, %c32 : index
    %19 = arith.muli %12, %c152 : index
    %20 = arith.muli %12, %c160 : index
    %21 = arith.muli %12, %c168 : index
    %22 = arith.muli %12, %c176 : index
    %23 = arith.muli %12, %c184 : index
    %24 = arith.muli %12, %c192 : index
    %25 = arith.muli %12, %c200 : index
    %26 = arith.muli %12, %c208 : index
    %27 = arith.muli %12, %c216 : index
    %28 = arith.muli %12, %c224 : index
    %29 = arith.muli %12, %c232 : index
    %30 = rt.view %1[%c0] size(%0) : !llvm.ptr -> memref<?x5xf32>
    %31 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = memref.load %30[%arg1, %c0] : memref<?x5xf32>
      memref.store %87, %31[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %32 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c1 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %32[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %33 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c2 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %33[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %34 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c3 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %34[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %35 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c4 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %35[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %36 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %37 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    %38 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %37, %36 into %38 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %39 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 100 into %39 : (memref<?xi64>), memref<?xi64>
    %40 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %41 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %41, %40 into %38 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %42 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 101 into %42 : (memref<?xi64>), memref<?xi64>
    %43 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %44 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %44, %43 into %38 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %45 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 102 into %45 : (memref<?xi64>), memref<?xi64>
    %46 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %47 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %47, %46 into %38 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %48 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 103 into %48 : (memref<?xi64>), memref<?xi64>
    %49 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %50 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %50, %49 into %38 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %51 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 104 into %51 : (memref<?xi64>), memref<?xi64>
    %52 = rt.view %8[%c0] size(%0) : !llvm.ptr -> memref<?x8xi64>
    %53 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = memref.load %52[%arg1, %c0] : memref<?x8xi64>
      memref.store %87, %53[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %54 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c1 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %54[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %55 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c2 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %55[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %56 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c3 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %56[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %57 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c4 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %57[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %58 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xi64>
    %59 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    %60 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%58, %59) salt 110 into %60 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %61 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%39, %58, %59) salt 111 into %61 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %62 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?xi64>
    %63 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%62, %39) salt 112 into %63 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %64 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xi64>
    %65 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%64, %58) salt 113 into %65 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %66 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%59, %51) salt 114 into %66 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %67 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38, %59) salt 115 into %67 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %68 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x19xi64>
    %69 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %70 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %71 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %72 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %73 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %74 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %75 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %76 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %77 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %78 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %79 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c8) step (%c1) {
        %109 = memref.load %52[%arg1, %arg2] : memref<?x8xi64>
        memref.store %109, %68[%arg1, %arg2] : memref<?x19xi64>
        scf.reduce 
      }
      %87 = memref.load %69[%arg1, %c0] : memref<?x1xi64>
      %88 = arith.addi %c0, %c8 : index
      memref.store %87, %68[%arg1, %88] : memref<?x19xi64>
      %89 = memref.load %70[%arg1, %c0] : memref<?x1xi64>
      %90 = arith.addi %c0, %c9 : index
      memref.store %89, %68[%arg1, %90] : memref<?x19xi64>
      %91 = memref.load %71[%arg1, %c0] : memref<?x1xi64>
      %92 = arith.addi %c0, %c10 : index
      memref.store %91, %68[%arg1, %92] : memref<?x19xi64>
      %93 = memref.load %72[%arg1, %c0] : memref<?x1xi64>
      %94 = arith.addi %c0, %c11 : index
      memref.store %93, %68[%arg1, %94] : memref<?x19xi64>
      %95 = memref.load %73[%arg1, %c0] : memref<?x1xi64>
      %96 = arith.addi %c0, %c12 : index
      memref.store %95, %68[%arg1, %96] : memref<?x19xi64>
      %97 = memref.load %74[%arg1, %c0] : memref<?x1xi64>
      %98 = arith.addi %c0, %c13 : index
      memref.store %97, %68[%arg1, %98] : memref<?x19xi64>
      %99 = memref.load %75[%arg1, %c0] : memref<?x1xi64>
      %100 = arith.addi %c0, %c14 : index
      memref.store %99, %68[%arg1, %100] : memref<?x19xi64>
      %101 = memref.load %76[%arg1, %c0] : memref<?x1xi64>
      %102 = arith.addi %c0, %c15 : index
      memref.store %101, %68[%arg1, %102] : memref<?x19xi64>
      %103 = memref.load %77[%arg1, %c0] : memref<?x1xi64>
      %104 = arith.addi %c0, %c16 : index
      memref.store %103, %68[%arg1, %104] : memref<?x19xi64>
      %105 = memref.load %78[%arg1, %c0] : memref<?x1xi64>
      %106 = arith.addi %c0, %c17 : index
      memref.store %105, %68[%arg1, %106] : memref<?x19xi64>
      %107 = memref.load %79[%arg1, %c0] : memref<?x1xi64>
      %108 = arith.addi %c0, %c18 : index
      memref.store %107, %68[%arg1, %108] : memref<?x19xi64>
      scf.reduce 
    }
    %80 = arith.muli %0, %c19 : index
    %81 = rt.view %2[%c0] size(%80) : !llvm.ptr -> memref<?xi64>
    %82 = rt.unique %9, (%81) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %83 = arith.cmpi ne, %82, %c0_i32 : i32
    cf.cond_br %83, ^bb3(%82 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %84 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %85 = arith.cmpi ne, %84, %c0_i32 : i32
    cf.cond_br %85, ^bb3(%84 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%86: i32):  // 2 preds: ^bb0, ^bb1
    return %86 : i32
  }
  func.func @train_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c240 = arith.constant 240 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c152 = arith.constant 152 : index
    %c160 = arith.constant 160 : index
    %c168 = arith.constant 168 : index
    %c176 = arith.constant 176 : index
    %c184 = arith.constant 184 : index
    %c192 = arith.constant 192 : index
    %c200 = arith.constant 200 : index
    %c208 = arith.constant 208 : index
    %c216 = arith.constant 216 : index
    %c224 = arith.constant 224 : index
    %c232 = arith.constant 232 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c84 = arith.constant 84 : index
    %c76 = arith.constant 76 : index
    %c80 = arith.constant 80 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  field_values[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = rt.pointer  metric[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %8 = rt.pointer  metric[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = rt.pointer  metric[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  metric[3] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = rt.pointer  gradient[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %12 = rt.pointer  gradient[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %13 = rt.pointer  loss_sum[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %14 = rt.pointer  weight_sum[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %15 = arith.addi %0, %c15 : index
    %16 = arith.andi %15, %c-16 : index
    %17 = arith.addi %1, %c15 : index
    %18 = arith.andi %17, %c-16 : index
    %19 = arith.muli %18, %c4 : index
    %20 = arith.muli %16, %c84 : index
    %21 = arith.muli %16, %c76 : index
    %22 = arith.addi %19, %21 : index
    %23 = arith.muli %16, %c80 : index
    %24 = arith.addi %19, %23 : index
    %25 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %25 : !llvm.ptr, memref<?x1xf32>
    %26 = arith.muli %c0, %c4 : index
    %27 = arith.muli %0, %c19 : index
    %28 = rt.view %4[%26] size(%27) : !llvm.ptr -> memref<?xi32>
    %29 = rt.view %3[%19] size(%27) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %25[%28] into %29 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %30 = rt.view %3[%19] size(%0) : !llvm.ptr -> memref<?x19xf32>
    %31 = rt.view %3[%22] size(%0) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      memref.store %cst, %31[%arg1] : memref<?xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %43 = memref.load %31[%arg1] : memref<?xf32>
      %44 = scf.for %arg2 = %c0 to %c19 step %c1 iter_args(%arg3 = %43) -> (f32) {
        %45 = memref.load %30[%arg1, %arg2] : memref<?x19xf32>
        %46 = arith.addf %arg3, %45 : f32
        scf.yield %46 : f32
      }
      memref.store %44, %31[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %32 = rt.view %5[%c0] : !llvm.ptr -> memref<1xf32>
    %33 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    %34 = memref.load %32[%c0] : memref<1xf32>
    %35 = rt.view %3[%24] size(%0) : !llvm.ptr -> memref<?xf32>
    %36 = rt.view %3[%19] size(%0) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %43 = memref.load %31[%arg1] : memref<?xf32>
      %44 = memref.load %33[%arg1] : memref<?xf32>
      %45 = arith.addf %43, %34 : f32
      %46 = arith.mulf %45, %44 : f32
      %47 = arith.maximumf %45, %cst : f32
      %48 = math.absf %45 : f32
      %49 = arith.negf %48 : f32
      %50 = math.exp %49 : f32
      %51 = math.log1p %50 : f32
      %52 = arith.subf %47, %46 : f32
      %53 = arith.addf %52, %51 : f32
      %54 = func.call @pdlabi_sigmoidf(%45) : (f32) -> f32
      memref.store %53, %35[%arg1] : memref<?xf32>
      memref.store %54, %36[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %37 = rt.view %3[%19] size(%0) : !llvm.ptr -> memref<?x1xf32>
    %38 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16384> %37 labels(%38 : memref<?x1xf32>) into %7 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %37 labels(%38 : memref<?x1xf32>) into %8 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %37 labels(%38 : memref<?x1xf32>) into %9 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.bucket_error<buckets = 2> %38 labels(%38 : memref<?x1xf32>) into %10 : memref<?x1xf32>, !llvm.ptr
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %43 = memref.load %36[%arg1] : memref<?xf32>
      %44 = memref.load %33[%arg1] : memref<?xf32>
      %45 = arith.subf %43, %44 : f32
      memref.store %45, %31[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %39 = rt.view %11[%c0] : !llvm.ptr -> memref<1xf32>
    scf.parallel (%arg1) = (%c0) to (%c1) step (%c1) {
      memref.store %cst, %39[%arg1] : memref<1xf32>
      scf.reduce 
    }
    %40 = memref.load %39[%c0] : memref<1xf32>
    %41 = scf.for %arg1 = %c0 to %0 step %c1 iter_args(%arg2 = %40) -> (f32) {
      %43 = memref.load %31[%arg1] : memref<?xf32>
      %44 = arith.addf %arg2, %43 : f32
      scf.yield %44 : f32
    }
    memref.store %41, %39[%c0] : memref<1xf32>
    scf.parallel (%arg1, %arg2) = (%c0, %c0) to (%0, %c19) step (%c1, %c1) {
      %43 = memref.load %31[%arg1] : memref<?xf32>
      memref.store %43, %30[%arg1, %arg2] : memref<?x19xf32>
      scf.reduce 
    }
    %42 = rt.view %12[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.pool_gradient [#rt<pooling sum>](%29 : memref<?x1xf32>) at %2[%c0] into %42 : !llvm.ptr, memref<?x1xf32>
    rt.loss_sum %35 into %13, %14 : memref<?xf32>, !llvm.ptr, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @train reads(@person [@numbers, @categories, @label]) lookups [@weights] updates [@weights, @bias] lookup_of [0, -1] loss prepare(@train_prepare, <3600 + 240 * batch, keys(0), occurrences(0)>) compute(@train_compute, <1320 + 84 * batch, keys(4), occurrences(0)>)
  func.func @evaluate_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c240 = arith.constant 240 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c152 = arith.constant 152 : index
    %c160 = arith.constant 160 : index
    %c168 = arith.constant 168 : index
    %c176 = arith.constant 176 : index
    %c184 = arith.constant 184 : index
    %c192 = arith.constant 192 : index
    %c200 = arith.constant 200 : index
    %c208 = arith.constant 208 : index
    %c216 = arith.constant 216 : index
    %c224 = arith.constant 224 : index
    %c232 = arith.constant 232 : index
    %1 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %2 = rt.pointer  prepare_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %3 = llvm.mlir.addressof @constant0 : !llvm.ptr
    %4 = llvm.mlir.addressof @constant1 : !llvm.ptr
    %5 = llvm.mlir.addressof @constant2 : !llvm.ptr
    %6 = llvm.mlir.addressof @constant3 : !llvm.ptr
    %7 = llvm.mlir.addressof @constant4 : !llvm.ptr
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c19 = arith.constant 19 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = arith.addi %0, %c15 : index
    %12 = arith.andi %11, %c-16 : index
    %13 = arith.muli %12, %c8 : index
    %14 = arith.muli %12, %c12 : index
    %15 = arith.muli %12, %c16 : index
    %16 = arith.muli %12, %c20 : index
    %17 = arith.muli %12, %c24 : index
    %18 = arith.muli %12, %c32 : index
    %19 = arith.muli %12, %c152 : index
    %20 = arith.muli %12, %c160 : index
    %21 = arith.muli %12, %c168 : index
    %22 = arith.muli %12, %c176 : index
    %23 = arith.muli %12, %c184 : index
    %24 = arith.muli %12, %c192 : index
    %25 = arith.muli %12, %c200 : index
    %26 = arith.muli %12, %c208 : index
    %27 = arith.muli %12, %c216 : index
    %28 = arith.muli %12, %c224 : index
    %29 = arith.muli %12, %c232 : index
    %30 = rt.view %1[%c0] size(%0) : !llvm.ptr -> memref<?x5xf32>
    %31 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = memref.load %30[%arg1, %c0] : memref<?x5xf32>
      memref.store %87, %31[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %32 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c1 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %32[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %33 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c2 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %33[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %34 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c3 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %34[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %35 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c4 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %35[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %36 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %37 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    %38 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %37, %36 into %38 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %39 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 100 into %39 : (memref<?xi64>), memref<?xi64>
    %40 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %41 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %41, %40 into %38 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %42 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 101 into %42 : (memref<?xi64>), memref<?xi64>
    %43 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %44 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %44, %43 into %38 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %45 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 102 into %45 : (memref<?xi64>), memref<?xi64>
    %46 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %47 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %47, %46 into %38 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %48 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 103 into %48 : (memref<?xi64>), memref<?xi64>
    %49 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %50 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %50, %49 into %38 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %51 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 104 into %51 : (memref<?xi64>), memref<?xi64>
    %52 = rt.view %8[%c0] size(%0) : !llvm.ptr -> memref<?x8xi64>
    %53 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = memref.load %52[%arg1, %c0] : memref<?x8xi64>
      memref.store %87, %53[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %54 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c1 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %54[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %55 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c2 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %55[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %56 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c3 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %56[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %57 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c4 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %57[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %58 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xi64>
    %59 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    %60 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%58, %59) salt 110 into %60 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %61 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%39, %58, %59) salt 111 into %61 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %62 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?xi64>
    %63 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%62, %39) salt 112 into %63 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %64 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xi64>
    %65 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%64, %58) salt 113 into %65 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %66 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%59, %51) salt 114 into %66 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %67 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38, %59) salt 115 into %67 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %68 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x19xi64>
    %69 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %70 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %71 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %72 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %73 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %74 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %75 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %76 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %77 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %78 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %79 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c8) step (%c1) {
        %109 = memref.load %52[%arg1, %arg2] : memref<?x8xi64>
        memref.store %109, %68[%arg1, %arg2] : memref<?x19xi64>
        scf.reduce 
      }
      %87 = memref.load %69[%arg1, %c0] : memref<?x1xi64>
      %88 = arith.addi %c0, %c8 : index
      memref.store %87, %68[%arg1, %88] : memref<?x19xi64>
      %89 = memref.load %70[%arg1, %c0] : memref<?x1xi64>
      %90 = arith.addi %c0, %c9 : index
      memref.store %89, %68[%arg1, %90] : memref<?x19xi64>
      %91 = memref.load %71[%arg1, %c0] : memref<?x1xi64>
      %92 = arith.addi %c0, %c10 : index
      memref.store %91, %68[%arg1, %92] : memref<?x19xi64>
      %93 = memref.load %72[%arg1, %c0] : memref<?x1xi64>
      %94 = arith.addi %c0, %c11 : index
      memref.store %93, %68[%arg1, %94] : memref<?x19xi64>
      %95 = memref.load %73[%arg1, %c0] : memref<?x1xi64>
      %96 = arith.addi %c0, %c12 : index
      memref.store %95, %68[%arg1, %96] : memref<?x19xi64>
      %97 = memref.load %74[%arg1, %c0] : memref<?x1xi64>
      %98 = arith.addi %c0, %c13 : index
      memref.store %97, %68[%arg1, %98] : memref<?x19xi64>
      %99 = memref.load %75[%arg1, %c0] : memref<?x1xi64>
      %100 = arith.addi %c0, %c14 : index
      memref.store %99, %68[%arg1, %100] : memref<?x19xi64>
      %101 = memref.load %76[%arg1, %c0] : memref<?x1xi64>
      %102 = arith.addi %c0, %c15 : index
      memref.store %101, %68[%arg1, %102] : memref<?x19xi64>
      %103 = memref.load %77[%arg1, %c0] : memref<?x1xi64>
      %104 = arith.addi %c0, %c16 : index
      memref.store %103, %68[%arg1, %104] : memref<?x19xi64>
      %105 = memref.load %78[%arg1, %c0] : memref<?x1xi64>
      %106 = arith.addi %c0, %c17 : index
      memref.store %105, %68[%arg1, %106] : memref<?x19xi64>
      %107 = memref.load %79[%arg1, %c0] : memref<?x1xi64>
      %108 = arith.addi %c0, %c18 : index
      memref.store %107, %68[%arg1, %108] : memref<?x19xi64>
      scf.reduce 
    }
    %80 = arith.muli %0, %c19 : index
    %81 = rt.view %2[%c0] size(%80) : !llvm.ptr -> memref<?xi64>
    %82 = rt.unique %9, (%81) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %83 = arith.cmpi ne, %82, %c0_i32 : i32
    cf.cond_br %83, ^bb3(%82 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %84 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %85 = arith.cmpi ne, %84, %c0_i32 : i32
    cf.cond_br %85, ^bb3(%84 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%86: i32):  // 2 preds: ^bb0, ^bb1
    return %86 : i32
  }
  func.func @evaluate_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c240 = arith.constant 240 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c152 = arith.constant 152 : index
    %c160 = arith.constant 160 : index
    %c168 = arith.constant 168 : index
    %c176 = arith.constant 176 : index
    %c184 = arith.constant 184 : index
    %c192 = arith.constant 192 : index
    %c200 = arith.constant 200 : index
    %c208 = arith.constant 208 : index
    %c216 = arith.constant 216 : index
    %c224 = arith.constant 224 : index
    %c232 = arith.constant 232 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c80 = arith.constant 80 : index
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  field_values[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = rt.pointer  metric[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %8 = rt.pointer  metric[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = rt.pointer  metric[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = arith.addi %0, %c15 : index
    %11 = arith.andi %10, %c-16 : index
    %12 = arith.addi %1, %c15 : index
    %13 = arith.andi %12, %c-16 : index
    %14 = arith.muli %13, %c4 : index
    %15 = arith.muli %11, %c80 : index
    %16 = arith.muli %11, %c76 : index
    %17 = arith.addi %14, %16 : index
    %18 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %18 : !llvm.ptr, memref<?x1xf32>
    %19 = arith.muli %c0, %c4 : index
    %20 = arith.muli %0, %c19 : index
    %21 = rt.view %4[%19] size(%20) : !llvm.ptr -> memref<?xi32>
    %22 = rt.view %3[%14] size(%20) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %18[%21] into %22 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %23 = rt.view %3[%14] size(%0) : !llvm.ptr -> memref<?x19xf32>
    %24 = rt.view %3[%17] size(%0) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      memref.store %cst, %24[%arg1] : memref<?xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %30 = memref.load %24[%arg1] : memref<?xf32>
      %31 = scf.for %arg2 = %c0 to %c19 step %c1 iter_args(%arg3 = %30) -> (f32) {
        %32 = memref.load %23[%arg1, %arg2] : memref<?x19xf32>
        %33 = arith.addf %arg3, %32 : f32
        scf.yield %33 : f32
      }
      memref.store %31, %24[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %25 = rt.view %5[%c0] : !llvm.ptr -> memref<1xf32>
    %26 = memref.load %25[%c0] : memref<1xf32>
    %27 = rt.view %3[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %30 = memref.load %24[%arg1] : memref<?xf32>
      %31 = arith.addf %30, %26 : f32
      %32 = func.call @pdlabi_sigmoidf(%31) : (f32) -> f32
      memref.store %32, %27[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %28 = rt.view %3[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    %29 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16384> %28 labels(%29 : memref<?x1xf32>) into %7 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %28 labels(%29 : memref<?x1xf32>) into %8 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %28 labels(%29 : memref<?x1xf32>) into %9 : memref<?x1xf32>, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @evaluate frozen reads(@person [@numbers, @categories, @label]) lookups [@weights] prepare(@evaluate_prepare, <3600 + 240 * batch, keys(0), occurrences(0)>) compute(@evaluate_compute, <1260 + 80 * batch, keys(4), occurrences(0)>)
  func.func @predict_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c240 = arith.constant 240 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c152 = arith.constant 152 : index
    %c160 = arith.constant 160 : index
    %c168 = arith.constant 168 : index
    %c176 = arith.constant 176 : index
    %c184 = arith.constant 184 : index
    %c192 = arith.constant 192 : index
    %c200 = arith.constant 200 : index
    %c208 = arith.constant 208 : index
    %c216 = arith.constant 216 : index
    %c224 = arith.constant 224 : index
    %c232 = arith.constant 232 : index
    %1 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %2 = rt.pointer  prepare_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %3 = llvm.mlir.addressof @constant0 : !llvm.ptr
    %4 = llvm.mlir.addressof @constant1 : !llvm.ptr
    %5 = llvm.mlir.addressof @constant2 : !llvm.ptr
    %6 = llvm.mlir.addressof @constant3 : !llvm.ptr
    %7 = llvm.mlir.addressof @constant4 : !llvm.ptr
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c9 = arith.constant 9 : index
    %c10 = arith.constant 10 : index
    %c11 = arith.constant 11 : index
    %c13 = arith.constant 13 : index
    %c14 = arith.constant 14 : index
    %c17 = arith.constant 17 : index
    %c18 = arith.constant 18 : index
    %c19 = arith.constant 19 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = arith.addi %0, %c15 : index
    %12 = arith.andi %11, %c-16 : index
    %13 = arith.muli %12, %c8 : index
    %14 = arith.muli %12, %c12 : index
    %15 = arith.muli %12, %c16 : index
    %16 = arith.muli %12, %c20 : index
    %17 = arith.muli %12, %c24 : index
    %18 = arith.muli %12, %c32 : index
    %19 = arith.muli %12, %c152 : index
    %20 = arith.muli %12, %c160 : index
    %21 = arith.muli %12, %c168 : index
    %22 = arith.muli %12, %c176 : index
    %23 = arith.muli %12, %c184 : index
    %24 = arith.muli %12, %c192 : index
    %25 = arith.muli %12, %c200 : index
    %26 = arith.muli %12, %c208 : index
    %27 = arith.muli %12, %c216 : index
    %28 = arith.muli %12, %c224 : index
    %29 = arith.muli %12, %c232 : index
    %30 = rt.view %1[%c0] size(%0) : !llvm.ptr -> memref<?x5xf32>
    %31 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = memref.load %30[%arg1, %c0] : memref<?x5xf32>
      memref.store %87, %31[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %32 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c1 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %32[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %33 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c2 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %33[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %34 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c3 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %34[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %35 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c4 : index
      %88 = memref.load %30[%arg1, %87] : memref<?x5xf32>
      memref.store %88, %35[%arg1, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    %36 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %37 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    %38 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %37, %36 into %38 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %39 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 100 into %39 : (memref<?xi64>), memref<?xi64>
    %40 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %41 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %41, %40 into %38 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %42 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 101 into %42 : (memref<?xi64>), memref<?xi64>
    %43 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %44 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %44, %43 into %38 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %45 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 102 into %45 : (memref<?xi64>), memref<?xi64>
    %46 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %47 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %47, %46 into %38 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %48 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 103 into %48 : (memref<?xi64>), memref<?xi64>
    %49 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %50 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %50, %49 into %38 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %51 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38) salt 104 into %51 : (memref<?xi64>), memref<?xi64>
    %52 = rt.view %8[%c0] size(%0) : !llvm.ptr -> memref<?x8xi64>
    %53 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = memref.load %52[%arg1, %c0] : memref<?x8xi64>
      memref.store %87, %53[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %54 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c1 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %54[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %55 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c2 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %55[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %56 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c3 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %56[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %57 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %87 = arith.addi %c0, %c4 : index
      %88 = memref.load %52[%arg1, %87] : memref<?x8xi64>
      memref.store %88, %57[%arg1, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    %58 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xi64>
    %59 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    %60 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%58, %59) salt 110 into %60 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %61 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%39, %58, %59) salt 111 into %61 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %62 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?xi64>
    %63 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%62, %39) salt 112 into %63 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %64 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xi64>
    %65 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%64, %58) salt 113 into %65 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %66 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%59, %51) salt 114 into %66 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %67 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38, %59) salt 115 into %67 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %68 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?x19xi64>
    %69 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %70 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %71 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %72 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %73 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %74 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %75 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %76 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %77 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %78 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?x1xi64>
    %79 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c8) step (%c1) {
        %109 = memref.load %52[%arg1, %arg2] : memref<?x8xi64>
        memref.store %109, %68[%arg1, %arg2] : memref<?x19xi64>
        scf.reduce 
      }
      %87 = memref.load %69[%arg1, %c0] : memref<?x1xi64>
      %88 = arith.addi %c0, %c8 : index
      memref.store %87, %68[%arg1, %88] : memref<?x19xi64>
      %89 = memref.load %70[%arg1, %c0] : memref<?x1xi64>
      %90 = arith.addi %c0, %c9 : index
      memref.store %89, %68[%arg1, %90] : memref<?x19xi64>
      %91 = memref.load %71[%arg1, %c0] : memref<?x1xi64>
      %92 = arith.addi %c0, %c10 : index
      memref.store %91, %68[%arg1, %92] : memref<?x19xi64>
      %93 = memref.load %72[%arg1, %c0] : memref<?x1xi64>
      %94 = arith.addi %c0, %c11 : index
      memref.store %93, %68[%arg1, %94] : memref<?x19xi64>
      %95 = memref.load %73[%arg1, %c0] : memref<?x1xi64>
      %96 = arith.addi %c0, %c12 : index
      memref.store %95, %68[%arg1, %96] : memref<?x19xi64>
      %97 = memref.load %74[%arg1, %c0] : memref<?x1xi64>
      %98 = arith.addi %c0, %c13 : index
      memref.store %97, %68[%arg1, %98] : memref<?x19xi64>
      %99 = memref.load %75[%arg1, %c0] : memref<?x1xi64>
      %100 = arith.addi %c0, %c14 : index
      memref.store %99, %68[%arg1, %100] : memref<?x19xi64>
      %101 = memref.load %76[%arg1, %c0] : memref<?x1xi64>
      %102 = arith.addi %c0, %c15 : index
      memref.store %101, %68[%arg1, %102] : memref<?x19xi64>
      %103 = memref.load %77[%arg1, %c0] : memref<?x1xi64>
      %104 = arith.addi %c0, %c16 : index
      memref.store %103, %68[%arg1, %104] : memref<?x19xi64>
      %105 = memref.load %78[%arg1, %c0] : memref<?x1xi64>
      %106 = arith.addi %c0, %c17 : index
      memref.store %105, %68[%arg1, %106] : memref<?x19xi64>
      %107 = memref.load %79[%arg1, %c0] : memref<?x1xi64>
      %108 = arith.addi %c0, %c18 : index
      memref.store %107, %68[%arg1, %108] : memref<?x19xi64>
      scf.reduce 
    }
    %80 = arith.muli %0, %c19 : index
    %81 = rt.view %2[%c0] size(%80) : !llvm.ptr -> memref<?xi64>
    %82 = rt.unique %9, (%81) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %83 = arith.cmpi ne, %82, %c0_i32 : i32
    cf.cond_br %83, ^bb3(%82 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %84 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %85 = arith.cmpi ne, %84, %c0_i32 : i32
    cf.cond_br %85, ^bb3(%84 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%86: i32):  // 2 preds: ^bb0, ^bb1
    return %86 : i32
  }
  func.func @predict_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c240 = arith.constant 240 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c16 = arith.constant 16 : index
    %c20 = arith.constant 20 : index
    %c24 = arith.constant 24 : index
    %c32 = arith.constant 32 : index
    %c152 = arith.constant 152 : index
    %c160 = arith.constant 160 : index
    %c168 = arith.constant 168 : index
    %c176 = arith.constant 176 : index
    %c184 = arith.constant 184 : index
    %c192 = arith.constant 192 : index
    %c200 = arith.constant 200 : index
    %c208 = arith.constant 208 : index
    %c216 = arith.constant 216 : index
    %c224 = arith.constant 224 : index
    %c232 = arith.constant 232 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c80 = arith.constant 80 : index
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  output[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = arith.addi %0, %c15 : index
    %8 = arith.andi %7, %c-16 : index
    %9 = arith.addi %1, %c15 : index
    %10 = arith.andi %9, %c-16 : index
    %11 = arith.muli %10, %c4 : index
    %12 = arith.muli %8, %c80 : index
    %13 = arith.muli %8, %c76 : index
    %14 = arith.addi %11, %13 : index
    %15 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %15 : !llvm.ptr, memref<?x1xf32>
    %16 = arith.muli %c0, %c4 : index
    %17 = arith.muli %0, %c19 : index
    %18 = rt.view %4[%16] size(%17) : !llvm.ptr -> memref<?xi32>
    %19 = rt.view %3[%11] size(%17) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %15[%18] into %19 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %20 = rt.view %3[%11] size(%0) : !llvm.ptr -> memref<?x19xf32>
    %21 = rt.view %3[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      memref.store %cst, %21[%arg1] : memref<?xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %25 = memref.load %21[%arg1] : memref<?xf32>
      %26 = scf.for %arg2 = %c0 to %c19 step %c1 iter_args(%arg3 = %25) -> (f32) {
        %27 = memref.load %20[%arg1, %arg2] : memref<?x19xf32>
        %28 = arith.addf %arg3, %27 : f32
        scf.yield %28 : f32
      }
      memref.store %26, %21[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %22 = rt.view %5[%c0] : !llvm.ptr -> memref<1xf32>
    %23 = memref.load %22[%c0] : memref<1xf32>
    %24 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%0) step (%c1) {
      %25 = memref.load %21[%arg1] : memref<?xf32>
      %26 = arith.addf %25, %23 : f32
      %27 = func.call @pdlabi_sigmoidf(%26) : (f32) -> f32
      memref.store %27, %24[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @predict frozen reads(@person [@numbers, @categories]) lookups [@weights] outputs ["output0"] widths [1] types [f32] prepare(@predict_prepare, <3600 + 240 * batch, keys(0), occurrences(0)>) compute(@predict_compute, <1260 + 80 * batch, keys(4), occurrences(0)>)
  nn.fingerprint state {
    "keys of @weights" = "cross(bucketize(slice(f32, axis = 1, offset = 0, size = 1), boundaries = [20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 65]), salt = 100)\0Across(bucketize(slice(f32, axis = 1, offset = 1, size = 1), boundaries = [5, 8, 9, 10, 11, 12, 13, 14, 15]), salt = 101)\0Across(bucketize(slice(f32, axis = 1, offset = 2, size = 1), boundaries = [1, 3000, 4000, 5000, 6500, 7000, 10000, 14000]), salt = 102)\0Across(bucketize(slice(f32, axis = 1, offset = 3, size = 1), boundaries = [1, 1500, 1600, 1800, 1900, 2000, 2200, 2400]), salt = 103)\0Across(bucketize(slice(f32, axis = 1, offset = 4, size = 1), boundaries = [20, 30, 36, 40, 41, 46, 50, 56, 60]), salt = 104)\0Across(cross(bucketize(slice(f32, axis = 1, offset = 0, size = 1), boundaries = [20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 65]), salt = 100), slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 1, size = 1), slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 3, size = 1), salt = 111)\0Across(slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 0, size = 1), slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 3, size = 1), salt = 115)\0Across(slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 1, size = 1), slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 3, size = 1), salt = 110)\0Across(slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 2, size = 1), slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 1, size = 1), salt = 113)\0Across(slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 3, size = 1), cross(bucketize(slice(f32, axis = 1, offset = 4, size = 1), boundaries = [20, 30, 36, 40, 41, 46, 50, 56, 60]), salt = 104), salt = 114)\0Across(slice(text by xxh64 salt slot missing \22?\22, axis = 1, offset = 4, size = 1), cross(bucketize(slice(f32, axis = 1, offset = 0, size = 1), boundaries = [20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 65]), salt = 100), salt = 112)\0Atext by xxh64 salt slot missing \22?\22",
    "rows of @weights" = "f32 [1]",
    "shape of @bias" = "f32 [1]"
  } optimizer {
    "groups with steps" = "@linear",
    "slots of @bias" = "accumulator",
    "slots of @weights" = "accumulator"
  } training {
    "field 1" = "tensor<?x5xf32> columns([0, 4, 10, 11, 12])",
    "field 2" = "tensor<?x8xi64> hash(<xxh64, salt = slot>) missing(\22?\22) columns([1, 3, 5, 6, 7, 8, 9, 13])",
    "field 3" = "tensor<?x1xf32> values({\22<=50K\22 = 0.000000e+00 : f64, \22>50K\22 = 1.000000e+00 : f64}) columns([14])",
    "group of @bias" = "@linear",
    "group of @weights" = "@linear",
    "initial rows of @weights" = "#nn.zeros",
    "losses of @train" = "95acb32fd8d2d455",
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

