"""Hints for names and keywords that flex lacks: NumPy's and torch's, and misspelled ones.

Imported only once something has failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flex._hint_tables import (
    ABSENT,
    IN_PLACE,
    KEYWORDS,
    NAMES,
    OF_NN,
    OF_TENSOR,
    SEQUENCES,
    SEVERAL_AXES,
)

if TYPE_CHECKING:
    import inspect
    from types import ModuleType


def attribute(owner: object, name: str) -> str:
    """What to write instead of an attribute that `owner` lacks; empty if nothing is surely meant."""
    import flex

    if owner is flex.random and name[:1] != "_" and hasattr(flex.random.Generator, name):
        return f": write flex.random.default_rng(seed).{name}(...)"
    if owner is flex.nn and name in OF_NN:
        return f": write {OF_NN[name]}"
    if name in NAMES:
        return f": write {NAMES[name]}"
    if owner in (flex, flex._flex) and name in OF_TENSOR:
        return f": write x.{name}, of a tensor x"
    for space in (flex, flex.nn, flex.fft, flex.linalg, flex.random, flex.signal, flex.quant):
        if name in space.__all__ and not name.startswith("_"):
            return f": write {space.__name__}.{name}" + "(x, ...)" * callable(getattr(space, name))
    if name.endswith("_") and name[:-1] in IN_PLACE:
        return f": write x[...] = x.{name[:-1]}(...)"
    # the classes of torch.nn: LayerNorm, CrossEntropyLoss
    if owner is flex.nn and name[0].isupper():
        functions = {_plain(n): n for n in flex.nn.__all__ if callable(getattr(owner, n))}
        loss = _plain(name).replace("bce", "binarycrossentropy").removesuffix("loss")
        for same in (_plain(name), loss, _plain(name)[:-2] if name[-1] == "d" else ""):
            if same in functions:
                return f": write flex.nn.{functions[same]}(x, ...): flex.nn has functions, which take weights as arguments"
        return ""
    known = {*dir(owner), *getattr(owner, "__all__", ())}  # some are imported on first use
    close = _closest(name, sorted(n for n in known if not n.startswith("_")))
    return f": did you mean {close!r}?" if close else ""


def explain(
    error: BaseException,
    module: ModuleType,
    name: str,
    given: tuple[object, ...],
    names: tuple[str, ...] | None,
) -> None:
    """Rewrites the message of an error about the arguments `given` to a function of `module`, the last ones by the keywords `names`."""
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return
    message: str = error.args[0]
    values = dict(zip(names, given[len(given) - len(names) :], strict=True)) if names else {}
    positional = given[: len(given) - len(values)]
    bare = name.rpartition(".")[2]  # without "grad." and "quant.", as in their errors
    call, signature = _function(module, bare)
    if message.startswith(f"{bare}() "):  # PyO3 omits the module
        message = name + message.removeprefix(bare)
    argument = _argument(error)
    better = _misplaced(name, call, signature, positional)
    if better is None and isinstance(error, TypeError):
        better = _wrong_keyword(name, call, signature, message, values) or _wrong_call(
            name, signature, message
        )
    if better is None and not message.startswith(f"{name}: "):
        better = f"{name}: {argument}: {message}" if argument else f"{name}: {message}"
    if better is not None:
        error.args = (better,)


def _function(module: ModuleType, name: str) -> tuple[str, inspect.Signature]:
    """The qualified name of a function, and its signature."""
    import inspect

    path = module.__name__.removesuffix("._flex")
    return f"{path}.{name}", inspect.signature(getattr(module, name))


def _argument(error: BaseException) -> str | None:
    """The parameter that PyO3 named in a note of the error; the note is removed, since the message will name it."""
    notes: list[str] = getattr(error, "__notes__", [])
    start = "while processing '"
    for note in notes:
        if note.startswith(start):
            notes.remove(note)
            return note.removeprefix(start).removesuffix("'")
    return None


def _misplaced(
    name: str, call: str, signature: inspect.Signature, given: tuple[object, ...]
) -> str | None:
    """The hint if several arguments were passed instead of a sequence, or a list instead of several arguments."""
    parameters = list(signature.parameters.values())
    for place, parameter in enumerate(parameters[: len(given)]):
        rest = given[place:]
        if parameter.kind is parameter.VAR_POSITIONAL:
            if parameter.name == "arrays" and len(rest) == 1 and isinstance(rest[0], (list, tuple)):
                return f"{name}: pass the tensors one by one: {call}(x, y)"
            return None
        if (
            parameter.name == "arrays"
            and len(rest) > 1
            and _is_tensor(rest[0])
            and _is_tensor(rest[1])
        ):
            return f"{name}: pass the tensors as one list: {call}([x, y])"
        what = SEQUENCES.get(parameter.name)
        if what is None or (parameter.name == "axis" and name not in SEVERAL_AXES):
            continue
        numbers, last = (rest[:-1], f", {rest[-1]}") if name == "full" else (rest, "")
        if len(numbers) > 1 and all(type(i) is int for i in rest):
            before = "".join(f"{p.name}, " for p in parameters[:place])
            return f"{name}: {what} one argument: {call}({before}{numbers}{last})"
    return None


def _wrong_keyword(
    name: str, call: str, signature: inspect.Signature, message: str, values: dict[str, object]
) -> str | None:
    """The hint for a keyword that the function lacks."""
    unexpected = f"{name}() got an unexpected keyword argument '"
    if not message.startswith(unexpected):
        return None
    word = message.removeprefix(unexpected).removesuffix("'")
    known = signature.parameters
    for ours in (word, *KEYWORDS.get(word, ())):
        if ours in known:
            if known[ours].kind in (known[ours].POSITIONAL_ONLY, known[ours].VAR_POSITIONAL):
                return f"{message}: pass {ours} by position, as in {call}{signature}"
            return f"{message}: write {ours}={_shown(word, values.get(word))}"
    if word in ABSENT:
        return f"{message}: {ABSENT[word]}"
    close = _closest(word, list(known)) or _begun(word, list(known))
    return (
        f"{message}: did you mean {close}?"
        if close
        else f"{message}: the call is {call}{signature}"
    )


def _shown(word: str, value: object) -> str:
    """The value as written in a call."""
    if word == "unbiased":
        return "1" if value else "0"
    return (
        repr(value)
        if isinstance(value, (bool, int, float, str, tuple, list, type(None)))
        else "..."
    )


def _wrong_call(name: str, signature: inspect.Signature, message: str) -> str | None:
    """The signature, if there are too many arguments, too few, or keywords for positional-only ones."""
    return f"{message}: the call is {name}{signature}" if message.startswith(f"{name}() ") else None


def _is_tensor(x: object) -> bool:
    return hasattr(x, "dtype") and hasattr(x, "shape")


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()


def _closest(name: str, names: list[str]) -> str | None:
    """The one of the names that is surely meant: it differs in case, underscores, and a typing error, or two in a long name. Digits,
    the first letter and short names must be right, since another name is as likely as an error."""
    plain = _plain(name)

    def fixed(plain: str) -> list[str]:
        return [plain[:1], *filter(str.isdigit, plain)]

    found = [(_distance(plain, _plain(n)), n) for n in names if fixed(_plain(n)) == fixed(plain)]
    apart, best = min(found, default=(len(plain), ""))
    return best if apart <= (0 if len(plain) < 5 else 1 if len(plain) < 9 else 2) else None


def _begun(word: str, names: list[str]) -> str | None:
    """The one name that begins like the word, or has as few letters and differs in one of them."""
    if len(word) < 2:
        return None
    found = [n for n in names if n.startswith(word)]
    found = found or [n for n in names if len(n) < 5 and _distance(word, n) == 1]
    return found[0] if len(found) == 1 else None


def _distance(a: str, b: str) -> int:
    """How many letters to insert, leave out, change or swap with their neighbours to get from one to the other."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a):
        row = [i + 1]
        for j, y in enumerate(b):
            least = min(row[j] + 1, last[j + 1] + 1, last[j] + (x != y))
            if i and j and x == b[j - 1] and a[i - 1] == y:
                least = min(least, before[j - 1] + 1)
            row.append(least)
        before, last = last, row
    return last[-1]
