#!/usr/bin/env node
// Serves a stdio server over Streamable HTTP, for tests that need HTTP.
//
//     node http_bridge.mjs [--port PORT] -- SERVER [ARGUMENT...]
//
// Prints `listening on http://127.0.0.1:PORT/mcp`; port 0, the default, takes any free port. Runs until SIGTERM.
// Only for tests: the bridge has no limits, resumes no streams, and listens on the loopback interface only.
//
// The bridge does the work of the transport, and the server answers everything else:
//
// - Up to 2025-11-25 each `initialize` starts a server process, and the session lasts as long as the process. While
//   requests are open, each message from the server goes to one of them: progress to the request with its token,
//   everything else to the newest. Otherwise the message goes to the GET stream, or waits for one.
// - From 2026-07-28 on all clients share one server process. Their request ids, progress tokens and subscription ids
//   are replaced by unique ones on the way in and put back on the way out. A client that closes a response stream
//   cancels the request. Headers are compared with the body, and error codes become HTTP statuses.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const HANDSHAKE_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const GRACE = 2_000; // time for a server to exit after its stdin has ended

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const HEADER_MISMATCH = -32020;
const MISSING_CAPABILITY = -32021;
const UNSUPPORTED_VERSION = -32022;

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRequest = (message) => typeof message.method === 'string' && message.id !== undefined;
const isNotification = (message) => typeof message.method === 'string' && message.id === undefined;
const isResponse = ({ method, result, error }) => method === undefined && (result !== undefined || error !== undefined);
const failure = (id, code, message) => ({ jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code, message } });
// A map key for an id: 1 and "1" are different ids.
const key = (id) => JSON.stringify(id);

// ---- The server process -------------------------------------------------------------------------------------------

const processes = new Set();

class ServerProcess {
  #child;
  #rest = [];

  constructor([program, ...args], onMessage, onEnd) {
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    processes.add(this);
    this.#child.stdin.on('error', () => {}); // the server has ended, which `onEnd` reports
    this.#child.stdout.on('data', (chunk) => this.#read(chunk, onMessage));
    this.#child.on('error', (error) => console.error(`bridge: ${error.message}`));
    this.#child.on('close', () => {
      processes.delete(this);
      onEnd();
    });
  }

  send(message) {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  end() {
    this.#child.stdin.end();
    setTimeout(() => this.#child.kill('SIGKILL'), GRACE).unref();
  }

  // Splits at newlines only, because `node:readline` also splits at U+2028, which may be in a string.
  #read(chunk, onMessage) {
    for (let end; (end = chunk.indexOf(10)) >= 0; chunk = chunk.subarray(end + 1)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(0, end)]).toString();
      this.#rest = [];
      try {
        onMessage(JSON.parse(line));
      } catch (error) {
        console.error(`bridge: the server wrote ${line.slice(0, 200)}: ${error.message}`);
      }
    }
    this.#rest.push(chunk);
  }
}

// ---- Answers ------------------------------------------------------------------------------------------------------

function sendJson(res, status, message) {
  if (res.writableEnded || res.destroyed) return;
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(message && JSON.stringify(message));
}

function startStream(res) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' });
  res.flushHeaders();
}

