"""Breaks a module in phase `roles` in many ways; ps-verify-roles must see each.

Usage: mutate_roles.py PDL_OPT ROLES.mlir

Each mutation changes the text of one role. The module must then be refused, at
the line that the mutation names (that of the change, where it names none), with
a sentence that contains the given words.
"""

import re
import subprocess
import sys
import tempfile

TRAINER, PSERVER = "trainer", "pserver"


class Mutation:
    """Replaces `old` by `new`, once, in a role; a line that becomes empty goes."""

    def __init__(self, name, role, old, new, expected, at=None, at_role=None):
        self.name, self.role, self.old, self.new = name, role, old, new
        self.expected, self.at, self.at_role = expected, at, at_role or role


EXCHANGE = r'ps.message @train.exchange in "train" round sends \['
NORM = r'ps.message @train.norm in "train" round sends \['

MUTATIONS = [
    # Roles.
    Mutation("no role", PSERVER, r', ps.role = "pserver"', "",
             "says no role", at=r"module @pserver"),
    Mutation("two trainers", PSERVER, r'ps.role = "pserver"', 'ps.role = "trainer"',
             "is a second module of role trainer", at=r"module @pserver"),
    Mutation("other mode", PSERVER, r'ps.mode = "sync"', 'ps.mode = "async"',
             "and @trainer differ in ps.mode", at=r"module @pserver"),
    Mutation("other wire", PSERVER, r'ps.wire = "\w+"', 'ps.wire = "0123456789abcdef"',
             "and @trainer differ in ps.wire", at=r"module @pserver"),
    # Units: each owned once, alike on both sides.
    Mutation("parameter not cut", PSERVER, r".*ps.blocks @w .*\n", "",
             "@w is not cut into units, so that no server owns it", at=r"nn.param @w "),
    Mutation("table not cut", TRAINER, r".*ps.shards @emb .*\n", "",
             "@emb is not cut into units, so that no server owns it", at=r"nn.table @emb "),
    Mutation("parameter cut twice", PSERVER, r"(.*ps.blocks @scale .*\n)", r"\1\1",
             "cuts @scale a second time", at=r"(?s)ps.blocks @scale .*?\n\K"),
    Mutation("other blocks", PSERVER, r"rows \[0, 64, 128, 208\] costs \[512, 512, 640\]",
             "rows [0, 128, 208] costs [1024, 640]", "cuts @w in another way than @trainer does"),
    Mutation("other cost", TRAINER, r"count 1024 cost 40", "count 1024 cost 41",
             "cuts @emb in another way than @trainer does", at=r"ps.shards @emb", at_role=PSERVER),
    Mutation("gap between blocks", PSERVER, r"rows \[0, 64, 128, 208\]", "rows [0, 64, 128, 200]",
             "covers rows of @w other than 0 to 208"),
    Mutation("overlapping blocks", PSERVER, r"rows \[0, 64, 128, 208\]", "rows [0, 128, 64, 208]",
             "which holds none"),
    Mutation("half a unit", TRAINER, r"rows \[0, 64, 128, 208\]", "rows [0, 64, 100, 208]",
             "begins at row 100, which is no multiple of 64"),
    Mutation("no cost", TRAINER, r"costs \[512, 512, 640\]", "costs [512, 640]",
             "needs 3 costs"),
    # Layouts.
    Mutation("table of another width", PSERVER, r"nn.table @emb : i64 -> tensor<4xf32>",
             "nn.table @emb : i64 -> tensor<5xf32>", "expected", at=r"ps.channel @train.rows.emb"),
    Mutation("symbol of one role only", TRAINER, r"(.*)nn.metric @auc",
             r"\1nn.param @extra : tensor<2xf32> init(#nn.zeros)" + "\n" + r"\1nn.metric @auc",
             "@extra is not declared in @pserver"),
    Mutation("other initial values", PSERVER, r"init\(#nn.constant<1.0*e\+00>\)", "init(#nn.zeros)",
             "@scale is declared in another way in @pserver", at=r"nn.param @scale", at_role=TRAINER),
    Mutation("unknown keys in one role", TRAINER, r"(nn.table @emb .*)", r"\1 unknown(zero)",
             "@emb is declared in another way in @pserver", at=r"nn.table @emb"),
    Mutation("limit of a clip", PSERVER, r"global_norm\(1.0*e\+00\)", "global_norm(2.0)",
             "@joint is declared in another way in @pserver", at=r"nn.clip @joint", at_role=TRAINER),
    # Channels.
    Mutation("number of another channel", PSERVER, r"@train.gradient.w number 6",
             "@train.gradient.w number 5", "has number 6 in @trainer, but 5 in @pserver",
             at=r"ps.channel @train.gradient.w", at_role=TRAINER),
    Mutation("channel of one role only", PSERVER, r".*ps.channel @predict.value.scale .*\n", "",
             "is not a ps.channel", at=r"ps.message @predict.pull"),
    Mutation("channel for another symbol", PSERVER, r"value of @scale : tensor<8xf32>",
             "value of @w : tensor<208x1xf32>", "but 'tensor<208x1xf32>' in @pserver",
             at=r"ps.channel @train.value.scale", at_role=TRAINER),
    Mutation("channel of another type", TRAINER, r"gradient of @w : tensor<208x1xf32>",
             "gradient of @w : tensor<208xf32>", "carries 'tensor<208xf32>', expected"),
    Mutation("values to servers", TRAINER, EXCHANGE, r'ps.message @train.exchange in "train" round sends [@train.value.w, ',
             "sends @train.value.w, which goes to trainers"),
    # Messages: each channel travels once, in one order.
    Mutation("order of a message", PSERVER, EXCHANGE + "@train.row_gradient.emb, @train.gradient.w",
             'ps.message @train.exchange in "train" round sends [@train.gradient.w, @train.row_gradient.emb',
             "sends other channels, or in another order, than in @pserver",
             at=r"ps.message @train.exchange", at_role=TRAINER),
    Mutation("answer in another order", PSERVER, r"receives \[@train.value.scale, @train.value.w",
             "receives [@train.value.w, @train.value.scale",
             "receives other channels, or in another order, than in @pserver",
             at=r"ps.message @train.norm", at_role=TRAINER),
    Mutation("message of one role only", PSERVER, r".*ps.message @predict.pull .*\n", "",
             "@predict.pull is declared in @trainer, but not in @pserver",
             at=r"ps.message @predict.pull", at_role=TRAINER),
    Mutation("round in one role only", PSERVER, NORM, 'ps.message @train.norm in "train" sends [',
             "forms rounds in one role only", at=r"ps.message @train.norm", at_role=TRAINER),
    # Senders and receivers.
    Mutation("posted by nobody", TRAINER, r".*ps.post @train.norm.*\n", "",
             "carries results to servers, but nothing posts it", at=r"ps.message @train.norm"),
    Mutation("posted twice", TRAINER, r"(.*ps.post @train.norm.*\n)", r"\1\1",
             "posts message @train.norm a second time", at=r"(?s)ps.post @train.norm.*?\n\K"),
    Mutation("gradient without handler", PSERVER, r"(?s) *nn.update @w gradient.*?\n *\} : .*?\n", "",
             "brings gradients of @w, which no handler updates", at=r"ps.channel @train.gradient.w"),
    Mutation("partial norm that nobody forms", PSERVER, r".*ps.partial_norm .*@train.partial_norm.joint.w .*\n", "",
             "of kind partial_norm has no handler that uses it",
             at=r"ps.channel @train.partial_norm.joint.w"),
    # What handlers divide by, and what partials are of.
    Mutation("sum of losses as weight", PSERVER, r"nn.once @all weight\(%0#1\)",
             "nn.once @all weight(%0#0)", "divides by something else than the weight"),
    Mutation("norm as weight", PSERVER, r"nn.once @all weight\(%0#1\)",
             "nn.once @all weight(%4)", "divides by something else than the weight"),
    Mutation("weight as norm", PSERVER, r"nn.once @all weight\(%0#1\) norm\(%4\)",
             "nn.once @all weight(%0#1) norm(%0#1)",
             "clips by something else than the norm of @joint"),
    Mutation("partial norm of another gradient", PSERVER, r"ps.partial_norm %2 ",
             "ps.partial_norm %3 ", "answers for @w by a gradient of something else"),
    Mutation("partial norm without weight", PSERVER, r"ps.partial_norm %3 weight\(%0#1\)",
             "ps.partial_norm %3 weight(%0#0)", "divides by something else than the weight"),
    # Cycles of waits.
    Mutation("waits before it posts", TRAINER,
             r"( *ps.post @train.exchange.*\n)( *%\d+:5 = ps.wait @train.exchange.*\n)", r"\2\1",
             "before it is posted: it waits for ever", at=r"ps.wait @train.exchange"),
    Mutation("norm with the exchange", PSERVER, r"ps.handler @train.apply in \"train\" on @train.norm",
             'ps.handler @train.apply in "train" on @train.exchange',
             "uses a norm that message @train.exchange does not bring", at=r"ps.merged @train.norm.joint"),
    Mutation("partial norms behind the norm", PSERVER,
             r"ps.handler @train.norms in \"train\" on @train.exchange",
             'ps.handler @train.norms in "train" on @train.norm',
             "which the answer to @train.norm does not carry", at=r"ps.partial_norm .*joint.emb"),
    # Who writes what.
    Mutation("frozen parameter updated", PSERVER, r"nn.param @w : tensor<208x1xf32> in @all",
             "nn.param @w : tensor<208x1xf32>", "updates @w, which is in no group", at=r"nn.update @w"),
    Mutation("gradient of another symbol", PSERVER, r"nn.update @w gradient\(%(\d)\)",
             r"nn.update @w gradient(%3)", "by a gradient of @v", at=r"nn.update @w"),
    Mutation("updated twice", PSERVER, r"(?s)( *nn.update @w gradient.*?\n *\} : .*?\n)", r"\1\1",
             "updates @w a second time in a step", at=r"(?s)nn.update @w .*?\n *\} : .*?\n\s*\K"),
    Mutation("group in the trainer", TRAINER, r"( *)nn.metric @auc",
             r"\1nn.group @again rule(@sgd) rate(0.1)" + "\n" + r"\1nn.metric @auc",
             "belongs to servers, but stands in @trainer", at=r"nn.group @again"),
    Mutation("metric on servers", PSERVER, r"( *)nn.param @scale",
             r"\1nn.metric @auc : #nn.auc<buckets = 64>" + "\n" + r"\1nn.param @scale",
             "belongs to trainers, but stands in @pserver", at=r"nn.metric @auc"),
    Mutation("state read in the trainer", TRAINER, r"( *)%1 = nn.pool",
             r'\1%read = nn.read @scale {stage = "compute"} : tensor<8xf32>' + "\n" + r"\1%1 = nn.pool",
             "reads state that lives on servers", at=r"nn.read @scale"),
    Mutation("forward op on servers", PSERVER, r"( *)ps.partial_norm %2 ",
             r"\1%more = nn.relu %2 : tensor<208x1xf32>" + "\n" + r"\1ps.partial_norm %more ",
             "does not belong on a server", at=r"nn.relu"),
    Mutation("frozen program that sends", TRAINER, r"( *)(nn.return .*)",
             r"\1ps.post @predict.pull()" + "\n" + r"\1\2",
             "sends from a frozen program", at=r"ps.post @predict.pull"),
]


