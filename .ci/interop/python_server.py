"""A server of the official Python SDK: a tool, progress, a resource.

    python_server.py         on stdin and stdout
    python_server.py PORT    at http://127.0.0.1:PORT/mcp
"""

import sys

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
except ImportError:  # before 2.0
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("python")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and reports progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to)
    return "done"


@server.resource("file:///page")
def page() -> str:
    """A page."""
    return "a small page"


if len(sys.argv) < 2:
    server.run("stdio")
elif hasattr(server.settings, "port"):  # before 2.0
    server.settings.port = int(sys.argv[1])
    server.run("streamable-http")
else:
    server.run("streamable-http", port=int(sys.argv[1]))
