// Runs the conformance suite and reads its results, for both roles.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const REVISIONS = ['2025-11-25', '2026-07-28'];
const LIMIT = 300_000; // for one run of the suite
const OF_EVERY_SCENARIO = 'wire-schema-valid';

// Runs the suite that is installed in a folder, and returns its output.
export function runSuite(suite, args) {
  const cli = join(suite, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const child = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => { written[name] += text; });
  }
  return new Promise((ended) => child.on('close', () => ended(written)));
}

// The names of the scenarios of a revision, for one role: `server` or `client`. Without a revision, all scenarios.
export async function scenariosOf(suite, role, revision) {
  const which = revision === undefined ? [] : ['--spec-version', revision];
  const listed = await runSuite(suite, ['list', `--${role}`, ...which]);
  const names = [...listed.stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  if (names.length === 0) throw new Error(`the suite lists no scenarios: ${listed.stderr}`);
  return names;
}

// The checks of each finished scenario, by the scenario's name. The suite writes them into one folder per scenario,
// named with the time.
export function checksOf(folder) {
  const found = new Map();
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, entry, 'checks.json');
    const name = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[^T]*$/, '');
    if (existsSync(file)) found.set(name, JSON.parse(readFileSync(file, 'utf8')));
  }
  return found;
}

// A scenario passes if at least one of its own checks passes, and none fails or warns.
export function judge(checks) {
  const count = (status) => checks.filter((check) => check.status === status).length;
  const own = checks.filter((check) => check.id !== OF_EVERY_SCENARIO);
  const names = { SUCCESS: 'passed', FAILURE: 'failed', WARNING: 'warned', SKIPPED: 'skipped' };
  const details = Object.entries(names).map(([status, name]) => `${count(status)} ${name}`).join(', ');
  if (count('FAILURE') > 0) return { result: 'failed', details };
  if (count('WARNING') > 0) return { result: 'warned', details };
  return { result: own.some((check) => check.status === 'SUCCESS') ? 'passed' : 'saw nothing', details };
}

// Prints the failed checks of a scenario, or all checks if it is the only scenario.
export function report(what, checks, everything) {
  for (const { id, status, errorMessage } of checks ?? []) {
    const bad = status === 'FAILURE' || status === 'WARNING';
    if (bad || everything) console.log(`${what}: ${status} ${id}: ${errorMessage ?? ''}`);
  }
}

// Prints the table of a role for readers, and a RESULT line for each row for document.mjs.
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
