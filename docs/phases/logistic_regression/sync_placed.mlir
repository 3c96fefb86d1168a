module @logistic_regression attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    nn.field @categories : tensor<?x8xi64> hash(<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.000000e+00 : f64, ">50K" = 1.000000e+00 : f64}) columns([14])
  }
  nn.rule @adagrad hyper (epsilon = 1.000000e-10 from 0.000000e+00) slots (accumulator = 0.000000e+00) once {
  ^bb0(%arg0: f64, %arg1: f64, %arg2: f64):
    nn.yield %arg1, %arg2 : f64, f64
  } each {
  ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32):
    %0 = arith.mulf %arg1, %arg1 : f32
    %1 = arith.addf %arg2, %0 : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.addf %2, %arg4 : f32
    %4 = arith.divf %arg1, %3 : f32
    %5 = arith.mulf %arg3, %4 : f32
    %6 = arith.subf %arg0, %5 : f32
    nn.yield %6, %1 : f32, f32
  }
  nn.group @linear rule(@adagrad) rate(1.000000e-01)
  nn.table @weights : i64 -> tensor<1xf32> in @linear init(#nn.zeros)
  ps.shards @weights count 1024 cost 152
  nn.param @bias : tensor<1xf32> in @linear init(#nn.zeros)
  ps.blocks @bias rows [0, 1] costs [8]
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @labels.range : #nn.bucket_error<buckets = 2>
  nn.program @train reads(@person) {
  ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>, %arg2: tensor<?x1xf32>):
    %0 = nn.read @bias : tensor<1xf32>
    %1 = nn.slice %arg0 axis 1 offset 0 size 1 : tensor<?x5xf32>
    %2 = nn.slice %arg0 axis 1 offset 1 size 1 : tensor<?x5xf32>
    %3 = nn.slice %arg0 axis 1 offset 2 size 1 : tensor<?x5xf32>
    %4 = nn.slice %arg0 axis 1 offset 3 size 1 : tensor<?x5xf32>
    %5 = nn.slice %arg0 axis 1 offset 4 size 1 : tensor<?x5xf32>
    %6 = nn.bucketize %1 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] : tensor<?x1xf32>
    %7 = nn.cross %6 salt(100) : tensor<?x1xi64>
    %8 = nn.bucketize %2 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] : tensor<?x1xf32>
    %9 = nn.cross %8 salt(101) : tensor<?x1xi64>
    %10 = nn.bucketize %3 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] : tensor<?x1xf32>
    %11 = nn.cross %10 salt(102) : tensor<?x1xi64>
    %12 = nn.bucketize %4 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] : tensor<?x1xf32>
    %13 = nn.cross %12 salt(103) : tensor<?x1xi64>
    %14 = nn.bucketize %5 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] : tensor<?x1xf32>
    %15 = nn.cross %14 salt(104) : tensor<?x1xi64>
    %16 = nn.slice %arg1 axis 1 offset 0 size 1 : tensor<?x8xi64>
    %17 = nn.slice %arg1 axis 1 offset 1 size 1 : tensor<?x8xi64>
    %18 = nn.slice %arg1 axis 1 offset 2 size 1 : tensor<?x8xi64>
    %19 = nn.slice %arg1 axis 1 offset 3 size 1 : tensor<?x8xi64>
    %20 = nn.slice %arg1 axis 1 offset 4 size 1 : tensor<?x8xi64>
    %21 = nn.cross %17, %19 salt(110) : tensor<?x1xi64>, tensor<?x1xi64>
    %22 = nn.cross %7, %17, %19 salt(111) : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %23 = nn.cross %20, %7 salt(112) : tensor<?x1xi64>, tensor<?x1xi64>
    %24 = nn.cross %18, %17 salt(113) : tensor<?x1xi64>, tensor<?x1xi64>
    %25 = nn.cross %19, %15 salt(114) : tensor<?x1xi64>, tensor<?x1xi64>
    %26 = nn.cross %16, %19 salt(115) : tensor<?x1xi64>, tensor<?x1xi64>
    %27 = nn.concat %arg1, %7, %9, %11, %13, %15, %21, %22, %23, %24, %25, %26 axis 1 : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %28 = nn.reshape %27 : (tensor<?x19xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %28
    %29 = nn.pull @weights[%keys] : tensor<?x1xf32>
    %30 = nn.pool %29[%inverse, %key_splits, %occurrences] of (%28 sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %31 = nn.reshape %30 : (tensor<?x1xf32>) -> tensor<?x19x1xf32>
    %32 = nn.reduce  sum %31 axes [1] : tensor<?x19x1xf32>
    %33 = nn.add %32, %0 : tensor<?x1xf32>, tensor<1xf32>
    %34 = nn.sigmoid_cross_entropy %33, %arg2 : tensor<?x1xf32>
    %35 = nn.sigmoid %33 : tensor<?x1xf32>
    nn.observe @auc(%35, %arg2) : tensor<?x1xf32>
    nn.observe @log_loss(%35, %arg2) : tensor<?x1xf32>
    nn.observe @copc(%35, %arg2) : tensor<?x1xf32>
    nn.observe @labels.range(%arg2, %arg2) : tensor<?x1xf32>
    %36 = nn.sub %35, %arg2 : tensor<?x1xf32>, tensor<?x1xf32>
    %37 = nn.reduce  sum %36 axes [0] : tensor<?x1xf32>
    %38 = nn.reshape %36 : (tensor<?x1xf32>) -> tensor<?x1x1xf32>
    %39 = nn.broadcast %38 like %31 : (tensor<?x1x1xf32>, tensor<?x19x1xf32>) -> tensor<?x19x1xf32>
    %40 = nn.reshape %39 : (tensor<?x19x1xf32>) -> tensor<?x1xf32>
    %41 = nn.pool_gradient[%inverse, %key_splits, %occurrences] of (%28 sum from %40) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %sum, %weight = nn.loss_sum %34 : tensor<?x1xf32>
    %42:3 = nn.once @linear weight(%weight) -> (weight, "rate", "hyper-parameter epsilon") {
    ^bb0(%arg3: f64, %arg4: f64, %arg5: f64):
      %cst = arith.constant 1.000000e-01 : f64
      %cst_0 = arith.constant 1.000000e-10 : f64
      nn.yield %arg4, %cst, %cst_0 : f64, f64, f64
    } : tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @weights keys(%keys) gradient(%41) scalars(%42#0, %42#1, %42#2) {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
      %43 = arith.divf %arg4, %arg6 : f32
      %44 = arith.mulf %43, %43 : f32
      %45 = arith.addf %arg5, %44 : f32
      %46 = math.sqrt %45 : f32
      %47 = arith.addf %46, %arg8 : f32
      %48 = arith.divf %43, %47 : f32
      %49 = arith.mulf %arg7, %48 : f32
      %50 = arith.subf %arg3, %49 : f32
      nn.yield %50, %45 : f32, f32
    } : tensor<?x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    nn.update @bias gradient(%37) scalars(%42#0, %42#1, %42#2) {
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
      %43 = arith.divf %arg4, %arg6 : f32
      %44 = arith.mulf %43, %43 : f32
      %45 = arith.addf %arg5, %44 : f32
      %46 = math.sqrt %45 : f32
      %47 = arith.addf %46, %arg8 : f32
      %48 = arith.divf %43, %47 : f32
      %49 = arith.mulf %arg7, %48 : f32
      %50 = arith.subf %arg3, %49 : f32
      nn.yield %50, %45 : f32, f32
    } : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
  }
  nn.program @evaluate frozen reads(@person) {
  ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>, %arg2: tensor<?x1xf32>):
    %0 = nn.read @bias : tensor<1xf32>
    %1 = nn.slice %arg0 axis 1 offset 0 size 1 : tensor<?x5xf32>
    %2 = nn.slice %arg0 axis 1 offset 1 size 1 : tensor<?x5xf32>
    %3 = nn.slice %arg0 axis 1 offset 2 size 1 : tensor<?x5xf32>
    %4 = nn.slice %arg0 axis 1 offset 3 size 1 : tensor<?x5xf32>
    %5 = nn.slice %arg0 axis 1 offset 4 size 1 : tensor<?x5xf32>
    %6 = nn.bucketize %1 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] : tensor<?x1xf32>
    %7 = nn.cross %6 salt(100) : tensor<?x1xi64>
    %8 = nn.bucketize %2 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] : tensor<?x1xf32>
    %9 = nn.cross %8 salt(101) : tensor<?x1xi64>
    %10 = nn.bucketize %3 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] : tensor<?x1xf32>
    %11 = nn.cross %10 salt(102) : tensor<?x1xi64>
    %12 = nn.bucketize %4 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] : tensor<?x1xf32>
    %13 = nn.cross %12 salt(103) : tensor<?x1xi64>
    %14 = nn.bucketize %5 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] : tensor<?x1xf32>
    %15 = nn.cross %14 salt(104) : tensor<?x1xi64>
    %16 = nn.slice %arg1 axis 1 offset 0 size 1 : tensor<?x8xi64>
    %17 = nn.slice %arg1 axis 1 offset 1 size 1 : tensor<?x8xi64>
    %18 = nn.slice %arg1 axis 1 offset 2 size 1 : tensor<?x8xi64>
    %19 = nn.slice %arg1 axis 1 offset 3 size 1 : tensor<?x8xi64>
    %20 = nn.slice %arg1 axis 1 offset 4 size 1 : tensor<?x8xi64>
    %21 = nn.cross %17, %19 salt(110) : tensor<?x1xi64>, tensor<?x1xi64>
    %22 = nn.cross %7, %17, %19 salt(111) : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %23 = nn.cross %20, %7 salt(112) : tensor<?x1xi64>, tensor<?x1xi64>
    %24 = nn.cross %18, %17 salt(113) : tensor<?x1xi64>, tensor<?x1xi64>
    %25 = nn.cross %19, %15 salt(114) : tensor<?x1xi64>, tensor<?x1xi64>
    %26 = nn.cross %16, %19 salt(115) : tensor<?x1xi64>, tensor<?x1xi64>
    %27 = nn.concat %arg1, %7, %9, %11, %13, %15, %21, %22, %23, %24, %25, %26 axis 1 : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %28 = nn.reshape %27 : (tensor<?x19xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %28
    %29 = nn.pull @weights[%keys] : tensor<?x1xf32>
    %30 = nn.pool %29[%inverse, %key_splits, %occurrences] of (%28 sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %31 = nn.reshape %30 : (tensor<?x1xf32>) -> tensor<?x19x1xf32>
    %32 = nn.reduce  sum %31 axes [1] : tensor<?x19x1xf32>
    %33 = nn.add %32, %0 : tensor<?x1xf32>, tensor<1xf32>
    %34 = nn.sigmoid %33 : tensor<?x1xf32>
    nn.observe @auc(%34, %arg2) : tensor<?x1xf32>
    nn.observe @log_loss(%34, %arg2) : tensor<?x1xf32>
    nn.observe @copc(%34, %arg2) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@person except @label) {
  ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>):
    %0 = nn.read @bias : tensor<1xf32>
    %1 = nn.slice %arg0 axis 1 offset 0 size 1 : tensor<?x5xf32>
    %2 = nn.slice %arg0 axis 1 offset 1 size 1 : tensor<?x5xf32>
    %3 = nn.slice %arg0 axis 1 offset 2 size 1 : tensor<?x5xf32>
    %4 = nn.slice %arg0 axis 1 offset 3 size 1 : tensor<?x5xf32>
    %5 = nn.slice %arg0 axis 1 offset 4 size 1 : tensor<?x5xf32>
    %6 = nn.bucketize %1 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] : tensor<?x1xf32>
    %7 = nn.cross %6 salt(100) : tensor<?x1xi64>
    %8 = nn.bucketize %2 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] : tensor<?x1xf32>
    %9 = nn.cross %8 salt(101) : tensor<?x1xi64>
    %10 = nn.bucketize %3 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] : tensor<?x1xf32>
    %11 = nn.cross %10 salt(102) : tensor<?x1xi64>
    %12 = nn.bucketize %4 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] : tensor<?x1xf32>
    %13 = nn.cross %12 salt(103) : tensor<?x1xi64>
    %14 = nn.bucketize %5 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] : tensor<?x1xf32>
    %15 = nn.cross %14 salt(104) : tensor<?x1xi64>
    %16 = nn.slice %arg1 axis 1 offset 0 size 1 : tensor<?x8xi64>
    %17 = nn.slice %arg1 axis 1 offset 1 size 1 : tensor<?x8xi64>
    %18 = nn.slice %arg1 axis 1 offset 2 size 1 : tensor<?x8xi64>
    %19 = nn.slice %arg1 axis 1 offset 3 size 1 : tensor<?x8xi64>
    %20 = nn.slice %arg1 axis 1 offset 4 size 1 : tensor<?x8xi64>
    %21 = nn.cross %17, %19 salt(110) : tensor<?x1xi64>, tensor<?x1xi64>
    %22 = nn.cross %7, %17, %19 salt(111) : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %23 = nn.cross %20, %7 salt(112) : tensor<?x1xi64>, tensor<?x1xi64>
    %24 = nn.cross %18, %17 salt(113) : tensor<?x1xi64>, tensor<?x1xi64>
    %25 = nn.cross %19, %15 salt(114) : tensor<?x1xi64>, tensor<?x1xi64>
    %26 = nn.cross %16, %19 salt(115) : tensor<?x1xi64>, tensor<?x1xi64>
    %27 = nn.concat %arg1, %7, %9, %11, %13, %15, %21, %22, %23, %24, %25, %26 axis 1 : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %28 = nn.reshape %27 : (tensor<?x19xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %28
    %29 = nn.pull @weights[%keys] : tensor<?x1xf32>
    %30 = nn.pool %29[%inverse, %key_splits, %occurrences] of (%28 sum) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %31 = nn.reshape %30 : (tensor<?x1xf32>) -> tensor<?x19x1xf32>
    %32 = nn.reduce  sum %31 axes [1] : tensor<?x19x1xf32>
    %33 = nn.add %32, %0 : tensor<?x1xf32>, tensor<1xf32>
    %34 = nn.sigmoid %33 : tensor<?x1xf32>
    nn.return %34 : tensor<?x1xf32>
  }
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
}

