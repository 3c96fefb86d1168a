//===- gan.mlir - People made up by a generator and its critic -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generator computes the numbers of a person from noise and the person's
// income. A critic distinguishes them from numbers of the file. Each has a
// training program against the other, and the two programs alternate.
//
//===----------------------------------------------------------------------===//

!noise = tensor<?x8xf32>
!numbers = tensor<?x5xf32>
!income = tensor<?x1xf32>
!score = tensor<?x1xf32>
!hidden = tensor<?x64xf32>

module @gan {
  nn.record @person {
    // age, years of education, capital gain, capital loss, hours a week
    nn.field @numbers : !numbers columns([0, 4, 10, 11, 12])
    nn.field @income : !income values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }

  // RMSProp that keeps each value between -bound and bound. This limits the
  // slope of the critic.
  nn.rule @bounded_rmsprop hyper(rho = 0.9, epsilon = 1.0e-8, bound = 0.05) slots(mean_square = 0.0) once {
  ^bb0(%step: f64, %rate: f64, %rho: f64, %epsilon: f64, %bound: f64):
    %one = arith.constant 1.0 : f64
    %rest = arith.subf %one, %rho : f64
    nn.yield %rate, %rho, %rest, %epsilon, %bound : f64, f64, f64, f64, f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %mean_square: f32, %rate: f32, %rho: f32, %rest: f32, %epsilon: f32, %bound: f32):
    %square = arith.mulf %gradient, %gradient : f32
    %kept = arith.mulf %rho, %mean_square : f32
    %added = arith.mulf %rest, %square : f32
    %new_mean_square = arith.addf %kept, %added : f32
    %root = math.sqrt %new_mean_square : f32
    %divisor = arith.addf %root, %epsilon : f32
    %scaled = arith.mulf %rate, %gradient : f32
    %move = arith.divf %scaled, %divisor : f32
    %moved = arith.subf %value, %move : f32
    %below = arith.minimumf %moved, %bound : f32
    %least = arith.negf %bound : f32
    %new_value = arith.maximumf %below, %least : f32
    nn.yield %new_value, %new_mean_square : f32, f32
  }

  nn.group @critic rule(@bounded_rmsprop) rate(1.0e-3)
  nn.group @generator rule(@rmsprop) rate(1.0e-3)

  nn.param @critic_w1 : tensor<6x64xf32> in @critic init(#nn.xavier)
  nn.param @critic_b1 : tensor<64xf32> in @critic init(#nn.zeros)
  nn.param @critic_w2 : tensor<64x64xf32> in @critic init(#nn.xavier)
  nn.param @critic_b2 : tensor<64xf32> in @critic init(#nn.zeros)
  nn.param @critic_w3 : tensor<64x1xf32> in @critic init(#nn.xavier)
  nn.param @critic_b3 : tensor<1xf32> in @critic init(#nn.zeros)
  nn.param @generator_w1 : tensor<9x64xf32> in @generator init(#nn.xavier)
  nn.param @generator_b1 : tensor<64xf32> in @generator init(#nn.zeros)
  nn.param @generator_w2 : tensor<64x64xf32> in @generator init(#nn.xavier)
  nn.param @generator_b2 : tensor<64xf32> in @generator init(#nn.zeros)
  nn.param @generator_w3 : tensor<64x5xf32> in @generator init(#nn.xavier)
  nn.param @generator_b3 : tensor<5xf32> in @generator init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>

  // Returns the logarithms of numbers of people with these incomes. No number
  // is below 0. Each sample has its own noise, uniform between -1 and 1.
  nn.func private @generate(%income: !income) -> !numbers {
    %drawn = nn.sample 8 from -1024 below 1025 uniform : tensor<?x8xi64>
    %whole = nn.cast %drawn : (tensor<?x8xi64>) -> !noise
    %scale = nn.constant dense<9.765625e-4> : tensor<1xf32>
    %noise = nn.mul %whole, %scale : !noise, tensor<1xf32>
    %input = nn.concat %noise, %income axis 1 : !noise, !income
    %h1 = nn.linear %input, @generator_w1, @generator_b1 act(relu) : (tensor<?x9xf32>) -> !hidden
    %h2 = nn.linear %h1, @generator_w2, @generator_b2 act(relu) : (!hidden) -> !hidden
    %x = nn.linear %h2, @generator_w3, @generator_b3 : (!hidden) -> !numbers
    %deviation = nn.constant dense<[0.35, 0.27, 2.46, 1.59, 0.39]> : tensor<5xf32>
    %mean = nn.constant dense<[3.62, 2.37, 0.73, 0.35, 3.67]> : tensor<5xf32>
    %spread = nn.mul %x, %deviation : !numbers, tensor<5xf32>
    %moved = nn.add %spread, %mean : !numbers, tensor<5xf32>
    %tamed = nn.relu %moved : !numbers
    nn.return %tamed : !numbers
  }

  // Returns a score that is high for people of the file, and low for others.
  // The input is logarithms.
  nn.func private @judge(%tamed: !numbers, %income: !income) -> !score {
    %x = nn.standardize %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : !numbers
    %input = nn.concat %x, %income axis 1 : !numbers, !income
    %z1 = nn.linear %input, @critic_w1, @critic_b1 : (tensor<?x6xf32>) -> !hidden
    %h1 = nn.leaky_relu %z1 slope 0.2 : !hidden
    %z2 = nn.linear %h1, @critic_w2, @critic_b2 : (!hidden) -> !hidden
    %h2 = nn.leaky_relu %z2 slope 0.2 : !hidden
    %score = nn.linear %h2, @critic_w3, @critic_b3 : (!hidden) -> !score
    nn.return %score : !score
  }

  // Returns the scores of people of the file, and of generated people with the
  // same incomes.
  nn.func private @compare(%numbers: !numbers, %income: !income) -> (!score, !score) {
    %tamed = nn.signed_log1p %numbers : !numbers
    %made = nn.call @generate(%income) : (!income) -> !numbers
    %real_score = nn.call @judge(%tamed, %income) : (!numbers, !income) -> !score
    %made_score = nn.call @judge(%made, %income) : (!numbers, !income) -> !score
    nn.return %real_score, %made_score : !score, !score
  }

  nn.program @train_critic reads(@person) {
  ^bb0(%numbers: !numbers, %income: !income):
    %real_score, %made_score = nn.call @compare(%numbers, %income) : (!numbers, !income) -> (!score, !score)
    %l = nn.sub %made_score, %real_score : !score, !score
    nn.minimize %l over [@critic] : !score
  }

  nn.program @train_generator reads(@person except [@numbers]) {
  ^bb0(%income: !income):
    %made = nn.call @generate(%income) : (!income) -> !numbers
    %score = nn.call @judge(%made, %income) : (!numbers, !income) -> !score
    %l = nn.neg %score : !score
    nn.minimize %l over [@generator] : !score
  }

  nn.cycle @train [@train_critic * 5, @train_generator]

  // The quality of the critic as AUC; 0.5 is that of guessing.
  nn.program @evaluate frozen reads(@person) {
  ^bb0(%numbers: !numbers, %income: !income):
    %real_score, %made_score = nn.call @compare(%numbers, %income) : (!numbers, !income) -> (!score, !score)
    %real_p = nn.sigmoid %real_score : !score
    %made_p = nn.sigmoid %made_score : !score
    %one = nn.constant dense<1.0> : tensor<1xf32>
    %zero = nn.constant dense<0.0> : tensor<1xf32>
    %yes = nn.broadcast %one like %real_p : (tensor<1xf32>, !score) -> !score
    %no = nn.broadcast %zero like %made_p : (tensor<1xf32>, !score) -> !score
    nn.observe @auc(%real_p, %yes) : !score
    nn.observe @auc(%made_p, %no) : !score
  }

  // Generates a person for each income, in whole numbers, as in the file.
  nn.program @predict frozen reads(@person except [@numbers]) {
  ^bb0(%income: !income):
    %made = nn.call @generate(%income) : (!income) -> !numbers
    %above = nn.exp %made : !numbers
    // Subtracts the 1 of the logarithm, and rounds.
    %half = nn.constant dense<0.5> : tensor<1xf32>
    %raised = nn.sub %above, %half : !numbers, tensor<1xf32>
    %person = nn.floor %raised : !numbers
    nn.return %person as "person" : !numbers
  }
}
