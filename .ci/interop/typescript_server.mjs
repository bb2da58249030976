// A server of the official TypeScript SDK 2.x at http://127.0.0.1:PORT/mcp, in both eras: a tool, progress, a resource.
//
//     node typescript_server.mjs PORT

import { createServer } from 'node:http';
import { Readable } from 'node:stream';

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';

function server() {
  const mcp = new McpServer({ name: 'typescript', version: '1.0.0' });
  const result = z.object({ result: z.number() });
  mcp.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: result }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
    structuredContent: { result: a + b },
  }));
  mcp.registerTool('count', { inputSchema: z.object({ to: z.number() }) }, async ({ to }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= to; progress += 1) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: to } });
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  mcp.registerResource('page', 'file:///page', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a small page' }] }));
  return mcp;
}

const handler = createMcpHandler(server);
createServer(async (request, response) => {
  const url = new URL(request.url, `http://${request.headers.host}`);
  if (url.pathname !== '/mcp') return response.writeHead(404).end();
  const hasBody = request.method === 'POST';
  const answer = await handler.fetch(new Request(url, {
    method: request.method,
    headers: request.headers,
    body: hasBody ? Readable.toWeb(request) : undefined,
    duplex: 'half',
  }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (!answer.body) return response.end();
  Readable.fromWeb(answer.body).on('error', () => response.destroy()).pipe(response);
}).listen(Number(process.argv[2]), '127.0.0.1');
