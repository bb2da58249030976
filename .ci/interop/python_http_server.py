"""A server of the official Python SDK at http://127.0.0.1:PORT/mcp: a tool, progress, a resource.

    python_http_server.py PORT
"""

import sys

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
except ImportError:  # before 2.0
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer

PORT = int(sys.argv[1])
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


if hasattr(server.settings, "port"):  # before 2.0
    server.settings.port = PORT
    server.run("streamable-http")
else:
    server.run("streamable-http", port=PORT)
