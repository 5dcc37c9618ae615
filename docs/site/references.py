"""Directives of the site: the C reference, from the comments of a public header as doxygen reads them, and the help of the program.

    ```{c-group} matrices          a group of krylocl.h (@defgroup)
    ```{c-header} krylocl/io.h     all of a header
    ```{program-help} solve       the help of krylocl solve
"""
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

MARKS = re.compile(r"([\\`*_\[\]<>{}#|~&$])")  # what Markdown would read
PAGE = re.compile(r"docs/(\w+)\.md")


def read_headers(app):
    """Runs doxygen on the public headers: app.headers is the folder of its XML."""
    app.headers = Path(app.outdir).parent / "xml"
    app.headers.parent.mkdir(parents=True, exist_ok=True)
    settings = ["INPUT=include", "RECURSIVE=YES", "FILE_PATTERNS=*.h", f"OUTPUT_DIRECTORY={app.headers.parent}", "QUIET=YES", "WARNINGS=NO",
                "WARN_IF_UNDOCUMENTED=NO",
                "OPTIMIZE_OUTPUT_FOR_C=YES", "JAVADOC_AUTOBRIEF=YES", "GENERATE_HTML=NO", "GENERATE_LATEX=NO", "GENERATE_XML=YES"]
    try:
        subprocess.run(["doxygen", "-"], input="\n".join(settings), text=True, check=True, cwd=app.config.tree)
    except FileNotFoundError:
        raise ExtensionError("doxygen is not installed (apt-get install doxygen)") from None


def escape(text):
    return MARKS.sub(r"\\\1", re.sub(r"\s+", " ", text or ""))


def to_markdown(node):
    """The text of an element of doxygen's, in Markdown."""
    if node.tag == "ref" and not node.text.endswith(".h"):
        name = node.text.removesuffix("()")
        return f"{{c:{'func' if node.text.endswith('()') else 'type'}}}`{name}`"
    if node.tag == "computeroutput":
        return f"`{''.join(node.itertext())}`"
    if node.tag in ("preformatted", "verbatim"):
        return f"\n\n```c\n{''.join(node.itertext()).strip()}\n```\n\n"
    inner = escape(node.text)
    for child in node:
        inner += to_markdown(child) + escape(child.tail)
    if node.tag == "listitem":
        return "* " + inner.strip().replace("\n", "\n  ") + "\n"
    return f"\n\n{inner.strip()}\n\n" if node.tag in ("para", "itemizedlist") else inner


def describe(node):
    """The comment: doxygen takes its first sentence from it."""
    brief, rest = (PAGE.sub(r"{doc}`\1`", to_markdown(node.find(tag)).strip()) for tag in ("briefdescription", "detaileddescription"))
    return f"{brief}{chr(10) * 2 if rest[:1] in '*`' else ' '}{rest}\n\n"


def text_of(node, tag):
    return "".join(node.find(tag).itertext()) if node.find(tag) is not None else ""


def write_directive(kind, signature, body):
    """A directive of Sphinx's C domain; its fence is longer than those inside."""
    fence = "`" * (max([2, *map(len, re.findall(r"^`+", body, re.M))]) + 1)
    return f"{fence}{{c:{kind}}} {' '.join(signature.split())}\n\n{body.strip()}\n{fence}\n\n"


def write_member(m, opaque):
    """A function, type, macro, enumeration or field; "" where another member says the same."""
    kind, name, arguments = m.get("kind"), text_of(m, "name"), text_of(m, "argsstring")
    if kind == "enum":
        values = "".join(write_directive("enumerator", f"{text_of(v, 'name')} {text_of(v, 'initializer')}", describe(v))
                         for v in m.findall("enumvalue"))
        return write_directive("enum", name, describe(m) + values) if name[:1] != "@" else describe(m) + values
    if kind == "define":
        return write_directive("macro", name, describe(m))
    if kind == "typedef" and "(*" not in text_of(m, "type"):
        return write_directive("struct", name, describe(m)) if name in opaque else ""
    return write_directive({"function": "function", "variable": "member"}.get(kind, "type"),
                           f"{text_of(m, 'type')} {name}{arguments}", describe(m))


