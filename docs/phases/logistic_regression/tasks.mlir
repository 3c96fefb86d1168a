#alias_scope_domain = #llvm.alias_scope_domain<id = "pdl.update">
#alias_scope = #llvm.alias_scope<id = "pdl.update.1", domain = #alias_scope_domain>
#alias_scope1 = #llvm.alias_scope<id = "pdl.update.0", domain = #alias_scope_domain>
#alias_scope2 = #llvm.alias_scope<id = "pdl.update.2", domain = #alias_scope_domain>
module @logistic_regression attributes {nn.phase = "tasks"} {
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
  func.func private @kernel.copy_f32(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg2) : !llvm.ptr -> memref<?x5xf32>
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg3) = (%c0) to (%arg2) step (%c1) {
      %2 = memref.load %0[%arg3, %c0] : memref<?x5xf32>
      memref.store %2, %1[%arg3, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.copy_f32_0(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index, %arg3: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg2) : !llvm.ptr -> memref<?x5xf32>
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?x1xf32>
    scf.parallel (%arg4) = (%c0) to (%arg2) step (%c1) {
      %2 = arith.addi %c0, %arg3 : index
      %3 = memref.load %0[%arg4, %2] : memref<?x5xf32>
      memref.store %3, %1[%arg4, %c0] : memref<?x1xf32>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.copy_i64(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg2) : !llvm.ptr -> memref<?x8xi64>
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg3) = (%c0) to (%arg2) step (%c1) {
      %2 = memref.load %0[%arg3, %c0] : memref<?x8xi64>
      memref.store %2, %1[%arg3, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.copy_i64_1(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index, %arg3: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg2) : !llvm.ptr -> memref<?x8xi64>
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?x1xi64>
    scf.parallel (%arg4) = (%c0) to (%arg2) step (%c1) {
      %2 = arith.addi %c0, %arg3 : index
      %3 = memref.load %0[%arg4, %2] : memref<?x8xi64>
      memref.store %3, %1[%arg4, %c0] : memref<?x1xi64>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.copy_i64_2(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: !llvm.ptr {llvm.noalias}, %arg3: !llvm.ptr {llvm.noalias}, %arg4: !llvm.ptr {llvm.noalias}, %arg5: !llvm.ptr {llvm.noalias}, %arg6: !llvm.ptr {llvm.noalias}, %arg7: !llvm.ptr {llvm.noalias}, %arg8: !llvm.ptr {llvm.noalias}, %arg9: !llvm.ptr {llvm.noalias}, %arg10: !llvm.ptr {llvm.noalias}, %arg11: !llvm.ptr {llvm.noalias}, %arg12: !llvm.ptr {llvm.noalias}, %arg13: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %0 = rt.view %arg0[%c0] size(%arg13) : !llvm.ptr -> memref<?x8xi64>
    %1 = rt.view %arg1[%c0] size(%arg13) : !llvm.ptr -> memref<?x19xi64>
    %2 = rt.view %arg2[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %3 = rt.view %arg3[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c9 = arith.constant 9 : index
    %4 = rt.view %arg4[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c10 = arith.constant 10 : index
    %5 = rt.view %arg5[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c11 = arith.constant 11 : index
    %6 = rt.view %arg6[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c12 = arith.constant 12 : index
    %7 = rt.view %arg7[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c13 = arith.constant 13 : index
    %8 = rt.view %arg8[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c14 = arith.constant 14 : index
    %9 = rt.view %arg9[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c15 = arith.constant 15 : index
    %10 = rt.view %arg10[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c16 = arith.constant 16 : index
    %11 = rt.view %arg11[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c17 = arith.constant 17 : index
    %12 = rt.view %arg12[%c0] size(%arg13) : !llvm.ptr -> memref<?x1xi64>
    %c18 = arith.constant 18 : index
    scf.parallel (%arg14) = (%c0) to (%arg13) step (%c1) {
      scf.parallel (%arg15) = (%c0) to (%c8) step (%c1) {
        %35 = memref.load %0[%arg14, %arg15] : memref<?x8xi64>
        memref.store %35, %1[%arg14, %arg15] : memref<?x19xi64>
        scf.reduce 
      }
      %13 = memref.load %2[%arg14, %c0] : memref<?x1xi64>
      %14 = arith.addi %c0, %c8 : index
      memref.store %13, %1[%arg14, %14] : memref<?x19xi64>
      %15 = memref.load %3[%arg14, %c0] : memref<?x1xi64>
      %16 = arith.addi %c0, %c9 : index
      memref.store %15, %1[%arg14, %16] : memref<?x19xi64>
      %17 = memref.load %4[%arg14, %c0] : memref<?x1xi64>
      %18 = arith.addi %c0, %c10 : index
      memref.store %17, %1[%arg14, %18] : memref<?x19xi64>
      %19 = memref.load %5[%arg14, %c0] : memref<?x1xi64>
      %20 = arith.addi %c0, %c11 : index
      memref.store %19, %1[%arg14, %20] : memref<?x19xi64>
      %21 = memref.load %6[%arg14, %c0] : memref<?x1xi64>
      %22 = arith.addi %c0, %c12 : index
      memref.store %21, %1[%arg14, %22] : memref<?x19xi64>
      %23 = memref.load %7[%arg14, %c0] : memref<?x1xi64>
      %24 = arith.addi %c0, %c13 : index
      memref.store %23, %1[%arg14, %24] : memref<?x19xi64>
      %25 = memref.load %8[%arg14, %c0] : memref<?x1xi64>
      %26 = arith.addi %c0, %c14 : index
      memref.store %25, %1[%arg14, %26] : memref<?x19xi64>
      %27 = memref.load %9[%arg14, %c0] : memref<?x1xi64>
      %28 = arith.addi %c0, %c15 : index
      memref.store %27, %1[%arg14, %28] : memref<?x19xi64>
      %29 = memref.load %10[%arg14, %c0] : memref<?x1xi64>
      %30 = arith.addi %c0, %c16 : index
      memref.store %29, %1[%arg14, %30] : memref<?x19xi64>
      %31 = memref.load %11[%arg14, %c0] : memref<?x1xi64>
      %32 = arith.addi %c0, %c17 : index
      memref.store %31, %1[%arg14, %32] : memref<?x19xi64>
      %33 = memref.load %12[%arg14, %c0] : memref<?x1xi64>
      %34 = arith.addi %c0, %c18 : index
      memref.store %33, %1[%arg14, %34] : memref<?x19xi64>
      scf.reduce 
    }
    return
  }
  func.func @train_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
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
    %30 = rt.address %2[%13] : !llvm.ptr
    call @kernel.copy_f32(%1, %30, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    %31 = rt.address %2[%14] : !llvm.ptr
    call @kernel.copy_f32_0(%1, %31, %0, %c1) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    %32 = rt.address %2[%15] : !llvm.ptr
    call @kernel.copy_f32_0(%1, %32, %0, %c2) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    %33 = rt.address %2[%16] : !llvm.ptr
    call @kernel.copy_f32_0(%1, %33, %0, %c3) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    %34 = rt.address %2[%17] : !llvm.ptr
    call @kernel.copy_f32_0(%1, %34, %0, %c4) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    %35 = rt.view %3[%c0] : !llvm.ptr -> memref<11xf64>
    %36 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xf32>
    %37 = rt.view %2[%c0] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.bucketize %36, %35 into %37 : memref<?xf32>, memref<11xf64>, memref<?xi64>
    %38 = rt.view %2[%19] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%37) salt 100 into %38 : (memref<?xi64>), memref<?xi64>
    %39 = rt.view %4[%c0] : !llvm.ptr -> memref<9xf64>
    %40 = rt.view %2[%14] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %40, %39 into %37 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %41 = rt.view %2[%20] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%37) salt 101 into %41 : (memref<?xi64>), memref<?xi64>
    %42 = rt.view %5[%c0] : !llvm.ptr -> memref<8xf64>
    %43 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %43, %42 into %37 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %44 = rt.view %2[%21] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%37) salt 102 into %44 : (memref<?xi64>), memref<?xi64>
    %45 = rt.view %6[%c0] : !llvm.ptr -> memref<8xf64>
    %46 = rt.view %2[%16] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %46, %45 into %37 : memref<?xf32>, memref<8xf64>, memref<?xi64>
    %47 = rt.view %2[%22] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%37) salt 103 into %47 : (memref<?xi64>), memref<?xi64>
    %48 = rt.view %7[%c0] : !llvm.ptr -> memref<9xf64>
    %49 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xf32>
    rt.bucketize %49, %48 into %37 : memref<?xf32>, memref<9xf64>, memref<?xi64>
    %50 = rt.view %2[%23] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%37) salt 104 into %50 : (memref<?xi64>), memref<?xi64>
    call @kernel.copy_i64(%8, %2, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    call @kernel.copy_i64_1(%8, %30, %0, %c1) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    call @kernel.copy_i64_1(%8, %32, %0, %c2) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    call @kernel.copy_i64_1(%8, %34, %0, %c3) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    %51 = rt.address %2[%18] : !llvm.ptr
    call @kernel.copy_i64_1(%8, %51, %0, %c4) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
    %52 = rt.view %2[%13] size(%0) : !llvm.ptr -> memref<?xi64>
    %53 = rt.view %2[%17] size(%0) : !llvm.ptr -> memref<?xi64>
    %54 = rt.view %2[%24] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%52, %53) salt 110 into %54 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %55 = rt.view %2[%25] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%38, %52, %53) salt 111 into %55 : (memref<?xi64>, memref<?xi64>, memref<?xi64>), memref<?xi64>
    %56 = rt.view %2[%18] size(%0) : !llvm.ptr -> memref<?xi64>
    %57 = rt.view %2[%26] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%56, %38) salt 112 into %57 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %58 = rt.view %2[%15] size(%0) : !llvm.ptr -> memref<?xi64>
    %59 = rt.view %2[%27] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%58, %52) salt 113 into %59 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %60 = rt.view %2[%28] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%53, %50) salt 114 into %60 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %61 = rt.view %2[%29] size(%0) : !llvm.ptr -> memref<?xi64>
    rt.cross(%37, %53) salt 115 into %61 : (memref<?xi64>, memref<?xi64>), memref<?xi64>
    %62 = rt.address %2[%19] : !llvm.ptr
    %63 = rt.address %2[%20] : !llvm.ptr
    %64 = rt.address %2[%21] : !llvm.ptr
    %65 = rt.address %2[%22] : !llvm.ptr
    %66 = rt.address %2[%23] : !llvm.ptr
    %67 = rt.address %2[%24] : !llvm.ptr
    %68 = rt.address %2[%25] : !llvm.ptr
    %69 = rt.address %2[%26] : !llvm.ptr
    %70 = rt.address %2[%27] : !llvm.ptr
    %71 = rt.address %2[%28] : !llvm.ptr
    %72 = rt.address %2[%29] : !llvm.ptr
    call @kernel.copy_i64_2(%8, %2, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %0) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> ()
    %73 = arith.muli %0, %c19 : index
    %74 = rt.view %2[%c0] size(%73) : !llvm.ptr -> memref<?xi64>
    %75 = rt.unique %9, (%74) into %10 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %76 = arith.cmpi ne, %75, %c0_i32 : i32
    cf.cond_br %76, ^bb3(%75 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %77 = rt.pull %9, table 0 into %10 : !llvm.ptr, !llvm.ptr
    %78 = arith.cmpi ne, %77, %c0_i32 : i32
    cf.cond_br %78, ^bb3(%77 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%79: i32):  // 2 preds: ^bb0, ^bb1
    return %79 : i32
  }
  func.func private @kernel.fill_f32(%arg0: !llvm.ptr {llvm.noalias}, %arg1: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = rt.view %arg0[%c0] size(%arg1) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg2) = (%c0) to (%arg1) step (%c1) {
      memref.store %cst, %0[%arg2] : memref<?xf32>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.reduce_add_f32(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg2) : !llvm.ptr -> memref<?xf32>
    %c19 = arith.constant 19 : index
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?x19xf32>
    scf.parallel (%arg3) = (%c0) to (%arg2) step (%c1) {
      %2 = memref.load %0[%arg3] : memref<?xf32>
      %3 = scf.for %arg4 = %c0 to %c19 step %c1 iter_args(%arg5 = %2) -> (f32) {
        %4 = memref.load %1[%arg3, %arg4] : memref<?x19xf32>
        %5 = arith.addf %arg5, %4 : f32
        scf.yield %5 : f32
      }
      memref.store %3, %0[%arg3] : memref<?xf32>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.elementwise_add_mul_max_abs_neg_exp_4_more_f32(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: !llvm.ptr {llvm.noalias}, %arg3: !llvm.ptr {llvm.noalias}, %arg4: !llvm.ptr {llvm.noalias}, %arg5: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%c1) : !llvm.ptr -> memref<?xf32>
    %1 = rt.view %arg1[%c0] size(%arg5) : !llvm.ptr -> memref<?xf32>
    %2 = rt.view %arg2[%c0] size(%arg5) : !llvm.ptr -> memref<?xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %3 = rt.view %arg3[%c0] size(%arg5) : !llvm.ptr -> memref<?xf32>
    %4 = rt.view %arg4[%c0] size(%arg5) : !llvm.ptr -> memref<?xf32>
    %5 = memref.load %0[%c0] : memref<?xf32>
    scf.parallel (%arg6) = (%c0) to (%arg5) step (%c1) {
      %6 = memref.load %1[%arg6] : memref<?xf32>
      %7 = memref.load %2[%arg6] : memref<?xf32>
      %8 = arith.addf %6, %5 : f32
      %9 = arith.mulf %8, %7 : f32
      %10 = arith.maximumf %8, %cst : f32
      %11 = math.absf %8 : f32
      %12 = arith.negf %11 : f32
      %13 = math.exp %12 : f32
      %14 = math.log1p %13 : f32
      %15 = arith.subf %10, %9 : f32
      %16 = arith.addf %15, %14 : f32
      %17 = func.call @pdlabi_sigmoidf(%8) : (f32) -> f32
      memref.store %16, %3[%arg6] : memref<?xf32>
      memref.store %17, %4[%arg6] : memref<?xf32>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.elementwise_sub_f32(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: !llvm.ptr {llvm.noalias}, %arg3: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg3) : !llvm.ptr -> memref<?xf32>
    %1 = rt.view %arg1[%c0] size(%arg3) : !llvm.ptr -> memref<?xf32>
    %2 = rt.view %arg2[%c0] size(%arg3) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg4) = (%c0) to (%arg3) step (%c1) {
      %3 = memref.load %0[%arg4] : memref<?xf32>
      %4 = memref.load %1[%arg4] : memref<?xf32>
      %5 = arith.subf %3, %4 : f32
      memref.store %5, %2[%arg4] : memref<?xf32>
      scf.reduce 
    }
    return
  }
  func.func private @kernel.reduce_add_f32_3(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%c1) : !llvm.ptr -> memref<?xf32>
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?xf32>
    %2 = memref.load %0[%c0] : memref<?xf32>
    %3 = scf.for %arg3 = %c0 to %arg2 step %c1 iter_args(%arg4 = %2) -> (f32) {
      %4 = memref.load %1[%arg3] : memref<?xf32>
      %5 = arith.addf %arg4, %4 : f32
      scf.yield %5 : f32
    }
    memref.store %3, %0[%c0] : memref<?xf32>
    return
  }
  func.func private @kernel.copy_f32_4(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c19 = arith.constant 19 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%arg2) : !llvm.ptr -> memref<?xf32>
    %1 = rt.view %arg1[%c0] size(%arg2) : !llvm.ptr -> memref<?x19xf32>
    scf.parallel (%arg3, %arg4) = (%c0, %c0) to (%arg2, %c19) step (%c1, %c1) {
      %2 = memref.load %0[%arg3] : memref<?xf32>
      memref.store %2, %1[%arg3, %arg4] : memref<?x19xf32>
      scf.reduce 
    }
    return
  }
  func.func @train_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
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
    %20 = arith.muli %16, %c76 : index
    %21 = arith.addi %19, %20 : index
    %22 = arith.muli %16, %c80 : index
    %23 = arith.addi %19, %22 : index
    %24 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %24 : !llvm.ptr, memref<?x1xf32>
    %25 = arith.muli %c0, %c4 : index
    %26 = arith.muli %0, %c19 : index
    %27 = rt.view %4[%25] size(%26) : !llvm.ptr -> memref<?xi32>
    %28 = rt.view %3[%19] size(%26) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %24[%27] into %28 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %29 = rt.address %3[%21] : !llvm.ptr
    call @kernel.fill_f32(%29, %0) : (!llvm.ptr, index) -> ()
    %30 = rt.address %3[%19] : !llvm.ptr
    call @kernel.reduce_add_f32(%29, %30, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    %31 = rt.view %3[%23] size(%0) : !llvm.ptr -> memref<?xf32>
    %32 = rt.address %3[%23] : !llvm.ptr
    call @kernel.elementwise_add_mul_max_abs_neg_exp_4_more_f32(%5, %29, %6, %32, %30, %0) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> ()
    %33 = rt.view %3[%19] size(%0) : !llvm.ptr -> memref<?x1xf32>
    %34 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16384> %33 labels(%34 : memref<?x1xf32>) into %7 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %33 labels(%34 : memref<?x1xf32>) into %8 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %33 labels(%34 : memref<?x1xf32>) into %9 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.bucket_error<buckets = 2> %34 labels(%34 : memref<?x1xf32>) into %10 : memref<?x1xf32>, !llvm.ptr
    call @kernel.elementwise_sub_f32(%30, %6, %29, %0) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> ()
    call @kernel.fill_f32(%11, %c1) : (!llvm.ptr, index) -> ()
    call @kernel.reduce_add_f32_3(%11, %29, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    call @kernel.copy_f32_4(%29, %30, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    %35 = rt.view %12[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.pool_gradient [#rt<pooling sum>](%28 : memref<?x1xf32>) at %2[%c0] into %35 : !llvm.ptr, memref<?x1xf32>
    rt.loss_sum %31 into %13, %14 : memref<?xf32>, !llvm.ptr, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @train reads(@person [@numbers, @categories, @label]) lookups [@weights] updates [@weights, @bias] lookup_of [0, -1] loss prepare(@train_prepare, <3600 + 240 * batch, keys(0), occurrences(0)>) compute(@train_compute, <1320 + 84 * batch, keys(4), occurrences(0)>)
  func.func private @kernel.elementwise_add_sigmoid_f32(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.noalias}, %arg2: !llvm.ptr {llvm.noalias}, %arg3: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %arg0[%c0] size(%c1) : !llvm.ptr -> memref<?xf32>
    %1 = rt.view %arg1[%c0] size(%arg3) : !llvm.ptr -> memref<?xf32>
    %2 = rt.view %arg2[%c0] size(%arg3) : !llvm.ptr -> memref<?xf32>
    %3 = memref.load %0[%c0] : memref<?xf32>
    scf.parallel (%arg4) = (%c0) to (%arg3) step (%c1) {
      %4 = memref.load %1[%arg4] : memref<?xf32>
      %5 = arith.addf %4, %3 : f32
      %6 = func.call @pdlabi_sigmoidf(%5) : (f32) -> f32
      memref.store %6, %2[%arg4] : memref<?xf32>
      scf.reduce 
    }
    return
  }
  func.func @evaluate_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
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
    %15 = arith.muli %11, %c76 : index
    %16 = arith.addi %14, %15 : index
    %17 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %17 : !llvm.ptr, memref<?x1xf32>
    %18 = arith.muli %c0, %c4 : index
    %19 = arith.muli %0, %c19 : index
    %20 = rt.view %4[%18] size(%19) : !llvm.ptr -> memref<?xi32>
    %21 = rt.view %3[%14] size(%19) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %17[%20] into %21 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %22 = rt.address %3[%16] : !llvm.ptr
    call @kernel.fill_f32(%22, %0) : (!llvm.ptr, index) -> ()
    %23 = rt.address %3[%14] : !llvm.ptr
    call @kernel.reduce_add_f32(%22, %23, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    call @kernel.elementwise_add_sigmoid_f32(%5, %22, %23, %0) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> ()
    %24 = rt.view %3[%14] size(%0) : !llvm.ptr -> memref<?x1xf32>
    %25 = rt.view %6[%c0] size(%0) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16384> %24 labels(%25 : memref<?x1xf32>) into %7 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %24 labels(%25 : memref<?x1xf32>) into %8 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %24 labels(%25 : memref<?x1xf32>) into %9 : memref<?x1xf32>, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @evaluate frozen reads(@person [@numbers, @categories, @label]) lookups [@weights] prepare(@train_prepare, <3600 + 240 * batch, keys(0), occurrences(0)>) compute(@evaluate_compute, <1260 + 80 * batch, keys(4), occurrences(0)>)
  func.func @predict_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %1 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c76 = arith.constant 76 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c19 = arith.constant 19 : index
    %5 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.pointer  output[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %7 = arith.addi %0, %c15 : index
    %8 = arith.andi %7, %c-16 : index
    %9 = arith.addi %1, %c15 : index
    %10 = arith.andi %9, %c-16 : index
    %11 = arith.muli %10, %c4 : index
    %12 = arith.muli %8, %c76 : index
    %13 = arith.addi %11, %12 : index
    %14 = rt.view %3[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gather %2 into %14 : !llvm.ptr, memref<?x1xf32>
    %15 = arith.muli %c0, %c4 : index
    %16 = arith.muli %0, %c19 : index
    %17 = rt.view %4[%15] size(%16) : !llvm.ptr -> memref<?xi32>
    %18 = rt.view %3[%11] size(%16) : !llvm.ptr -> memref<?x1xf32>
    rt.pool  sum %14[%17] into %18 : memref<?x1xf32>, memref<?xi32>, memref<?x1xf32>
    %19 = rt.address %3[%13] : !llvm.ptr
    call @kernel.fill_f32(%19, %0) : (!llvm.ptr, index) -> ()
    %20 = rt.address %3[%11] : !llvm.ptr
    call @kernel.reduce_add_f32(%19, %20, %0) : (!llvm.ptr, !llvm.ptr, index) -> ()
    call @kernel.elementwise_add_sigmoid_f32(%5, %19, %6, %0) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> ()
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @predict frozen reads(@person [@numbers, @categories]) lookups [@weights] outputs ["output0"] widths [1] types [f32] prepare(@train_prepare, <3600 + 240 * batch, keys(0), occurrences(0)>) compute(@predict_compute, <1260 + 80 * batch, keys(4), occurrences(0)>)
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
    %0 = llvm.getelementptr inbounds %arg0[1] : (!llvm.ptr) -> !llvm.ptr, f64
    %1 = llvm.load %0 : !llvm.ptr -> f64
    %cst = arith.constant 1.000000e-01 : f64
    %cst_0 = arith.constant 1.000000e-10 : f64
    %2 = arith.truncf %1 : f64 to f32
    %3 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %2, %3 : f32, !llvm.ptr
    %4 = arith.truncf %cst : f64 to f32
    %5 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %4, %5 : f32, !llvm.ptr
    %6 = arith.truncf %cst_0 : f64 to f32
    %7 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %6, %7 : f32, !llvm.ptr
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