function sendEvent(res, message) {
  if (!res.writableEnded && !res.destroyed) res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

// The answer to one request: plain JSON, or a stream if another message precedes the response.
class Answer {
  constructor(res) {
    this.res = res;
  }

  get gone() {
    return this.res.destroyed;
  }

  notify(message) {
    if (!this.res.headersSent) startStream(this.res);
    sendEvent(this.res, message);
  }

  finish(message, status = 200) {
    if (!this.res.headersSent) return sendJson(this.res, status, message);
    sendEvent(this.res, message);
    this.res.end();
  }
}

// ---- Up to 2025-11-25: sessions -----------------------------------------------------------------------------------

const sessions = new Map();

class Session {
  #id = randomUUID();
  #open = new Map(); // request id -> { answer, token }
  #stream; // of the GET
  #waiting = []; // for the GET stream
  #version;

  constructor(command) {
    this.server = new ServerProcess(command, (message) => this.#route(message), () => this.#ended());
  }

  initialize(request, res) {
    const finish = (response, status = 200) => {
      // An error in the response creates no session.
      if (response.result) {
        this.#version = response.result.protocolVersion;
        sessions.set(this.#id, this);
        res.setHeader('Mcp-Session-Id', this.#id);
      } else {
        this.server.end();
      }
      sendJson(res, status, response);
    };
    this.#open.set(key(request.id), { answer: { notify: (message) => this.#waiting.push(message), finish } });
    this.server.send(request);
  }

  post(message, version, res) {
    if (version !== undefined && version !== this.#version) {
      return sendJson(res, 400, failure(message.id, INVALID_REQUEST, `The session speaks ${this.#version}`));
    }
    if (!isRequest(message)) {
      this.server.send(message);
      return res.writeHead(202).end();
    }
    if (this.#open.has(key(message.id))) {
      return sendJson(res, 400, failure(message.id, INVALID_REQUEST, 'A request with this id is open'));
    }
    // Closing the stream does not cancel the request, so the request stays open until the server has answered.
    this.#open.set(key(message.id), { answer: new Answer(res), token: message.params?._meta?.progressToken });
    this.server.send(message);
  }

  get(res) {
    if (this.#stream) return sendJson(res, 409, failure(undefined, INVALID_REQUEST, 'There is a stream already'));
    this.#stream = res;
    res.on('close', () => (this.#stream = undefined));
    startStream(res);
    for (const message of this.#waiting.splice(0)) sendEvent(res, message);
  }

  #route(message) {
    if (isResponse(message)) {
      const request = this.#open.get(key(message.id));
      if (!request) return console.error(`bridge: a response to nothing: ${JSON.stringify(message)}`);
      this.#open.delete(key(message.id));
      return request.answer.finish(message);
    }
    const requests = [...this.#open.values()].filter(({ answer }) => !answer.gone);
    const token = message.method === 'notifications/progress' ? message.params?.progressToken : undefined;
    const request = requests.find((request) => token !== undefined && request.token === token) ?? requests.at(-1);
    if (request) request.answer.notify(message);
    else if (this.#stream) sendEvent(this.#stream, message);
    else this.#waiting.push(message);
  }

  #ended() {
    sessions.delete(this.#id);
    for (const [id, { answer }] of this.#open) {
      answer.finish(failure(JSON.parse(id), INTERNAL_ERROR, 'The server has ended'), 500);
    }
    this.#stream?.end();
  }
}

// ---- From 2026-07-28 on: one server for all clients ---------------------------------------------------------------

class Stateless {
  #command;
  #server;
  #open = new Map(); // our id -> { id, token, logs, invalidMeta, answer }
  #last = 0;

  constructor(command) {
    this.#command = command;
  }

  // The caller has compared all headers with the body except those that depend on the tool.
  async request(message, headers, res) {
    const meta = message.params?._meta;
    const invalidMeta = !isObject(meta) || typeof meta[META_VERSION] !== 'string' || !isObject(meta[META_CAPABILITIES]);
    if (message.method === 'tools/call' && !invalidMeta) {
      const schema = await this.#inputSchema(message.params.name, meta);
      const wrong = wrongParamHeader(schema, message.params.arguments, headers);
      if (wrong) return sendJson(res, 400, failure(message.id, HEADER_MISMATCH, wrong));
      if (res.destroyed) return;
    }
    const id = this.#send(message, new Answer(res), invalidMeta);
    res.on('close', () => {
      if (!this.#open.delete(id)) return;
      this.#server?.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    });
  }

  #send(message, answer, invalidMeta = false) {
    const id = ++this.#last;
    const meta = message.params?._meta;
    const token = meta?.progressToken;
    const logs = meta?.[META_LOG_LEVEL] !== undefined;
    this.#open.set(id, { id: message.id, token, logs, invalidMeta, answer });
    this.#server ??= new ServerProcess(this.#command, (message) => this.#route(message), () => this.#ended());
    // The token is replaced by the bridge's id, which is unique.
    const params = token === undefined ? message.params : { ...message.params, _meta: { ...meta, progressToken: id } };
    this.#server.send({ ...message, id, ...(params !== undefined && { params }) });
    return id;
  }

  // The input schema of the tool, or undefined if there is no such tool.
  async #inputSchema(name, meta) {
    const { [META_VERSION]: version, [META_CAPABILITIES]: capabilities } = meta;
    let cursor;
    for (let page = 0; page < 100; page++) {
      const _meta = { [META_VERSION]: version, [META_CAPABILITIES]: capabilities };
      const params = { _meta, ...(cursor !== undefined && { cursor }) };
      const request = { jsonrpc: '2.0', method: 'tools/list', params };
      const { result } = await new Promise((finish) => this.#send(request, { notify() {}, finish }));
      const tool = result?.tools?.find((tool) => tool.name === name);
      if (tool) return tool.inputSchema;
      cursor = result?.nextCursor ?? undefined;
      if (cursor === undefined) return undefined;
    }
    return undefined;
  }

  #route(message) {
    if (isResponse(message)) {
      const request = this.#open.get(message.id);
      if (!request) return; // cancelled or unknown
      this.#open.delete(message.id);
      const subscription = message.result?._meta?.[META_SUBSCRIPTION];
      if (subscription !== undefined) message.result._meta[META_SUBSCRIPTION] = request.id;
      return request.answer.finish({ ...message, id: request.id }, statusOf(message.error?.code, request.invalidMeta));
    }
    if (isRequest(message)) return console.error(`bridge: the server must not ask: ${JSON.stringify(message)}`);
    const { params } = message;
    const subscription = params?._meta?.[META_SUBSCRIPTION];
    if (subscription !== undefined) {
      const request = this.#open.get(subscription);
      if (request) params._meta[META_SUBSCRIPTION] = request.id;
      return request?.answer.notify(message);
    }
    switch (message.method) {
      case 'notifications/progress': {
        const request = this.#open.get(params?.progressToken);
        return request?.answer.notify({ ...message, params: { ...params, progressToken: request.token } });
      }
      case 'notifications/message':
        // The message names no request, so it goes to the oldest request that wants log messages.
        return [...this.#open.values()].find((request) => request.logs)?.answer.notify(message);
      case 'notifications/cancelled': {
        // The server ends a subscription. Over HTTP the stream ends without a message.
        const request = this.#open.get(params?.requestId);
        this.#open.delete(params?.requestId);
        return request?.answer.res?.end();
      }
      default:
        console.error(`bridge: belongs to no request: ${JSON.stringify(message)}`);
    }
  }

  #ended() {
    this.#server = undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { id, answer } of open) answer.finish(failure(id, INTERNAL_ERROR, 'The server has ended'), 500);
  }
}

function statusOf(code, invalidMeta) {
  if (code === METHOD_NOT_FOUND) return 404;
  if (code === MISSING_CAPABILITY || code === UNSUPPORTED_VERSION || (code !== undefined && invalidMeta)) return 400;
  return 200;
}

// The value of a header, or undefined if it is malformed. Node has removed the surrounding whitespace.
function decoded(value) {
  const base64 = /^=\?base64\?(.*)\?=$/s.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes.toString() : undefined;
}

// The member of `params` that `Mcp-Name` repeats.
function nameOf({ method, params }) {
  if (['tools/call', 'prompts/get'].includes(method)) return params?.name;
  if (method === 'resources/read') return params?.uri;
  if (['tasks/get', 'tasks/update', 'tasks/cancel'].includes(method)) return params?.taskId;
  return undefined;
}

// Describes the error in the headers of a request that has the required `_meta`, or returns undefined.
function wrongHeader(message, headers) {
  const version = message.params._meta[META_VERSION];
  const name = nameOf(message);
  if (headers['mcp-protocol-version'] !== version) return `MCP-Protocol-Version is not ${version}`;
  if (headers['mcp-method'] !== message.method) return `Mcp-Method is not ${message.method}`;
  if (typeof name === 'string' && decoded(headers['mcp-name']) !== name) return `Mcp-Name is not ${name}`;
  return undefined;
}

// The same check for the headers that a tool names with `x-mcp-header` in its input schema.
function wrongParamHeader(schema, value, headers) {
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const inner = isObject(value) ? value[name] : undefined;
    const header = property?.['x-mcp-header'];
    if (typeof header === 'string') {
      const given = decoded(headers[`mcp-param-${header.toLowerCase()}`]);
      const same = typeof inner === 'number' ? given !== '' && Number(given) === inner : given === String(inner);
      if (inner !== undefined && inner !== null && !same) return `Mcp-Param-${header} is not ${inner}`;
    }
    const wrong = wrongParamHeader(property, inner, headers);
    if (wrong) return wrong;
  }
  return undefined;
}

// ---- HTTP ---------------------------------------------------------------------------------------------------------

async function handle(req, res, command, stateless) {
  const { host, origin, 'mcp-session-id': sessionId, 'mcp-protocol-version': version } = req.headers;
  if (!LOOPBACK.test(host ?? '') || (origin !== undefined && !LOOPBACK.test(origin.replace(/^https?:\/\//i, '')))) {
    return sendJson(res, 403, failure(undefined, INVALID_REQUEST, 'Only for this machine'));
  }
  if (req.url.split('?')[0] !== '/mcp') return res.writeHead(404).end();
  const session = sessions.get(sessionId);

  if (req.method === 'GET' || req.method === 'DELETE') {
    if (sessionId === undefined) return res.writeHead(405, { Allow: 'POST' }).end();
    if (!session) return res.writeHead(404).end();
    if (req.method === 'GET') return session.get(res);
    sessions.delete(sessionId);
    session.server.end();
    return res.writeHead(204).end();
  }
  if (req.method !== 'POST') return res.writeHead(405, { Allow: 'GET, POST, DELETE' }).end();

  let message;
  try {
    message = JSON.parse(Buffer.concat(await req.toArray()).toString());
  } catch {
    return sendJson(res, 400, failure(undefined, PARSE_ERROR, 'Parse error'));
  }
  if (!isObject(message) || !(isRequest(message) || isNotification(message) || isResponse(message))) {
    return sendJson(res, 400, failure(undefined, INVALID_REQUEST, 'One request, notification or response is needed'));
  }

  const meta = message.params?._meta;
  const metaVersion = isObject(meta) ? meta[META_VERSION] : undefined;
  if (metaVersion !== undefined || (version !== undefined && !HANDSHAKE_VERSIONS.includes(version))) {
    if (isResponse(message)) return sendJson(res, 400, failure(undefined, INVALID_REQUEST, 'Nothing was asked'));
    if (isNotification(message)) return res.writeHead(202).end(); // no notification of this revision concerns a server
    // Without `_meta` there is nothing to compare, and the server's error names the missing member.
    const complete = typeof metaVersion === 'string' && isObject(meta[META_CAPABILITIES]);
    const wrong = complete && wrongHeader(message, req.headers);
    if (wrong) return sendJson(res, 400, failure(message.id, HEADER_MISMATCH, wrong));
    return stateless.request(message, req.headers, res);
  }
  if (session) return session.post(message, version, res);
  if (sessionId !== undefined) return sendJson(res, 404, failure(message.id, INVALID_REQUEST, 'No such session'));
  if (isRequest(message) && message.method === 'initialize') return new Session(command).initialize(message, res);
  return sendJson(res, 400, failure(message.id, INVALID_REQUEST, 'Mcp-Session-Id is missing'));
}

function main(args) {
  const split = args.indexOf('--');
  const options = args.slice(0, split);
  const command = args.slice(split + 1);
  const [option = '--port', port = '0'] = options;
  if (split < 0 || command.length === 0 || option !== '--port' || !/^\d+$/.test(port) || options.length > 2) {
    console.error('usage: http_bridge.mjs [--port PORT] -- SERVER [ARGUMENT...]');
    process.exit(2);
  }
  const stateless = new Stateless(command);
  const http = createServer((req, res) => {
    handle(req, res, command, stateless).catch((error) => {
      console.error('bridge:', error);
      if (!res.headersSent) sendJson(res, 500, failure(undefined, INTERNAL_ERROR, error.message));
    });
  });
  http.requestTimeout = 0;
  http.listen(Number(port), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${http.address().port}/mcp`));
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      http.close();
      http.closeAllConnections();
      for (const server of processes) server.end();
    });
  }
}

main(process.argv.slice(2));
