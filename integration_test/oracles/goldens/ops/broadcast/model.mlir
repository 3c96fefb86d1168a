//===- broadcast/model.mlir - Broadcasting in elementwise ops and nn.broadcast -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written by integration_test/oracles/generate_op_goldens.py.
//
//===----------------------------------------------------------------------===//

module @broadcast {
  nn.record @sample {
    nn.field @x1_field : tensor<?x12xf32>
    nn.field @x4_field : tensor<?x4xf32>
    nn.field @x6_field : tensor<?x1xf32>
    nn.field @x8_field : tensor<?x4xf32>
    nn.field @x11_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x4xf32>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @weight3 : tensor<?x4xf32>
    nn.field @weight4 : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x4xf32>
    nn.field @weight6 : tensor<?x12xf32>
    nn.field @weight7 : tensor<?x12xf32>
    nn.field @weight8 : tensor<?x12xf32>
    nn.field @weight9 : tensor<?x12xf32>
    nn.field @x26_field : tensor<?x12xf32>
    nn.field @x29_field : tensor<?x4xf32>
    nn.field @x31_field : tensor<?x1xf32>
    nn.field @x33_field : tensor<?x4xf32>
    nn.field @x36_field : tensor<?x3xf32>
    nn.field @weight10 : tensor<?x4xf32>
    nn.field @weight11 : tensor<?x4xf32>
    nn.field @weight12 : tensor<?x4xf32>
    nn.field @weight13 : tensor<?x4xf32>
    nn.field @weight14 : tensor<?x4xf32>
    nn.field @weight15 : tensor<?x12xf32>
    nn.field @weight16 : tensor<?x12xf32>
    nn.field @weight17 : tensor<?x12xf32>
    nn.field @weight18 : tensor<?x12xf32>
    nn.field @x51_field : tensor<?x12xf32>
    nn.field @x54_field : tensor<?x4xf32>
    nn.field @x56_field : tensor<?x1xf32>
    nn.field @x58_field : tensor<?x4xf32>
    nn.field @x61_field : tensor<?x3xf32>
    nn.field @weight19 : tensor<?x4xf32>
    nn.field @weight20 : tensor<?x4xf32>
    nn.field @weight21 : tensor<?x4xf32>
    nn.field @weight22 : tensor<?x4xf32>
    nn.field @weight23 : tensor<?x4xf32>
    nn.field @weight24 : tensor<?x12xf32>
    nn.field @weight25 : tensor<?x12xf32>
    nn.field @weight26 : tensor<?x12xf32>
    nn.field @weight27 : tensor<?x12xf32>
    nn.field @x76_field : tensor<?x12xf32>
    nn.field @x79_field : tensor<?x4xf32>
    nn.field @x81_field : tensor<?x1xf32>
    nn.field @x83_field : tensor<?x4xf32>
    nn.field @x86_field : tensor<?x3xf32>
    nn.field @weight28 : tensor<?x4xf32>
    nn.field @weight29 : tensor<?x4xf32>
    nn.field @weight30 : tensor<?x4xf32>
    nn.field @weight31 : tensor<?x4xf32>
    nn.field @weight32 : tensor<?x4xf32>
    nn.field @weight33 : tensor<?x12xf32>
    nn.field @weight34 : tensor<?x12xf32>
    nn.field @weight35 : tensor<?x12xf32>
    nn.field @weight36 : tensor<?x12xf32>
    nn.field @x101_field : tensor<?x12xf32>
    nn.field @x104_field : tensor<?x4xf32>
    nn.field @x106_field : tensor<?x1xf32>
    nn.field @x108_field : tensor<?x4xf32>
    nn.field @x111_field : tensor<?x3xf32>
    nn.field @weight37 : tensor<?x4xf32>
    nn.field @weight38 : tensor<?x4xf32>
    nn.field @weight39 : tensor<?x4xf32>
    nn.field @weight40 : tensor<?x4xf32>
    nn.field @weight41 : tensor<?x4xf32>
    nn.field @weight42 : tensor<?x12xf32>
    nn.field @weight43 : tensor<?x12xf32>
    nn.field @weight44 : tensor<?x12xf32>
    nn.field @weight45 : tensor<?x12xf32>
    nn.field @x126_field : tensor<?x12xf32>
    nn.field @x129_field : tensor<?x4xf32>
    nn.field @x131_field : tensor<?x1xf32>
    nn.field @x133_field : tensor<?x4xf32>
    nn.field @x136_field : tensor<?x3xf32>
    nn.field @weight46 : tensor<?x4xf32>
    nn.field @weight47 : tensor<?x4xf32>
    nn.field @weight48 : tensor<?x4xf32>
    nn.field @weight49 : tensor<?x4xf32>
    nn.field @weight50 : tensor<?x4xf32>
    nn.field @weight51 : tensor<?x12xf32>
    nn.field @weight52 : tensor<?x12xf32>
    nn.field @weight53 : tensor<?x12xf32>
    nn.field @weight54 : tensor<?x12xf32>
    nn.field @x151_field : tensor<?x4xf32>
    nn.field @x153_field : tensor<?x1xf32>
    nn.field @weight55 : tensor<?x4xf32>
    nn.field @weight56 : tensor<?x4xf32>
    nn.field @weight57 : tensor<?x4xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @add_vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @add_column : tensor<3x1xf32> in @descent init(#nn.zeros)
  nn.param @add_single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x6_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x8_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x11_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x26_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @sub_vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @sub_column : tensor<3x1xf32> in @descent init(#nn.zeros)
  nn.param @sub_single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x29_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x31_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x33_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x36_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x51_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @mul_vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @mul_column : tensor<3x1xf32> in @descent init(#nn.zeros)
  nn.param @mul_single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x54_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x56_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x58_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x61_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x76_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @div_vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @div_column : tensor<3x1xf32> in @descent init(#nn.zeros)
  nn.param @div_single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x79_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x81_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x83_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x86_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x101_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @max_vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @max_column : tensor<3x1xf32> in @descent init(#nn.zeros)
  nn.param @max_single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x104_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x106_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x108_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x111_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x126_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @min_vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @min_column : tensor<3x1xf32> in @descent init(#nn.zeros)
  nn.param @min_single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x129_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x131_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x133_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x136_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @vector : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @single : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x151_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x153_shift : tensor<1xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x12xf32>, %x4_field: tensor<?x4xf32>, %x6_field: tensor<?x1xf32>, %x8_field: tensor<?x4xf32>, %x11_field: tensor<?x3xf32>, %weight1: tensor<?x4xf32>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x12xf32>, %weight7: tensor<?x12xf32>, %weight8: tensor<?x12xf32>, %weight9: tensor<?x12xf32>, %x26_field: tensor<?x12xf32>, %x29_field: tensor<?x4xf32>, %x31_field: tensor<?x1xf32>, %x33_field: tensor<?x4xf32>, %x36_field: tensor<?x3xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x4xf32>, %weight15: tensor<?x12xf32>, %weight16: tensor<?x12xf32>, %weight17: tensor<?x12xf32>, %weight18: tensor<?x12xf32>, %x51_field: tensor<?x12xf32>, %x54_field: tensor<?x4xf32>, %x56_field: tensor<?x1xf32>, %x58_field: tensor<?x4xf32>, %x61_field: tensor<?x3xf32>, %weight19: tensor<?x4xf32>, %weight20: tensor<?x4xf32>, %weight21: tensor<?x4xf32>, %weight22: tensor<?x4xf32>, %weight23: tensor<?x4xf32>, %weight24: tensor<?x12xf32>, %weight25: tensor<?x12xf32>, %weight26: tensor<?x12xf32>, %weight27: tensor<?x12xf32>, %x76_field: tensor<?x12xf32>, %x79_field: tensor<?x4xf32>, %x81_field: tensor<?x1xf32>, %x83_field: tensor<?x4xf32>, %x86_field: tensor<?x3xf32>, %weight28: tensor<?x4xf32>, %weight29: tensor<?x4xf32>, %weight30: tensor<?x4xf32>, %weight31: tensor<?x4xf32>, %weight32: tensor<?x4xf32>, %weight33: tensor<?x12xf32>, %weight34: tensor<?x12xf32>, %weight35: tensor<?x12xf32>, %weight36: tensor<?x12xf32>, %x101_field: tensor<?x12xf32>, %x104_field: tensor<?x4xf32>, %x106_field: tensor<?x1xf32>, %x108_field: tensor<?x4xf32>, %x111_field: tensor<?x3xf32>, %weight37: tensor<?x4xf32>, %weight38: tensor<?x4xf32>, %weight39: tensor<?x4xf32>, %weight40: tensor<?x4xf32>, %weight41: tensor<?x4xf32>, %weight42: tensor<?x12xf32>, %weight43: tensor<?x12xf32>, %weight44: tensor<?x12xf32>, %weight45: tensor<?x12xf32>, %x126_field: tensor<?x12xf32>, %x129_field: tensor<?x4xf32>, %x131_field: tensor<?x1xf32>, %x133_field: tensor<?x4xf32>, %x136_field: tensor<?x3xf32>, %weight46: tensor<?x4xf32>, %weight47: tensor<?x4xf32>, %weight48: tensor<?x4xf32>, %weight49: tensor<?x4xf32>, %weight50: tensor<?x4xf32>, %weight51: tensor<?x12xf32>, %weight52: tensor<?x12xf32>, %weight53: tensor<?x12xf32>, %weight54: tensor<?x12xf32>, %x151_field: tensor<?x4xf32>, %x153_field: tensor<?x1xf32>, %weight55: tensor<?x4xf32>, %weight56: tensor<?x4xf32>, %weight57: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<12xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x12xf32>, tensor<12xf32>
    %v3 = nn.reshape %v2 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %add_vector = nn.read @add_vector : tensor<4xf32>
    %add_column = nn.read @add_column : tensor<3x1xf32>
    %add_single = nn.read @add_single : tensor<1xf32>
    %x4_shift = nn.read @x4_shift : tensor<4xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x4xf32>, tensor<4xf32>
    %x6_shift = nn.read @x6_shift : tensor<1xf32>
    %v7 = nn.add %x6_field, %x6_shift : tensor<?x1xf32>, tensor<1xf32>
    %x8_shift = nn.read @x8_shift : tensor<4xf32>
    %v9 = nn.add %x8_field, %x8_shift : tensor<?x4xf32>, tensor<4xf32>
    %v10 = nn.reshape %v9 : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
    %x11_shift = nn.read @x11_shift : tensor<3xf32>
    %v12 = nn.add %x11_field, %x11_shift : tensor<?x3xf32>, tensor<3xf32>
    %v13 = nn.reshape %v12 : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
    %v14 = nn.add %v5, %add_vector : tensor<?x4xf32>, tensor<4xf32>
    %v15 = nn.add %add_vector, %v5 : tensor<4xf32>, tensor<?x4xf32>
    %v16 = nn.add %v5, %v7 : tensor<?x4xf32>, tensor<?x1xf32>
    %v17 = nn.add %v7, %add_vector : tensor<?x1xf32>, tensor<4xf32>
    %v18 = nn.add %v5, %add_single : tensor<?x4xf32>, tensor<1xf32>
    %v19 = nn.add %v3, %add_vector : tensor<?x3x4xf32>, tensor<4xf32>
    %v20 = nn.add %v3, %add_column : tensor<?x3x4xf32>, tensor<3x1xf32>
    %v21 = nn.add %v10, %v13 : tensor<?x1x4xf32>, tensor<?x3x1xf32>
    %v22 = nn.add %add_column, %add_vector : tensor<3x1xf32>, tensor<4xf32>
    %v23 = nn.reshape %v22 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v24 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v25 = nn.broadcast %v23 like %v24 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %x26_shift = nn.read @x26_shift : tensor<12xf32>
    %v27 = nn.add %x26_field, %x26_shift : tensor<?x12xf32>, tensor<12xf32>
    %v28 = nn.reshape %v27 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %sub_vector = nn.read @sub_vector : tensor<4xf32>
    %sub_column = nn.read @sub_column : tensor<3x1xf32>
    %sub_single = nn.read @sub_single : tensor<1xf32>
    %x29_shift = nn.read @x29_shift : tensor<4xf32>
    %v30 = nn.add %x29_field, %x29_shift : tensor<?x4xf32>, tensor<4xf32>
    %x31_shift = nn.read @x31_shift : tensor<1xf32>
    %v32 = nn.add %x31_field, %x31_shift : tensor<?x1xf32>, tensor<1xf32>
    %x33_shift = nn.read @x33_shift : tensor<4xf32>
    %v34 = nn.add %x33_field, %x33_shift : tensor<?x4xf32>, tensor<4xf32>
    %v35 = nn.reshape %v34 : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
    %x36_shift = nn.read @x36_shift : tensor<3xf32>
    %v37 = nn.add %x36_field, %x36_shift : tensor<?x3xf32>, tensor<3xf32>
    %v38 = nn.reshape %v37 : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
    %v39 = nn.sub %v30, %sub_vector : tensor<?x4xf32>, tensor<4xf32>
    %v40 = nn.sub %sub_vector, %v30 : tensor<4xf32>, tensor<?x4xf32>
    %v41 = nn.sub %v30, %v32 : tensor<?x4xf32>, tensor<?x1xf32>
    %v42 = nn.sub %v32, %sub_vector : tensor<?x1xf32>, tensor<4xf32>
    %v43 = nn.sub %v30, %sub_single : tensor<?x4xf32>, tensor<1xf32>
    %v44 = nn.sub %v28, %sub_vector : tensor<?x3x4xf32>, tensor<4xf32>
    %v45 = nn.sub %v28, %sub_column : tensor<?x3x4xf32>, tensor<3x1xf32>
    %v46 = nn.sub %v35, %v38 : tensor<?x1x4xf32>, tensor<?x3x1xf32>
    %v47 = nn.sub %sub_column, %sub_vector : tensor<3x1xf32>, tensor<4xf32>
    %v48 = nn.reshape %v47 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v49 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v50 = nn.broadcast %v48 like %v49 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %x51_shift = nn.read @x51_shift : tensor<12xf32>
    %v52 = nn.add %x51_field, %x51_shift : tensor<?x12xf32>, tensor<12xf32>
    %v53 = nn.reshape %v52 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %mul_vector = nn.read @mul_vector : tensor<4xf32>
    %mul_column = nn.read @mul_column : tensor<3x1xf32>
    %mul_single = nn.read @mul_single : tensor<1xf32>
    %x54_shift = nn.read @x54_shift : tensor<4xf32>
    %v55 = nn.add %x54_field, %x54_shift : tensor<?x4xf32>, tensor<4xf32>
    %x56_shift = nn.read @x56_shift : tensor<1xf32>
    %v57 = nn.add %x56_field, %x56_shift : tensor<?x1xf32>, tensor<1xf32>
    %x58_shift = nn.read @x58_shift : tensor<4xf32>
    %v59 = nn.add %x58_field, %x58_shift : tensor<?x4xf32>, tensor<4xf32>
    %v60 = nn.reshape %v59 : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
    %x61_shift = nn.read @x61_shift : tensor<3xf32>
    %v62 = nn.add %x61_field, %x61_shift : tensor<?x3xf32>, tensor<3xf32>
    %v63 = nn.reshape %v62 : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
    %v64 = nn.mul %v55, %mul_vector : tensor<?x4xf32>, tensor<4xf32>
    %v65 = nn.mul %mul_vector, %v55 : tensor<4xf32>, tensor<?x4xf32>
    %v66 = nn.mul %v55, %v57 : tensor<?x4xf32>, tensor<?x1xf32>
    %v67 = nn.mul %v57, %mul_vector : tensor<?x1xf32>, tensor<4xf32>
    %v68 = nn.mul %v55, %mul_single : tensor<?x4xf32>, tensor<1xf32>
    %v69 = nn.mul %v53, %mul_vector : tensor<?x3x4xf32>, tensor<4xf32>
    %v70 = nn.mul %v53, %mul_column : tensor<?x3x4xf32>, tensor<3x1xf32>
    %v71 = nn.mul %v60, %v63 : tensor<?x1x4xf32>, tensor<?x3x1xf32>
    %v72 = nn.mul %mul_column, %mul_vector : tensor<3x1xf32>, tensor<4xf32>
    %v73 = nn.reshape %v72 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v74 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v75 = nn.broadcast %v73 like %v74 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %x76_shift = nn.read @x76_shift : tensor<12xf32>
    %v77 = nn.add %x76_field, %x76_shift : tensor<?x12xf32>, tensor<12xf32>
    %v78 = nn.reshape %v77 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %div_vector = nn.read @div_vector : tensor<4xf32>
    %div_column = nn.read @div_column : tensor<3x1xf32>
    %div_single = nn.read @div_single : tensor<1xf32>
    %x79_shift = nn.read @x79_shift : tensor<4xf32>
    %v80 = nn.add %x79_field, %x79_shift : tensor<?x4xf32>, tensor<4xf32>
    %x81_shift = nn.read @x81_shift : tensor<1xf32>
    %v82 = nn.add %x81_field, %x81_shift : tensor<?x1xf32>, tensor<1xf32>
    %x83_shift = nn.read @x83_shift : tensor<4xf32>
    %v84 = nn.add %x83_field, %x83_shift : tensor<?x4xf32>, tensor<4xf32>
    %v85 = nn.reshape %v84 : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
    %x86_shift = nn.read @x86_shift : tensor<3xf32>
    %v87 = nn.add %x86_field, %x86_shift : tensor<?x3xf32>, tensor<3xf32>
    %v88 = nn.reshape %v87 : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
    %v89 = nn.div %v80, %div_vector : tensor<?x4xf32>, tensor<4xf32>
    %v90 = nn.div %div_vector, %v80 : tensor<4xf32>, tensor<?x4xf32>
    %v91 = nn.div %v80, %v82 : tensor<?x4xf32>, tensor<?x1xf32>
    %v92 = nn.div %v82, %div_vector : tensor<?x1xf32>, tensor<4xf32>
    %v93 = nn.div %v80, %div_single : tensor<?x4xf32>, tensor<1xf32>
    %v94 = nn.div %v78, %div_vector : tensor<?x3x4xf32>, tensor<4xf32>
    %v95 = nn.div %v78, %div_column : tensor<?x3x4xf32>, tensor<3x1xf32>
    %v96 = nn.div %v85, %v88 : tensor<?x1x4xf32>, tensor<?x3x1xf32>
    %v97 = nn.div %div_column, %div_vector : tensor<3x1xf32>, tensor<4xf32>
    %v98 = nn.reshape %v97 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v99 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v100 = nn.broadcast %v98 like %v99 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %x101_shift = nn.read @x101_shift : tensor<12xf32>
    %v102 = nn.add %x101_field, %x101_shift : tensor<?x12xf32>, tensor<12xf32>
    %v103 = nn.reshape %v102 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %max_vector = nn.read @max_vector : tensor<4xf32>
    %max_column = nn.read @max_column : tensor<3x1xf32>
    %max_single = nn.read @max_single : tensor<1xf32>
    %x104_shift = nn.read @x104_shift : tensor<4xf32>
    %v105 = nn.add %x104_field, %x104_shift : tensor<?x4xf32>, tensor<4xf32>
    %x106_shift = nn.read @x106_shift : tensor<1xf32>
    %v107 = nn.add %x106_field, %x106_shift : tensor<?x1xf32>, tensor<1xf32>
    %x108_shift = nn.read @x108_shift : tensor<4xf32>
    %v109 = nn.add %x108_field, %x108_shift : tensor<?x4xf32>, tensor<4xf32>
    %v110 = nn.reshape %v109 : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
    %x111_shift = nn.read @x111_shift : tensor<3xf32>
    %v112 = nn.add %x111_field, %x111_shift : tensor<?x3xf32>, tensor<3xf32>
    %v113 = nn.reshape %v112 : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
    %v114 = nn.max %v105, %max_vector : tensor<?x4xf32>, tensor<4xf32>
    %v115 = nn.max %max_vector, %v105 : tensor<4xf32>, tensor<?x4xf32>
    %v116 = nn.max %v105, %v107 : tensor<?x4xf32>, tensor<?x1xf32>
    %v117 = nn.max %v107, %max_vector : tensor<?x1xf32>, tensor<4xf32>
    %v118 = nn.max %v105, %max_single : tensor<?x4xf32>, tensor<1xf32>
    %v119 = nn.max %v103, %max_vector : tensor<?x3x4xf32>, tensor<4xf32>
    %v120 = nn.max %v103, %max_column : tensor<?x3x4xf32>, tensor<3x1xf32>
    %v121 = nn.max %v110, %v113 : tensor<?x1x4xf32>, tensor<?x3x1xf32>
    %v122 = nn.max %max_column, %max_vector : tensor<3x1xf32>, tensor<4xf32>
    %v123 = nn.reshape %v122 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v124 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v125 = nn.broadcast %v123 like %v124 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %x126_shift = nn.read @x126_shift : tensor<12xf32>
    %v127 = nn.add %x126_field, %x126_shift : tensor<?x12xf32>, tensor<12xf32>
    %v128 = nn.reshape %v127 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %min_vector = nn.read @min_vector : tensor<4xf32>
    %min_column = nn.read @min_column : tensor<3x1xf32>
    %min_single = nn.read @min_single : tensor<1xf32>
    %x129_shift = nn.read @x129_shift : tensor<4xf32>
    %v130 = nn.add %x129_field, %x129_shift : tensor<?x4xf32>, tensor<4xf32>
    %x131_shift = nn.read @x131_shift : tensor<1xf32>
    %v132 = nn.add %x131_field, %x131_shift : tensor<?x1xf32>, tensor<1xf32>
    %x133_shift = nn.read @x133_shift : tensor<4xf32>
    %v134 = nn.add %x133_field, %x133_shift : tensor<?x4xf32>, tensor<4xf32>
    %v135 = nn.reshape %v134 : (tensor<?x4xf32>) -> tensor<?x1x4xf32>
    %x136_shift = nn.read @x136_shift : tensor<3xf32>
    %v137 = nn.add %x136_field, %x136_shift : tensor<?x3xf32>, tensor<3xf32>
    %v138 = nn.reshape %v137 : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
    %v139 = nn.min %v130, %min_vector : tensor<?x4xf32>, tensor<4xf32>
    %v140 = nn.min %min_vector, %v130 : tensor<4xf32>, tensor<?x4xf32>
    %v141 = nn.min %v130, %v132 : tensor<?x4xf32>, tensor<?x1xf32>
    %v142 = nn.min %v132, %min_vector : tensor<?x1xf32>, tensor<4xf32>
    %v143 = nn.min %v130, %min_single : tensor<?x4xf32>, tensor<1xf32>
    %v144 = nn.min %v128, %min_vector : tensor<?x3x4xf32>, tensor<4xf32>
    %v145 = nn.min %v128, %min_column : tensor<?x3x4xf32>, tensor<3x1xf32>
    %v146 = nn.min %v135, %v138 : tensor<?x1x4xf32>, tensor<?x3x1xf32>
    %v147 = nn.min %min_column, %min_vector : tensor<3x1xf32>, tensor<4xf32>
    %v148 = nn.reshape %v147 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v149 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v150 = nn.broadcast %v148 like %v149 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %vector = nn.read @vector : tensor<4xf32>
    %single = nn.read @single : tensor<1xf32>
    %x151_shift = nn.read @x151_shift : tensor<4xf32>
    %v152 = nn.add %x151_field, %x151_shift : tensor<?x4xf32>, tensor<4xf32>
    %x153_shift = nn.read @x153_shift : tensor<1xf32>
    %v154 = nn.add %x153_field, %x153_shift : tensor<?x1xf32>, tensor<1xf32>
    %v155 = nn.broadcast %single : (tensor<1xf32>) -> tensor<4xf32>
    %v156 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v157 = nn.broadcast %v155 like %v156 : (tensor<4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
    %v158 = nn.broadcast %v154 : (tensor<?x1xf32>) -> tensor<?x4xf32>
    %v159 = nn.broadcast %vector like %v152 : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    nn.return %v14, %v15, %v16, %v17, %v18, %v19, %v20, %v21, %v25, %v39, %v40, %v41, %v42, %v43, %v44, %v45, %v46, %v50, %v64, %v65, %v66, %v67, %v68, %v69, %v70, %v71, %v75, %v89, %v90, %v91, %v92, %v93, %v94, %v95, %v96, %v100, %v114, %v115, %v116, %v117, %v118, %v119, %v120, %v121, %v125, %v139, %v140, %v141, %v142, %v143, %v144, %v145, %v146, %v150, %v157, %v158, %v159 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x12xf32>, %x4_field: tensor<?x4xf32>, %x6_field: tensor<?x1xf32>, %x8_field: tensor<?x4xf32>, %x11_field: tensor<?x3xf32>, %weight1: tensor<?x4xf32>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x12xf32>, %weight7: tensor<?x12xf32>, %weight8: tensor<?x12xf32>, %weight9: tensor<?x12xf32>, %x26_field: tensor<?x12xf32>, %x29_field: tensor<?x4xf32>, %x31_field: tensor<?x1xf32>, %x33_field: tensor<?x4xf32>, %x36_field: tensor<?x3xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x4xf32>, %weight15: tensor<?x12xf32>, %weight16: tensor<?x12xf32>, %weight17: tensor<?x12xf32>, %weight18: tensor<?x12xf32>, %x51_field: tensor<?x12xf32>, %x54_field: tensor<?x4xf32>, %x56_field: tensor<?x1xf32>, %x58_field: tensor<?x4xf32>, %x61_field: tensor<?x3xf32>, %weight19: tensor<?x4xf32>, %weight20: tensor<?x4xf32>, %weight21: tensor<?x4xf32>, %weight22: tensor<?x4xf32>, %weight23: tensor<?x4xf32>, %weight24: tensor<?x12xf32>, %weight25: tensor<?x12xf32>, %weight26: tensor<?x12xf32>, %weight27: tensor<?x12xf32>, %x76_field: tensor<?x12xf32>, %x79_field: tensor<?x4xf32>, %x81_field: tensor<?x1xf32>, %x83_field: tensor<?x4xf32>, %x86_field: tensor<?x3xf32>, %weight28: tensor<?x4xf32>, %weight29: tensor<?x4xf32>, %weight30: tensor<?x4xf32>, %weight31: tensor<?x4xf32>, %weight32: tensor<?x4xf32>, %weight33: tensor<?x12xf32>, %weight34: tensor<?x12xf32>, %weight35: tensor<?x12xf32>, %weight36: tensor<?x12xf32>, %x101_field: tensor<?x12xf32>, %x104_field: tensor<?x4xf32>, %x106_field: tensor<?x1xf32>, %x108_field: tensor<?x4xf32>, %x111_field: tensor<?x3xf32>, %weight37: tensor<?x4xf32>, %weight38: tensor<?x4xf32>, %weight39: tensor<?x4xf32>, %weight40: tensor<?x4xf32>, %weight41: tensor<?x4xf32>, %weight42: tensor<?x12xf32>, %weight43: tensor<?x12xf32>, %weight44: tensor<?x12xf32>, %weight45: tensor<?x12xf32>, %x126_field: tensor<?x12xf32>, %x129_field: tensor<?x4xf32>, %x131_field: tensor<?x1xf32>, %x133_field: tensor<?x4xf32>, %x136_field: tensor<?x3xf32>, %weight46: tensor<?x4xf32>, %weight47: tensor<?x4xf32>, %weight48: tensor<?x4xf32>, %weight49: tensor<?x4xf32>, %weight50: tensor<?x4xf32>, %weight51: tensor<?x12xf32>, %weight52: tensor<?x12xf32>, %weight53: tensor<?x12xf32>, %weight54: tensor<?x12xf32>, %x151_field: tensor<?x4xf32>, %x153_field: tensor<?x1xf32>, %weight55: tensor<?x4xf32>, %weight56: tensor<?x4xf32>, %weight57: tensor<?x4xf32>):
    %r:57 = nn.call @compute(%x1_field, %x4_field, %x6_field, %x8_field, %x11_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %x26_field, %x29_field, %x31_field, %x33_field, %x36_field, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %weight16, %weight17, %weight18, %x51_field, %x54_field, %x56_field, %x58_field, %x61_field, %weight19, %weight20, %weight21, %weight22, %weight23, %weight24, %weight25, %weight26, %weight27, %x76_field, %x79_field, %x81_field, %x83_field, %x86_field, %weight28, %weight29, %weight30, %weight31, %weight32, %weight33, %weight34, %weight35, %weight36, %x101_field, %x104_field, %x106_field, %x108_field, %x111_field, %weight37, %weight38, %weight39, %weight40, %weight41, %weight42, %weight43, %weight44, %weight45, %x126_field, %x129_field, %x131_field, %x133_field, %x136_field, %weight46, %weight47, %weight48, %weight49, %weight50, %weight51, %weight52, %weight53, %weight54, %x151_field, %x153_field, %weight55, %weight56, %weight57) : (tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x4xf32>, tensor<?x4xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x4xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x4xf32>, tensor<?x4xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x4xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x4xf32>, tensor<?x4xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x4xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x4xf32>, tensor<?x4xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x4xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x4xf32>, tensor<?x4xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x4xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x12xf32>, tensor<?x12xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x12xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x12xf32>, tensor<?x12xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x12xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat7 = nn.reshape %r#7 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x12xf32>, tensor<?x12xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x12xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x12xf32>, tensor<?x12xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x12xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x4xf32>, tensor<?x4xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x4xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x4xf32>, tensor<?x4xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x4xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %product11 = nn.mul %r#11, %weight12 : tensor<?x4xf32>, tensor<?x4xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x4xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %product12 = nn.mul %r#12, %weight13 : tensor<?x4xf32>, tensor<?x4xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x4xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %product13 = nn.mul %r#13, %weight14 : tensor<?x4xf32>, tensor<?x4xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x4xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat14 = nn.reshape %r#14 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product14 = nn.mul %flat14, %weight15 : tensor<?x12xf32>, tensor<?x12xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x12xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat15 = nn.reshape %r#15 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product15 = nn.mul %flat15, %weight16 : tensor<?x12xf32>, tensor<?x12xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x12xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat16 = nn.reshape %r#16 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product16 = nn.mul %flat16, %weight17 : tensor<?x12xf32>, tensor<?x12xf32>
    %term16 = nn.reduce sum %product16 axes [1] keep : tensor<?x12xf32>
    %total16 = nn.add %total15, %term16 : tensor<?x1xf32>, tensor<?x1xf32>
    %product17 = nn.mul %r#17, %weight18 : tensor<?x12xf32>, tensor<?x12xf32>
    %term17 = nn.reduce sum %product17 axes [1] keep : tensor<?x12xf32>
    %total17 = nn.add %total16, %term17 : tensor<?x1xf32>, tensor<?x1xf32>
    %product18 = nn.mul %r#18, %weight19 : tensor<?x4xf32>, tensor<?x4xf32>
    %term18 = nn.reduce sum %product18 axes [1] keep : tensor<?x4xf32>
    %total18 = nn.add %total17, %term18 : tensor<?x1xf32>, tensor<?x1xf32>
    %product19 = nn.mul %r#19, %weight20 : tensor<?x4xf32>, tensor<?x4xf32>
    %term19 = nn.reduce sum %product19 axes [1] keep : tensor<?x4xf32>
    %total19 = nn.add %total18, %term19 : tensor<?x1xf32>, tensor<?x1xf32>
    %product20 = nn.mul %r#20, %weight21 : tensor<?x4xf32>, tensor<?x4xf32>
    %term20 = nn.reduce sum %product20 axes [1] keep : tensor<?x4xf32>
    %total20 = nn.add %total19, %term20 : tensor<?x1xf32>, tensor<?x1xf32>
    %product21 = nn.mul %r#21, %weight22 : tensor<?x4xf32>, tensor<?x4xf32>
    %term21 = nn.reduce sum %product21 axes [1] keep : tensor<?x4xf32>
    %total21 = nn.add %total20, %term21 : tensor<?x1xf32>, tensor<?x1xf32>
    %product22 = nn.mul %r#22, %weight23 : tensor<?x4xf32>, tensor<?x4xf32>
    %term22 = nn.reduce sum %product22 axes [1] keep : tensor<?x4xf32>
    %total22 = nn.add %total21, %term22 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat23 = nn.reshape %r#23 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product23 = nn.mul %flat23, %weight24 : tensor<?x12xf32>, tensor<?x12xf32>
    %term23 = nn.reduce sum %product23 axes [1] keep : tensor<?x12xf32>
    %total23 = nn.add %total22, %term23 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat24 = nn.reshape %r#24 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product24 = nn.mul %flat24, %weight25 : tensor<?x12xf32>, tensor<?x12xf32>
    %term24 = nn.reduce sum %product24 axes [1] keep : tensor<?x12xf32>
    %total24 = nn.add %total23, %term24 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat25 = nn.reshape %r#25 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product25 = nn.mul %flat25, %weight26 : tensor<?x12xf32>, tensor<?x12xf32>
    %term25 = nn.reduce sum %product25 axes [1] keep : tensor<?x12xf32>
    %total25 = nn.add %total24, %term25 : tensor<?x1xf32>, tensor<?x1xf32>
    %product26 = nn.mul %r#26, %weight27 : tensor<?x12xf32>, tensor<?x12xf32>
    %term26 = nn.reduce sum %product26 axes [1] keep : tensor<?x12xf32>
    %total26 = nn.add %total25, %term26 : tensor<?x1xf32>, tensor<?x1xf32>
    %product27 = nn.mul %r#27, %weight28 : tensor<?x4xf32>, tensor<?x4xf32>
    %term27 = nn.reduce sum %product27 axes [1] keep : tensor<?x4xf32>
    %total27 = nn.add %total26, %term27 : tensor<?x1xf32>, tensor<?x1xf32>
    %product28 = nn.mul %r#28, %weight29 : tensor<?x4xf32>, tensor<?x4xf32>
    %term28 = nn.reduce sum %product28 axes [1] keep : tensor<?x4xf32>
    %total28 = nn.add %total27, %term28 : tensor<?x1xf32>, tensor<?x1xf32>
    %product29 = nn.mul %r#29, %weight30 : tensor<?x4xf32>, tensor<?x4xf32>
    %term29 = nn.reduce sum %product29 axes [1] keep : tensor<?x4xf32>
    %total29 = nn.add %total28, %term29 : tensor<?x1xf32>, tensor<?x1xf32>
    %product30 = nn.mul %r#30, %weight31 : tensor<?x4xf32>, tensor<?x4xf32>
    %term30 = nn.reduce sum %product30 axes [1] keep : tensor<?x4xf32>
    %total30 = nn.add %total29, %term30 : tensor<?x1xf32>, tensor<?x1xf32>
    %product31 = nn.mul %r#31, %weight32 : tensor<?x4xf32>, tensor<?x4xf32>
    %term31 = nn.reduce sum %product31 axes [1] keep : tensor<?x4xf32>
    %total31 = nn.add %total30, %term31 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat32 = nn.reshape %r#32 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product32 = nn.mul %flat32, %weight33 : tensor<?x12xf32>, tensor<?x12xf32>
    %term32 = nn.reduce sum %product32 axes [1] keep : tensor<?x12xf32>
    %total32 = nn.add %total31, %term32 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat33 = nn.reshape %r#33 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product33 = nn.mul %flat33, %weight34 : tensor<?x12xf32>, tensor<?x12xf32>
    %term33 = nn.reduce sum %product33 axes [1] keep : tensor<?x12xf32>
    %total33 = nn.add %total32, %term33 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat34 = nn.reshape %r#34 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product34 = nn.mul %flat34, %weight35 : tensor<?x12xf32>, tensor<?x12xf32>
    %term34 = nn.reduce sum %product34 axes [1] keep : tensor<?x12xf32>
    %total34 = nn.add %total33, %term34 : tensor<?x1xf32>, tensor<?x1xf32>
    %product35 = nn.mul %r#35, %weight36 : tensor<?x12xf32>, tensor<?x12xf32>
    %term35 = nn.reduce sum %product35 axes [1] keep : tensor<?x12xf32>
    %total35 = nn.add %total34, %term35 : tensor<?x1xf32>, tensor<?x1xf32>
    %product36 = nn.mul %r#36, %weight37 : tensor<?x4xf32>, tensor<?x4xf32>
    %term36 = nn.reduce sum %product36 axes [1] keep : tensor<?x4xf32>
    %total36 = nn.add %total35, %term36 : tensor<?x1xf32>, tensor<?x1xf32>
    %product37 = nn.mul %r#37, %weight38 : tensor<?x4xf32>, tensor<?x4xf32>
    %term37 = nn.reduce sum %product37 axes [1] keep : tensor<?x4xf32>
    %total37 = nn.add %total36, %term37 : tensor<?x1xf32>, tensor<?x1xf32>
    %product38 = nn.mul %r#38, %weight39 : tensor<?x4xf32>, tensor<?x4xf32>
    %term38 = nn.reduce sum %product38 axes [1] keep : tensor<?x4xf32>
    %total38 = nn.add %total37, %term38 : tensor<?x1xf32>, tensor<?x1xf32>
    %product39 = nn.mul %r#39, %weight40 : tensor<?x4xf32>, tensor<?x4xf32>
    %term39 = nn.reduce sum %product39 axes [1] keep : tensor<?x4xf32>
    %total39 = nn.add %total38, %term39 : tensor<?x1xf32>, tensor<?x1xf32>
    %product40 = nn.mul %r#40, %weight41 : tensor<?x4xf32>, tensor<?x4xf32>
    %term40 = nn.reduce sum %product40 axes [1] keep : tensor<?x4xf32>
    %total40 = nn.add %total39, %term40 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat41 = nn.reshape %r#41 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product41 = nn.mul %flat41, %weight42 : tensor<?x12xf32>, tensor<?x12xf32>
    %term41 = nn.reduce sum %product41 axes [1] keep : tensor<?x12xf32>
    %total41 = nn.add %total40, %term41 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat42 = nn.reshape %r#42 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product42 = nn.mul %flat42, %weight43 : tensor<?x12xf32>, tensor<?x12xf32>
    %term42 = nn.reduce sum %product42 axes [1] keep : tensor<?x12xf32>
    %total42 = nn.add %total41, %term42 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat43 = nn.reshape %r#43 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product43 = nn.mul %flat43, %weight44 : tensor<?x12xf32>, tensor<?x12xf32>
    %term43 = nn.reduce sum %product43 axes [1] keep : tensor<?x12xf32>
    %total43 = nn.add %total42, %term43 : tensor<?x1xf32>, tensor<?x1xf32>
    %product44 = nn.mul %r#44, %weight45 : tensor<?x12xf32>, tensor<?x12xf32>
    %term44 = nn.reduce sum %product44 axes [1] keep : tensor<?x12xf32>
    %total44 = nn.add %total43, %term44 : tensor<?x1xf32>, tensor<?x1xf32>
    %product45 = nn.mul %r#45, %weight46 : tensor<?x4xf32>, tensor<?x4xf32>
    %term45 = nn.reduce sum %product45 axes [1] keep : tensor<?x4xf32>
    %total45 = nn.add %total44, %term45 : tensor<?x1xf32>, tensor<?x1xf32>
    %product46 = nn.mul %r#46, %weight47 : tensor<?x4xf32>, tensor<?x4xf32>
    %term46 = nn.reduce sum %product46 axes [1] keep : tensor<?x4xf32>
    %total46 = nn.add %total45, %term46 : tensor<?x1xf32>, tensor<?x1xf32>
    %product47 = nn.mul %r#47, %weight48 : tensor<?x4xf32>, tensor<?x4xf32>
    %term47 = nn.reduce sum %product47 axes [1] keep : tensor<?x4xf32>
    %total47 = nn.add %total46, %term47 : tensor<?x1xf32>, tensor<?x1xf32>
    %product48 = nn.mul %r#48, %weight49 : tensor<?x4xf32>, tensor<?x4xf32>
    %term48 = nn.reduce sum %product48 axes [1] keep : tensor<?x4xf32>
    %total48 = nn.add %total47, %term48 : tensor<?x1xf32>, tensor<?x1xf32>
    %product49 = nn.mul %r#49, %weight50 : tensor<?x4xf32>, tensor<?x4xf32>
    %term49 = nn.reduce sum %product49 axes [1] keep : tensor<?x4xf32>
    %total49 = nn.add %total48, %term49 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat50 = nn.reshape %r#50 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product50 = nn.mul %flat50, %weight51 : tensor<?x12xf32>, tensor<?x12xf32>
    %term50 = nn.reduce sum %product50 axes [1] keep : tensor<?x12xf32>
    %total50 = nn.add %total49, %term50 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat51 = nn.reshape %r#51 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product51 = nn.mul %flat51, %weight52 : tensor<?x12xf32>, tensor<?x12xf32>
    %term51 = nn.reduce sum %product51 axes [1] keep : tensor<?x12xf32>
    %total51 = nn.add %total50, %term51 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat52 = nn.reshape %r#52 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product52 = nn.mul %flat52, %weight53 : tensor<?x12xf32>, tensor<?x12xf32>
    %term52 = nn.reduce sum %product52 axes [1] keep : tensor<?x12xf32>
    %total52 = nn.add %total51, %term52 : tensor<?x1xf32>, tensor<?x1xf32>
    %product53 = nn.mul %r#53, %weight54 : tensor<?x12xf32>, tensor<?x12xf32>
    %term53 = nn.reduce sum %product53 axes [1] keep : tensor<?x12xf32>
    %total53 = nn.add %total52, %term53 : tensor<?x1xf32>, tensor<?x1xf32>
    %product54 = nn.mul %r#54, %weight55 : tensor<?x4xf32>, tensor<?x4xf32>
    %term54 = nn.reduce sum %product54 axes [1] keep : tensor<?x4xf32>
    %total54 = nn.add %total53, %term54 : tensor<?x1xf32>, tensor<?x1xf32>
    %product55 = nn.mul %r#55, %weight56 : tensor<?x4xf32>, tensor<?x4xf32>
    %term55 = nn.reduce sum %product55 axes [1] keep : tensor<?x4xf32>
    %total55 = nn.add %total54, %term55 : tensor<?x1xf32>, tensor<?x1xf32>
    %product56 = nn.mul %r#56, %weight57 : tensor<?x4xf32>, tensor<?x4xf32>
    %term56 = nn.reduce sum %product56 axes [1] keep : tensor<?x4xf32>
    %total56 = nn.add %total55, %term56 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total56 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x12xf32>, %x4_field: tensor<?x4xf32>, %x6_field: tensor<?x1xf32>, %x8_field: tensor<?x4xf32>, %x11_field: tensor<?x3xf32>, %weight1: tensor<?x4xf32>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x12xf32>, %weight7: tensor<?x12xf32>, %weight8: tensor<?x12xf32>, %weight9: tensor<?x12xf32>, %x26_field: tensor<?x12xf32>, %x29_field: tensor<?x4xf32>, %x31_field: tensor<?x1xf32>, %x33_field: tensor<?x4xf32>, %x36_field: tensor<?x3xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x4xf32>, %weight15: tensor<?x12xf32>, %weight16: tensor<?x12xf32>, %weight17: tensor<?x12xf32>, %weight18: tensor<?x12xf32>, %x51_field: tensor<?x12xf32>, %x54_field: tensor<?x4xf32>, %x56_field: tensor<?x1xf32>, %x58_field: tensor<?x4xf32>, %x61_field: tensor<?x3xf32>, %weight19: tensor<?x4xf32>, %weight20: tensor<?x4xf32>, %weight21: tensor<?x4xf32>, %weight22: tensor<?x4xf32>, %weight23: tensor<?x4xf32>, %weight24: tensor<?x12xf32>, %weight25: tensor<?x12xf32>, %weight26: tensor<?x12xf32>, %weight27: tensor<?x12xf32>, %x76_field: tensor<?x12xf32>, %x79_field: tensor<?x4xf32>, %x81_field: tensor<?x1xf32>, %x83_field: tensor<?x4xf32>, %x86_field: tensor<?x3xf32>, %weight28: tensor<?x4xf32>, %weight29: tensor<?x4xf32>, %weight30: tensor<?x4xf32>, %weight31: tensor<?x4xf32>, %weight32: tensor<?x4xf32>, %weight33: tensor<?x12xf32>, %weight34: tensor<?x12xf32>, %weight35: tensor<?x12xf32>, %weight36: tensor<?x12xf32>, %x101_field: tensor<?x12xf32>, %x104_field: tensor<?x4xf32>, %x106_field: tensor<?x1xf32>, %x108_field: tensor<?x4xf32>, %x111_field: tensor<?x3xf32>, %weight37: tensor<?x4xf32>, %weight38: tensor<?x4xf32>, %weight39: tensor<?x4xf32>, %weight40: tensor<?x4xf32>, %weight41: tensor<?x4xf32>, %weight42: tensor<?x12xf32>, %weight43: tensor<?x12xf32>, %weight44: tensor<?x12xf32>, %weight45: tensor<?x12xf32>, %x126_field: tensor<?x12xf32>, %x129_field: tensor<?x4xf32>, %x131_field: tensor<?x1xf32>, %x133_field: tensor<?x4xf32>, %x136_field: tensor<?x3xf32>, %weight46: tensor<?x4xf32>, %weight47: tensor<?x4xf32>, %weight48: tensor<?x4xf32>, %weight49: tensor<?x4xf32>, %weight50: tensor<?x4xf32>, %weight51: tensor<?x12xf32>, %weight52: tensor<?x12xf32>, %weight53: tensor<?x12xf32>, %weight54: tensor<?x12xf32>, %x151_field: tensor<?x4xf32>, %x153_field: tensor<?x1xf32>, %weight55: tensor<?x4xf32>, %weight56: tensor<?x4xf32>, %weight57: tensor<?x4xf32>):
    %r:57 = nn.call @compute(%x1_field, %x4_field, %x6_field, %x8_field, %x11_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %x26_field, %x29_field, %x31_field, %x33_field, %x36_field, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %weight16, %weight17, %weight18, %x51_field, %x54_field, %x56_field, %x58_field, %x61_field, %weight19, %weight20, %weight21, %weight22, %weight23, %weight24, %weight25, %weight26, %weight27, %x76_field, %x79_field, %x81_field, %x83_field, %x86_field, %weight28, %weight29, %weight30, %weight31, %weight32, %weight33, %weight34, %weight35, %weight36, %x101_field, %x104_field, %x106_field, %x108_field, %x111_field, %weight37, %weight38, %weight39, %weight40, %weight41, %weight42, %weight43, %weight44, %weight45, %x126_field, %x129_field, %x131_field, %x133_field, %x136_field, %weight46, %weight47, %weight48, %weight49, %weight50, %weight51, %weight52, %weight53, %weight54, %x151_field, %x153_field, %weight55, %weight56, %weight57) : (tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19, %r#20, %r#21, %r#22, %r#23, %r#24, %r#25, %r#26, %r#27, %r#28, %r#29, %r#30, %r#31, %r#32, %r#33, %r#34, %r#35, %r#36, %r#37, %r#38, %r#39, %r#40, %r#41, %r#42, %r#43, %r#44, %r#45, %r#46, %r#47, %r#48, %r#49, %r#50, %r#51, %r#52, %r#53, %r#54, %r#55, %r#56 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x3x4xf32>, tensor<?x12xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}
