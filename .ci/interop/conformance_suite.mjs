// What both halves of the conformance step have in common: running the suite, and what its checks say.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const REVISIONS = ['2025-11-25', '2026-07-28'];
const LIMIT = 300_000; // for one run of the suite
const OF_EVERY_SCENARIO = 'wire-schema-valid';

// Runs the suite that is installed in a folder, and gives what it wrote.
export function runSuite(suite, args) {
  const cli = join(suite, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => { written[name] += text; });
  }
  return new Promise((ended) => child.on('close', () => ended(written)));
}

// The names of the scenarios of a revision, for one role: `server` or `client`.
export async function scenariosOf(suite, role, revision) {
  const listed = await runSuite(suite, ['list', `--${role}`, '--spec-version', revision]);
  const names = [...listed.stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  if (names.length === 0) throw new Error(`the suite lists no scenarios: ${listed.stderr}`);
  return names;
}

// The checks of each scenario that came to an end, by its name. The suite writes them into a folder each, named with
// the time.
export function checksOf(folder) {
  const found = new Map();
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, entry, 'checks.json');
    const name = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[^T]*$/, '');
    if (existsSync(file)) found.set(name, JSON.parse(readFileSync(file, 'utf8')));
  }
  return found;
}

// A scenario has passed if at least one of its own checks has, and none has failed or warned.
export function judge(checks) {
  const count = (status) => checks.filter((check) => check.status === status).length;
  const own = checks.filter((check) => check.id !== OF_EVERY_SCENARIO);
  const names = { SUCCESS: 'passed', FAILURE: 'failed', WARNING: 'warned', SKIPPED: 'skipped' };
  const details = Object.entries(names).map(([status, name]) => `${count(status)} ${name}`).join(', ');
  if (count('FAILURE') > 0) return { result: 'failed', details };
  if (count('WARNING') > 0) return { result: 'warned', details };
  return { result: own.some((check) => check.status === 'SUCCESS') ? 'passed' : 'saw nothing', details };
}

// Says what went wrong in a scenario, or everything if it is the only one.
export function report(what, checks, everything) {
  for (const { id, status, errorMessage } of checks ?? []) {
    const bad = status === 'FAILURE' || status === 'WARNING';
    if (bad || everything) console.log(`${what}: ${status} ${id}: ${errorMessage ?? ''}`);
  }
}

// The table of a role, for people; and a line for each row, for document.mjs.
export function table(role, rows) {
  const widest = Math.max(...rows.map((row) => row.name.length));
  const verdicts = { passed: 'ok', 'as expected': 'differs', 'not run': 'not applicable' };
  console.log();
  for (const { name, revision, result, details, remark } of rows) {
    console.log(`${name.padEnd(widest)} | ${revision} | ${result.padEnd(11)} | ${details}${remark && ` | ${remark}`}`);
    console.log(`RESULT ${role}, ${name} | ${revision} | ${verdicts[result] ?? 'FAILED'} | ${remark}`);
  }
  console.log();
}
