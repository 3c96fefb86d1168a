// RUN: pdl-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{stores rows of 'f64' in bf16; rows that are stored in 16 bits are of f32 (C5)}}
nn.table @t : i64 -> tensor<4xf64> init(#nn.zeros) stored(bf16)

// -----

// The nearest f16 number to 65519 is 65504, the largest one.
nn.table @t : i64 -> tensor<4xf32> init(#nn.uniform<-65519.0, 65519.0>) stored(f16)

// -----

// expected-error @+1 {{which gives numbers beyond f16, in which its rows are stored (C5)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.uniform<0.0, 65520.0>) stored(f16)

// -----

// expected-error @+1 {{which gives numbers beyond bf16, in which its rows are stored (C5)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.constant<3.4e38>) stored(bf16)

// -----

// expected-error @+1 {{has rows stored in 'f8'; expected bf16 or f16}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) stored(f8)

// -----

// expected-error @+1 {{admits or shrinks, and is in no group, so that nothing trains it; give it one, or leave that out (C6)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) admit(count = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a count of 0; expected 1 to 16383 (C6)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a count of 16384; expected 1 to 16383 (C6)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 16384)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a probability of 1.5}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 1.5)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has more than one of a count, a probability and a score; expected one of them}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 0.5, count = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has 'often'}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(often = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has no name of a number here; expected count = ..., probability = ..., score = ...}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has a count that is too large; expected such as count = 10}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 9223372036854775808)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by a count of -9223372036854775808; expected 1 to 16383 (C6)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = -9223372036854775808)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admit has a count that is no whole number; expected such as count = 10}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 1.5)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+2 {{unexpected decimal integer literal for a floating point value}}
// expected-note @+1 {{add a trailing dot to make the literal a float}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 1)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{score has no name of a row slot here; expected such as show = 0.1, click = 0.9}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{shrink needs every = ..., the updates of a period, and unseen = ..., how many periods a row may go without update}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 2)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{shrinks every 0 updates; expected at least 1 (C7)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 0, unseen = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{takes rows that are unseen for 16385 periods; expected 1 to 16384 (C7)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 16385)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{multiplies scores by 2.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, decay = 2.0) score(show = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, decay = 0.5)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1) score(show = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{has a score whose weights are all 0, so that every key scores 0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 0.0, click = -0.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{score has 'show' twice}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 1.0, show = 2.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{admits keys by more than one of a count, a probability and a score; expected one of them (C6)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, admit_count = 4 : i64, admit_probability = 0.5 : f64} : () -> ()

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{has a score of no slots; name some, such as score(show = 0.1, click = 0.9) (C8)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, shrink_every = 1 : i64, shrink_unseen = 1 : i64, shrink_least = 0.5 : f64, score = {}} : () -> ()

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{admits keys by a score of 0.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 0.0) score(show = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least, or admits or widens by one}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 1.0)

// -----

nn.group @g rule(@click_adagrad) rate(0.1)
// expected-error @+1 {{admits keys by more than one of a count, a probability and a score; expected one of them (C6)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, admit_count = 4 : i64, admit_score = 0.5 : f64, score = {show = 1.0}} : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens from column 0 of 4; expected 1 to 3, so that weight and vector have columns (C9)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 0, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens from column 4 of 4; expected 1 to 3}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 4, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens by a score of 0.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 0.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens, and is in no group, so that nothing trains it; give it one, or leave `widen` out (C9)}}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{needs a score exactly if it shrinks with decay or least, or admits or widens by one}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens, and admits keys by probability: most vectors would stand without a weight; admit by count or score, or leave one of the two out (C9)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 0.5) score(show = 1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{vectors would come before weights; let it widen by at least what admits (C9)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 2.0) score(show = 1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens, and takes rows by a score with click = -1.0}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1, unseen = 1, least = 0.5) score(show = 1.0, click = -1.0) widen(from = 1, score = 1.0)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{which gives numbers beyond f16, in which its rows are stored (C5)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) stored(f16) score(show = 1.0) widen(from = 1, score = 1.0, init = #nn.constant<1.0e5>)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{has initial value 1 : i64; expected #nn.zeros}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 1.0, init = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widen needs from = ..., the first column of the vector, and score = ..., what a key scores before it has one}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widen has 'at'; expected from = ..., score = ..., init = ...}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(at = 1)

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{needs both widen_from and widen_score, or none, and widen_init only with them (C9)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, widen_from = 1 : i64} : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{needs both widen_from and widen_score, or none, and widen_init only with them (C9)}}
"nn.table"() {sym_name = "t", key = i64, row = tensor<4xf32>, group = @g, init = #nn.zeros, widen_init = #nn.zeros} : () -> ()

// -----

nn.group @g rule(@sgd) rate(0.1)
// expected-error @+1 {{widens to a vector that is called @t.vector, as another symbol is; rename that (C10)}}
nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.0) widen(from = 1, score = 1.0)
// expected-note @+1 {{the other one is here}}
nn.param @t.vector : tensor<4xf32> in @g init(#nn.zeros)

// -----

// expected-error @+1 {{has attribute 'nn.widens' with value "t", which is not the name of a table}}
nn.table @u : i64 -> tensor<4xf32> init(#nn.zeros) {nn.widens = "t"}
