// Runs the official conformance suite against a server over HTTP; `conformance` calls this.
//
//     node conformance.mjs SUITE SERVER [ARGUMENT...]
//
// The server gets two more arguments, `--http` and an address, and prints its URL to stderr.
// SUITE is the folder in which the suite is installed. A scenario passes if at least one of its own checks passes and
// none fails or warns; the suite itself accepts warnings, which it gives where the specification says SHOULD. With a
// scenario in the environment, as in `SCENARIO=ping`, only that scenario runs, and all its checks are printed.

import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { REVISIONS, checksOf, judge, report, runSuite, scenariosOf, table } from './conformance_suite.mjs';

// Scenarios that do not pass, each with its expected result. Any other result is an error.
const EXCEPTIONS = {
  'tasks-status-notifications, 2026-07-28': {
    result: 'saw nothing',
    reason: 'the suite skips it, because its check of the stream of a subscription is not written yet',
  },
};

// Extensions that the server has, by the start of the names of their scenarios. Such scenarios belong to no revision.
const EXTENSIONS = ['tasks-', 'sep-2640-'];
const REVISION_OF_EXTENSIONS = '2026-07-28';

const [suite, ...server] = process.argv.slice(2);
const only = process.env.SCENARIO;
const work = mkdtempSync(join(tmpdir(), 'conformance-'));
const log = join(work, 'stderr');
const problems = [];

// Starts the server, and waits until it prints its URL. Its stderr goes to a file, because a pipe would fill up while the
// suite runs.
async function startServer() {
  const [program, ...args] = server;
  const child = spawn(program, [...args, '--http', '127.0.0.1:0'], { stdio: ['ignore', 'ignore', openSync(log, 'w')] });
  for (let tries = 0; tries < 600 && child.exitCode === null; tries += 1) {
    const url = /http:\/\/\S+/.exec(readFileSync(log, 'utf8'))?.[0];
    if (url) return { url, child };
    await new Promise((wake) => setTimeout(wake, 50));
  }
  throw new Error(`the server did not start: ${readFileSync(log)}`);
}

async function runRevision(revision, url) {
  const folder = join(work, revision);
  const listed = await scenariosOf(suite, 'server', revision);
  const names = listed.filter((name) => only === undefined || name === only);
  if (names.length === 0) return [];
  const which = only === undefined ? ['--suite', 'all'] : ['--scenario', only];
  const ran = await runSuite(suite, ['server', '--url', url, '--spec-version', revision, '-o', folder, ...which]);
  return rowsOf(names, revision, folder, ran);
}

// Runs the scenarios of extensions, one by one.
async function runExtensions(url) {
  const revision = REVISION_OF_EXTENSIONS;
  const listed = await scenariosOf(suite, 'server');
  const ours = listed.filter((name) => EXTENSIONS.some((start) => name.startsWith(start)));
  const rows = [];
  for (const name of ours.filter((name) => only === undefined || name === only)) {
    const folder = join(work, name);
    const which = ['--scenario', name, '--spec-version', revision, '--force'];
    const ran = await runSuite(suite, ['server', '--url', url, '-o', folder, ...which]);
    rows.push(...rowsOf([name], revision, folder, ran));
  }
  return rows;
}

// The rows of the table for these scenarios, whose results are in a folder.
function rowsOf(names, revision, folder, ran) {
  const found = checksOf(folder);
  return names.map((name) => {
    const checks = found.get(name);
    const { result, details } = checks ? judge(checks) : { result: 'did not run', details: ran.stderr.slice(-500) };
    const exception = EXCEPTIONS[`${name}, ${revision}`];
    report(`${name}, ${revision}`, checks, only !== undefined);
    if (exception && result !== exception.result) {
      problems.push(`${name}, ${revision}: ${result}, but it is an exception that says: ${exception.result}`);
    } else if (!exception && result !== 'passed') {
      problems.push(`${name}, ${revision}: ${result} (${details})`);
    }
    const remark = exception ? exception.reason : '';
    return { name, revision, result: result === exception?.result ? 'as expected' : result, details, remark };
  });
}

process.on('exit', () => rmSync(work, { recursive: true }));
const { url, child } = await startServer();
let rows;
try {
  rows = [];
  for (const revision of REVISIONS) rows.push(...await runRevision(revision, url));
  rows.push(...await runExtensions(url));
} finally {
  child.kill();
}

if (rows.length > 0) table('server', rows);
if (rows.length === 0) problems.push(`there is no scenario ${only}`);
if (problems.length > 0) {
  const said = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-20).join('\n');
  if (said) console.log(`The end of what the server wrote to stderr:\n${said}`);
  for (const problem of problems) console.log(`FAILED ${problem}`);
  process.exitCode = 1;
}
console.log(`${rows.filter((row) => row.result === 'passed').length} of ${rows.length} scenarios passed`);