def place(text, role, pattern):
    """The number of the line where `pattern` matches in a role; behind `\\K`."""
    begin = text.index("module @" + role)
    end = text.find("\n  module @pserver", begin + 1) if role == TRAINER else len(text)
    prefix, _, rest = pattern.rpartition(r"\K")
    match = re.compile(prefix + rest).search(text, begin, end)
    if not match:
        return None
    position = match.end() if prefix else match.start()
    return text.count("\n", 0, position) + 1


def change(text, mutation):
    begin = text.index("module @" + mutation.role)
    end = text.find("\n  module @pserver", begin + 1) if mutation.role == TRAINER else len(text)
    part, count = re.subn(mutation.old, mutation.new, text[begin:end], count=1)
    if not count:
        return None, None
    # Where the texts part.
    first = next(i for i, (a, b) in enumerate(zip(part, text[begin:end] + "\0")) if a != b)
    return text[:begin] + part + text[end:], text.count("\n", 0, begin + first) + 1


def main():
    pdl_opt, path = sys.argv[1:]
    text = open(path).read()
    accepted = subprocess.run([pdl_opt, "--ps-verify-roles", path], capture_output=True, text=True)
    if accepted.returncode != 0:
        sys.exit("the module itself is refused:\n" + accepted.stderr)
    failures = 0
    for mutation in MUTATIONS:
        changed, line = change(text, mutation)
        if changed is None:
            print(f"FAIL {mutation.name}: nothing to change")
            failures += 1
            continue
        if mutation.at:
            line = place(changed, mutation.at_role, mutation.at)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(changed)
            file.flush()
            result = subprocess.run([pdl_opt, "--ps-verify-roles", file.name],
                                    capture_output=True, text=True)
        errors = re.findall(r":(\d+):\d+: error: (.*)", result.stderr)
        if result.returncode == 0 or not errors:
            print(f"FAIL {mutation.name}: accepted\n{result.stderr}")
            failures += 1
        elif mutation.expected not in errors[0][1] or int(errors[0][0]) != line:
            print(f"FAIL {mutation.name}: expected line {line}: ...{mutation.expected}...\n"
                  f"     got line {errors[0][0]}: {errors[0][1]}")
            failures += 1
    print(f"{len(MUTATIONS) - failures} of {len(MUTATIONS)} mutations refused as expected")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
