"""A worker process, as the event loop sees it: messages come and go without anybody waiting."""

import asyncio
import os
import pickle
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol, cast

from proce.batch.processes.worker import death_words, handles_of
from proce.errors import WorkerError
from proce.server.workers.call import Call
from proce.server.workers.maker import Made, Maker
from proce.server.workers.serving import CALL, OUT_OF_MEMORY, STOP

_DYING_SECONDS = 1.0  # between the end of the link and the end of the process
_KILLED_SECONDS = 3.0  # until a process that was killed is gone
_SHORT, _LONG = struct.Struct("!i"), struct.Struct("!Q")
_MAX_SHORT = 0x7FFF_FFFF


class Listener(Protocol):
    """Who is told that a worker is there, what it says, and that its link has ended."""

    def met(self, worker: "Worker") -> None:
        """Take in a new worker, to which nothing was sent yet."""

    def heard(self, worker: "Worker", kind: str, number: int | None, content: Any) -> None:
        """Take in a message."""

    def lost(self, worker: "Worker") -> None:
        """Take in that no message will come any more."""


class Worker(asyncio.Protocol):
    """A process with its link, and the call that it has.

    Made by :func:`connect`.
    """

    def __init__(self, made: Made, link: socket.socket, maker: Maker, listener: Listener) -> None:
        self.made, self.link, self.maker, self.listener = made, link, maker, listener
        self.call: Call | None = None
        self.number = 0  # of the call
        self.is_ready = self.has_begun = self.is_killed = False
        self.verdict: Exception | None = None  # why it was ended by us
        self.opening_error: Exception | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ended = asyncio.Event()
        self._handles = handles_of(made.process)
        self._received = bytearray()
        for handle in self._handles:
            asyncio.get_running_loop().add_reader(handle, self._process_ended)

    @property
    def is_free(self) -> bool:
        """Whether it can be given a call."""
        return self.is_ready and self.call is None and not self.is_killed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.WriteTransport", transport)
        self.listener.met(self)

    def data_received(self, data: bytes) -> None:
        self._received += data
        for message in self._messages():
            try:
                kind, number, content = pickle.loads(message)  # noqa: S301 - from our own child
            except Exception as error:
                self.kill(WorkerError(f"the answer of a worker cannot be read: {error}"))
                return
            self.listener.heard(self, kind, number, content)

    def connection_lost(self, error: Exception | None) -> None:
        self.stop_timer()
        self.listener.lost(self)

    def open(self, opener: bytes) -> None:
        """Send the opener, which has to be the first message."""
        self._send_bytes(opener)

    def give(self, call: Call) -> None:
        """Send a call."""
        self.call, self.number, self.has_begun = call, self.number + 1, False
        self._send_bytes(pickle.dumps((CALL, self.number, call.question)))

    def stop(self) -> None:
        """Ask that the call be stopped."""
        self._send_bytes(pickle.dumps((STOP, self.number, None)))

    def release(self) -> Call | None:
        """Return the call, which the worker has no longer."""
        call, self.call = self.call, None
        self.stop_timer()
        return call

    def end_after(self, seconds: float, verdict: Exception | None) -> None:
        """Kill the process after a while, or earlier where that was ordered before."""
        loop = asyncio.get_running_loop()
        if self._timer is None or self._timer.when() > loop.time() + seconds:
            self.stop_timer()
            self._timer = loop.call_later(seconds, self.kill, verdict)

    def stop_timer(self) -> None:
        """Take back the order to kill the process after a while."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def kill(self, verdict: Exception | None = None) -> None:
        """End the process, whatever it does."""
        self.is_killed, self.verdict = True, self.verdict or verdict
        with suppress(ProcessLookupError):
            if self._handles:
                signal.pidfd_send_signal(self._handles[0], signal.SIGKILL)
            else:
                os.kill(self.made.process, signal.SIGKILL)

    async def death(self) -> str:
        """Return in words how the process ended, whose link has ended, and forget it."""
        await self._end_of_process(_DYING_SECONDS)
        self.kill()
        has_ended = await self._end_of_process(_KILLED_SECONDS)
        code = await self.maker.exit_code(self.made) if has_ended else None
        for handle in self._handles:
            asyncio.get_running_loop().remove_reader(handle)
            os.close(handle)
        self._handles = []
        return "it ran out of memory" if code == OUT_OF_MEMORY else death_words(code)

    async def _end_of_process(self, seconds: float) -> bool:
        """Wait until the process has ended, where the system tells; return whether it has."""
        if self._handles:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), seconds)
            return self._ended.is_set()
        return True

    def _process_ended(self) -> None:
        """End the link once what is in it is read; a child of the process may still hold it."""
        self._ended.set()
        asyncio.get_running_loop().remove_reader(self._handles[0])
        with suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)

    def _send_bytes(self, content: bytes) -> None:
        """Send a message as a ``multiprocessing`` connection would."""
        if self.transport.is_closing():
            return
        if len(content) <= _MAX_SHORT:
            self.transport.write(_SHORT.pack(len(content)))
        else:
            self.transport.write(_SHORT.pack(-1) + _LONG.pack(len(content)))
        self.transport.write(content)

    def _messages(self) -> Iterator[bytes]:
        """Yield the messages that are complete."""
        while len(self._received) >= _SHORT.size:
            start, (length,) = _SHORT.size, _SHORT.unpack_from(self._received)
            if length == -1:
                if len(self._received) < start + _LONG.size:
                    return
                (length,) = _LONG.unpack_from(self._received, start)
                start += _LONG.size
            if len(self._received) < start + length:
                return
            with memoryview(self._received) as view:
                message = bytes(view[start : start + length])
            del self._received[: start + length]
            yield message


async def connect(made: Made, maker: Maker, listener: Listener) -> None:
    """Have a listener meet a worker process, and hear what it says."""
    link = socket.socket(fileno=os.dup(made.link.fileno()))
    made.link.close()
    link.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.create_unix_connection(lambda: Worker(made, link, maker, listener), sock=link)
