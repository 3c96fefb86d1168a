module @logistic_regression attributes {nn.phase = "roles", ps.mode = #ps.mode<sync>} {
  module @trainer attributes {nn.phase = "roles", ps.mode = #ps.mode<sync>, ps.role = "trainer", ps.wire = "a43740cdb50de2b4"} {
    nn.record @person {
      nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
      nn.field @categories : tensor<?x8xi64> hash(<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
      nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.000000e+00 : f64, ">50K" = 1.000000e+00 : f64}) columns([14])
    }
    nn.table @weights : i64 -> tensor<1xf32> init(#nn.zeros)
    ps.shards @weights count 1024 cost 152
    nn.param @bias : tensor<1xf32> init(#nn.zeros)
    ps.blocks @bias rows [0, 1] costs [8]
    nn.metric @auc : #nn.auc<buckets = 16384>
    nn.metric @log_loss : #nn.log_loss
    nn.metric @copc : #nn.copc
    nn.metric @labels.range : #nn.bucket_error<buckets = 2>
    ps.channel @train.value.bias number 0 in "train" value of @bias : tensor<1xf32>
    ps.channel @train.keys.weights number 1 in "train" keys of @weights : tensor<?xi64>
    ps.channel @train.rows.weights number 2 in "train" rows of @weights : tensor<?x1xf32>
    ps.channel @train.row_gradient.weights number 3 in "train" row_gradient of @weights : tensor<?x1xf32>
    ps.channel @train.gradient.bias number 4 in "train" gradient of @bias : tensor<1xf32>
    ps.channel @train.loss number 5 in "train" loss : tensor<2xf64>
    ps.message @train.exchange in "train" round sends [@train.row_gradient.weights, @train.gradient.bias, @train.loss, @train.keys.weights] ahead [@train.keys.weights] receives [@train.loss, @train.value.bias, @train.rows.weights]
    nn.program @train reads(@person) {
    ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>, %arg2: tensor<?x1xf32>):
      %0 = nn.slice %arg0 axis 1 offset 0 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %1 = nn.slice %arg0 axis 1 offset 1 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %2 = nn.slice %arg0 axis 1 offset 2 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %3 = nn.slice %arg0 axis 1 offset 3 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %4 = nn.slice %arg0 axis 1 offset 4 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %5 = nn.bucketize %0 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %6 = nn.cross %5 salt(100) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %7 = nn.bucketize %1 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %8 = nn.cross %7 salt(101) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %9 = nn.bucketize %2 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %10 = nn.cross %9 salt(102) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %11 = nn.bucketize %3 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %12 = nn.cross %11 salt(103) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %13 = nn.bucketize %4 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %14 = nn.cross %13 salt(104) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %15 = nn.slice %arg1 axis 1 offset 0 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %16 = nn.slice %arg1 axis 1 offset 1 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %17 = nn.slice %arg1 axis 1 offset 2 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %18 = nn.slice %arg1 axis 1 offset 3 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %19 = nn.slice %arg1 axis 1 offset 4 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %20 = nn.cross %16, %18 salt(110) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %21 = nn.cross %6, %16, %18 salt(111) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
      %22 = nn.cross %19, %6 salt(112) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %23 = nn.cross %17, %16 salt(113) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %24 = nn.cross %18, %14 salt(114) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %25 = nn.cross %15, %18 salt(115) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %26 = nn.concat %arg1, %6, %8, %10, %12, %14, %20, %21, %22, %23, %24, %25 axis 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
      %27 = nn.reshape %26 {stage = #nn.stage<prepare>} : (tensor<?x19xi64>) -> tensor<?xi64>
      %keys, %inverse, %key_splits, %occurrences = nn.unique %27 {stage = #nn.stage<prepare>}
      %28:4 = ps.wait @train.exchange keys(%keys : tensor<?xi64>) {stage = #nn.stage<receive>} : tensor<f64>, tensor<f64>, tensor<1xf32>, tensor<?x1xf32>
      %29 = nn.pool %28#3[%inverse, %key_splits, %occurrences] of (%27 sum) {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %30 = nn.reshape %29 {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x19x1xf32>
      %31 = nn.reduce  sum %30 axes [1] {stage = #nn.stage<compute>} : tensor<?x19x1xf32>
      %32 = nn.add %31, %28#2 {stage = #nn.stage<compute>} : tensor<?x1xf32>, tensor<1xf32>
      %33 = nn.sigmoid_cross_entropy %32, %arg2 {stage = #nn.stage<compute>} : tensor<?x1xf32>
      %34 = nn.sigmoid %32 {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @auc(%34, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @log_loss(%34, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @copc(%34, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @labels.range(%arg2, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
      %35 = nn.sub %34, %arg2 {stage = #nn.stage<compute>} : tensor<?x1xf32>, tensor<?x1xf32>
      %36 = nn.reduce  sum %35 axes [0] {stage = #nn.stage<compute>} : tensor<?x1xf32>
      %37 = nn.reshape %35 {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x1x1xf32>
      %38 = nn.broadcast %37 like %30 {stage = #nn.stage<compute>} : (tensor<?x1x1xf32>, tensor<?x19x1xf32>) -> tensor<?x19x1xf32>
      %39 = nn.reshape %38 {stage = #nn.stage<compute>} : (tensor<?x19x1xf32>) -> tensor<?x1xf32>
      %40 = nn.pool_gradient[%inverse, %key_splits, %occurrences] of (%27 sum from %39) {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %sum, %weight = nn.loss_sum %33 {stage = #nn.stage<compute>} : tensor<?x1xf32>
      ps.post @train.exchange(%40, %36, %sum, %weight) {stage = #nn.stage<send>} : tensor<?x1xf32>, tensor<1xf32>, tensor<f64>, tensor<f64>
    }
    ps.channel @evaluate.value.bias number 0 in "evaluate" value of @bias : tensor<1xf32>
    ps.channel @evaluate.keys.weights number 1 in "evaluate" keys of @weights : tensor<?xi64>
    ps.channel @evaluate.rows.weights number 2 in "evaluate" rows of @weights : tensor<?x1xf32>
    ps.message @evaluate.pull in "evaluate" sends [@evaluate.keys.weights] ahead [] receives [@evaluate.value.bias, @evaluate.rows.weights]
    nn.program @evaluate frozen reads(@person) {
    ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>, %arg2: tensor<?x1xf32>):
      %0 = nn.slice %arg0 axis 1 offset 0 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %1 = nn.slice %arg0 axis 1 offset 1 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %2 = nn.slice %arg0 axis 1 offset 2 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %3 = nn.slice %arg0 axis 1 offset 3 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %4 = nn.slice %arg0 axis 1 offset 4 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %5 = nn.bucketize %0 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %6 = nn.cross %5 salt(100) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %7 = nn.bucketize %1 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %8 = nn.cross %7 salt(101) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %9 = nn.bucketize %2 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %10 = nn.cross %9 salt(102) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %11 = nn.bucketize %3 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %12 = nn.cross %11 salt(103) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %13 = nn.bucketize %4 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %14 = nn.cross %13 salt(104) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %15 = nn.slice %arg1 axis 1 offset 0 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %16 = nn.slice %arg1 axis 1 offset 1 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %17 = nn.slice %arg1 axis 1 offset 2 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %18 = nn.slice %arg1 axis 1 offset 3 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %19 = nn.slice %arg1 axis 1 offset 4 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %20 = nn.cross %16, %18 salt(110) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %21 = nn.cross %6, %16, %18 salt(111) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
      %22 = nn.cross %19, %6 salt(112) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %23 = nn.cross %17, %16 salt(113) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %24 = nn.cross %18, %14 salt(114) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %25 = nn.cross %15, %18 salt(115) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %26 = nn.concat %arg1, %6, %8, %10, %12, %14, %20, %21, %22, %23, %24, %25 axis 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
      %27 = nn.reshape %26 {stage = #nn.stage<prepare>} : (tensor<?x19xi64>) -> tensor<?xi64>
      %keys, %inverse, %key_splits, %occurrences = nn.unique %27 {stage = #nn.stage<prepare>}
      %28:2 = ps.wait @evaluate.pull keys(%keys : tensor<?xi64>) {stage = #nn.stage<receive>} : tensor<1xf32>, tensor<?x1xf32>
      %29 = nn.pool %28#1[%inverse, %key_splits, %occurrences] of (%27 sum) {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %30 = nn.reshape %29 {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x19x1xf32>
      %31 = nn.reduce  sum %30 axes [1] {stage = #nn.stage<compute>} : tensor<?x19x1xf32>
      %32 = nn.add %31, %28#0 {stage = #nn.stage<compute>} : tensor<?x1xf32>, tensor<1xf32>
      %33 = nn.sigmoid %32 {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @auc(%33, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @log_loss(%33, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.observe @copc(%33, %arg2) {stage = #nn.stage<compute>} : tensor<?x1xf32>
    }
    ps.channel @predict.value.bias number 0 in "predict" value of @bias : tensor<1xf32>
    ps.channel @predict.keys.weights number 1 in "predict" keys of @weights : tensor<?xi64>
    ps.channel @predict.rows.weights number 2 in "predict" rows of @weights : tensor<?x1xf32>
    ps.message @predict.pull in "predict" sends [@predict.keys.weights] ahead [] receives [@predict.value.bias, @predict.rows.weights]
    nn.program @predict frozen reads(@person except @label) {
    ^bb0(%arg0: tensor<?x5xf32>, %arg1: tensor<?x8xi64>):
      %0 = nn.slice %arg0 axis 1 offset 0 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %1 = nn.slice %arg0 axis 1 offset 1 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %2 = nn.slice %arg0 axis 1 offset 2 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %3 = nn.slice %arg0 axis 1 offset 3 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %4 = nn.slice %arg0 axis 1 offset 4 size 1 {stage = #nn.stage<prepare>} : tensor<?x5xf32>
      %5 = nn.bucketize %0 boundaries [2.000000e+01, 2.300000e+01, 2.600000e+01, 3.000000e+01, 3.500000e+01, 4.000000e+01, 4.500000e+01, 5.000000e+01, 5.500000e+01, 6.000000e+01, 6.500000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %6 = nn.cross %5 salt(100) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %7 = nn.bucketize %1 boundaries [5.000000e+00, 8.000000e+00, 9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 1.300000e+01, 1.400000e+01, 1.500000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %8 = nn.cross %7 salt(101) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %9 = nn.bucketize %2 boundaries [1.000000e+00, 3.000000e+03, 4.000000e+03, 5.000000e+03, 6.500000e+03, 7.000000e+03, 1.000000e+04, 1.400000e+04] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %10 = nn.cross %9 salt(102) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %11 = nn.bucketize %3 boundaries [1.000000e+00, 1.500000e+03, 1.600000e+03, 1.800000e+03, 1.900000e+03, 2.000000e+03, 2.200000e+03, 2.400000e+03] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %12 = nn.cross %11 salt(103) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %13 = nn.bucketize %4 boundaries [2.000000e+01, 3.000000e+01, 3.600000e+01, 4.000000e+01, 4.100000e+01, 4.600000e+01, 5.000000e+01, 5.600000e+01, 6.000000e+01] {stage = #nn.stage<prepare>} : tensor<?x1xf32>
      %14 = nn.cross %13 salt(104) {stage = #nn.stage<prepare>} : tensor<?x1xi64>
      %15 = nn.slice %arg1 axis 1 offset 0 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %16 = nn.slice %arg1 axis 1 offset 1 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %17 = nn.slice %arg1 axis 1 offset 2 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %18 = nn.slice %arg1 axis 1 offset 3 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %19 = nn.slice %arg1 axis 1 offset 4 size 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>
      %20 = nn.cross %16, %18 salt(110) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %21 = nn.cross %6, %16, %18 salt(111) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
      %22 = nn.cross %19, %6 salt(112) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %23 = nn.cross %17, %16 salt(113) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %24 = nn.cross %18, %14 salt(114) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %25 = nn.cross %15, %18 salt(115) {stage = #nn.stage<prepare>} : tensor<?x1xi64>, tensor<?x1xi64>
      %26 = nn.concat %arg1, %6, %8, %10, %12, %14, %20, %21, %22, %23, %24, %25 axis 1 {stage = #nn.stage<prepare>} : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
      %27 = nn.reshape %26 {stage = #nn.stage<prepare>} : (tensor<?x19xi64>) -> tensor<?xi64>
      %keys, %inverse, %key_splits, %occurrences = nn.unique %27 {stage = #nn.stage<prepare>}
      %28:2 = ps.wait @predict.pull keys(%keys : tensor<?xi64>) {stage = #nn.stage<receive>} : tensor<1xf32>, tensor<?x1xf32>
      %29 = nn.pool %28#1[%inverse, %key_splits, %occurrences] of (%27 sum) {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %30 = nn.reshape %29 {stage = #nn.stage<compute>} : (tensor<?x1xf32>) -> tensor<?x19x1xf32>
      %31 = nn.reduce  sum %30 axes [1] {stage = #nn.stage<compute>} : tensor<?x19x1xf32>
      %32 = nn.add %31, %28#0 {stage = #nn.stage<compute>} : tensor<?x1xf32>, tensor<1xf32>
      %33 = nn.sigmoid %32 {stage = #nn.stage<compute>} : tensor<?x1xf32>
      nn.return %33 : tensor<?x1xf32>
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
  module @pserver attributes {nn.phase = "roles", ps.mode = #ps.mode<sync>, ps.role = "pserver", ps.wire = "a43740cdb50de2b4"} {
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
    ps.channel @train.value.bias number 0 in "train" value of @bias : tensor<1xf32>
    ps.channel @train.keys.weights number 1 in "train" keys of @weights : tensor<?xi64>
    ps.channel @train.rows.weights number 2 in "train" rows of @weights : tensor<?x1xf32>
    ps.channel @train.row_gradient.weights number 3 in "train" row_gradient of @weights : tensor<?x1xf32>
    ps.channel @train.gradient.bias number 4 in "train" gradient of @bias : tensor<1xf32>
    ps.channel @train.loss number 5 in "train" loss : tensor<2xf64>
    ps.message @train.exchange in "train" round sends [@train.row_gradient.weights, @train.gradient.bias, @train.loss, @train.keys.weights] ahead [@train.keys.weights] receives [@train.loss, @train.value.bias, @train.rows.weights]
    ps.handler @train.apply in "train" on @train.exchange {
      %0:2 = ps.merged @train.loss : tensor<f64>, tensor<f64>
      %1:2 = ps.merged @train.row_gradient.weights : tensor<?xi64>, tensor<?x1xf32>
      %2 = ps.merged @train.gradient.bias : tensor<1xf32>
      %3:3 = nn.once @linear weight(%0#1) -> (weight, "rate", "hyper-parameter epsilon") {
      ^bb0(%arg0: f64, %arg1: f64, %arg2: f64):
        %cst = arith.constant 1.000000e-01 : f64
        %cst_0 = arith.constant 1.000000e-10 : f64
        nn.yield %arg1, %cst, %cst_0 : f64, f64, f64
      } : tensor<f32>, tensor<f32>, tensor<f32>
      nn.update @weights keys(%1#0) gradient(%1#1) scalars(%3#0, %3#1, %3#2) {
      ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32):
        %4 = arith.divf %arg1, %arg3 : f32
        %5 = arith.mulf %4, %4 : f32
        %6 = arith.addf %arg2, %5 : f32
        %7 = math.sqrt %6 : f32
        %8 = arith.addf %7, %arg5 : f32
        %9 = arith.divf %4, %8 : f32
        %10 = arith.mulf %arg4, %9 : f32
        %11 = arith.subf %arg0, %10 : f32
        nn.yield %11, %6 : f32, f32
      } : tensor<?x1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
      nn.update @bias gradient(%2) scalars(%3#0, %3#1, %3#2) {
      ^bb0(%arg0: f32, %arg1: f32, %arg2: f32, %arg3: f32, %arg4: f32, %arg5: f32):
        %4 = arith.divf %arg1, %arg3 : f32
        %5 = arith.mulf %4, %4 : f32
        %6 = arith.addf %arg2, %5 : f32
        %7 = math.sqrt %6 : f32
        %8 = arith.addf %7, %arg5 : f32
        %9 = arith.divf %4, %8 : f32
        %10 = arith.mulf %arg4, %9 : f32
        %11 = arith.subf %arg0, %10 : f32
        nn.yield %11, %6 : f32, f32
      } : tensor<1xf32>, tensor<f32>, tensor<f32>, tensor<f32>
    }
    ps.channel @evaluate.value.bias number 0 in "evaluate" value of @bias : tensor<1xf32>
    ps.channel @evaluate.keys.weights number 1 in "evaluate" keys of @weights : tensor<?xi64>
    ps.channel @evaluate.rows.weights number 2 in "evaluate" rows of @weights : tensor<?x1xf32>
    ps.message @evaluate.pull in "evaluate" sends [@evaluate.keys.weights] ahead [] receives [@evaluate.value.bias, @evaluate.rows.weights]
    ps.channel @predict.value.bias number 0 in "predict" value of @bias : tensor<1xf32>
    ps.channel @predict.keys.weights number 1 in "predict" keys of @weights : tensor<?xi64>
    ps.channel @predict.rows.weights number 2 in "predict" rows of @weights : tensor<?x1xf32>
    ps.message @predict.pull in "predict" sends [@predict.keys.weights] ahead [] receives [@predict.value.bias, @predict.rows.weights]
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
}

