"""Read and validate config files, and build the objects that they describe."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from disambig import registry
from disambig.errors import UserError, nearest_first
from disambig.formatting import on_one_line
from disambig.settings import get_settings

SECTION_KINDS = {
    "task": "tasks",
    "tokenisation": "tokenisations",
    "learner": "learners",
    "baseline": "learners",
    "judge": "judges",
}
"""Sections of a training config that name one entry each, with the kind of the entry."""
_TYPE_NAMES = {
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "str": 'a text in double quotes, such as "x"',
    "Sequence[str]": 'a list of texts, such as ["x", "y"]',
    "list[str]": 'a list of texts, such as ["x", "y"]',
    "dict": "a section of its own",
}
_NO_LISTS = re.compile(r"(?:tuple|set|frozenset)\b(?:\[(\w+))?")
"""Types of settings whose values cannot be written in a config, with the type of their elements."""
_TYPES_OF_KINDS = {
    "tasks": "Task",
    "extractors": "FeatureExtractor",
    "kernels": "Kernel",
    "learners": "Learner",
    "decoders": "Decoder",
    "judges": "DecisionRule",
    "measures": "Measure",
}
"""The type of a setting that takes an entry, by the kind of the entry."""
_CONFIGURED = frozenset((*_TYPES_OF_KINDS, "tokenisations"))
_ANY_SETTINGS = {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}
_ANY_ENTRY = re.compile(r"\b(?:Any|object)\b")
_WRONG_TYPE = re.compile(r"at (\S+): (.*) is not (.*)", re.DOTALL)
_SYNTAX: tuple[tuple[str, str], ...] = (  # messages of configparser and confection, in plain words
    (
        r"no section headers.*line: (\d+) '(.*?)(?:\\n)?'",
        "line {0}: {1!r} is not in a section; begin with [model]",
    ),
    (r"\[line +(\d+)\]: '(.*?)(?:\\n)?'", "line {0}: {1!r} is neither a [section] nor a setting = value"),
    (r"\[line +(\d+)\]: section '(.*)' already exists", "line {0}: the section [{1}] occurs twice"),
    (r"\[line +(\d+)\]: option '(.*)' in section '(.*)' already", "line {0}: {1} is set twice in [{2}]"),
    (r"section name is wrong\? (.+) Section '(.*)' is not defined", "write [{1}] in a line above [{0}]"),
    (
        r"config overrides (.+) not a section value that can be overridden",
        "an override is SECTION.SETTING of a section of the config, which {0} is not",
    ),
    (
        r"option '(.*)' in section '(.*)' contains an interpolation key '(.*?)'",
        "{0} in [{1}] refers to ${{{2}}}, and this config sets no {2}",
    ),
)


def syntax_problem(problem: Exception) -> str:
    """Return a message that says why a text is not a valid config."""
    if isinstance(problem, OSError):
        return (problem.strerror or str(problem)).lower()
    if isinstance(problem, UnicodeDecodeError):
        return f"not UTF-8: byte 0x{problem.object[problem.start]:02x} at offset {problem.start:,}"
    message = on_one_line(problem)
    for pattern, plain in _SYNTAX:
        if match := re.search(pattern, message):
            return plain.format(*match.groups()).replace(" -> ", ".")
    return message.removeprefix("Config validation error ")


def build_problem(problem: Exception, config: Mapping[str, Any]) -> str:
    """Return a message that names the invalid settings of a config."""
    errors = getattr(problem, "errors", None)
    if not isinstance(errors, list) or not errors:
        return on_one_line(problem)
    name = str(getattr(problem, "title", "")).partition("'")[2].rstrip("'")
    lines = []
    for error in errors:
        first, *others = map(str, error["loc"])
        setting = ".".join(others)
        section = next((path for path, section in _sections(config) if _entry_name(section) == name), first)
        match = _WRONG_TYPE.search(str(error["msg"]))
        if match is None:
            lines.append(f"[{section}] {setting}: {error['msg']}")
            continue
        inside = "" if match[1] == "root" else f" at {match[1]}"
        if setting.partition(".")[0] not in _section(config, section):
            lines.append(
                f"[{section}] {name} has the default {setting} = {match[2]}{inside}, which is not of its "
                f"type {_type_name(match[3])} (a mistake in the plugin: correct the type or the default)"
            )
            continue
        lines.append(f"{setting} in [{section}] is {match[2]}{inside}: give {_written(match[3])}")
    return "; ".join(lines)


def check_settings(
    config: Mapping[str, Any], factory_of: Callable[[str, str], Callable[..., Any]], path: str | Path
) -> None:
    """Raise an error for unknown settings and for missing required settings.

    `factory_of` returns the factory of an entry by its kind and registered name. Raises D005.
    """
    for name, section in _sections(config):
        kind, *others = (key for key in section if key.startswith("@"))
        if others:
            problem = f"[{name}] has {kind} and {others[0]}: each needs a section of its own"
            raise UserError("D005", path=path, problem=problem)
        settings = get_settings(factory_of(kind.removeprefix("@disambig_"), section[kind]))
        if {setting.kind for setting in settings.values()} & _ANY_SETTINGS:
            continue
        unknown = [key for key in section if not key.startswith("@") and key not in settings and key != "*"]
        required = [key for key, setting in settings.items() if setting.default is setting.empty]
        missing = [key for key in required if key not in section]
        if unknown:
            available = f"it has {nearest_first(unknown[0], settings)}" if settings else "it has none"
            problem = f"has no setting {unknown[0]!r}: {available}"
        elif missing and "*" not in section:
            problem = f"needs the setting {missing[0]!r}: write {missing[0]} = ... under it"
        elif wrong := next((key for key in settings if _is_wrong_entry(section.get(key), settings[key])), ""):
            written = _annotation(settings[wrong])
            kinds = [f"@disambig_{kind}" for kind, one in _TYPES_OF_KINDS.items() if one in written]
            wanted = " or ".join(kinds) or _written(_type_name(written))
            problem = f"has {wrong} = {_entry_name(section[wrong])}: give {wanted}"
        else:
            continue
        raise UserError("D005", path=path, problem=f"[{name}] {section[kind]} {problem}")


def _annotation(setting: Parameter) -> str:
    written = setting.annotation
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _is_wrong_entry(value: object, setting: Parameter) -> bool:
    """Return True for a section that names an entry of a kind that the setting does not take."""
    keys = [key for key in value if key.startswith("@")] if isinstance(value, Mapping) else []
    written = _annotation(setting)
    if not keys or setting.annotation is setting.empty or _ANY_ENTRY.search(written):
        return False
    wanted = _TYPES_OF_KINDS.get(keys[0].removeprefix("@disambig_"))
    return wanted is None or not re.search(rf"\b{wanted}\b", written)


def _check_texts(config: Mapping[str, Any], path: str | Path) -> None:
    """Raise D005 for texts in place of other values.

    confection reports other values of the wrong type, but takes ``"2"`` as a number and ``"ab"`` as a list.
    """
    for section, at in _sections(config):
        kind = next(key for key in at if key.startswith("@"))
        factory = registry.get(kind.removeprefix("@disambig_"), at[kind])
        for key, hint in _types_of_settings(factory).items():
            if (wrong := _unwanted_text(at.get(key), hint)) is not None:
                problem = f"{key} in [{section}] is {at[key]!r}: give {_written(_type_name(str(wrong)))}"
                raise UserError("D005", path=path, problem=problem)


def _types_of_settings(factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of the settings of an entry; none if a type is unknown here."""
    try:
        parameters = inspect.signature(factory, eval_str=True).parameters
    except (NameError, TypeError, ValueError, AttributeError, SyntaxError):
        return {}
    return {name: one.annotation for name, one in parameters.items() if one.annotation is not one.empty}


