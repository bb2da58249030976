// Drives an MCP server with the official TypeScript SDKs, 1.x and 2.x.
//
//     node typescript_client.mjs SERVER [ARGUMENT...]
//
// Runs the same checks once for each mode that the SDKs support, and prints each check. Stops at the first failure with
// exit code 1 and a line that starts with FAILED. A line that starts with RESULT sums up a run.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual as same } from 'node:util';

export const STATELESS = '2026-07-28';
export const HANDSHAKE = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const RUN_LIMIT = 90_000; // for one whole run
const TEXTS = {
  plain: 'hello',
  empty: '',
  emoji: 'päivää 👩‍🚀 日本語',
  quotes: 'say "hi" \\ back/slash {"a": [1]}',
  newlines: 'one\ntwo\r\nthree\ttab',
  odd: 'null \u0000 bell \u0007 separators \u2028\u2029 edge \ue000\ufffd\u{10ffff}',
  long: '0123456789'.repeat(1000),
};
// The shell between the SDK and the server only records the server's exit code. An SDK kills a server that does not
// exit by itself, and then there is no record.
const WITNESS = 'exec 3<&0; "$@" <&3 3<&- & exec 3<&-; trap "kill -9 $!; exit 1" TERM; wait $!; echo "$?" >"$0.$$"';

export class Failed extends Error {}

const ok = (what) => console.log(`  ok  ${what}`);
const short = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 200);
export function expect(what, got, wanted) {
  if (!same(got, wanted)) throw new Failed(`${what}: expected ${short(wanted)}, got ${short(got)}`);
}
function textOf(result) {
  if (result.content?.length !== 1 || result.content[0].type !== 'text') {
    throw new Failed(`expected one text block, got ${short(result.content)}`);
  }
  return result.content[0].text;
}

// 1.x has the handshake only, and always requests its newest revision.
export async function sdk1() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  return {
    Transport: StdioClientTransport,
    HttpTransport: (await import('@modelcontextprotocol/sdk/client/streamableHttp.js')).StreamableHTTPClientTransport,
    connect: async (transport, mode, options = {}) => {
      let agreed;
      const set = transport.setProtocolVersion?.bind(transport);
      transport.setProtocolVersion = (version) => { agreed = version; set?.(version); };
      const client = new Client({ name: 'interop', version: '1' }, options);
      return {
        client,
        open: () => client.connect(transport),
        call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
        agreed: () => agreed,
      };
    },
  };
}

// 2.x has both eras. `auto` and a pinned version send server/discover first, to a separate server process.
export async function sdk2() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return {
    Transport: StdioClientTransport,
    HttpTransport: StreamableHTTPClientTransport,
    connect: async (transport, mode, options = {}) => {
      const handshake = HANDSHAKE.includes(mode);
      const client = new Client({ name: 'interop', version: '1' }, { ...options, ...(handshake
        ? { supportedProtocolVersions: [mode] }
        : { versionNegotiation: { mode: mode === 'auto' ? 'auto' : { pin: mode } } }) });
      return {
        client,
        open: () => client.connect(transport),
        call: (name, args, options, _meta) => client.callTool({ name, arguments: args, _meta }, options),
        agreed: () => client.getNegotiatedProtocolVersion(),
      };
    },
  };
}

// The error code of a call that the server must refuse, or undefined if the result has isError.
async function refused(peer, name, args) {
  let result;
  try {
    result = await peer.call(name, args, { timeout: 10_000 });
  } catch (error) {
    if (typeof error.code !== 'number' || error.code === -32001) throw error;
    return error.code;
  }
  if (!result.isError) throw new Failed(`${name} ${short(args)} must not succeed, but answered ${short(result)}`);
}

