"""Breaks a module in phase `roles` in many ways. ps-verify-roles must report each.

Usage: mutate_roles.py PDL_OPT ROLES.mlir NAME

NAME selects a list of role_mutations.py. Each mutation changes the text of one role or of both. The
module must then be refused with a message that contains the given words, at the line that the
mutation names (otherwise, that of the first change).
"""

import re
import subprocess
import sys
import tempfile

from role_mutations import MODULES, TRAINER


def bounds(text, role):
    begin = text.index("module @" + role)
    end = text.find("\n  module @pserver", begin + 1) if role == TRAINER else len(text)
    return begin, end


def place(text, role, pattern):
    """Returns the number of the line where `pattern`, or its part after `\\K`, matches in a
    role."""
    before, split, rest = pattern.partition(r"\K")
    marked = f"{before}(?P<here>{rest})" if split else pattern
    match = re.compile(marked).search(text, *bounds(text, role))
    if not match:
        return None
    return text.count("\n", 0, match.start("here" if split else 0)) + 1


def change(text, mutation):
    """Returns the changed text and the line of the first change, or (None, None) if nothing
    matched."""
    line = None
    for role, old, new in mutation.changes:
        begin, end = bounds(text, role)
        part, count = re.subn(old, new, text[begin:end], count=1)
        if not count:
            return None, None
        # The first position where the texts differ.
        if line is None:
            first = next(i for i, (a, b) in enumerate(zip(part, text[begin:end] + "\0")) if a != b)
            line = text.count("\n", 0, begin + first) + 1
        text = text[:begin] + part + text[end:]
    return text, line


def verify(pdl_opt, path):
    return subprocess.run([pdl_opt, "--ps-verify-roles", path], capture_output=True, text=True)


def main():
    pdl_opt, path, name = sys.argv[1:]
    text = open(path).read()
    accepted = verify(pdl_opt, path)
    if accepted.returncode != 0:
        sys.exit("the module itself is refused:\n" + accepted.stderr)
    failures = 0
    for mutation in MODULES[name]:
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
            result = verify(pdl_opt, file.name)
        errors = re.findall(r":(\d+):\d+: error: (.*)", result.stderr)
        if result.returncode == 0 or not errors:
            print(f"FAIL {mutation.name}: accepted\n{result.stderr}")
            failures += 1
        elif mutation.expected not in errors[0][1] or int(errors[0][0]) != line:
            print(f"FAIL {mutation.name}: expected line {line}: ...{mutation.expected}...\n"
                  f"     got line {errors[0][0]}: {errors[0][1]}")
            failures += 1
    count = len(MODULES[name])
    print(f"{count - failures} of {count} mutations refused as expected")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