def _unwanted_text(value: object, hint: Any) -> Any:
    """Return the type that a value should have instead of a text, or whose elements should be no texts."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    lists = (list, Sequence)
    if isinstance(value, str):
        wrong = all(kind in (int, float, bool, *lists) or get_origin(kind) in lists for kind in kinds)
    else:
        elements = {get_args(kind) for kind in kinds if get_origin(kind) in lists}
        wrong = isinstance(value, list) and any(isinstance(one, str) for one in value)
        wrong = wrong and bool(elements) and elements <= {(int,), (float,), (bool,)}
    return hint if wrong and kinds else None


def check_sections(config: Mapping[str, Any], path: str | Path) -> None:
    """Raise an error if a section of a training config does not name the entry that it configures.

    Raises D661 for a section without a name or with a name of another kind, D662 if there are no extractors
    or if one has no section of its own.
    """
    for section, kind in SECTION_KINDS.items():
        if section in config:
            _check_section(section, kind, config[section], path)
    extractors = config.get("extractors", {})
    if (
        not isinstance(extractors, Mapping)
        or not extractors
        or any(key.startswith("@") for key in extractors)
    ):
        problem = "it names an extractor itself" if extractors else "it contains no extractor"
        raise UserError("D662", path=path, problem=problem)
    for name, section in extractors.items():
        _check_section(f"extractors.{name}", "extractors", section, path)


def _check_section(name: str, kind: str, section: Any, path: str | Path) -> None:
    keys = [key for key in section if key.startswith("@")] if isinstance(section, Mapping) else []
    wanted = f"@disambig_{kind}"
    if wanted in keys:
        return
    seen = f"it has {keys[0]}" if keys else "it names none"
    raise UserError("D661", path=path, section=name, seen=seen, wanted=wanted)


def _sections(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the sections that name an entry, with their dotted names."""
    for key, value in config.items():
        if isinstance(value, Mapping):
            name = f"{path}.{key}" if path else key
            if any(isinstance(inner, str) and inner.startswith("@") for inner in value):
                yield name, value
            yield from _sections(value, name)


