# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules, schedules and groups that are written in Python."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import parsed, pdl, with_fields

from pdl.scalars import (copysign, equal, maximum, minimum, narrow, power, select, sqrt,
                         wide)


class Rules(unittest.TestCase):

    def fingerprint(self, result, group):
        """Returns the fingerprint of a model with a parameter in the group."""
        w = result.param("w", (2, 1), group=group, init=pdl.init.zeros())

        @result.program
        def train(y, x):
            pdl.minimize(pdl.squared_error(pdl.linear(x, w), y), [group])

        text = parsed(result, "--pdl-pipeline=to=merged")
        return text[text.index("nn.fingerprint"):].split("\n  }\n")[0]

    def test_adam_and_warm_up(self):
        """Adam and warm-up that are written in Python equal those of the standard library."""
        standard = with_fields(y=1, x=2)
        group = standard.group("g", rule=pdl.rule("adam", beta1=0.8), rate=0.1,
                               schedule="warm_up")
        expected = self.fingerprint(standard, group)

        def once(step, rate, beta1, beta2, epsilon):
            one = 1.0
            rest1, rest2 = one - beta1, one - beta2
            power1, power2 = power(beta1, step), power(beta2, step)
            correction1 = one - power1
            correction2 = one - power2
            step_size = rate / correction1
            scale = one / sqrt(correction2)
            return step_size, scale, beta1, rest1, beta2, rest2, epsilon

        def each(value, gradient, m, v, step_size, scale, beta1, rest1, beta2, rest2, epsilon):
            kept_m = beta1 * m
            new_m = kept_m + rest1 * gradient
            square = gradient * gradient
            kept_v = beta2 * v
            new_v = kept_v + rest2 * square
            divisor = sqrt(new_v) * scale + epsilon
            return value - step_size * (new_m / divisor), new_m, new_v

        result = with_fields(y=1, x=2)
        adam = result.rule("adam", once=once, each=each, slots={"m": 0, "v": 0},
                           hyper={"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8})

        def warm_up(step, rate, steps):
            return rate * minimum(step / steps, 1)

        schedule = result.schedule("warm_up", warm_up, {"steps": 1000})
        group = result.group("g", rule=adam(beta1=0.8), rate=0.1, schedule=schedule)
        found = self.fingerprint(result, group)
        self.assertEqual(found, expected)

    def assert_is_standard(self, rule, **regions):
        """Checks that a rule written in Python equals that of the standard library."""
        standard, own = with_fields(y=1, x=2), with_fields(y=1, x=2)
        expected = self.fingerprint(standard, standard.group("g", rule=rule, rate=0.1))
        group = own.group("g", rule=own.rule(rule, **regions), rate=0.1)
        self.assertEqual(self.fingerprint(own, group), expected)

    def test_late_gradients(self):
        """A rule for delays that is written in Python equals that of the library."""
        standard = with_fields(y=1, x=2)
        group = standard.group("g", rule="sgd", rate=0.1, compensate="delay_compensation")
        expected = self.fingerprint(standard, group)

        def compensated(value, gradient, seen, strength):
            moved = value - seen
            square = gradient * gradient
            curvature = strength * square
            change = curvature * moved
            return gradient + change

        result = with_fields(y=1, x=2)
        own = result.rule("delay_compensation", of="delays", hyper={"strength": 0.04},
                          once=lambda step, rate, strength: strength,
                          each=compensated)
        group = result.group("g", rule="sgd", rate=0.1, compensate=own)
        self.assertEqual(self.fingerprint(result, group), expected)

    def test_norms(self):
        """The rule for rows equals that of the library. The rule for parameters differs only in
        one word."""
        def sum(value, gradient, velocity, rate, momentum, coefficient, weight_decay):
            wide_value = wide(value)
            value_square = wide_value * wide_value
            wide_gradient = wide(gradient)
            return value_square, wide_gradient * wide_gradient

        def ratio_of(width, values, gradients, rate, momentum, coefficient, weight_decay):
            value_norm, gradient_norm = sqrt(values), sqrt(gradients)
            wide_coefficient, wide_decay = wide(coefficient), wide(weight_decay)
            divisor = gradient_norm + wide_decay * value_norm
            quotient = wide_coefficient * value_norm / divisor
            no_value, no_gradient = equal(value_norm, 0), equal(gradient_norm, 0)
            ratio = select(no_gradient, 1, select(no_value, 1, quotient))
            return rate * narrow(ratio)

        def each(value, gradient, velocity, rate, momentum, coefficient, weight_decay, pace):
            change = pace * (gradient + weight_decay * value)
            new_velocity = momentum * velocity + change
            return value - new_velocity, new_velocity

        regions = {"sum": sum, "each": each, "slots": {"velocity": 0}, "hyper": {
            "momentum": 0.9, "coefficient": 1e-3, "weight_decay": 5e-4}}
        self.assert_is_standard("rowwise_lars", row=ratio_of, **regions)
        self.assert_is_standard("lars", param=ratio_of, **regions)
        model = pdl.Model("m")
        of_rows = model.rule("a", row=ratio_of, **regions).lines()
        of_parameters = model.rule("b", param=ratio_of, **regions).lines()
        self.assertIn("} param {", of_parameters)
        self.assertEqual(["} row {" if line == "} param {" else line
                          for line in of_parameters[1:]], of_rows[1:])

    def test_rules_of_rows(self):
        def sum(value, gradient, rate, epsilon):
            wide_gradient = wide(gradient)
            return wide_gradient * wide_gradient

        def row(width, squares, accumulator, rate, epsilon):
            new_accumulator = accumulator + narrow(squares / width)
            return new_accumulator, rate / (sqrt(new_accumulator) + epsilon)

        def each(value, gradient, rate, epsilon, pace):
            return value - pace * gradient

        self.assert_is_standard("rowwise_adagrad", sum=sum, row=row, each=each,
                                row_slots={"accumulator": 0}, hyper={"epsilon": 1e-8})

    def test_counts(self):
        """A rule with counts of shows and clicks equals that of the library."""
        def sum(value, gradient, rate, initial, bound, least):
            wide_gradient = wide(gradient)
            return wide_gradient * wide_gradient

        def row(width, squares, accumulator, show, click, shows, clicks, rate, initial, bound,
                least):
            scale = select(shows > 0, shows, 1)
            pace = rate * sqrt(initial / (initial + accumulator))
            wide_scale = wide(scale)
            mean = squares / (width * (wide_scale * wide_scale))
            return (accumulator + narrow(mean), show + shows, click + clicks, pace, scale)

        def each(value, gradient, rate, initial, bound, least, pace, scale):
            moved = value - pace * (gradient / scale)
            return maximum(minimum(moved, bound), least)

        def fingerprint(result, rule):
            record = result.only_record()
            record.ids("ids", 2)
            group = result.group("g", rule=rule, rate=0.1, untouched="lazy")
            rows = result.table("t", 3, group=group, init=pdl.init.zeros())

            @result.program
            def train(y, ids):
                pdl.count(rows, ids, show=1, click=y)
                z = pdl.reduce("sum", pdl.lookup(rows, ids, "sum"), [1, 2])
                pdl.minimize(pdl.squared_error(pdl.reshape(z, (None, 1)), y), [group])

            self.assertIn("nn.count @t[%ids] show(%1) click(%y) : tensor<?x2xi64>, "
                          "tensor<?x1xf32>", str(result))
            text = parsed(result, "--pdl-pipeline=to=merged")
            return text[text.index("nn.fingerprint"):].split("\n  }\n")[0]

        own = with_fields(y=1)
        rule = own.rule("click_adagrad", once=lambda step, rate, initial, bound:
                        (rate, initial, bound, -bound), sum=sum, row=row, each=each,
                        hyper={"initial": 3, "bound": 10},
                        row_slots={"accumulator": 0, "show": 0, "click": 0},
                        counts=("show", "click"), undivided=True)
        self.assertEqual(fingerprint(own, rule), fingerprint(with_fields(y=1), "click_adagrad"))

    def test_conditions(self):
        result = with_fields(y=1, x=2)

        def each(value, gradient, momentum, rate):
            step = select(abs(gradient) <= 0.5, gradient, copysign(0.5, gradient))
            moved = pdl.scalars.fma(-rate, step, value)
            return select(rate > 0, moved, value), momentum

        rule = result.rule("bounded", each=each, slots={"momentum": 0.25})
        text = "\n".join(rule.lines())
        self.assertEqual(text, RULE)
        group = result.group("g", rule=rule, rate=0.1)
        self.fingerprint(result, group)

    def test_errors(self):
        result = with_fields(x=2)
        cases = [
            (lambda: result.rule("a", each=lambda value: value),
             "`each` of rule @a takes 1 arguments; it has to take 3: value, gradient, rate"),
            (lambda: result.rule("g", of="average", each=lambda value, gradient, rate: value),
             "`of` of rule @g is 'average'; did you mean 'averages'?"),
            (lambda: result.rule("late", of="delays", slots={"m": 0},
                                 each=lambda v, g, seen, m, rate: (g, m)),
             "rule @late is of delays: it has no slots"),
            (lambda: result.rule("b", each=lambda value, gradient, rate: (value, rate)),
             "`each` of rule @b returns 2 values; it has to return 1"),
            (lambda: result.rule("c", each=lambda value, gradient, rate: power(value, 2)),
             "math.powf works in f64 only; compute it in `once`"),
            (lambda: result.rule("d", each=lambda value, gradient, rate:
                                 value if rate > 0 else gradient),
             "use pdl.scalars.select"),
            (lambda: result.rule("e", each=lambda value, gradient, rate: (rate > 0) + value),
             "which is a condition"),
            (lambda: result.rule("f", once=lambda step, rate: setattr(self, "kept", rate) or rate,
                                 each=lambda value, gradient, rate: value - self.kept),
             "let `once` return it"),
            (lambda: result.schedule("g", lambda step, rate: "fast"),
             "is of type str"),
            (lambda: result.rule("i", sum=lambda v, g, rate: g, row=lambda w, s, rate: rate,
                                 each=lambda v, g, rate, pace: v),
             "return takes f64 here and %g : f32 is not; pdl.scalars.wide makes it one"),
            (lambda: result.rule("j", sum=lambda v, g, rate: wide(g), param=lambda w, s, rate: s,
                                 each=lambda v, g, rate, pace: v),
             "return takes f32 here and %s : f64 is not; pdl.scalars.narrow makes it one"),
            (lambda: result.rule("k", sum=lambda v, g, rate: wide(g),
                                 each=lambda v, g, rate: v),
             "rule @k has `sum` alone"),
            (lambda: result.rule("l", param=lambda w, rate: rate, each=lambda v, g, rate: v),
             "rule @l has `param` alone"),
            (lambda: result.rule("m", sum=lambda v, g, rate: wide(g), row=lambda w, s, rate: rate,
                                 param=lambda w, s, rate: rate, each=lambda v, g, rate: v),
             "rule @m has `row` and `param`; give it one of them"),
            (lambda: result.rule("n", sum=lambda v, g, rate: wide(g),
                                 param=lambda w, s, rate: rate, row_slots={"n": 0},
                                 each=lambda v, g, rate, pace: v),
             "rule @n has row slots and no `row`"),
            (lambda: result.rule("o", sum=lambda v, g, rate: wide(g), row_slots={"n": 0, "m": 0},
                                 row=lambda w, s, n, m, rate: rate,
                                 each=lambda v, g, rate: v),
             "`row` of rule @o returns 1 values; it has to return at least 2"),
            (lambda: result.rule("p", counts=["show"], each=lambda v, g, rate: v),
             "rule @p has counts and no `row`, which is told of them"),
        ]
        for build, expected in cases:
            with self.assertRaises(pdl.ModelError) as caught:
                build()
            self.assertIn(expected, str(caught.exception))
        rule = result.rule("h", each=lambda value, gradient, rate: value - rate * gradient)
        with self.assertRaisesRegex(pdl.ModelError, "@h has no hyper-parameter 'scale'"):
            rule(scale=1.0)


RULE = """\
nn.rule @bounded hyper() slots(momentum = 0.25) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %momentum: f32, %rate: f32):
  %c = arith.constant 0.5 : f32
  %c_1 = arith.constant 0.0 : f32
  %0 = math.absf %gradient : f32
  %1 = arith.cmpf ole, %0, %c : f32
  %2 = math.copysign %c, %gradient : f32
  %step = arith.select %1, %gradient, %2 : f32
  %3 = arith.negf %rate : f32
  %moved = math.fma %3, %step, %value : f32
  %4 = arith.cmpf ogt, %rate, %c_1 : f32
  %5 = arith.select %4, %moved, %value : f32
  nn.yield %5, %momentum : f32, f32
}"""


if __name__ == "__main__":
    unittest.main()
