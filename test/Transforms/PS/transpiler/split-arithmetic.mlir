// Case: the division of parameters into slices.
//
// Fluid: the number of servers determined the number of parts of a parameter,
// at most one for each 8192 elements. Because parts were rounded to whole rows,
// a server could get no part, and a last part could have a single row. Another
// number of servers needed other programs.
//
// PDL: no server is known when a program is compiled. A parameter is cut by
// bytes (about 128 KiB, at least 8192 elements) into whole units of 64 rows,
// which are distributed evenly. Any number of servers can share the blocks. The
// shapes are those that Fluid's tests and its rule distinguish.
//
// RUN: pdl-opt %s --ps-partition | FileCheck %s
// RUN: pdl-opt %s --ps-partition="min-block-elements=1048576" | FileCheck %s --check-prefix=LARGE
// RUN: pdl-opt %s --ps-partition="slice=false" | FileCheck %s --check-prefix=WHOLE

// WHOLE-COUNT-20: ps.blocks @{{[a-z0-9_]+}} rows [0, {{[0-9]+}}] costs [1]

// Fluid: 500, 500 for two servers.
// CHECK: @p1000x1000 rows [0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 1000]
// LARGE: @p1000x1000 rows [0, 1000]
nn.param @p1000x1000 : tensor<1000x1000xf32> init(#nn.zeros)
// Fluid: 500, 500. 250 KiB are less than two blocks.
// CHECK: @p1000x64 rows [0, 1000]
nn.param @p1000x64 : tensor<1000x64xf32> init(#nn.zeros)
// CHECK: @p3x5 rows [0, 3]
nn.param @p3x5 : tensor<3x5xf32> init(#nn.zeros)
// CHECK: @p1024 rows [0, 1]
nn.param @p1024 : tensor<1024xf32> init(#nn.zeros)
// Fluid: nine parts of 3 rows and one of 1, for ten servers.
// CHECK: @p28x784 rows [0, 28]
nn.param @p28x784 : tensor<28x784xf32> init(#nn.zeros)
// Fluid: four parts of 2 rows, although seven parts were requested.
// CHECK: @p8x1020 rows [0, 8]
nn.param @p8x1020 : tensor<8x1020xf32> init(#nn.zeros)
// Fluid: six parts of 115 rows and one of 110, with a minimum block of 1024.
// CHECK: @p800x10 rows [0, 800]
nn.param @p800x10 : tensor<800x10xf32> init(#nn.zeros)
// Fluid: six parts of one row for ten servers.
// CHECK: @p6x33x33x33 rows [0, 6]
nn.param @p6x33x33x33 : tensor<6x33x33x33xf32> init(#nn.zeros)
// CHECK: @p1001x16 rows [0, 1001]
nn.param @p1001x16 : tensor<1001x16xf32> init(#nn.zeros)
// Fluid: 501, 500.
// CHECK: @p1001x17 rows [0, 1001]
nn.param @p1001x17 : tensor<1001x17xf32> init(#nn.zeros)
// Fluid cut vectors by elements. Here a vector is one row, because its squared
// norm is one sum.
// CHECK: @p16384 rows [0, 1]
nn.param @p16384 : tensor<16384xf32> init(#nn.zeros)
// CHECK: @p16383 rows [0, 1]
nn.param @p16383 : tensor<16383xf32> init(#nn.zeros)
// CHECK: @p100001 rows [0, 1]
nn.param @p100001 : tensor<100001xf32> init(#nn.zeros)
// 3.05 MiB are 24 blocks of 65 or 66 units, for any number of servers. Fluid:
// four parts of 25001 or 25000 rows for four servers.
// CHECK: @p100003x8 rows [0, 4160, 8320, 12480, 16640, 20800, 24960, 29120, 33344, 37504, 41664, 45824, 49984, 54144, 58304, 62464, 66688, 70848, 75008, 79168, 83328, 87488, 91648, 95808, 100003]
// LARGE: @p100003x8 rows [0, 100003]
nn.param @p100003x8 : tensor<100003x8xf32> init(#nn.zeros)
// Fluid: 2, 2, 1 and an idle server of four. Fewer than 64 rows are one unit.
// CHECK: @p5x10000 rows [0, 5]
nn.param @p5x10000 : tensor<5x10000xf32> init(#nn.zeros)
// Fluid: five parts for eight servers.
// CHECK: @p9x8192 rows [0, 9]
nn.param @p9x8192 : tensor<9x8192xf32> init(#nn.zeros)
// CHECK: @p1x100000 rows [0, 1]
nn.param @p1x100000 : tensor<1x100000xf32> init(#nn.zeros)
// CHECK: @p256x32x3x3 rows [0, 128, 256]
nn.param @p256x32x3x3 : tensor<256x32x3x3xf32> init(#nn.zeros)
// The minimum block counts elements, the target bytes. So above the minimum,
// double precision is cut twice as often. Fluid counted only elements.
// CHECK: @single rows [0, 1024, 2048]
nn.param @single : tensor<2048x32xf32> init(#nn.zeros)
// CHECK: @double rows [0, 512, 1024, 1536, 2048]
nn.param @double : tensor<2048x32xf64> init(#nn.zeros)
