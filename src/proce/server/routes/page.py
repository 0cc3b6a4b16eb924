"""The page: static files, sent with their types and an ETag."""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter, HTTPException, Request, Response

PAGE = files("proce.server") / "page"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "ico": "image/x-icon",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "woff2": "font/woff2",
}
_NOT_FOUND = 404
_NOT_MODIFIED = 304

router = APIRouter(include_in_schema=False)


@router.get("/")
async def first_view(request: Request) -> Response:
    """Send the page."""
    return send_file(request, "index.html")


@router.get("/page/{path:path}")
async def page_file(request: Request, path: str) -> Response:
    """Send a file of the page."""
    return send_file(request, path)


def send_file(request: Request, path: str) -> Response:
    """Return a file of the page, or 304 where the client has it as it is."""
    file = _find(path)
    suffix = path.rpartition(".")[2]
    if file is None or suffix not in _TYPES:
        raise HTTPException(_NOT_FOUND, "The page has no such file.")
    content = file.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=_NOT_MODIFIED, headers=headers)
    return Response(content, headers={**headers, "content-type": _TYPES[suffix]})


def _find(path: str) -> Traversable | None:
    """Return a file of the page by walking down from its folder, never up."""
    place: Traversable = PAGE
    for name in path.split("/"):
        if name in {"", ".", ".."} or "\0" in name or "\\" in name:
            return None
        place = place / name
    try:
        return place if place.is_file() else None
    except OSError:  # a name that no file system takes
        return None
