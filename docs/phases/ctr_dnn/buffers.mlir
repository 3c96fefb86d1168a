#alias_scope_domain = #llvm.alias_scope_domain<id = "pdl.update">
#alias_scope = #llvm.alias_scope<id = "pdl.update.1", domain = #alias_scope_domain>
#alias_scope1 = #llvm.alias_scope<id = "pdl.update.0", domain = #alias_scope_domain>
#alias_scope2 = #llvm.alias_scope<id = "pdl.update.2", domain = #alias_scope_domain>
#alias_scope3 = #llvm.alias_scope<id = "pdl.update.3", domain = #alias_scope_domain>
module @ctr_dnn attributes {nn.phase = "buffers"} {
  func.func private @pdlabi_sigmoidf(f32) -> f32
  nn.record @criteo {
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x13xf32> missing(0.000000e+00 : f64)
    nn.field @categories : !nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>)
  }
  nn.clip @joint : global_norm(1.000000e+01)
  nn.group @dense rule(@adam) rate(1.000000e-03) decay(#nn.l2<9.9999999999999995E-7>) clip(@joint)
  nn.group @sparse rule(@adam) rate(1.000000e-03) untouched( lazy)
  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-1.000000e-02, 1.000000e-02>)
  nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w4 : tensor<400x1xf32> in @dense init(#nn.xavier)
  nn.param @b4 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @labels.range : #nn.bucket_error<buckets = 2>
  func.func @train_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.pointer  field_values[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %1 = rt.count  field_values[2] of %arg0 : !llvm.ptr
    %2 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.view %0[%c0] size(%1) : !llvm.ptr -> memref<?xi64>
    %5 = rt.unique %2, (%4) into %3 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %6 = arith.cmpi ne, %5, %c0_i32 : i32
    cf.cond_br %6, ^bb3(%5 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %7 = rt.pull %2, table 0 into %3 : !llvm.ptr, !llvm.ptr
    %8 = arith.cmpi ne, %7, %c0_i32 : i32
    cf.cond_br %8, ^bb3(%7 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%9: i32):  // 2 preds: ^bb0, ^bb1
    return %9 : i32
  }
  func.func @train_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c7 = arith.constant 7 : index
    %c-8 = arith.constant -8 : index
    %c40 = arith.constant 40 : index
    %1 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c7500 = arith.constant 7500 : index
    %2 = rt.count  lookup_occurrences[0] of %arg0 : !llvm.ptr
    %c4 = arith.constant 4 : index
    %c1600 = arith.constant 1600 : index
    %c3200 = arith.constant 3200 : index
    %c4800 = arith.constant 4800 : index
    %c4804 = arith.constant 4804 : index
    %c6400 = arith.constant 6400 : index
    %c7492 = arith.constant 7492 : index
    %c7496 = arith.constant 7496 : index
    %3 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %5 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %6 = rt.count  field_values[2] of %arg0 : !llvm.ptr
    %7 = rt.pointer  field_splits[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c26 = arith.constant 26 : index
    %c1 = arith.constant 1 : index
    %8 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c13 = arith.constant 13 : index
    %c260 = arith.constant 260 : index
    %9 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = rt.pointer  parameter[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %12 = rt.pointer  parameter[3] of %arg0 : !llvm.ptr -> !llvm.ptr
    %13 = rt.pointer  parameter[4] of %arg0 : !llvm.ptr -> !llvm.ptr
    %14 = rt.pointer  parameter[5] of %arg0 : !llvm.ptr -> !llvm.ptr
    %15 = rt.pointer  parameter[6] of %arg0 : !llvm.ptr -> !llvm.ptr
    %16 = rt.pointer  parameter[7] of %arg0 : !llvm.ptr -> !llvm.ptr
    %17 = rt.pointer  parameter[8] of %arg0 : !llvm.ptr -> !llvm.ptr
    %18 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %19 = rt.pointer  metric[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %20 = rt.pointer  metric[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %21 = rt.pointer  metric[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %22 = rt.pointer  metric[3] of %arg0 : !llvm.ptr -> !llvm.ptr
    %23 = rt.pointer  gradient[8] of %arg0 : !llvm.ptr -> !llvm.ptr
    %24 = rt.pointer  gradient[7] of %arg0 : !llvm.ptr -> !llvm.ptr
    %25 = rt.pointer  gradient[6] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c400 = arith.constant 400 : index
    %26 = rt.pointer  gradient[5] of %arg0 : !llvm.ptr -> !llvm.ptr
    %27 = rt.pointer  gradient[4] of %arg0 : !llvm.ptr -> !llvm.ptr
    %28 = rt.pointer  gradient[3] of %arg0 : !llvm.ptr -> !llvm.ptr
    %29 = rt.pointer  gradient[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %30 = rt.pointer  gradient[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %31 = rt.pointer  gradient[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %32 = rt.pointer  loss_sum[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %33 = rt.pointer  weight_sum[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %34 = arith.addi %0, %c7 : index
    %35 = arith.andi %34, %c-8 : index
    %36 = arith.muli %35, %c40 : index
    %37 = arith.addi %1, %c15 : index
    %38 = arith.andi %37, %c-16 : index
    %39 = arith.muli %38, %c7500 : index
    %40 = arith.addi %36, %39 : index
    %41 = arith.addi %2, %c15 : index
    %42 = arith.andi %41, %c-16 : index
    %43 = arith.muli %42, %c4 : index
    %44 = arith.muli %38, %c1600 : index
    %45 = arith.addi %36, %44 : index
    %46 = arith.muli %38, %c3200 : index
    %47 = arith.addi %36, %46 : index
    %48 = arith.muli %38, %c4800 : index
    %49 = arith.addi %36, %48 : index
    %50 = arith.muli %38, %c4804 : index
    %51 = arith.addi %36, %50 : index
    %52 = arith.muli %38, %c6400 : index
    %53 = arith.addi %36, %52 : index
    %54 = arith.muli %38, %c7492 : index
    %55 = arith.addi %36, %54 : index
    %56 = arith.muli %38, %c7496 : index
    %57 = arith.addi %36, %56 : index
    %58 = rt.view %4[%c0] size(%0) : !llvm.ptr -> memref<?x10xf32>
    rt.gather %3 into %58 : !llvm.ptr, memref<?x10xf32>
    %59 = arith.muli %c0, %c4 : index
    %60 = rt.view %5[%59] size(%6) : !llvm.ptr -> memref<?xi32>
    %61 = arith.muli %1, %c26 : index
    %62 = arith.addi %61, %c1 : index
    %63 = rt.view %7[%c0] size(%62) : !llvm.ptr -> memref<?xi32>
    %64 = rt.view %4[%53] size(%1) : !llvm.ptr -> memref<?x26x10xf32, strided<[273, 10, 1]>>
    rt.pool  sum %58[%60] splits(%63 : memref<?xi32>) into %64 : memref<?x10xf32>, memref<?xi32>, memref<?x26x10xf32, strided<[273, 10, 1]>>
    %65 = arith.muli %1, %c13 : index
    %66 = rt.view %8[%c0] size(%65) : !llvm.ptr -> memref<?xf32>
    %67 = rt.view %4[%36] size(%65) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%65) step (%c1) {
      %105 = memref.load %66[%arg1] : memref<?xf32>
      %106 = math.absf %105 : f32
      %107 = math.log1p %106 : f32
      %108 = math.copysign %107, %105 : f32
      memref.store %108, %67[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %68 = rt.view %4[%53] size(%1) : !llvm.ptr -> memref<?x273xf32>
    %69 = rt.view %4[%36] size(%1) : !llvm.ptr -> memref<?x13xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c13) step (%c1) {
        %105 = memref.load %69[%arg1, %arg2] : memref<?x13xf32>
        %106 = arith.addi %arg2, %c260 : index
        memref.store %105, %68[%arg1, %106] : memref<?x273xf32>
        scf.reduce 
      }
      scf.reduce 
    }
    %70 = rt.view %10[%c0] : !llvm.ptr -> memref<273x400xf32>
    %71 = rt.view %11[%c0] : !llvm.ptr -> memref<400xf32>
    %72 = rt.view %4[%36] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %9, %68, %70 bias(%71 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %72 : !llvm.ptr, memref<?x273xf32>, memref<273x400xf32>, memref<?x400xf32>
    %73 = rt.view %12[%c0] : !llvm.ptr -> memref<400x400xf32>
    %74 = rt.view %13[%c0] : !llvm.ptr -> memref<400xf32>
    %75 = rt.view %4[%45] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %9, %72, %73 bias(%74 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %75 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %76 = rt.view %14[%c0] : !llvm.ptr -> memref<400x400xf32>
    %77 = rt.view %15[%c0] : !llvm.ptr -> memref<400xf32>
    %78 = rt.view %4[%47] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %9, %75, %76 bias(%77 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %78 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %79 = rt.view %16[%c0] : !llvm.ptr -> memref<400x1xf32>
    %80 = rt.view %17[%c0] : !llvm.ptr -> memref<1xf32>
    %81 = rt.view %4[%49] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gemm  fast %9, %78, %79 bias(%80 : memref<1xf32>) post [#rt<post bias>] into %81 : !llvm.ptr, memref<?x400xf32>, memref<400x1xf32>, memref<?x1xf32>
    %82 = rt.view %4[%49] size(%1) : !llvm.ptr -> memref<?xf32>
    %83 = rt.view %18[%c0] size(%1) : !llvm.ptr -> memref<?xf32>
    %84 = rt.view %4[%55] size(%1) : !llvm.ptr -> memref<?xf32>
    %85 = rt.view %4[%51] size(%1) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      %105 = memref.load %82[%arg1] : memref<?xf32>
      %106 = memref.load %83[%arg1] : memref<?xf32>
      %107 = arith.mulf %105, %106 : f32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %108 = arith.maximumf %105, %cst_0 : f32
      %109 = math.absf %105 : f32
      %110 = arith.negf %109 : f32
      %111 = math.exp %110 : f32
      %112 = math.log1p %111 : f32
      %113 = arith.subf %108, %107 : f32
      %114 = arith.addf %113, %112 : f32
      %115 = func.call @pdlabi_sigmoidf(%105) : (f32) -> f32
      memref.store %114, %84[%arg1] : memref<?xf32>
      memref.store %115, %85[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %86 = rt.view %4[%51] size(%1) : !llvm.ptr -> memref<?x1xf32>
    %87 = rt.view %18[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16384> %86 labels(%87 : memref<?x1xf32>) into %19 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %86 labels(%87 : memref<?x1xf32>) into %20 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %86 labels(%87 : memref<?x1xf32>) into %21 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.bucket_error<buckets = 2> %87 labels(%87 : memref<?x1xf32>) into %22 : memref<?x1xf32>, !llvm.ptr
    %88 = rt.view %4[%57] size(%1) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      %105 = memref.load %85[%arg1] : memref<?xf32>
      %106 = memref.load %83[%arg1] : memref<?xf32>
      %107 = arith.subf %105, %106 : f32
      memref.store %107, %88[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %89 = rt.view %23[%c0] : !llvm.ptr -> memref<1xf32>
    %cst = arith.constant 0.000000e+00 : f32
    scf.parallel (%arg1) = (%c0) to (%c1) step (%c1) {
      memref.store %cst, %89[%arg1] : memref<1xf32>
      scf.reduce 
    }
    %90 = memref.load %89[%c0] : memref<1xf32>
    %91 = scf.for %arg1 = %c0 to %1 step %c1 iter_args(%arg2 = %90) -> (f32) {
      %105 = memref.load %88[%arg1] : memref<?xf32>
      %106 = arith.addf %arg2, %105 : f32
      scf.yield %106 : f32
    }
    memref.store %91, %89[%c0] : memref<1xf32>
    %92 = rt.view %4[%57] size(%1) : !llvm.ptr -> memref<?x1xf32>
    %93 = rt.view %24[%c0] : !llvm.ptr -> memref<400x1xf32>
    rt.gemm  fast %9, %78 transposed, %92 post [] into %93 : !llvm.ptr, memref<?x400xf32>, memref<?x1xf32>, memref<400x1xf32>
    %94 = rt.view %4[%49] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %9, %92, %79 transposed mask(%78 : memref<?x400xf32>) post [#rt<post relu_gradient>] into %94 : !llvm.ptr, memref<?x1xf32>, memref<400x1xf32>, memref<?x400xf32>
    %95 = rt.view %25[%c0] : !llvm.ptr -> memref<400xf32>
    scf.parallel (%arg1) = (%c0) to (%c400) step (%c1) {
      memref.store %cst, %95[%arg1] : memref<400xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%c400) step (%c1) {
      %105 = memref.load %95[%arg1] : memref<400xf32>
      %106 = scf.for %arg2 = %c0 to %1 step %c1 iter_args(%arg3 = %105) -> (f32) {
        %107 = memref.load %94[%arg2, %arg1] : memref<?x400xf32>
        %108 = arith.addf %arg3, %107 : f32
        scf.yield %108 : f32
      }
      memref.store %106, %95[%arg1] : memref<400xf32>
      scf.reduce 
    }
    %96 = rt.view %26[%c0] : !llvm.ptr -> memref<400x400xf32>
    rt.gemm  fast %9, %75 transposed, %94 post [] into %96 : !llvm.ptr, memref<?x400xf32>, memref<?x400xf32>, memref<400x400xf32>
    rt.gemm  fast %9, %94, %76 transposed mask(%75 : memref<?x400xf32>) post [#rt<post relu_gradient>] into %78 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %97 = rt.view %27[%c0] : !llvm.ptr -> memref<400xf32>
    scf.parallel (%arg1) = (%c0) to (%c400) step (%c1) {
      memref.store %cst, %97[%arg1] : memref<400xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%c400) step (%c1) {
      %105 = memref.load %97[%arg1] : memref<400xf32>
      %106 = scf.for %arg2 = %c0 to %1 step %c1 iter_args(%arg3 = %105) -> (f32) {
        %107 = memref.load %78[%arg2, %arg1] : memref<?x400xf32>
        %108 = arith.addf %arg3, %107 : f32
        scf.yield %108 : f32
      }
      memref.store %106, %97[%arg1] : memref<400xf32>
      scf.reduce 
    }
    %98 = rt.view %28[%c0] : !llvm.ptr -> memref<400x400xf32>
    rt.gemm  fast %9, %72 transposed, %78 post [] into %98 : !llvm.ptr, memref<?x400xf32>, memref<?x400xf32>, memref<400x400xf32>
    rt.gemm  fast %9, %78, %73 transposed mask(%72 : memref<?x400xf32>) post [#rt<post relu_gradient>] into %75 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %99 = rt.view %29[%c0] : !llvm.ptr -> memref<400xf32>
    scf.parallel (%arg1) = (%c0) to (%c400) step (%c1) {
      memref.store %cst, %99[%arg1] : memref<400xf32>
      scf.reduce 
    }
    scf.parallel (%arg1) = (%c0) to (%c400) step (%c1) {
      %105 = memref.load %99[%arg1] : memref<400xf32>
      %106 = scf.for %arg2 = %c0 to %1 step %c1 iter_args(%arg3 = %105) -> (f32) {
        %107 = memref.load %75[%arg2, %arg1] : memref<?x400xf32>
        %108 = arith.addf %arg3, %107 : f32
        scf.yield %108 : f32
      }
      memref.store %106, %99[%arg1] : memref<400xf32>
      scf.reduce 
    }
    %100 = rt.view %30[%c0] : !llvm.ptr -> memref<273x400xf32>
    rt.gemm  fast %9, %68 transposed, %75 post [] into %100 : !llvm.ptr, memref<?x273xf32>, memref<?x400xf32>, memref<273x400xf32>
    %101 = rt.view %4[%36] size(%1) : !llvm.ptr -> memref<?x273xf32>
    rt.gemm  fast %9, %75, %70 transposed post [] into %101 : !llvm.ptr, memref<?x400xf32>, memref<273x400xf32>, memref<?x273xf32>
    %102 = rt.view %4[%36] size(%1) : !llvm.ptr -> memref<?x26x10xf32, strided<[273, 10, 1]>>
    %103 = rt.view %4[%40] size(%2) : !llvm.ptr -> memref<?xi32>
    %104 = rt.view %31[%c0] size(%0) : !llvm.ptr -> memref<?x10xf32>
    rt.pool_gradient [#rt<pooling sum>](%102 : memref<?x26x10xf32, strided<[273, 10, 1]>>) at %3[%c0] splits(%63 : memref<?xi32>) of [0] bags(%103 : memref<?xi32>) into %104 : !llvm.ptr, memref<?x10xf32>
    rt.loss_sum %84 into %32, %33 : memref<?xf32>, !llvm.ptr, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @train reads(@criteo [@label, @numbers, @categories]) lookups [@emb] updates [@emb, @w1, @b1, @w2, @b2, @w3, @b3, @w4, @b4] lookup_of [0, -1, -1, -1, -1, -1, -1, -1, -1] loss prepare(@train_prepare, <0 + 0 * batch, keys(0), occurrences(0)>) compute(@train_compute, <112840 + 7500 * batch, keys(40), occurrences(4)>)
  func.func @evaluate_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.pointer  field_values[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %1 = rt.count  field_values[2] of %arg0 : !llvm.ptr
    %2 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.view %0[%c0] size(%1) : !llvm.ptr -> memref<?xi64>
    %5 = rt.unique %2, (%4) into %3 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %6 = arith.cmpi ne, %5, %c0_i32 : i32
    cf.cond_br %6, ^bb3(%5 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %7 = rt.pull %2, table 0 into %3 : !llvm.ptr, !llvm.ptr
    %8 = arith.cmpi ne, %7, %c0_i32 : i32
    cf.cond_br %8, ^bb3(%7 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%9: i32):  // 2 preds: ^bb0, ^bb1
    return %9 : i32
  }
  func.func @evaluate_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c7 = arith.constant 7 : index
    %c-8 = arith.constant -8 : index
    %c40 = arith.constant 40 : index
    %1 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c3200 = arith.constant 3200 : index
    %c1600 = arith.constant 1600 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c4 = arith.constant 4 : index
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %5 = rt.count  field_values[2] of %arg0 : !llvm.ptr
    %6 = rt.pointer  field_splits[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c26 = arith.constant 26 : index
    %c1 = arith.constant 1 : index
    %7 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c13 = arith.constant 13 : index
    %c260 = arith.constant 260 : index
    %8 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  parameter[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = rt.pointer  parameter[3] of %arg0 : !llvm.ptr -> !llvm.ptr
    %12 = rt.pointer  parameter[4] of %arg0 : !llvm.ptr -> !llvm.ptr
    %13 = rt.pointer  parameter[5] of %arg0 : !llvm.ptr -> !llvm.ptr
    %14 = rt.pointer  parameter[6] of %arg0 : !llvm.ptr -> !llvm.ptr
    %15 = rt.pointer  parameter[7] of %arg0 : !llvm.ptr -> !llvm.ptr
    %16 = rt.pointer  parameter[8] of %arg0 : !llvm.ptr -> !llvm.ptr
    %17 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %18 = rt.pointer  metric[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %19 = rt.pointer  metric[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %20 = rt.pointer  metric[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %21 = arith.addi %0, %c7 : index
    %22 = arith.andi %21, %c-8 : index
    %23 = arith.muli %22, %c40 : index
    %24 = arith.addi %1, %c15 : index
    %25 = arith.andi %24, %c-16 : index
    %26 = arith.muli %25, %c3200 : index
    %27 = arith.muli %25, %c1600 : index
    %28 = arith.addi %23, %27 : index
    %29 = rt.view %3[%c0] size(%0) : !llvm.ptr -> memref<?x10xf32>
    rt.gather %2 into %29 : !llvm.ptr, memref<?x10xf32>
    %30 = arith.muli %c0, %c4 : index
    %31 = rt.view %4[%30] size(%5) : !llvm.ptr -> memref<?xi32>
    %32 = arith.muli %1, %c26 : index
    %33 = arith.addi %32, %c1 : index
    %34 = rt.view %6[%c0] size(%33) : !llvm.ptr -> memref<?xi32>
    %35 = rt.view %3[%28] size(%1) : !llvm.ptr -> memref<?x26x10xf32, strided<[273, 10, 1]>>
    rt.pool  sum %29[%31] splits(%34 : memref<?xi32>) into %35 : memref<?x10xf32>, memref<?xi32>, memref<?x26x10xf32, strided<[273, 10, 1]>>
    %36 = arith.muli %1, %c13 : index
    %37 = rt.view %7[%c0] size(%36) : !llvm.ptr -> memref<?xf32>
    %38 = rt.view %3[%23] size(%36) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%36) step (%c1) {
      %56 = memref.load %37[%arg1] : memref<?xf32>
      %57 = math.absf %56 : f32
      %58 = math.log1p %57 : f32
      %59 = math.copysign %58, %56 : f32
      memref.store %59, %38[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %39 = rt.view %3[%28] size(%1) : !llvm.ptr -> memref<?x273xf32>
    %40 = rt.view %3[%23] size(%1) : !llvm.ptr -> memref<?x13xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c13) step (%c1) {
        %56 = memref.load %40[%arg1, %arg2] : memref<?x13xf32>
        %57 = arith.addi %arg2, %c260 : index
        memref.store %56, %39[%arg1, %57] : memref<?x273xf32>
        scf.reduce 
      }
      scf.reduce 
    }
    %41 = rt.view %9[%c0] : !llvm.ptr -> memref<273x400xf32>
    %42 = rt.view %10[%c0] : !llvm.ptr -> memref<400xf32>
    %43 = rt.view %3[%23] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %8, %39, %41 bias(%42 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %43 : !llvm.ptr, memref<?x273xf32>, memref<273x400xf32>, memref<?x400xf32>
    %44 = rt.view %11[%c0] : !llvm.ptr -> memref<400x400xf32>
    %45 = rt.view %12[%c0] : !llvm.ptr -> memref<400xf32>
    %46 = rt.view %3[%28] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %8, %43, %44 bias(%45 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %46 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %47 = rt.view %13[%c0] : !llvm.ptr -> memref<400x400xf32>
    %48 = rt.view %14[%c0] : !llvm.ptr -> memref<400xf32>
    rt.gemm  fast %8, %46, %47 bias(%48 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %43 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %49 = rt.view %15[%c0] : !llvm.ptr -> memref<400x1xf32>
    %50 = rt.view %16[%c0] : !llvm.ptr -> memref<1xf32>
    %51 = rt.view %3[%28] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gemm  fast %8, %43, %49 bias(%50 : memref<1xf32>) post [#rt<post bias>] into %51 : !llvm.ptr, memref<?x400xf32>, memref<400x1xf32>, memref<?x1xf32>
    %52 = rt.view %3[%28] size(%1) : !llvm.ptr -> memref<?xf32>
    %53 = rt.view %3[%23] size(%1) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      %56 = memref.load %52[%arg1] : memref<?xf32>
      %57 = func.call @pdlabi_sigmoidf(%56) : (f32) -> f32
      memref.store %57, %53[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %54 = rt.view %3[%23] size(%1) : !llvm.ptr -> memref<?x1xf32>
    %55 = rt.view %17[%c0] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16384> %54 labels(%55 : memref<?x1xf32>) into %18 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %54 labels(%55 : memref<?x1xf32>) into %19 : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.copc %54 labels(%55 : memref<?x1xf32>) into %20 : memref<?x1xf32>, !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @evaluate frozen reads(@criteo [@label, @numbers, @categories]) lookups [@emb] prepare(@evaluate_prepare, <0 + 0 * batch, keys(0), occurrences(0)>) compute(@evaluate_compute, <48280 + 3200 * batch, keys(40), occurrences(0)>)
  func.func @predict_prepare(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.pointer  field_values[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %1 = rt.count  field_values[1] of %arg0 : !llvm.ptr
    %2 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %4 = rt.view %0[%c0] size(%1) : !llvm.ptr -> memref<?xi64>
    %5 = rt.unique %2, (%4) into %3 : !llvm.ptr, (memref<?xi64>), !llvm.ptr
    %c0_i32 = arith.constant 0 : i32
    %6 = arith.cmpi ne, %5, %c0_i32 : i32
    cf.cond_br %6, ^bb3(%5 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    %7 = rt.pull %2, table 0 into %3 : !llvm.ptr, !llvm.ptr
    %8 = arith.cmpi ne, %7, %c0_i32 : i32
    cf.cond_br %8, ^bb3(%7 : i32), ^bb2
  ^bb2:  // pred: ^bb1
    return %c0_i32 : i32
  ^bb3(%9: i32):  // 2 preds: ^bb0, ^bb1
    return %9 : i32
  }
  func.func @predict_compute(%arg0: !llvm.ptr) -> i32 {
    %c0 = arith.constant 0 : index
    %0 = rt.count  lookup_keys[0] of %arg0 : !llvm.ptr
    %c7 = arith.constant 7 : index
    %c-8 = arith.constant -8 : index
    %c40 = arith.constant 40 : index
    %1 = rt.count  batch[0] of %arg0 : !llvm.ptr
    %c15 = arith.constant 15 : index
    %c-16 = arith.constant -16 : index
    %c3200 = arith.constant 3200 : index
    %c1600 = arith.constant 1600 : index
    %2 = rt.pointer  lookup[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %3 = rt.pointer  compute_arena[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c4 = arith.constant 4 : index
    %4 = rt.pointer  lookup_inverse[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %5 = rt.count  field_values[1] of %arg0 : !llvm.ptr
    %6 = rt.pointer  field_splits[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c26 = arith.constant 26 : index
    %c1 = arith.constant 1 : index
    %7 = rt.pointer  field_values[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %c13 = arith.constant 13 : index
    %c260 = arith.constant 260 : index
    %8 = rt.pointer  worker[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = rt.pointer  parameter[1] of %arg0 : !llvm.ptr -> !llvm.ptr
    %10 = rt.pointer  parameter[2] of %arg0 : !llvm.ptr -> !llvm.ptr
    %11 = rt.pointer  parameter[3] of %arg0 : !llvm.ptr -> !llvm.ptr
    %12 = rt.pointer  parameter[4] of %arg0 : !llvm.ptr -> !llvm.ptr
    %13 = rt.pointer  parameter[5] of %arg0 : !llvm.ptr -> !llvm.ptr
    %14 = rt.pointer  parameter[6] of %arg0 : !llvm.ptr -> !llvm.ptr
    %15 = rt.pointer  parameter[7] of %arg0 : !llvm.ptr -> !llvm.ptr
    %16 = rt.pointer  parameter[8] of %arg0 : !llvm.ptr -> !llvm.ptr
    %17 = rt.pointer  output[0] of %arg0 : !llvm.ptr -> !llvm.ptr
    %18 = arith.addi %0, %c7 : index
    %19 = arith.andi %18, %c-8 : index
    %20 = arith.muli %19, %c40 : index
    %21 = arith.addi %1, %c15 : index
    %22 = arith.andi %21, %c-16 : index
    %23 = arith.muli %22, %c3200 : index
    %24 = arith.muli %22, %c1600 : index
    %25 = arith.addi %20, %24 : index
    %26 = rt.view %3[%c0] size(%0) : !llvm.ptr -> memref<?x10xf32>
    rt.gather %2 into %26 : !llvm.ptr, memref<?x10xf32>
    %27 = arith.muli %c0, %c4 : index
    %28 = rt.view %4[%27] size(%5) : !llvm.ptr -> memref<?xi32>
    %29 = arith.muli %1, %c26 : index
    %30 = arith.addi %29, %c1 : index
    %31 = rt.view %6[%c0] size(%30) : !llvm.ptr -> memref<?xi32>
    %32 = rt.view %3[%25] size(%1) : !llvm.ptr -> memref<?x26x10xf32, strided<[273, 10, 1]>>
    rt.pool  sum %26[%28] splits(%31 : memref<?xi32>) into %32 : memref<?x10xf32>, memref<?xi32>, memref<?x26x10xf32, strided<[273, 10, 1]>>
    %33 = arith.muli %1, %c13 : index
    %34 = rt.view %7[%c0] size(%33) : !llvm.ptr -> memref<?xf32>
    %35 = rt.view %3[%20] size(%33) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%33) step (%c1) {
      %51 = memref.load %34[%arg1] : memref<?xf32>
      %52 = math.absf %51 : f32
      %53 = math.log1p %52 : f32
      %54 = math.copysign %53, %51 : f32
      memref.store %54, %35[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %36 = rt.view %3[%25] size(%1) : !llvm.ptr -> memref<?x273xf32>
    %37 = rt.view %3[%20] size(%1) : !llvm.ptr -> memref<?x13xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      scf.parallel (%arg2) = (%c0) to (%c13) step (%c1) {
        %51 = memref.load %37[%arg1, %arg2] : memref<?x13xf32>
        %52 = arith.addi %arg2, %c260 : index
        memref.store %51, %36[%arg1, %52] : memref<?x273xf32>
        scf.reduce 
      }
      scf.reduce 
    }
    %38 = rt.view %9[%c0] : !llvm.ptr -> memref<273x400xf32>
    %39 = rt.view %10[%c0] : !llvm.ptr -> memref<400xf32>
    %40 = rt.view %3[%20] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %8, %36, %38 bias(%39 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %40 : !llvm.ptr, memref<?x273xf32>, memref<273x400xf32>, memref<?x400xf32>
    %41 = rt.view %11[%c0] : !llvm.ptr -> memref<400x400xf32>
    %42 = rt.view %12[%c0] : !llvm.ptr -> memref<400xf32>
    %43 = rt.view %3[%25] size(%1) : !llvm.ptr -> memref<?x400xf32>
    rt.gemm  fast %8, %40, %41 bias(%42 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %43 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %44 = rt.view %13[%c0] : !llvm.ptr -> memref<400x400xf32>
    %45 = rt.view %14[%c0] : !llvm.ptr -> memref<400xf32>
    rt.gemm  fast %8, %43, %44 bias(%45 : memref<400xf32>) post [#rt<post bias>, #rt<post relu>] into %40 : !llvm.ptr, memref<?x400xf32>, memref<400x400xf32>, memref<?x400xf32>
    %46 = rt.view %15[%c0] : !llvm.ptr -> memref<400x1xf32>
    %47 = rt.view %16[%c0] : !llvm.ptr -> memref<1xf32>
    %48 = rt.view %3[%25] size(%1) : !llvm.ptr -> memref<?x1xf32>
    rt.gemm  fast %8, %40, %46 bias(%47 : memref<1xf32>) post [#rt<post bias>] into %48 : !llvm.ptr, memref<?x400xf32>, memref<400x1xf32>, memref<?x1xf32>
    %49 = rt.view %3[%25] size(%1) : !llvm.ptr -> memref<?xf32>
    %50 = rt.view %17[%c0] size(%1) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%arg1) = (%c0) to (%1) step (%c1) {
      %51 = memref.load %49[%arg1] : memref<?xf32>
      %52 = func.call @pdlabi_sigmoidf(%51) : (f32) -> f32
      memref.store %52, %50[%arg1] : memref<?xf32>
      scf.reduce 
    }
    %c0_i32 = arith.constant 0 : i32
    return %c0_i32 : i32
  }
  rt.program @predict frozen reads(@criteo [@numbers, @categories]) lookups [@emb] outputs ["output0"] widths [1] types [f32] prepare(@predict_prepare, <0 + 0 * batch, keys(0), occurrences(0)>) compute(@predict_compute, <48280 + 3200 * batch, keys(40), occurrences(0)>)
  nn.fingerprint state {
    "keys of @emb" = "text by xxh64 salt slot",
    "rows of @emb" = "f32 [10]",
    "shape of @b1" = "f32 [400]",
    "shape of @b2" = "f32 [400]",
    "shape of @b3" = "f32 [400]",
    "shape of @b4" = "f32 [1]",
    "shape of @w1" = "f32 [273, 400]",
    "shape of @w2" = "f32 [400, 400]",
    "shape of @w3" = "f32 [400, 400]",
    "shape of @w4" = "f32 [400, 1]"
  } optimizer {
    "groups with steps" = "@dense, @sparse",
    "slots of @b1" = "m, v",
    "slots of @b2" = "m, v",
    "slots of @b3" = "m, v",
    "slots of @b4" = "m, v",
    "slots of @emb" = "m, v",
    "slots of @w1" = "m, v",
    "slots of @w2" = "m, v",
    "slots of @w3" = "m, v",
    "slots of @w4" = "m, v"
  } training {
    "clip of group @dense" = "global norm 10 of @w1, @b1, @w2, @b2, @w3, @b3, @w4, @b4",
    "field 1" = "tensor<?x1xf32> from column 0",
    "field 2" = "tensor<?x13xf32> missing(0.000000e+00 : f64) from column 1",
    "field 3" = "!nn.ragged<?x26x*xi64> hash(<xxh64, salt = slot>) from column 14",
    "group of @b1" = "@dense",
    "group of @b2" = "@dense",
    "group of @b3" = "@dense",
    "group of @b4" = "@dense",
    "group of @emb" = "@sparse",
    "group of @w1" = "@dense",
    "group of @w2" = "@dense",
    "group of @w3" = "@dense",
    "group of @w4" = "@dense",
    "initial rows of @emb" = "#nn.uniform<-1.000000e-02, 1.000000e-02>",
    "losses of @train" = "b17cb417b094b15b",
    "rate of group @dense" = "0.001",
    "rate of group @sparse" = "0.001",
    "regularizer of group @dense" = "#nn.l2<9.9999999999999995E-7>",
    "rule of group @dense" = "{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, 73cd4d1424e06faa463a75f5397c8995",
    "rule of group @sparse" = "{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08} slots {m = 0, v = 0}, 73cd4d1424e06faa463a75f5397c8995",
    "untouched rows of group @sparse" = "lazy"
  }
  rt.once_kernel @dense calls @once_dense scalars ["sum of weights", "factor of clip @joint", "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon"] divisors [0] : f32
  func.func private @once_dense(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
    %0 = llvm.getelementptr inbounds %arg0[0] : (!llvm.ptr) -> !llvm.ptr, f64
    %1 = llvm.load %0 : !llvm.ptr -> f64
    %2 = llvm.getelementptr inbounds %arg0[1] : (!llvm.ptr) -> !llvm.ptr, f64
    %3 = llvm.load %2 : !llvm.ptr -> f64
    %4 = llvm.getelementptr inbounds %arg0[2] : (!llvm.ptr) -> !llvm.ptr, f64
    %5 = llvm.load %4 : !llvm.ptr -> f64
    %cst = arith.constant 1.000000e-03 : f64
    %cst_0 = arith.constant 1.000000e+01 : f64
    %6 = math.sqrt %5 : f64
    %7 = arith.maximumf %6, %cst_0 : f64
    %8 = arith.divf %cst_0, %7 : f64
    %cst_1 = arith.constant 9.000000e-01 : f64
    %cst_2 = arith.constant 0.99899999999999999 : f64
    %cst_3 = arith.constant 1.000000e-08 : f64
    %cst_4 = arith.constant 1.000000e+00 : f64
    %9 = arith.subf %cst_4, %cst_1 : f64
    %10 = arith.subf %cst_4, %cst_2 : f64
    %11 = math.powf %cst_1, %1 : f64
    %12 = math.powf %cst_2, %1 : f64
    %13 = arith.subf %cst_4, %11 : f64
    %14 = arith.subf %cst_4, %12 : f64
    %15 = arith.divf %cst, %13 : f64
    %16 = math.sqrt %14 : f64
    %17 = arith.divf %cst_4, %16 : f64
    %18 = arith.truncf %3 : f64 to f32
    %19 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %18, %19 : f32, !llvm.ptr
    %20 = arith.truncf %8 : f64 to f32
    %21 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %20, %21 : f32, !llvm.ptr
    %22 = arith.truncf %15 : f64 to f32
    %23 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %22, %23 : f32, !llvm.ptr
    %24 = arith.truncf %17 : f64 to f32
    %25 = llvm.getelementptr inbounds %arg1[3] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %24, %25 : f32, !llvm.ptr
    %26 = arith.truncf %cst_1 : f64 to f32
    %27 = llvm.getelementptr inbounds %arg1[4] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %26, %27 : f32, !llvm.ptr
    %28 = arith.truncf %9 : f64 to f32
    %29 = llvm.getelementptr inbounds %arg1[5] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %28, %29 : f32, !llvm.ptr
    %30 = arith.truncf %cst_2 : f64 to f32
    %31 = llvm.getelementptr inbounds %arg1[6] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %30, %31 : f32, !llvm.ptr
    %32 = arith.truncf %10 : f64 to f32
    %33 = llvm.getelementptr inbounds %arg1[7] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %32, %33 : f32, !llvm.ptr
    %34 = arith.truncf %cst_3 : f64 to f32
    %35 = llvm.getelementptr inbounds %arg1[8] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %34, %35 : f32, !llvm.ptr
    return
  }
  rt.once_kernel @sparse calls @once_sparse scalars ["sum of weights", "value 1 of region 'once' of rule @adam", "value 2 of region 'once' of rule @adam", "hyper-parameter beta1", "value 4 of region 'once' of rule @adam", "hyper-parameter beta2", "value 6 of region 'once' of rule @adam", "hyper-parameter epsilon"] divisors [0] : f32
  func.func private @once_sparse(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
    %0 = llvm.getelementptr inbounds %arg0[0] : (!llvm.ptr) -> !llvm.ptr, f64
    %1 = llvm.load %0 : !llvm.ptr -> f64
    %2 = llvm.getelementptr inbounds %arg0[1] : (!llvm.ptr) -> !llvm.ptr, f64
    %3 = llvm.load %2 : !llvm.ptr -> f64
    %4 = llvm.getelementptr inbounds %arg0[2] : (!llvm.ptr) -> !llvm.ptr, f64
    %cst = arith.constant 1.000000e-03 : f64
    %cst_0 = arith.constant 9.000000e-01 : f64
    %cst_1 = arith.constant 0.99899999999999999 : f64
    %cst_2 = arith.constant 1.000000e-08 : f64
    %cst_3 = arith.constant 1.000000e+00 : f64
    %5 = arith.subf %cst_3, %cst_0 : f64
    %6 = arith.subf %cst_3, %cst_1 : f64
    %7 = math.powf %cst_0, %1 : f64
    %8 = math.powf %cst_1, %1 : f64
    %9 = arith.subf %cst_3, %7 : f64
    %10 = arith.subf %cst_3, %8 : f64
    %11 = arith.divf %cst, %9 : f64
    %12 = math.sqrt %10 : f64
    %13 = arith.divf %cst_3, %12 : f64
    %14 = arith.truncf %3 : f64 to f32
    %15 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %14, %15 : f32, !llvm.ptr
    %16 = arith.truncf %11 : f64 to f32
    %17 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %16, %17 : f32, !llvm.ptr
    %18 = arith.truncf %13 : f64 to f32
    %19 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %18, %19 : f32, !llvm.ptr
    %20 = arith.truncf %cst_0 : f64 to f32
    %21 = llvm.getelementptr inbounds %arg1[3] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %20, %21 : f32, !llvm.ptr
    %22 = arith.truncf %5 : f64 to f32
    %23 = llvm.getelementptr inbounds %arg1[4] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %22, %23 : f32, !llvm.ptr
    %24 = arith.truncf %cst_1 : f64 to f32
    %25 = llvm.getelementptr inbounds %arg1[5] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %24, %25 : f32, !llvm.ptr
    %26 = arith.truncf %6 : f64 to f32
    %27 = llvm.getelementptr inbounds %arg1[6] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %26, %27 : f32, !llvm.ptr
    %28 = arith.truncf %cst_2 : f64 to f32
    %29 = llvm.getelementptr inbounds %arg1[7] : (!llvm.ptr) -> !llvm.ptr, f32
    llvm.store %28, %29 : f32, !llvm.ptr
    return
  }
  rt.update_kernel @emb calls @update_emb slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_emb(%arg0: i64, %arg1: i64, %arg2: !llvm.ptr, %arg3: !llvm.ptr, %arg4: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg4[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %1 = llvm.load %0 : !llvm.ptr -> f32
    %2 = llvm.getelementptr inbounds %arg4[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %3 = llvm.load %2 : !llvm.ptr -> f32
    %4 = llvm.getelementptr inbounds %arg4[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %5 = llvm.load %4 : !llvm.ptr -> f32
    %6 = llvm.getelementptr inbounds %arg4[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg4[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg4[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg4[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg4[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %c1_i64 = arith.constant 1 : i64
    %16 = arith.subi %arg0, %c1_i64 : i64
    %c16_i64 = arith.constant 16 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %17 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %18 = scf.parallel (%arg5) = (%c0) to (%17) step (%c1) init (%c0_i32) -> i32 {
      %21 = arith.index_cast %arg5 : index to i64
      %22 = arith.addi %21, %c16_i64 : i64
      %23 = arith.minsi %22, %16 : i64
      %24 = llvm.getelementptr inbounds %arg2[%23] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
      %25 = llvm.load %24 : !llvm.ptr -> !llvm.ptr
      %26 = llvm.getelementptr inbounds %25[0] : (!llvm.ptr) -> !llvm.ptr, i8
      "llvm.intr.prefetch"(%26) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}> : (!llvm.ptr) -> ()
      %27 = llvm.getelementptr inbounds %25[64] : (!llvm.ptr) -> !llvm.ptr, i8
      "llvm.intr.prefetch"(%27) <{cache = 1 : i32, hint = 3 : i32, rw = 1 : i32}> : (!llvm.ptr) -> ()
      %28 = llvm.getelementptr inbounds %arg2[%21] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
      %29 = llvm.load %28 : !llvm.ptr -> !llvm.ptr
      %30 = llvm.getelementptr inbounds %arg3[%21] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
      %31 = llvm.load %30 : !llvm.ptr -> !llvm.ptr
      %32 = llvm.getelementptr inbounds %29[10] : (!llvm.ptr) -> !llvm.ptr, f32
      %33 = llvm.getelementptr inbounds %29[20] : (!llvm.ptr) -> !llvm.ptr, f32
      %c10 = arith.constant 10 : index
      %34 = scf.parallel (%arg6) = (%c0) to (%c10) step (%c1) init (%c0_i32) -> i32 {
        %35 = arith.index_cast %arg6 : index to i64
        %36 = llvm.getelementptr inbounds %29[%35] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %37 = llvm.load %36 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
        %38 = llvm.getelementptr inbounds %32[%35] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %39 = llvm.load %38 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
        %40 = llvm.getelementptr inbounds %33[%35] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %41 = llvm.load %40 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
        %42 = llvm.getelementptr inbounds %31[%35] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        %43 = llvm.load %42 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
        %44 = arith.divf %43, %1 : f32
        %45 = arith.mulf %7, %39 : f32
        %46 = arith.mulf %9, %44 : f32
        %47 = arith.addf %45, %46 : f32
        %48 = arith.mulf %44, %44 : f32
        %49 = arith.mulf %11, %41 : f32
        %50 = arith.mulf %13, %48 : f32
        %51 = arith.addf %49, %50 : f32
        %52 = math.sqrt %51 : f32
        %53 = arith.mulf %52, %5 : f32
        %54 = arith.addf %53, %15 : f32
        %55 = arith.divf %47, %54 : f32
        %56 = arith.mulf %3, %55 : f32
        %57 = arith.subf %37, %56 : f32
        llvm.store %57, %36 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
        %58 = arith.bitcast %57 : f32 to i32
        %c2147483647_i32 = arith.constant 2147483647 : i32
        %59 = arith.andi %58, %c2147483647_i32 : i32
        %60 = arith.maxsi %c0_i32, %59 : i32
        llvm.store %47, %38 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
        llvm.store %51, %40 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
        %61 = arith.bitcast %51 : f32 to i32
        %62 = arith.andi %61, %c2147483647_i32 : i32
        %63 = arith.maxsi %60, %62 : i32
        scf.reduce(%63 : i32) {
        ^bb0(%arg7: i32, %arg8: i32):
          %64 = arith.maxsi %arg7, %arg8 : i32
          scf.reduce.return %64 : i32
        }
      }
      scf.reduce(%34 : i32) {
      ^bb0(%arg6: i32, %arg7: i32):
        %35 = arith.maxsi %arg6, %arg7 : i32
        scf.reduce.return %35 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %19 = arith.cmpi sge, %18, %c2139095040_i32 : i32
    %20 = arith.extui %19 : i1 to i32
    return %20 : i32
  }
  rt.update_kernel @w1 calls @update_w1 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_w1(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @b1 calls @update_b1 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_b1(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @w2 calls @update_w2 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_w2(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @b2 calls @update_b2 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_b2(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @w3 calls @update_w3 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_w3(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @b3 calls @update_b3 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_b3(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @w4 calls @update_w4 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_w4(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
  rt.update_kernel @b4 calls @update_b4 slots ["m", "v"] from [0.000000e+00, 0.000000e+00]
  func.func private @update_b4(%arg0: i64, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 {
    %0 = llvm.getelementptr inbounds %arg1[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr inbounds %arg1[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %4 = llvm.getelementptr inbounds %arg1[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %5 = llvm.load %4 : !llvm.ptr -> !llvm.ptr
    %6 = llvm.getelementptr inbounds %arg3[0] : (!llvm.ptr) -> !llvm.ptr, f32
    %7 = llvm.load %6 : !llvm.ptr -> f32
    %8 = llvm.getelementptr inbounds %arg3[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %9 = llvm.load %8 : !llvm.ptr -> f32
    %10 = llvm.getelementptr inbounds %arg3[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %11 = llvm.load %10 : !llvm.ptr -> f32
    %12 = llvm.getelementptr inbounds %arg3[3] : (!llvm.ptr) -> !llvm.ptr, f32
    %13 = llvm.load %12 : !llvm.ptr -> f32
    %14 = llvm.getelementptr inbounds %arg3[4] : (!llvm.ptr) -> !llvm.ptr, f32
    %15 = llvm.load %14 : !llvm.ptr -> f32
    %16 = llvm.getelementptr inbounds %arg3[5] : (!llvm.ptr) -> !llvm.ptr, f32
    %17 = llvm.load %16 : !llvm.ptr -> f32
    %18 = llvm.getelementptr inbounds %arg3[6] : (!llvm.ptr) -> !llvm.ptr, f32
    %19 = llvm.load %18 : !llvm.ptr -> f32
    %20 = llvm.getelementptr inbounds %arg3[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %21 = llvm.load %20 : !llvm.ptr -> f32
    %22 = llvm.getelementptr inbounds %arg3[8] : (!llvm.ptr) -> !llvm.ptr, f32
    %23 = llvm.load %22 : !llvm.ptr -> f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %24 = arith.index_cast %arg0 : i64 to index
    %c0_i32 = arith.constant 0 : i32
    %25 = scf.parallel (%arg4) = (%c0) to (%24) step (%c1) init (%c0_i32) -> i32 {
      %28 = arith.index_cast %arg4 : index to i64
      %29 = llvm.getelementptr inbounds %1[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %30 = llvm.load %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %31 = llvm.getelementptr inbounds %3[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %32 = llvm.load %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : !llvm.ptr -> f32
      %33 = llvm.getelementptr inbounds %5[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %34 = llvm.load %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : !llvm.ptr -> f32
      %35 = llvm.getelementptr inbounds %arg2[%28] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %36 = llvm.load %35 {alias_scopes = [#alias_scope1], noalias_scopes = [#alias_scope, #alias_scope2, #alias_scope3]} : !llvm.ptr -> f32
      %37 = arith.divf %36, %7 : f32
      %38 = arith.mulf %37, %9 : f32
      %cst = arith.constant 9.99999997E-7 : f32
      %39 = arith.mulf %cst, %30 : f32
      %40 = arith.addf %38, %39 : f32
      %41 = arith.mulf %15, %32 : f32
      %42 = arith.mulf %17, %40 : f32
      %43 = arith.addf %41, %42 : f32
      %44 = arith.mulf %40, %40 : f32
      %45 = arith.mulf %19, %34 : f32
      %46 = arith.mulf %21, %44 : f32
      %47 = arith.addf %45, %46 : f32
      %48 = math.sqrt %47 : f32
      %49 = arith.mulf %48, %13 : f32
      %50 = arith.addf %49, %23 : f32
      %51 = arith.divf %43, %50 : f32
      %52 = arith.mulf %11, %51 : f32
      %53 = arith.subf %30, %52 : f32
      llvm.store %53, %29 {alias_scopes = [#alias_scope], noalias_scopes = [#alias_scope1, #alias_scope2, #alias_scope3]} : f32, !llvm.ptr
      %54 = arith.bitcast %53 : f32 to i32
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %55 = arith.andi %54, %c2147483647_i32 : i32
      %56 = arith.maxsi %c0_i32, %55 : i32
      llvm.store %43, %31 {alias_scopes = [#alias_scope2], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope3]} : f32, !llvm.ptr
      llvm.store %47, %33 {alias_scopes = [#alias_scope3], noalias_scopes = [#alias_scope1, #alias_scope, #alias_scope2]} : f32, !llvm.ptr
      %57 = arith.bitcast %47 : f32 to i32
      %58 = arith.andi %57, %c2147483647_i32 : i32
      %59 = arith.maxsi %56, %58 : i32
      scf.reduce(%59 : i32) {
      ^bb0(%arg5: i32, %arg6: i32):
        %60 = arith.maxsi %arg5, %arg6 : i32
        scf.reduce.return %60 : i32
      }
    }
    %c2139095040_i32 = arith.constant 2139095040 : i32
    %26 = arith.cmpi sge, %25, %c2139095040_i32 : i32
    %27 = arith.extui %26 : i1 to i32
    return %27 : i32
  }
}