const checks = {
  async identity(peer, version) {
    expect('protocol version', peer.agreed(), version);
    const info = peer.client.getServerVersion();
    if (!info?.name || !info?.version) throw new Failed(`server info without name or version: ${short(info)}`);
    ok(`speaks ${version}, is ${info.name}`);
  },

  async listing(peer) {
    const { tools } = await peer.client.listTools();
    const named = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    for (const name of ['echo', 'add', 'slow', 'host_info']) {
      if (!named[name]) throw new Failed(`tool ${name} is not listed, only ${Object.keys(named)}`);
      expect(`type of ${name}'s inputSchema`, named[name].inputSchema.type, 'object');
    }
    ok(`lists ${Object.keys(named).sort().join(', ')}, each with an inputSchema`);
  },

  async calls(peer, version) {
    for (const [name, message] of Object.entries(TEXTS)) {
      const result = await peer.call('echo', { message }, { timeout: 10_000 });
      expect(`echo of the ${name} text`, textOf(result), message);
      expect('isError', Boolean(result.isError), false);
    }
    ok(`echo gives back ${Object.keys(TEXTS).join(', ')} text`);

    const structured = version >= '2025-06-18';
    for (const [a, b] of [[1, 2], [-5, 5], [2 ** 31, 2 ** 31]]) {
      const result = await peer.call('add', { a, b }, { timeout: 10_000 });
      expect(`${a} + ${b}`, JSON.parse(textOf(result)), { sum: a + b });
      expect('structuredContent', result.structuredContent, structured ? { sum: a + b } : undefined);
    }
    ok(`add adds${structured ? ', also as' : ', and sends no'} structuredContent`);

    const facts = await peer.call('host_info', {}, { timeout: 10_000 });
    if (structured && !facts.structuredContent) throw new Failed('host_info without structuredContent');
    ok('host_info answers');
  },

  async refusals(peer) {
    const bad = [['add', { a: 'x', b: 1 }], ['add', { a: 1 }], ['add', {}], ['echo', {}], ['echo', { message: 5 }]];
    for (const [name, args] of bad) {
      const code = await refused(peer, name, args);
      if (code !== undefined && code !== -32602) {
        throw new Failed(`${name} ${short(args)}: error code ${code} is neither -32602 nor isError`);
      }
    }
    ok('bad arguments are refused');
    expect('error code of an unknown tool', await refused(peer, 'no_such_tool', {}), -32602);
    ok('an unknown tool is -32602');
  },

  async progress(peer) {
    const steps = [];
    const onprogress = ({ progress }) => steps.push(progress);
    const result = await peer.call('slow', { seconds: 2 }, { timeout: 20_000, onprogress });
    expect('isError of slow', Boolean(result.isError), false);
    if (!steps.length || steps.some((step, at) => at > 0 && step <= steps[at - 1])) {
      throw new Failed(`progress must come and increase, got ${short(steps)}`);
    }
    ok(`slow reports progress that increases (${steps.length} times)`);
  },

  async sideBySide(peer) {
    let over = false;
    const slow = peer.call('slow', { seconds: 2 }, { timeout: 20_000 }).finally(() => { over = true; });
    await sleep(200);
    const result = await peer.call('echo', { message: 'meanwhile' }, { timeout: 10_000 });
    expect('echo beside slow', textOf(result), 'meanwhile');
    if (over) throw new Failed('slow was over before echo was answered: calls do not run beside each other');
    await slow;
    ok('echo is answered while slow runs');

    const messages = Array.from({ length: 20 }, (_, number) => `call ${number} 👋`);
    const answers = await Promise.all(messages.map((message) => peer.call('echo', { message }, { timeout: 20_000 })));
    expect('20 echo calls at once', answers.map(textOf), messages);
    ok('20 echo calls at once, each with its own answer');
  },

  async cancels(peer) {
    await peer.call('slow', { seconds: 2 }, { timeout: 300 }).then(
      () => { throw new Failed('slow was over in 0.3 seconds'); },
      (error) => { if (error instanceof Failed) throw error; },
    );
    expect('echo', textOf(await peer.call('echo', { message: 'after a timeout' }, { timeout: 10_000 })), 'after a timeout');
    ok('echo works after a call timed out');

    const stop = new AbortController();
    const slow = peer.call('slow', { seconds: 2 }, { signal: stop.signal }).then(
      () => { throw new Failed('slow answered a call that was cancelled'); },
      (error) => { if (error instanceof Failed) throw error; },
    );
    await sleep(300);
    stop.abort('changed my mind');
    await slow;
    expect('echo', textOf(await peer.call('echo', { message: 'after a cancel' }, { timeout: 10_000 })), 'after a cancel');
    await sleep(2700);
    // The SDK reports an error if a call that timed out or was cancelled is answered.
    expect('complaints of the SDK', peer.problems, []);
    ok('a call that timed out or was cancelled is never answered, echo works after it');
  },

  async ping(peer, version) {
    if (version === STATELESS) return;
    await peer.client.ping({ timeout: 10_000 });
    ok('ping is answered');
  },
};

async function run(sdk, mode, command) {
  const version = HANDSHAKE.includes(mode) ? mode : STATELESS;
  const folder = mkdtempSync(join(tmpdir(), 'interop-'));
  const witness = join(folder, 'ended');
  const transport = new sdk.Transport({ command: '/bin/sh', args: ['-c', WITNESS, witness, ...command] });
  const peer = { ...await sdk.connect(transport, mode), problems: [] };
  peer.client.onerror = (error) => peer.problems.push(String(error));
  let current = 'connect';
  const limit = setTimeout(() => {
    console.log(`FAILED ${mode}: ${current}: nothing happened for too long (${RUN_LIMIT / 1000} s a run)`);
    process.exit(1);
  }, RUN_LIMIT);
  try {
    await peer.open();
    const pid = transport.pid;
    for (const [name, check] of Object.entries(checks)) {
      current = name;
      await check(peer, version);
    }
    current = 'close';
    const started = performance.now();
    await peer.client.close();
    const took = ((performance.now() - started) / 1000).toFixed(1);
    const note = `${witness}.${pid}`;
    const code = existsSync(note) ? readFileSync(note, 'utf8').trim() : 'none: it had to be killed';
    expect('exit code of the server after its input closed', code, '0');
    ok(`the server ended by itself in ${took} s, exit code 0`);
    expect('complaints of the SDK', peer.problems, []);
  } catch (error) {
    await peer.client.close().catch(() => {});
    throw new Failed(`${current}: ${error instanceof Failed ? error.message : error}`);
  } finally {
    clearTimeout(limit);
    rmSync(folder, { recursive: true, force: true });
  }
}

export const versionOf = (name) => createRequire(import.meta.url)(`./node_modules/${name}/package.json`).version;

async function main(command) {
  const runs = [
    [`typescript sdk ${versionOf('@modelcontextprotocol/sdk')}`, sdk1, ['2025-11-25']],
    [`typescript client ${versionOf('@modelcontextprotocol/client')}`, sdk2, [...HANDSHAKE, 'auto', STATELESS]],
  ];
  for (const [name, load, modes] of runs) {
    for (const mode of modes) {
      const label = `${name} | ${mode}`;
      console.log(label);
      try {
        await run(await load(), mode, command);
      } catch (error) {
        console.log(`FAILED ${label}: ${error.message}\nRESULT ${label} | FAILED`);
        process.exit(1);
      }
      console.log(`RESULT ${label} | ok`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
