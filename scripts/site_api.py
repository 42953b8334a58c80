"""The pages of the API reference: what docs/site/api.toml names, with the signatures, types and docstrings of the stubs and modules of
python/flex, which griffe reads without importing them."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path

import griffe

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "site" / "api.toml"

# Types as signatures show them: aliases lose their underscore, and these their name. docs/site/types.md says what they are.
NAMES = {
    "_Operand": "ArrayLike",
    "_Nested": "NestedArrayLike",
    "_DType": "DTypeLike",
    "_Padding": "Padding",
    "SupportsIndex": "int",
    "EllipsisType": "Ellipsis",
    "builtins.": "",
    "_P.args": "Any",
    "_P.kwargs": "Any",
}
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
SPECIAL = re.compile(r"([*\[\]<>_|])")  # characters with a meaning in Markdown


def load() -> griffe.Module:
    package = griffe.load(
        "flex", search_paths=[ROOT / "python"], allow_inspection=False, resolve_aliases=True
    )
    assert isinstance(package, griffe.Module)
    return package


def within(package: griffe.Module, module: str) -> griffe.Module:
    path = module.removeprefix("flex").lstrip(".")
    return package[path] if path else package


def stub(module: griffe.Module) -> griffe.Module:
    """The stub alone of a module that has one: where griffe merges the two, overloads are lost."""
    path = Path(str(module.filepath)).with_suffix(".pyi")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return griffe.visit(module.path, filepath=path, code=text)


def exports(module: griffe.Module) -> list[str]:
    return [e if isinstance(e, str) else e.name for e in module.exports or []]


class Reference:
    def __init__(self) -> None:
        self.package = load()
        table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
        self.pages, self.about = table["page"], table["about"]
        for page in self.pages:
            names = page.get("names", "").split()
            page["names"] = names or exports(within(self.package, page["module"]))
        self.check()
        #: Every public name, in full, such as `flex.nn.softmax`.
        self.public = {f"{page['module']}.{name}" for page in self.pages for name in page["names"]}
        tensor = self.package["Tensor"]
        self.methods = {f"flex.Tensor.{name}" for name in tensor.members if name[0] != "_"}

    def check(self) -> None:
        """Stops at a public name that is on no page, on two, or that no module has."""
        for module in dict.fromkeys(page["module"] for page in self.pages):
            listed = Counter(
                n for page in self.pages if page["module"] == module for n in page["names"]
            )
            modules = {page["module"].rpartition(".")[2] for page in self.pages}
            public = {n for n in exports(within(self.package, module)) if n[0] != "_"} - modules
            if module != "flex":  # flex.fft.fft, whose module is called so too
                public |= set(exports(within(self.package, module))) - {"grad"}
            for names, what in (
                (public - listed.keys(), "on no page"),
                (listed.keys() - public, "not public"),
                ({n for n, times in listed.items() if times > 1}, "listed twice"),
            ):
                if names:
                    raise SystemExit(f"{TABLE.name}: {module}: {what}: {' '.join(sorted(names))}")

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for page in self.pages:
            (folder / f"{page['file']}.md").write_text(self.page(page), encoding="utf-8")
        types = TABLE.with_name("types.md").read_text(encoding="utf-8")
        (folder / "types.md").write_text(types + self.results(), encoding="utf-8")

    def page(self, page: dict) -> str:
        module, names = page["module"], page["names"]
        found = {name: self.objects(module, name) for name in names}
        lines = [f"# {page['title']}", "", page["text"], ""]
        if len(names) > 4:
            lines += ["| | |", "|---|---|"]
            for name in names:
                text = summary(self.documentation(name, found[name]))
                cell = self.linked(text, module, parameters(found[name]))
                cell = cell.replace("\n", " ").replace("|", "\\|")
                lines.append(f"| {{py:obj}}`{name} <{module}.{name}>` | {cell} |")
            lines.append("")
        for name in names:
            lines += self.entry(module, name, found[name])
        return "\n".join(lines) + "\n"

    def objects(self, module: str, name: str) -> list[griffe.Object]:
        """The definition; of overloaded functions all, of which griffe keeps only a list if a stub has no other."""
        owner = within(self.package, module)
        for place in (self.package["_flex"], owner, stub(owner)):
            if module in ("flex", place.path) and (overloads := place.overloads.get(name)):
                return list(overloads)
        found = owner[name]
        return [found.final_target if isinstance(found, griffe.Alias) else found]

    def entry(self, module: str, name: str, found: list[griffe.Object]) -> Iterator[str]:
        first, path = found[0], f"{module}.{name}"
        if isinstance(first, griffe.Class):
            yield from self.class_entry(module, path, first)
            return
        if isinstance(first, griffe.Attribute):
            yield f":::{{py:data}} {path}"
            if first.annotation:
                yield f":type: {typed(first.annotation)}"
            yield f"\n{self.body(name, found, module)}\n:::\n"
            return
        for k, function in enumerate(found):
            yield f":::{{py:function}} {path}{signature(function)}"
            yield from ([":no-index:"] if k else ["", self.body(name, found, module)])
            yield ":::\n"

    def class_entry(self, module: str, path: str, of: griffe.Class) -> Iterator[str]:
        kind = "exception" if is_exception(of) else "class"
        init = of.members.get("__init__") or of.members.get("__new__")
        head = ""
        if isinstance(init, griffe.Function) and (
            init.docstring or "Protocol" not in str(of.bases)
        ):
            head = signature(init, method=True, returns=False)
        yield f"::::{{py:{kind}}} {path}{head}"
        yield ""
        if of.bases:
            yield "Bases: " + ", ".join(f"{{py:obj}}`{typed(base)}`" for base in of.bases) + "\n"
        yield self.body(of.name, [of], module)
        mirrored = []
        for name, member in of.members.items():
            if name.startswith("_") or isinstance(member, griffe.Alias):
                continue
            if path == "flex.Tensor" and f"flex.{name}" in self.public:
                mirrored.append(name)
                continue
            yield from self.member(module, f"{path}.{name}", member)
        yield "::::\n"
        if mirrored:
            yield (
                "These functions are methods of `Tensor`, too, whose first argument is then the tensor, as in `x.sum(axis=0)`:\n\n"
                + ", ".join(f"{{py:obj}}`{name} <flex.{name}>`" for name in sorted(mirrored))
                + ".\n"
            )

    def member(self, module: str, path: str, member: griffe.Object) -> Iterator[str]:
        if isinstance(member, griffe.Function):
            for k, overload in enumerate(member.overloads or [member]):
                yield f":::{{py:method}} {path}{signature(overload, method=True)}"
                for kind in ("classmethod", "staticmethod"):
                    if kind in member.labels:
                        yield f":{kind}:"
                yield from ([":no-index:"] if k else ["", self.body("", [member], module)])
                yield ":::\n"
        elif isinstance(member, griffe.Attribute):
            yield f":::{{py:{'property' if 'property' in member.labels else 'attribute'}}} {path}"
            if member.annotation:
                yield f":type: {typed(member.annotation)}"
            yield "\n" + self.body("", [member], module) + "\n:::\n"

    def results(self) -> str:
        """The named tuples of functions with several results."""
        lines: list[str] = []
        for name, result in self.package["_results"].classes.items():
            fields = ", ".join(f"`{field}`" for field in result.attributes)
            lines += [f":::{{py:class}} {name}", "", self.body(name, [result], "flex")]
            lines += [f"\nFields: {fields}.\n:::\n"]
        return "\n".join(lines)

    def documentation(self, name: str, found: list[griffe.Object]) -> str:
        docstring = found[0].docstring
        return docstring.value if docstring else self.about.get(name, "")

    def body(self, name: str, found: list[griffe.Object], module: str) -> str:
        """The docstring as Markdown: examples are fenced, names that are public are links, parameters are bold."""
        names = parameters(found)
        parts = []
        for paragraph in re.split(r"\n\s*\n", self.documentation(name, found)):
            # an example may follow its paragraph without an empty line
            text, prompt, example = paragraph.partition(">>> ")
            if text.strip():
                parts.append(self.linked(text.strip("\n"), module, names))
            if prompt:
                parts.append(f"```pycon\n{prompt}{example.rstrip()}\n```")
        return "\n\n".join(parts)

    def linked(self, text: str, module: str, names: Set[str]) -> str:
        """Prose of a docstring, whose only markup is code, and whose parameters stand before a colon."""
        out, at = [], 0
        for code in CODE.finditer(text):
            target = None if code[2] in names else self.target(code[2], module)
            out.append(self.prose(text[at : code.start()], names))
            out.append(f"{{py:obj}}`{code[2]} <{target}>`" if target else code[0])
            at = code.end()
        return "".join([*out, self.prose(text[at:], names)])

    def prose(self, text: str, names: Set[str]) -> str:
        text = SPECIAL.sub(r"\\\1", text)
        words = "|".join(re.escape(SPECIAL.sub(r"\\\1", name)) for name in sorted(names))
        if words:
            several = rf"((?:{words})(?:(?:, | and )(?:{words}))*)"
            text = re.sub(rf"(^|[.;] |\n){several}: ", r"\1**\2**: ", text)
        return text

    def target(self, text: str, module: str = "flex") -> str | None:
        """The public name that code such as `flex.nn.softmax` or, in a module, `softmax` or `Tensor.view` means, if any."""
        name = text.removesuffix("(..)").removesuffix("()")
        if not re.fullmatch(r"[A-Za-z_][\w.]*", name) or name == "flex":
            return None
        for full in (name, f"{module}.{name}", f"flex.{name}"):
            if full in self.public or full in self.methods:
                return full
        return None


def parameters(found: list[griffe.Object]) -> set[str]:
    return {p.name for o in found if isinstance(o, griffe.Function) for p in o.parameters}


def summary(text: str) -> str:
    """The first sentence."""
    paragraph = text.split("\n\n")[0].split("\n>>>")[0]
    return re.split(r"(?<=[a-z)`\]\d])(?<!et al)[.:](?=\s|$)", paragraph, maxsplit=1)[0]


def is_exception(of: griffe.Class) -> bool:
    return any(re.search(r"(Error|Warning|Exception)$", str(base)) for base in of.bases)


def typed(annotation: object) -> str:
    """A type as it is shown."""
    text = re.sub(r"\s+", " ", str(annotation))
    for name, shown in NAMES.items():
        text = re.sub(
            rf"(?<!\w){re.escape(name)}(?!\w)" if name[-1] != "." else re.escape(name), shown, text
        )
    text = re.sub(r"(?<![\w.])_(?=[A-Z])", "", text)
    return re.sub(r"(?<![\w.])(Tensor|DType|QTensor|Generator|Stream)(?!\w)", home, text)


def home(name: re.Match[str]) -> str:
    module = {"QTensor": "flex.quant.", "Generator": "flex.random."}.get(name[0], "flex.")
    return module + name[0]


def signature(function: griffe.Function, method: bool = False, returns: bool = True) -> str:
    """The parameters and the result, with their types."""
    kinds = griffe.ParameterKind
    found = list(function.parameters)
    if method and found and "staticmethod" not in function.labels:
        found = found[1:]
    parts: list[str] = []
    keyword_only = False
    for k, p in enumerate(found):
        star = {kinds.var_positional: "*", kinds.var_keyword: "**"}.get(p.kind, "")
        keyword_only |= p.kind is kinds.var_positional
        if p.kind is kinds.keyword_only and not keyword_only:
            parts.append("*")
            keyword_only = True
        text = star + p.name
        if p.annotation is not None:
            text += f": {typed(p.annotation)}"
        if p.default is not None and not star:
            text += f" = {p.default}" if p.annotation is not None else f"={p.default}"
        parts.append(text)
        following = found[k + 1].kind if k + 1 < len(found) else None
        if p.kind is kinds.positional_only and following is not kinds.positional_only:
            parts.append("/")
    arrow = f" -> {typed(function.returns)}" if returns and function.returns is not None else ""
    return f"({', '.join(parts)}){arrow}"