def list_field(m):
    return f"* `{text_of(m, 'type')} {text_of(m, 'name')}{text_of(m, 'argsstring')}`: {describe(m).strip()}\n"


class Headers(SphinxDirective):
    """The declarations of a compound of doxygen's, in the order of the header."""
    required_arguments = 1

    def read_compound(self, reference):
        return ElementTree.parse(self.env.app.headers / f"{reference}.xml").find("compounddef")

    def run(self):
        index = ElementTree.parse(self.env.app.headers / "index.xml").findall("compound")
        kind, name = self.choose()
        found = [c.get("refid") for c in index if (c.get("kind"), c.findtext("name")) == (kind, name)]
        if not found:
            raise self.error(f"no {kind} {name} in the public headers")
        for header in (*self.config.tree.glob("include/**/*.h"), __file__):
            self.env.note_dependency(str(header))
        handles = {m.findtext("name") for c in index if c.get("kind") == "group" for m in c.findall("member")}
        compound = self.read_compound(found[0])
        structs = [self.read_compound(s.get("refid")) for s in compound.findall("innerclass")]
        members = compound.findall("sectiondef/memberdef")
        complete = {text_of(s, "compoundname") for s in structs}
        opaque = {text_of(m, "name") for m in members if text_of(m, "type").startswith("struct")} - complete
        declarations = [(int(m.find("location").get("line")), write_member(m, opaque)) for m in members]
        for s in structs:
            name, fields = text_of(s, "compoundname"), s.findall("sectiondef/memberdef")
            if kind == "file" and name in handles:  # the entry of the index is that of krylocl.h, without fields
                text = f"`struct {name}`: {describe(s)}" + "".join(list_field(m) for m in fields)
            else:
                text = write_directive("struct", name, describe(s) + "".join(write_member(m, ()) for m in fields))
            declarations.append((int(s.find("location").get("line")), text))
        declarations.sort()
        return self.parse_text_to_nodes("".join(text for _, text in declarations))


class Group(Headers):
    def choose(self):
        return "group", self.arguments[0]


class Header(Headers):
    def choose(self):
        return "file", Path(self.arguments[0]).name


class Program(SphinxDirective):
    """The text of krylocl SUBCOMMAND --help."""
    required_arguments = 1

    def run(self):
        program = self.config.build / "krylocl"
        if not program.exists():
            raise self.error(f"{program} is not built")
        self.env.note_dependency(str(program))
        result = subprocess.run([program, self.arguments[0], "--help"], capture_output=True, text=True, check=True,
                                env={"COLUMNS": "88", "LC_ALL": "C.UTF-8"})
        return self.parse_text_to_nodes(f"````text\n{result.stdout}\n````\n")


def edit_docstring(app, what, name, obj, options, lines):
    """|b| in docstrings is a norm, not a substitution; docs/options.md is a page."""
    lines[:] = [PAGE.sub(r":doc:`\1`", line.replace("|", "\\|")) for line in lines]


def show_names(app, document, source):
    """A listing that begins ```LANGUAGE NAME has its name above it."""
    source[0] = re.sub(r"^```([a-z]+) ([\w./-]+)\n", r"```{code-block} \1\n:caption: \2\n\n", source[0], flags=re.M)


def setup(app):
    app.connect("source-read", show_names)
    app.connect("autodoc-process-docstring", edit_docstring)
    app.connect("builder-inited", read_headers)
    app.add_config_value("tree", None, "env")
    app.add_config_value("build", None, "env")
    app.add_directive("c-group", Group)
    app.add_directive("c-header", Header)
    app.add_directive("program-help", Program)
    return {"parallel_read_safe": True}
