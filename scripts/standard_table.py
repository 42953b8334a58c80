#!/usr/bin/env python3
"""Writes tests/python/reference/array_api.txt: the signatures and special cases of the array API standard, from the text of its stubs.

  standard_table.py DIRECTORY    the folder src/array_api_stubs/_2025_12 of a checkout of https://github.com/data-apis/array-api

Every sentence of a list of special cases becomes a row, or is printed and nothing is written: what is not understood is not left out.
"""

import ast
import re
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "tests/python/reference/array_api.txt"

HEAD = """\
# Signatures and special cases of the array API standard, version 2025.12. Written by scripts/standard_table.py from the stubs at
# https://github.com/data-apis/array-api, which are Copyright (c) 2020-2026 Consortium for Python Data API Standards contributors, under
# the MIT License: permission is granted, free of charge, to deal in them without restriction, provided that this notice is included.
#
# A signature: `def space.name(parameters)`. A special case: function, numbers (real or complex), conditions, result; separated by tabs.
# A condition is an operand and what it is, conditions are separated by semicolons. Real operands are x, x1, x2, min, max; complex ones
# have the parts a and b, of a second operand c and d. `as` gives the expression that the function must equal in all special cases; a
# condition that is a call, what must equal the result.
"""

FILES = {
    "": "creation_functions data_type_functions elementwise_functions indexing_functions linear_algebra_functions manipulation_functions "
    "searching_functions set_functions sorting_functions statistical_functions utility_functions",
    "linalg.": "linalg",
    "fft.": "fft",
    "info.": "info",
    "Tensor.": "array_object",
}

# What an operand is, as the sentences say it; the longest first.
IS = {
    "either +infinity or -infinity": "inf",
    "+infinity or -infinity": "inf",
    "either +0 or -0": "0",
    "either -0 or +0": "0",
    "either a finite number or NaN": "finite or nan",
    "a finite number or NaN": "finite or nan",
    "a nonzero finite number": "finite nonzero",
    "a positive finite number": "finite > 0",
    "a negative finite number": "finite < 0",
    "a finite number": "finite",
    "a nonzero number": "nonzero",
    "any value": "any",
    "already integer-valued": "integer",
    "not an integer value": "not integer",
    "an odd integer value": "odd",
    "not an odd integer value": "not odd",
    "not equal to 0": "nonzero",
    "not equal to 1": "not 1",
    "not NaN": "not nan",
    "greater than 0": "> 0",
    "greater than 1": "> 1",
    "less than 0": "< 0",
    "less than 1": "< 1",
    "less than -1": "< -1",
    "NaN and the sign bit of NAME is 0": "+nan",
    "NaN and the sign bit of NAME is 1": "-nan",
    "+infinity": "+inf",
    "-infinity": "-inf",
    "+0": "+0",
    "-0": "-0",
    "+1": "1",
    "1": "1",
    "-1": "-1",
    "NaN": "nan",
    "-x1": "-x1",
}
# Sentences about two operands together.
TOGETHER = {
    "x1 and x2 have the same mathematical sign": "x1 x2 same sign",
    "x1 and x2 have different mathematical signs": "x1 x2 different signs",
    "x1 equals x2": "x1 x2 equal",
    "x1 does not equal x2": "x1 x2 unequal",
}
REMAINING = "In the remaining cases, the result is False"
# Sentences that are no special cases of elements.
ABOUT = (
    "In the remaining cases",
    "Underflow may only occur when",
    "If either min or max is an array having a different data type",
    "If both min and max are None",
    "If a broadcasted element in min is greater",
    "If x has an integral data type and",
    "For scalar min and/or max",
)


def plain(text: str) -> str:
    """The sentence without markup and remarks."""
    text = re.sub(r"\s+", " ", text.replace("`", "").replace("**", ""))
    text = re.sub(r" \((i\.e\.|note|including)[^)]*\)", "", text)
    text = text.replace(", including NaN", "").replace(
        "an implementation-dependent approximation to ", "~"
    )
    text = text.replace(", even if x1_i is NaN", "")
    return re.sub(r"\b(x1|x2|x|min|max)_i\b", r"\1", text).strip().rstrip(".")


