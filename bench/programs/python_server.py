"""The echo server of the benches on the official Python SDK."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("bench")


@server.tool()
def echo(text: str = "") -> str:
    """Gives back a text."""
    return text


server.run()
