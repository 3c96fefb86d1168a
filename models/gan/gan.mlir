//===- gan.mlir - People made up by a generator and its critic -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generator makes numbers of people out of noise and their income; a critic tells
// them from those of the file. Each is trained against the other by a program of its
// own, and the two take turns.
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

  nn.group @critic rule(@adam {beta1 = 0.5}) rate(1.0e-3)
  nn.group @generator rule(@adam {beta1 = 0.5}) rate(1.0e-3)

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
  nn.metric @auc : #nn.auc<buckets = 4096>

  // Standardised logarithms, which is what the generator makes and the critic reads.
  nn.func private @standard(%numbers: !numbers) -> !numbers {
    %tamed = nn.signed_log1p %numbers : !numbers
    %x = nn.standardise %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : !numbers
    nn.return %x : !numbers
  }

  // Numbers of people of these incomes. Noise is uniform between -1 and 1, for each
  // sample its own.
  nn.func private @generate(%income: !income) -> !numbers {
    %drawn = nn.sample 8 from -1024 below 1025 uniform : tensor<?x8xi64>
    %whole = nn.cast %drawn : (tensor<?x8xi64>) -> !noise
    %scale = nn.constant dense<9.765625e-4> : tensor<1xf32>
    %noise = nn.mul %whole, %scale : (!noise, tensor<1xf32>) -> !noise
    %input = nn.concat %noise, %income axis 1 : (!noise, !income) -> tensor<?x9xf32>
    %h1 = nn.linear %input, @generator_w1, @generator_b1 act(relu) : (tensor<?x9xf32>) -> !hidden
    %h2 = nn.linear %h1, @generator_w2, @generator_b2 act(relu) : (!hidden) -> !hidden
    %made = nn.linear %h2, @generator_w3, @generator_b3 : (!hidden) -> !numbers
    nn.return %made : !numbers
  }

  // The logit of being of the file.
  nn.func private @judge(%x: !numbers, %income: !income) -> !score {
    %input = nn.concat %x, %income axis 1 : (!numbers, !income) -> tensor<?x6xf32>
    %z1 = nn.linear %input, @critic_w1, @critic_b1 : (tensor<?x6xf32>) -> !hidden
    %h1 = nn.leaky_relu %z1 slope 0.2 : !hidden
    %z2 = nn.linear %h1, @critic_w2, @critic_b2 : (!hidden) -> !hidden
    %h2 = nn.leaky_relu %z2 slope 0.2 : !hidden
    %score = nn.linear %h2, @critic_w3, @critic_b3 : (!hidden) -> !score
    nn.return %score : !score
  }

  // People of the file, and people of the same incomes that are made up.
  nn.func private @compare(%numbers: !numbers, %income: !income) -> (!score, !score) {
    %x = nn.call @standard(%numbers) : (!numbers) -> !numbers
    %made = nn.call @generate(%income) : (!income) -> !numbers
    %real_score = nn.call @judge(%x, %income) : (!numbers, !income) -> !score
    %made_score = nn.call @judge(%made, %income) : (!numbers, !income) -> !score
    nn.return %real_score, %made_score : !score, !score
  }

  // The log loss of both, with labels 1 and 0.
  nn.program @train_critic reads(@person) {
  ^bb0(%numbers: !numbers, %income: !income):
    %real_score, %made_score = nn.call @compare(%numbers, %income) : (!numbers, !income) -> (!score, !score)
    %unreal = nn.neg %real_score : !score
    %missed = nn.softplus %unreal : !score
    %fooled = nn.softplus %made_score : !score
    %l = nn.add %missed, %fooled : (!score, !score) -> !score
    nn.minimize %l over [@critic] : !score
  }

  // The log loss of what was made, with label 1.
  nn.program @train_generator reads(@person except [@numbers]) {
  ^bb0(%income: !income):
    %made = nn.call @generate(%income) : (!income) -> !numbers
    %score = nn.call @judge(%made, %income) : (!numbers, !income) -> !score
    %doubted = nn.neg %score : !score
    %l = nn.softplus %doubted : !score
    nn.minimize %l over [@generator] : !score
  }

  nn.cycle @train [@train_critic * 2, @train_generator]

  // How well the critic tells people of the file from others: 0.5 is not at all.
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

  // A person for each income, in the units of the file; none of the numbers is below 0.
  nn.program @predict frozen reads(@person except [@numbers]) {
  ^bb0(%income: !income):
    %made = nn.call @generate(%income) : (!income) -> !numbers
    %deviation = nn.constant dense<[0.35, 0.27, 2.46, 1.59, 0.39]> : tensor<5xf32>
    %mean = nn.constant dense<[3.62, 2.37, 0.73, 0.35, 3.67]> : tensor<5xf32>
    %scaled = nn.mul %made, %deviation : (!numbers, tensor<5xf32>) -> !numbers
    %moved = nn.add %scaled, %mean : (!numbers, tensor<5xf32>) -> !numbers
    %tamed = nn.relu %moved : !numbers
    %one = nn.constant dense<1.0> : tensor<1xf32>
    %grown = nn.exp %tamed : !numbers
    %person = nn.sub %grown, %one : (!numbers, tensor<1xf32>) -> !numbers
    nn.return %person as "person" : !numbers
  }
}