def conditions(text: str) -> list[str] | None:
    """The conditions as the table has them: several rows for alternatives; None if they are not understood."""
    if m := re.fullmatch(
        r"(?:either )?((?:\w+, )*\w+,? or \w+) is NaN|(\w+) is NaN or (\w+) is NaN", text
    ):
        names = re.findall(r"\w+", (m[1] or "").replace(" or ", " ")) or [m[2], m[3]]
        return [f"{name} nan" for name in names]
    if m := re.fullmatch(r"((?:\w+, )+and \w+) are all NaN", text):
        return ["; ".join(f"{n} nan" for n in re.findall(r"\w+", m[1].replace("and ", "")))]
    both = re.fullmatch(r"(x1 and x2 have .* signs?)( and are both nonzero finite numbers)?", text)
    if both:
        finite = "; x1 finite nonzero; x2 finite nonzero" if both[2] else ""
        return [TOGETHER[both[1]] + finite]
    if m := re.fullmatch(r"two integers are equally close to (\w+)", text):
        return [f"{m[1]} half"]
    found = []
    for part in re.split(r",? and (?!the sign bit)|, (?!and)", text):
        if part in TOGETHER:
            found.append(TOGETHER[part])
            continue
        m = re.fullmatch(r"(abs\()?(\w+)\)? (?:is )?(.*)", part)
        what = IS.get(m[3].replace(m[2], "NAME", 1) if "bit of" in m[3] else m[3]) if m else None
        if what is None:
            return None
        found.append(f"{m[2]} {'abs ' if m[1] else ''}{what}")
    return ["; ".join(found)]


RESULTS = {
    "a signed infinity with the mathematical sign determined by the rule already stated above": "inf",
    "the even integer closest to x": "even",
    "equivalent to abs(x1)": "|x1|",
    "equivalent to abs(x2)": "|x2|",
    "equal to abs(a)": "|a|",
    "equal to abs(b)": "|b|",
    "NaN with a sign bit of 0": "+nan",
    "NaN with a sign bit of 1": "-nan",
    "NaN ± infinity j": "nan, ±inf",
    "infinity + NaN j": "±inf, nan",
    "infinity + 0j": "+inf, +0",
    "+infinity * cis(b)": "+inf * cis(b)",
    "+infinity * cis(b) - 1.0": "+inf * cis(b)",
    "+0 * cis(b)": "+0 * cis(b)",
    "+0 * cis(b) - 1.0": "-1, +0 * sin(b)",
}


def result(text: str) -> str | None:
    """The result as the table has it; None if it is not understood."""
    free = re.search(
        r" \(signs? of (?:the )?(real|imaginary) component is unspecified\)| \(signs of real and [^)]*\)",
        text,
    )
    text = text[: free.start()] if free else text
    if text in RESULTS:
        return RESULTS[text]

    def part(p: str) -> str:
        p = p.strip().replace("infinity", "inf").replace("NaN", "nan")
        p = re.sub(r"^(?!0|[+-±])(?=\d$|inf)", "+", p) if p != "0" else "+0"
        return re.sub(r"^\+(?=[1-9])", "", p)

    if m := re.fullmatch(r"(\S+) ([+±-]) (\S*?) ?j(/\d)?", text):
        imaginary = part(m[3] + (m[4] or ""))
        real, imaginary = part(m[1]), m[2].replace("+", "+") + imaginary.lstrip("+")
        if free and (free[1] == "real" or free[1] is None):
            real = "±" + real.lstrip("+-±")
        if free and (free[1] == "imaginary" or free[1] is None):
            imaginary = "±" + imaginary.lstrip("+-±")
        return f"{real}, {imaginary}".replace("+nan", "nan").replace("±nan", "nan")
    if re.fullmatch(r"~?[+-]?(\d?π(/\d)?)|[+-]?(0|1|infinity)|NaN|True|False|-?\|?x[12]?\|?", text):
        return part(text.lstrip("~")) if text not in ("True", "False") else text
    return None


