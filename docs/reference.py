"""The reference, made of docstrings while the pages are built: a page for each public namespace.

Which names are public say the lists of tests/api. What has several names stands in full at one of them.
"""

import contextlib
import enum
import functools
import importlib.util
import inspect
import re
import textwrap
from collections import defaultdict
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTIONS = ("Args", "Arguments", "Attributes", "Returns", "Raises", "Yields")


@functools.cache
def names_module():
    spec = importlib.util.spec_from_file_location("names", ROOT / "tests" / "api" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def public():
    """What there is, by the name that programs use: that of 2.x, of 1.x, and of contrib.eager."""
    import tapeflow as tf

    everything = {}
    for version, prefix in [("tf2", "tf."), ("tf1", "tf.compat.v1.")]:
        for name in names_module().symbols(version):
            with contextlib.suppress(AttributeError, ImportError):
                everything[prefix + name] = names_module().found(version, name)
    for name in tf.contrib.eager.__all__:
        everything["tf.contrib.eager." + name] = getattr(tf.contrib.eager, name)
    return everything


def is_documented(value):
    return inspect.isclass(value) or callable(value)


@functools.cache
def homes():
    """The name under which each object stands in full, by identity."""

    def order(name):
        old = name.startswith(("tf.compat.", "tf.contrib.", "tf.keras.backend."))
        at_root = (
            name.count(".") == 1
        )  # where classes are looked for, but functions by their namespaces
        misplaced = at_root != inspect.isclass(public()[name])
        return (
            old,
            "experimental" in name,
            misplaced,
            not name.startswith("tf.keras."),
            name.count("."),
            name,
        )

    found = {}
    for name in sorted((n for n, value in public().items() if is_documented(value)), key=order):
        found.setdefault(id(public()[name]), name)
    return found


@functools.cache
def aliases():
    """All names of 2.x of each object, by identity."""
    found = defaultdict(list)
    for name, value in public().items():
        if not name.startswith(("tf.compat.", "tf.contrib.")):
            found[id(value)].append(name)
    return found


def page_of(namespace):
    return f"reference/{namespace}.md"


class Shown:
    """A default as it is shown: a function or a member of an enumeration by its name."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        if type(self.value) is object:
            return "..."
        value = getattr(self.value, "func", self.value)
        return (
            str(value) if isinstance(value, enum.Enum) else getattr(value, "__name__", repr(value))
        )


def signature(value):
    """The arguments with their defaults; messages of protocol buffers take their fields."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(**fields)" if hasattr(value, "DESCRIPTOR") else "(*args)"
    empty = inspect.Parameter.empty
    plain = [
        p.replace(annotation=empty, default=empty if p.default is empty else Shown(p.default))
        for p in found.parameters.values()
    ]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def prose(text):
    """Words with `code` in them, as HTML."""
    return re.sub(r"`+([^`]+)`+", r"<code>\1</code>", escape(text, quote=False))


def html(doc):
    """A docstring as HTML: paragraphs, code that is indented or begins with >>>, lists, sections such as Args."""
    out = []
    for block in re.split(r"\n\s*\n", doc.strip()):
        head, _, rest = block.partition("\n")
        if head in ("Returns:", "Yields:"):  # a sentence, which goes on without being indented further
            out.append(f"<p><strong>{head[:-1]}</strong></p><p>{prose(inspect.cleandoc(rest))}</p>")
        elif head.rstrip(":") in SECTIONS and head.endswith(":"):
            out.append(f"<p><strong>{head[:-1]}</strong></p>{terms(inspect.cleandoc(rest))}")
        elif block.startswith((" ", ">>>")):
            out.append(f"<pre><code>{escape(inspect.cleandoc(block))}</code></pre>")
        elif block.startswith(("- ", "* ")):
            items = re.split(r"\n[-*] ", block[2:])
            out.append("<ul>" + "".join(f"<li>{prose(item)}</li>" for item in items) + "</ul>")
        else:
            out.append(f"<p>{prose(block)}</p>")
    return "".join(out)


def terms(text):
    """Lines `name: what it is`, which may go on indented, as a list."""
    items = [
        re.sub(r"^([*\w, ]+):", r"<code>\1</code>:", prose(item))
        for item in re.split(r"\n(?=\S)", text)
    ]
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def members(cls):
    """The public methods and properties of a class, but not those of another public class that it inherits from."""
    found = {}
    for base in cls.__mro__:
        if base is not cls and (id(base) in homes() or not base.__module__.startswith("tapeflow")):
            continue
        for name, value in vars(base).items():
            if (
                not name.startswith("_")
                and name not in found
                and (callable(value) or isinstance(value, property | classmethod | staticmethod))
            ):
                found[name] = value
    return found


def first_sentence(value):
    doc = inspect.getdoc(value) or ""
    return prose(doc.partition("\n\n")[0])


def entry(name, value):
    """What is said of one name."""
    kind = "class " if inspect.isclass(value) else ""
    lines = [f"### {name.rpartition('.')[2]} {{#{name}}}", ""]
    others = [n for n in aliases()[id(value)] if n != name]
    call = textwrap.fill(
        f"{kind}{name}{signature(value)}", 84, subsequent_indent="    ", break_on_hyphens=False
    )
    lines += ["```py", call, "```", ""]
    body = html(inspect.getdoc(value) or "")
    if others:
        body += "<p>Also " + ", ".join(f"<code>{n}</code>" for n in others) + ".</p>"
    if inspect.isclass(value):
        rows = []
        for method, found in sorted(members(value).items()):
            inner = found.__func__ if isinstance(found, classmethod | staticmethod) else found
            call = "" if isinstance(found, property) else signature(inner)
            shown = method + re.sub(r"^\((self|cls)(, )?", "(", call)
            rows.append(f"<li><code>{escape(shown)}</code><br>{first_sentence(inner)}</li>")
        if rows:
            body += "<p><strong>Members</strong></p><ul>" + "".join(rows) + "</ul>"
    lines += [f"<div>{body}</div>", ""]
    return lines


def page(namespace, listed):
    import tapeflow as tf

    module = tf
    for part in namespace.split(".")[1:]:
        module = getattr(module, part)
    lines = [
        f"# {namespace}",
        "",
        inspect.getdoc(module) or "" if inspect.ismodule(module) else "",
        "",
    ]
    full = [n for n in listed if is_documented(public()[n]) and homes()[id(public()[n])] == n]
    elsewhere = [n for n in listed if is_documented(public()[n]) and n not in full]
    values = [n for n in listed if not is_documented(public()[n])]
    for title, chosen in [
        ("Classes", [n for n in full if inspect.isclass(public()[n])]),
        ("Functions", [n for n in full if not inspect.isclass(public()[n])]),
    ]:
        if chosen:
            lines += [f"## {title}", ""]
            for name in chosen:
                lines += entry(name, public()[name])
    if values:
        lines += ["## Values", "", *(f"- `{n}`" for n in values), ""]
    if elsewhere:
        lines += ["## Described elsewhere", "", "| here | there |", "| --- | --- |"]
        for name in elsewhere:
            home = homes()[id(public()[name])]
            lines.append(f"| `{name}` | [{home}]({home.rpartition('.')[0]}.md#{home}) |")
    return "\n".join(lines) + "\n"


@functools.cache
def namespaces():
    found = defaultdict(list)
    for name in sorted(public(), key=str.lower):
        found[name.rpartition(".")[0]].append(name)
    return dict(sorted(found.items()))


def index():
    lines = [
        "# Reference", "",
        "A page for each namespace, made of the docstrings. A name that has several homes is described at one of them.",
        "Signatures are those of TensorFlow 2.21.", "",
    ]  # fmt: skip
    for title, chosen in [
        ("2.x", [n for n in namespaces() if not n.startswith(("tf.compat", "tf.contrib"))]),
        ("1.x", [n for n in namespaces() if n.startswith(("tf.compat", "tf.contrib"))]),
    ]:
        lines += [f"## {title}", "", "| namespace | names |", "| --- | ---: |"]
        lines += [f"| [{n}]({n}.md) | {len(namespaces()[n])} |" for n in chosen]
        lines += [""]
    return "\n".join(lines)


def on_config(config):
    new = [n for n in namespaces() if not n.startswith(("tf.compat", "tf.contrib"))]
    old = [n for n in namespaces() if n not in new]
    for part in config["nav"]:
        if "Reference" in part:
            part["Reference"] = [
                {"All namespaces": "reference/index.md"},
                {"2.x": [{n: page_of(n)} for n in new]},
                {"1.x": [{n: page_of(n)} for n in old]},
            ]
    return config


def on_files(files, config):
    from mkdocs.structure.files import File

    files.append(File.generated(config, "reference/index.md", content=index()))
    for namespace, listed in namespaces().items():
        files.append(File.generated(config, page_of(namespace), content=page(namespace, listed)))
    return files
