"""The kernel that runs the cells of a page, where it has to behave otherwise than nbval's."""

import ast
import queue
import time
from typing import Any

CELL_TIMEOUT = 600.0  # seconds, where the command line names none
LOOK_EVERY = 2.0  # seconds between two looks at whether the kernel still lives

# the processor time of a kernel: on one thread, its runtime on an idle core
SECONDS = "__import__('time').process_time()"


def adapt(kernel: Any) -> None:
    """Make an nbval kernel run cells as a notebook does, and notice when it has died."""

    def execute(source: str, allow_stdin: bool | None = None) -> str:
        # nbval runs cells with store_history=False: IPython then does not see a trailing ';'
        message_id: str = kernel.kc.execute(
            source, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
        )
        return message_id

    def wait(message_id: str, timeout: float | None = None) -> None:
        await_reply(kernel, message_id, timeout or CELL_TIMEOUT)

    kernel.execute_cell_input = execute
    kernel.await_reply = wait


def ask(kernel: Any, source: str = "", expression: str = "None") -> Any:
    """Run some code that is no cell, and return the value of an expression that is a literal.

    Raises ``RuntimeError`` where the code fails.
    """
    message = kernel.kc.execute(source, silent=True, user_expressions={"value": expression})
    reply = await_reply(kernel, message, CELL_TIMEOUT)
    if reply["status"] != "ok":
        raise RuntimeError(f"{source!r} failed: {reply.get('ename')}: {reply.get('evalue')}")
    return ast.literal_eval(reply["user_expressions"]["value"]["data"]["text/plain"])


def await_reply(kernel: Any, message_id: str, timeout: float) -> dict[str, Any]:
    """Wait for the kernel's reply to a cell, ``timeout`` seconds at most; return its content.

    nbval's own way waits out the whole time when the kernel has died; this one looks every two
    seconds. Raises ``RuntimeError`` for a dead kernel and ``queue.Empty`` when the time is over.
    """
    end = time.monotonic() + timeout
    while True:
        left = max(0.0, end - time.monotonic())
        try:
            message = kernel.get_message(stream="shell", timeout=min(LOOK_EVERY, left))
        except queue.Empty:
            if not kernel.is_alive():
                raise RuntimeError("the kernel died (killed, or out of memory?)") from None
            if time.monotonic() >= end:
                raise
            continue
        if message["parent_header"].get("msg_id") == message_id:
            content: dict[str, Any] = message["content"]
            return content