def _entry_name(section: Mapping[str, Any]) -> str:
    return str(next((value for key, value in section.items() if key.startswith("@")), ""))


def _section(config: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """Return a section by its dotted name."""
    section = dict(_sections(config)).get(path)
    return config if section is None else section


def _type_name(kind: str) -> str:
    """Return the name of a type as an author writes it."""
    name = kind.strip().removeprefix("<class '").removesuffix("'>")
    return name.replace("collections.abc.", "").replace("typing.", "").removesuffix(" | None")


def _written(kind: str) -> str:
    """Return what to write in a config for a setting of a type."""
    name = _type_name(kind)
    if name.startswith("Literal["):
        return " or ".join(name.removeprefix("Literal[").removesuffix("]").split(", "))
    if match := _NO_LISTS.match(name):
        of = match[1] or "str"
        return f"{name}, which a config cannot hold (a mistake in the plugin: use Sequence[{of}])"
    if re.match(r"(dict|Mapping)\b", name):
        return _TYPE_NAMES["dict"]
    return _TYPE_NAMES.get(name, name)


_MAX_BYTES = 10_000_000
"""Maximum size of a config file."""


def read_config(path: str | Path, overrides: dict[str, Any] | None = None) -> dict[str, Any]:
    """Read a config file; `overrides` maps dotted names such as ``"learner.C"`` to values.

    Raises D005, with the file and the line.
    """
    from confection import Config

    source = Path(path)
    try:
        with open(source, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        text = "\n".join(data.decode("utf8").splitlines()) + "\n"
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError("D005", path=source, problem=syntax_problem(problem)) from problem
    if len(data) > _MAX_BYTES:
        raise UserError("D005", path=source, problem=f"it has more than {_MAX_BYTES:,} bytes")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            config = Config().from_str(text, overrides=overrides or {})
    except Exception as problem:  # confection raises its own errors and various ValueErrors
        raise UserError("D005", path=source, problem=syntax_problem(problem)) from problem
    for warning in caught:  # Python 3.13 also warns about text that is not a config
        warnings.warn(f"{source}: {warning.message}", stacklevel=2)
    return config


def write_config(config: dict[str, Any], path: str | Path) -> None:
    """Write a config as a file that `read_config` reads."""
    from confection import Config

    Path(path).write_text(Config(config).to_str(), encoding="utf8")


def resolve(config: dict[str, Any], *, source: str | Path = "config") -> dict[str, Any]:
    """Build every object that a config's sections ask for, nested sections first.

    Raises
    ------
    UserError
        D001 for an unknown name; D005 for wrong arguments; D007 for an entry that cannot be imported.
    """
    names = list(_entry_names(config, source))
    for kind, name in names:
        registry.get(kind, name)
    check_settings(config, registry.get, source)
    try:
        built = registry.confection_registry(names).resolve(config)
    except UserError:
        raise
    except (ValueError, TypeError, OSError) as problem:  # confection's own, or what a constructor refuses
        _check_texts(config, source)
        raise UserError("D005", path=source, problem=build_problem(problem, config)) from problem
    _check_texts(config, source)  # afterwards, since a constructor says more about its settings
    return built


def _entry_names(section: dict[str, Any], source: str | Path, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield kind and name of every entry that a config names; raise D005 for an invalid name."""
    for key, value in section.items():
        if key.startswith("@"):
            kind = key.removeprefix("@disambig_")
            if kind not in _CONFIGURED:
                kinds = [f"@disambig_{kind}" for kind in registry.KINDS if kind in _CONFIGURED]
                raise UserError("D001", kind="registry", name=key, names=nearest_first(key, kinds))
            if not isinstance(value, str):
                problem = f"[{path}] {key} is {value!r}: write the name of an entry in double quotes"
                raise UserError("D005", path=source, problem=problem)
            yield kind, value
        elif isinstance(value, dict):
            yield from _entry_names(value, source, f"{path}.{key}" if path else key)