def sentence(text: str) -> list[tuple[str, str]] | None:
    """The rows of a sentence: conditions and result."""
    text = plain(text)
    if text == REMAINING:
        return [("otherwise", "False")]
    if text.startswith(ABOUT):
        return []
    text = text.removeprefix("Similarly, ").removeprefix("If ").removeprefix("if ")
    m = re.fullmatch(
        r"(.*?), the (real |imaginary )?(?:component of the )?result (is|has) (.*)", text
    )
    if not m:
        return None
    when = conditions(m[1])
    if m[3] == "has":
        signs = {"a positive": "positive", "a negative": "negative"}
        what = signs.get(" ".join(m[4].split()[:2]))
    else:
        what = result(m[4])
        if m[2]:
            what = f"{m[2].strip()} {what}"
    return None if when is None or what is None else [(w, what) for w in when]


def cases(name: str, text: str) -> list[str]:
    """The rows of a docstring, and what is not understood, after a question mark."""
    found = re.search(r"\*\*Special [Cc]ases\*\*(.*)", text, re.S)
    rows = []
    kind, extra = "real", ""
    for line in (found[1] if found else "").split("\n"):
        line = line.strip()
        if (
            line.startswith("For complex")
            and "must be handled as if the operation is implemented as" in line
        ):
            rows.append(f"{name}\tcomplex\tas\t{re.search(r'``(.*)``', line)[1]}")
        elif line.startswith("For complex") and "change of base" in line:
            rows.append(f"{name}\tcomplex\tas\tlog(x) / log({name[3:]})")
        elif line.startswith("For floating-point operands, special cases must"):
            rows.append(f"{name}\tboth\tas\t{re.search(r'``(.*?)``', line)[1]}")
        elif line.startswith("For complex") and "independently (e.g." in line:
            kind = "real"  # the parts' equations follow
        elif line.startswith(("For complex", "When at least one of")):
            kind = "complex"
        elif line.startswith("For "):
            kind = "real"
            extra = "; x1 not nan" if "is not ``NaN``" in line else ""
        if re.match(r"-\s+(If|Similarly|In the|For|Underflow)", line):
            understood = sentence(line.lstrip("- "))
            if understood is None:
                rows.append(f"? {name}: {plain(line)}")
            else:
                rows += [
                    f"{name}\t{kind}\t{when}{'' if 'x1 nan' in when else extra}\t{what}"
                    for when, what in understood
                ]
    for left, right in re.findall(r"``([^`]*)`` must equal ((?:``[^`]*``(?:, (?:and )?)?)+)", text):
        kind = (
            "complex"
            if re.search("conj|real|imag", left)
            else "real"
            if name == "hypot"
            else "both"
        )
        each = re.findall(r"``(.*?)``", right)
        rows += [
            f"{name}\t{kind}\t{left}\t{other}".replace("z", "x").replace(")))", "))")
            for other in each
        ]
    return rows


def main() -> None:
    folder = Path(sys.argv[1])
    signatures, rows = [], []
    for space, files in FILES.items():
        for file in files.split():
            tree = ast.parse((folder / f"{file}.py").read_text(encoding="utf-8"))
            functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
            for f in functions:
                if f.name == "__init__" or any(
                    ast.unparse(d) == "property" for d in f.decorator_list
                ):
                    continue
                for a in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs, f.args.vararg):
                    if a is not None:
                        a.annotation = None
                signatures.append(f"def {space}{f.name}({ast.unparse(f.args)})")
                if file == "elementwise_functions":
                    rows += cases(f.name, ast.get_docstring(f) or "")
    unknown = [row for row in rows if row.startswith("?")]
    if unknown:
        sys.exit("not understood:\n" + "\n".join(unknown))
    TARGET.write_text(HEAD + "\n".join([*signatures, "", *rows]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
