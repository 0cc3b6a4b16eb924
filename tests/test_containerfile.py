"""The container file fits the project: no container engine is needed to see that."""

import json
import re
import tomllib
from pathlib import Path

import typer
from typer.core import TyperGroup

from proce.cli.main import app

ROOT = Path(__file__).parents[1]


def statements() -> list[tuple[str, str]]:
    """Return the instructions of the container file, each on one line."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    kept = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(kept))
    lines = [line for line in joined.splitlines() if line.strip()]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def of(name: str) -> list[str]:
    return [rest for found, rest in statements() if found == name]


def command() -> list[str]:
    (entry,), (words,) = of("ENTRYPOINT"), of("CMD")
    assert json.loads(entry) == ["proce"]
    return [str(word) for word in json.loads(words)]


def option(name: str) -> str:
    words = command()
    return words[words.index(name) + 1]


def test_the_command_is_one_that_proce_understands() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    name, *words = command()
    context = group.commands[name].make_context(name, words)
    assert context.params["folder"] == Path("/data/explainer")
    assert context.params["host"] == "0.0.0.0"
    assert context.params["token_file"] == Path("/run/secrets/proce-tokens")


def test_the_extras_that_are_installed_exist_and_are_pinned() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (install,) = [line for line in of("RUN") if "pip install" in line]
    extras = re.search(r"'\.\[(.*)\]'", install)
    assert extras is not None
    assert {"serve", "postgres"} <= {*extras.group(1).split(",")}
    assert {*extras.group(1).split(",")} <= settings["project"]["optional-dependencies"].keys()
    assert "-c constraints.txt" in install


def test_what_the_build_needs_is_copied_and_is_there() -> None:
    copied = [word for line in of("COPY") if "--from" not in line for word in line.split()[:-1]]
    assert all((ROOT / name).exists() for name in copied)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {settings["readme"], *settings["license-files"], "pyproject.toml"} <= {*copied}


def test_it_runs_on_a_python_that_the_project_takes() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    images = {line.split()[0] for line in of("FROM")}
    assert images == {"python:3.11-slim"}
    assert settings["requires-python"] == ">=3.11"


def test_it_runs_as_an_ordinary_user_from_the_first_command_on() -> None:
    names = [name for name, _ in statements()]
    (user,) = of("USER")
    number = int(user.split(":")[0])
    assert number >= 1000
    assert any(f"--uid {number}" in line for line in of("RUN"))
    assert not {"RUN", "COPY", "ADD"} & {*names[names.index("USER") :]}


def test_what_is_written_lies_in_a_volume_and_the_port_is_told() -> None:
    volumes = [Path(name) for name in json.loads(of("VOLUME")[0])]
    assert Path(option("--database")).parent in volumes
    assert any(Path(command()[1]).is_relative_to(volume) for volume in volumes)
    assert of("EXPOSE") == [option("--port")]


def test_health_is_asked_with_python_on_the_same_port() -> None:
    (check,) = of("HEALTHCHECK")
    program, flag, code = json.loads(check.partition("CMD ")[2])
    assert (program, flag) == ("python", "-c")
    compile(code, "health", "exec")
    assert f"127.0.0.1:{option('--port')}/health" in code


def test_no_secret_is_in_the_image() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8").lower()
    assert option("--token-file").startswith("/run/secrets/")
    assert not re.search(r"password|pgpassword|arg .*token", text)
