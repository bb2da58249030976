// Runs the official conformance suite against a server on stdin and stdout; `conformance` installs it and calls this.
//
//     node conformance.mjs SUITE SERVER [ARGUMENT...]
//
// SUITE is the folder in which the suite is installed. A scenario has passed if at least one of its own checks has, and
// none has failed or warned: the suite warns where the specification says SHOULD, and lets that pass. With the name of
// a scenario in the environment, as in `SCENARIO=ping`, only that one is run, and all its checks are printed.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const REVISIONS = ['2025-11-25', '2026-07-28'];
const LIMIT = 300_000; // for all scenarios of a revision

// What does not pass, with the result it has instead. A line that is not true any more is an error.
const EXCEPTIONS = {
  'server-sse-polling, 2025-11-25': {
    result: 'saw nothing',
    reason: 'it wants a tool to close its own response stream, and a server on stdin and stdout has none to close',
  },
};

// What passes thanks to the bridge: there are no headers, sessions and streams on stdin and stdout. They are run, as
// the bridge must be right for the others to mean something.
const OF_THE_BRIDGE = [
  'dns-rebinding-protection',
  'http-custom-header-server-validation',
  'http-header-validation',
  'server-session-lifecycle',
  'server-sse-multiple-streams',
];
const OF_EVERY_SCENARIO = 'wire-schema-valid';

const [suite, ...server] = process.argv.slice(2);
const only = process.env.SCENARIO;
const cli = join(suite, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const work = mkdtempSync(join(tmpdir(), 'conformance-'));
const log = join(work, 'stderr');
const problems = [];

function runSuite(args) {
  return spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8', timeout: LIMIT, maxBuffer: 1 << 28 });
}

// Starts the bridge, and waits until it says where it listens. What the server writes to stderr goes to a file: a pipe
// would fill up while the suite runs, as nobody reads it then.
async function startBridge() {
  const args = [join(import.meta.dirname, 'http_bridge.mjs'), '--', ...server];
  const bridge = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', openSync(log, 'w')] });
  const url = await new Promise((found, failed) => {
    bridge.stdout.on('data', (data) => found(/listening on (\S+)/.exec(data)?.[1]));
    bridge.on('close', () => failed(new Error(`the bridge did not start: ${readFileSync(log)}`)));
  });
  return { url, bridge };
}

function scenariosOf(revision) {
  const listed = runSuite(['list', '--server', '--spec-version', revision]);
  const names = [...listed.stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  if (names.length === 0) throw new Error(`the suite lists no scenarios: ${listed.stderr}`);
  return names.filter((name) => only === undefined || name === only);
}

// The checks of each scenario that came to an end, by its name. The suite writes them into a folder each, named with
// the time.
function checksOf(folder) {
  const found = new Map();
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, entry, 'checks.json');
    const name = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[^T]*$/, '');
    if (existsSync(file)) found.set(name, JSON.parse(readFileSync(file, 'utf8')));
  }
  return found;
}

function judge(checks) {
  const count = (status) => checks.filter((check) => check.status === status).length;
  const own = checks.filter((check) => check.id !== OF_EVERY_SCENARIO);
  const names = { SUCCESS: 'passed', FAILURE: 'failed', WARNING: 'warned', SKIPPED: 'skipped' };
  const details = Object.entries(names).map(([status, name]) => `${count(status)} ${name}`).join(', ');
  if (count('FAILURE') > 0) return { result: 'failed', details };
  if (count('WARNING') > 0) return { result: 'warned', details };
  return { result: own.some((check) => check.status === 'SUCCESS') ? 'passed' : 'saw nothing', details };
}

function runRevision(revision, url) {
  const folder = join(work, revision);
  const names = scenariosOf(revision);
  if (names.length === 0) return [];
  const which = only === undefined ? ['--suite', 'all'] : ['--scenario', only];
  const ran = runSuite(['server', '--url', url, '--spec-version', revision, '-o', folder, ...which]);
  const found = checksOf(folder);
  return names.map((name) => {
    const checks = found.get(name);
    const { result, details } = checks ? judge(checks) : { result: 'did not run', details: ran.stderr.slice(-500) };
    const exception = EXCEPTIONS[`${name}, ${revision}`];
    for (const { id, status, errorMessage } of checks ?? []) {
      const bad = status === 'FAILURE' || status === 'WARNING';
      if (bad || only !== undefined) console.log(`${name}, ${revision}: ${status} ${id}: ${errorMessage ?? ''}`);
    }
    if (exception && result !== exception.result) {
      problems.push(`${name}, ${revision}: ${result}, but it is an exception that says: ${exception.result}`);
    } else if (!exception && result !== 'passed') {
      problems.push(`${name}, ${revision}: ${result} (${details})`);
    }
    const remark = exception ? exception.reason : OF_THE_BRIDGE.includes(name) ? 'of the bridge' : '';
    return { name, revision, result, details, remark };
  });
}

process.on('exit', () => rmSync(work, { recursive: true }));
const { url, bridge } = await startBridge();
let rows;
try {
  rows = REVISIONS.flatMap((revision) => runRevision(revision, url));
} finally {
  bridge.kill();
}

const widest = Math.max(...rows.map((row) => row.name.length));
console.log();
for (const { name, revision, result, details, remark } of rows) {
  console.log(`${name.padEnd(widest)} | ${revision} | ${result.padEnd(11)} | ${details}${remark && ` | ${remark}`}`);
}
console.log();
if (rows.length === 0) problems.push(`there is no scenario ${only}`);
if (problems.length > 0) {
  const said = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20).join('\n');
  if (said) console.log(`The end of what the server wrote to stderr:\n${said}`);
  for (const problem of problems) console.log(`FAILED ${problem}`);
  process.exitCode = 1;
}
console.log(`${rows.filter((row) => row.result === 'passed').length} of ${rows.length} scenarios passed`);
