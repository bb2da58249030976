#!/usr/bin/env node
// Connects a stdio client to a Streamable HTTP server.
//
//     node stdio_bridge.mjs URL
//
// Only for tests; the counterpart of http_bridge.mjs. The bridge does the work of the transport: the session, the
// headers, and streams that end too early. At the end of its input it aborts open requests and exits.

import { setTimeout as sleep } from 'node:timers/promises';

const [url] = process.argv.slice(2);
const RETRY = 1_000; // delay before a stream is resumed, if the server sets none
const NAMED = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };
const stop = new AbortController();
let session, revision, asked;

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

function headersOf({ method, params }) {
  const stateless = params?._meta?.['io.modelcontextprotocol/protocolVersion'];
  const name = params?.[NAMED[method]];
  return {
    ...(session && { 'Mcp-Session-Id': session }),
    ...((stateless ?? revision) && { 'MCP-Protocol-Version': stateless ?? revision }),
    ...(stateless && { 'Mcp-Method': method, ...(name !== undefined && { 'Mcp-Name': name }) }),
  };
}

// Forwards a message from the server. The answer to `initialize` contains the revision.
function hear(message) {
  if (asked !== undefined && message.id === asked) revision = message.result?.protocolVersion;
  say(message);
}

// Reads one stream of events. A stream that ends without its answer is resumed at the last event.
async function read(response, waitsFor) {
  let last, retry = RETRY, open = waitsFor !== undefined;
  for (;;) {
    let rest = '';
    try {
      for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
        const events = (rest + text).replaceAll('\r\n', '\n').split('\n\n');
        rest = events.pop();
        for (const event of events) {
          const of = (name) => [...event.matchAll(new RegExp(`^${name}: ?(.*)$`, 'gm'))].map(([, value]) => value);
          last = of('id').at(-1) ?? last;
          retry = Number(of('retry').at(-1) ?? retry);
          const data = of('data').join('\n');
          if (!data) continue;
          const message = JSON.parse(data);
          if (message.method === undefined && message.id === waitsFor) open = false;
          hear(message);
        }
      }
    } catch (error) {
      if (stop.signal.aborted) return;
      console.error(`bridge: a stream broke: ${error.message}`);
    }
    if (!open || last === undefined) return;
    await sleep(retry);
    response = await get({ 'Last-Event-ID': last });
    if (!response) return;
  }
}

async function get(headers) {
  const response = await fetch(url, {
    headers: { Accept: 'text/event-stream', ...headersOf({}), ...headers }, signal: stop.signal,
  });
  if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  await response.body?.cancel(); // a server may refuse the GET stream
}

async function post(message) {
  if (message.method === 'initialize') asked = message.id;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headersOf(message),
    },
    body: JSON.stringify(message),
    signal: stop.signal,
  });
  session = response.headers.get('mcp-session-id') ?? session;
  const kind = response.headers.get('content-type') ?? '';
  if (kind.startsWith('text/event-stream')) return { response, waitsFor: message.id };
  const text = await response.text();
  if (message.method !== undefined && message.id !== undefined) {
    const failed = { code: -32603, message: `HTTP ${response.status}` };
    hear(kind.startsWith('application/json') ? JSON.parse(text) : { jsonrpc: '2.0', id: message.id, error: failed });
  }
}

const open = new Set();
const keep = (work, what) => {
  const done = work.catch((error) => {
    if (!stop.signal.aborted) console.error(`bridge: ${what}: ${error.cause?.message ?? error.message}`);
  });
  open.add(done.finally(() => open.delete(done)));
  return done;
};

async function exchange(message) {
  const stream = await post(message);
  if (stream) await read(stream.response, stream.waitsFor);
  if (message.method === 'notifications/initialized') {
    keep(get({}).then((response) => response && read(response)), 'the stream of the server');
  }
}

// The handshake and notifications are sent in order; requests run concurrently.
let rest = '';
for await (const text of process.stdin.setEncoding('utf8')) {
  const lines = (rest + text).split('\n');
  rest = lines.pop();
  for (const line of lines.filter(Boolean)) {
    const message = JSON.parse(line);
    const exchanged = keep(exchange(message), message.method ?? 'a response');
    if (message.id === undefined || message.method === 'initialize') await exchanged;
  }
}
stop.abort();
await Promise.allSettled(open);
