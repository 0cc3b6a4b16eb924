"""The reference of the routes: a page rendered from the OpenAPI document, without any script."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from proce.server.routes.answers import ALWAYS, WORDS

router = APIRouter(include_in_schema=False)

_ENVIRONMENT = Environment(
    loader=PackageLoader("proce.server.routes"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@router.get("/docs")
async def reference(request: Request) -> Response:
    """Send the reference of the routes."""
    state = request.app.state
    if not hasattr(state, "reference"):  # rendered once
        state.reference = reference_page(request.app.openapi())
    text: str = state.reference
    return Response(text, media_type="text/html", headers={"cache-control": "no-cache"})


def reference_page(document: Mapping[str, Any]) -> str:
    """Return the HTML of an OpenAPI document."""
    models = document["components"]["schemas"]
    return _ENVIRONMENT.get_template("reference.html").render(
        record={
            "description": document["info"]["description"],
            "version": document["info"]["version"],
            "routes": list(_routes(document["paths"], models)),
            "errors": [{"status": status, "words": WORDS[status]} for status in ALWAYS],
            "models": [_model(name, models[name]) for name in sorted(models)],
        }
    )


def _routes(paths: Mapping[str, Any], models: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in paths.items():
        for method, route in methods.items():
            content = route.get("requestBody", {}).get("content", {})
            body = _model_name(content.get("application/json", {}).get("schema", {}))
            yield {
                "method": method.upper(),
                "path": path,
                "anchor": route["operationId"],
                "words": route.get("description", route["summary"]),
                "parameters": [_parameter(one) for one in route.get("parameters", [])],
                "body": body,
                "examples": [
                    json.dumps(example, indent=2, ensure_ascii=False)
                    for example in models.get(body or "", {}).get("examples", [])
                ],
                "answers": [
                    _answer(status, answer)
                    for status, answer in sorted(route["responses"].items())
                    if int(status) not in ALWAYS
                ],
            }


def _parameter(parameter: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": parameter["name"],
        "place": parameter["in"],
        "kind": _kind(parameter["schema"]),
        "words": parameter.get("description", ""),
    }


def _answer(status: str, answer: Mapping[str, Any]) -> dict[str, str | None]:
    content = answer.get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return {
        "status": status,
        "model": _model_name(schema),
        "kind": ", ".join(content),
        "words": answer["description"],
    }


def _model(name: str, model: Mapping[str, Any]) -> dict[str, Any]:
    needed = set(model.get("required", ()))
    fields = [
        {
            "name": field,
            "kind": _kind(schema),
            "model": _model_name(schema),
            "needed": field in needed,
            "words": schema.get("description", ""),
        }
        for field, schema in model.get("properties", {}).items()
    ]
    return {"name": name, "words": model.get("description", ""), "fields": fields}


def _model_name(schema: Mapping[str, Any]) -> str | None:
    """Return the model that a schema refers to, also as an item or as one of several."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    inside = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return next((name for part in inside if (name := _model_name(part))), None)


def _kind(schema: Mapping[str, Any]) -> str:
    """Return in words what a value may be."""
    if "$ref" in schema:
        return _model_name(schema) or ""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(part) for part in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    bounds = [
        f"{words} {schema[key]:g}"
        for key, words in {
            "minimum": "from",
            "exclusiveMinimum": "above",
            "maximum": "to",
            "maxLength": "of at most",
        }.items()
        if key in schema
    ]
    return " ".join([str(schema.get("type", "any value")), *bounds])
