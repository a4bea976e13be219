"""The uvicorn server: its socket, and the limits of clients that are slow or silent."""

from __future__ import annotations

import re
import socket
import threading
import time
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TICK = 0.5  # seconds between looks at a connection
_MOST_HEAD_BYTES = 64 << 10  # of a request; the parser has no limit
_REQUEST = re.compile(rb"[A-Za-z]+ [^\s]+ HTTP/1\.[01]\r")
_UPGRADE = re.compile(rb"(\r\n)(upgrade[ \t]*:)", re.IGNORECASE)


class _LimitedProtocol(HttpToolsProtocol):
    """Closes connections that take too long to send the head of a request, or to receive a response."""

    head_timeout = write_timeout = 10.0

    def connection_made(self, transport: Any) -> None:
        """As in asyncio."""
        super().connection_made(transport)
        # asyncio does so only for sockets that were made with a protocol; else the body of an answer waits for the
        # client to acknowledge its head, which clients do after 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head_since: float | None = time.monotonic()
        self._write_since: float | None = None
        self._head = b""  # of a request, before all of it is there
        self._within = False  # a request, of which the head was there
        self._silent = 0  # bytes since the last one of a body: trailers, extensions of chunks, heads sent ahead
        self._has_body = False
        self._lost = False
        self.loop.call_later(_TICK, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """As in asyncio."""
        self._lost = True
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As in asyncio."""
        if self.transport.is_closing():
            return
        if not self._within:
            self._head = (self._head + data).lstrip(b"\r\n")
            line, ended, _ = self._head.partition(b"\n")
            if ended and not _REQUEST.fullmatch(line):
                self.send_400_response("Invalid HTTP request received.")
                return
            end = self._head.find(b"\r\n\r\n") + 4
            if max(end, len(self._head) if end < 4 else 0) > _MOST_HEAD_BYTES:
                self.send_400_response("The head of the request is too large.")
            elif end >= 4:
                # An offer of another protocol is declined by going on; the parser would take the body for that one.
                head, data, self._head = _UPGRADE.sub(rb"\1x-\2", self._head[:end]), self._head[end:], b""
                super().data_received(head)
        if self._within and data and not self.transport.is_closing():
            self._has_body = False
            super().data_received(data)
            self._silent = 0 if self._has_body or not self._within else self._silent + len(data)
            if self._silent > _MOST_HEAD_BYTES:
                self.send_400_response("The request has too much besides its body.")
        if not self._is_between():
            self._head_since = None
        elif self._head_since is None:
            self._head_since = time.monotonic()

    def on_message_begin(self) -> None:
        """As in uvicorn."""
        self._within = True
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """As in uvicorn."""
        self._has_body = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """As in uvicorn."""
        self._within = False
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        self.send_400_response("Only HTTP/1.1 is spoken here.")  # CONNECT, or an offer in a request that was sent ahead

    def on_response_complete(self) -> None:
        """As in uvicorn, which waits for the next request for its own time."""
        self._head_since = None
        super().on_response_complete()

    def _is_between(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self) -> None:
        if self._lost:
            return
        now = time.monotonic()
        if not self.transport.get_write_buffer_size():
            self._write_since = None
        elif self._write_since is None:
            self._write_since = now
        if self._write_since is not None and now - self._write_since > self.write_timeout:
            self.transport.abort()
        elif self._head_since is not None and self._is_between() and now - self._head_since > self.head_timeout:
            self.transport.close()
        self.loop.call_later(_TICK, self._look)


class HttpServer:
    """Serves an ASGI app in a thread; `start` and `stop` it.

    Args:
      app: the app.
      host: address to listen on.
      port: 0 for any free one; `port` is the one that was found.
      max_connections: how many there may be; further ones get status 503.
      read_timeout: seconds in which the head of a request must be there, and the next one of a connection (10 at most).
      write_timeout: seconds in which a client must have received what is sent.
      grace: seconds that requests under way have at the end.

    Raises OSError for an address or port that cannot be listened on.
    """

    def __init__(
        self, app: Any, host: str, port: int, *, max_connections: int, read_timeout: float, write_timeout: float,
        grace: float,
    ):  # fmt: skip
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family, backlog=2048)
        self.port: int = self._socket.getsockname()[1]
        limits = {"head_timeout": read_timeout, "write_timeout": write_timeout}
        self._server = uvicorn.Server(
            uvicorn.Config(
                app, http=type("Protocol", (_LimitedProtocol,), limits), ws="none", lifespan="off",
                log_level="warning", access_log=False, proxy_headers=False, limit_concurrency=max_connections,
                timeout_graceful_shutdown=max(1, int(grace)), timeout_keep_alive=max(1, min(10, int(read_timeout))),
            )
        )  # fmt: skip
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._grace = grace

    def start(self) -> None:
        """Returns when connections are accepted. Raises RuntimeError where the server cannot start."""
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
            if not self._thread.is_alive():
                raise RuntimeError("The REST server could not start")

    def stop(self) -> None:
        """Takes no more connections, and waits for the requests under way."""
        self._server.should_exit = True
        self._thread.join(self._grace + 2)

    def close(self) -> None:
        """Closes the socket of a server that was not started."""
        self._socket.close()
