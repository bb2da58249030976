// Runs the client scenarios of the conformance suite against `mcp-inspect`; `conformance` calls this.
//
//     node conformance_client.mjs SUITE INSPECT
//
// The suite starts an HTTP server for each scenario, and then this file again with the server's address.
// `mcp-inspect` connects to the server, and performs the actions of the scenario. With a scenario in the
// environment, as in `SCENARIO=tools_call`, only that scenario runs, and all its checks are printed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { REVISIONS, checksOf, judge, report, runSuite, scenariosOf, table } from './conformance_suite.mjs';

const ALL = ['2025-06-18', ...REVISIONS];
const RICH = 'json_schema_2020_12_tool';

// The options of `mcp-inspect` for each scenario. A scenario that needs earlier output is a function of `runInspect`.
const SCENARIOS = {
  initialize: [],
  tools_call: ['--call', 'add_numbers', '--args', '{"a":2,"b":40}'],
  'elicitation-sep1034-client-defaults': ['--call', 'test_client_elicitation_defaults'],
  'request-metadata': ['--roots', '.', '--sample', 'canned'],
  'sep-2322-client-request-state': [
    '--answer', 'confirmed=true', '--call', 'test_mrtr_echo_state', '--call', 'test_mrtr_unrelated',
    '--call', 'test_mrtr_no_state', '--call', 'test_mrtr_no_result_type',
  ],
  'json-schema-ref-no-deref': [],
  'json-schema-2020-12-preservation': (runInspect) => {
    const schema = runInspect('--schema', RICH).match(new RegExp(`^${RICH} takes (.*)$`, 'm'))[1];
    runInspect('--call', 'json_schema_echo', '--args', `{"schema":${schema}}`);
  },
  'sse-retry': ['--call', 'test_reconnection'],
  'http-standard-headers': [
    '--call', 'test_headers', '--read', 'file:///path/to/file%20name.txt', '--prompt', 'test_prompt',
  ],
  'http-custom-headers': (runInspect) => {
    const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT);
    runInspect(...toolCalls.flatMap(({ name, arguments: args }) => ['--call', name, '--args', JSON.stringify(args)]));
  },
  'http-invalid-tool-headers': ['--call', 'valid_tool'],
  'sep-2640-client-no-prefetch': [],
  'sep-2640-client-verify-digest': refusesSkill,
  'sep-2640-client-verify-size': refusesSkill,
  'sep-2640-client-verify-frontmatter': refusesSkill,
};

// Scenarios of extensions, by the start of their names. They belong to no revision.
const EXTENSIONS = ['sep-2640-'];
const REVISION_OF_EXTENSIONS = '2026-07-28';

// Loads a skill whose `SKILL.md` differs from its entry. The client must refuse it.
function refusesSkill(runInspect) {
  runInspect.fails('--skill', 'skill://pdf-processing/SKILL.md');
}

// Scenarios that run again after a warning, each with the maximum number of runs.
const ATTEMPTS = {
  // The suite takes the second GET for the reconnection. On a busy computer the client's GET for the session comes
  // after the GET that resumes the call, and then the suite warns.
  'sse-retry': 4,
};

// Scenarios that are not run, each with the reason.
const NOT_APPLICABLE = [
  [/^auth\//, 'authorization is the task of the application, which adds its header fields'],
];

// ---- The client, started by the suite: the scenario is in the environment, the address is the last argument -------

function client(inspect, url) {
  const run = (expected, ...options) => {
    const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? REVISION_OF_EXTENSIONS;
    const args = ['--revision', revision, '--timeout', '20', ...options, url];
    const ran = spawnSync(inspect, args, { encoding: 'utf8' });
    process.stdout.write(ran.stdout);
    process.stderr.write(ran.stderr);
    if (ran.status !== expected) process.exit(1);
    return ran.stdout;
  };
  const runInspect = (...options) => run(0, ...options);
  runInspect.fails = (...options) => run(1, ...options);
  const what = SCENARIOS[process.env.MCP_CONFORMANCE_SCENARIO];
  if (typeof what === 'function') what(runInspect);
  else runInspect(...what);
}

// ---- The driver, which starts the suite ---------------------------------------------------------------------------

async function runScenario(suite, inspect, work, revision, name) {
  for (let attempt = 1; ; attempt += 1) {
    const row = await runOnce(suite, inspect, join(work, `${attempt}`), revision, name);
    if (row.result !== 'warned' || attempt >= (ATTEMPTS[name] ?? 1)) return row;
  }
}

async function runOnce(suite, inspect, work, revision, name) {
  const remark = NOT_APPLICABLE.find(([names]) => names.test(name))?.[1];
  if (remark) return { name, revision, result: 'not run', details: 'not applicable', remark };
  const folder = join(work, revision, name);
  const command = [process.execPath, import.meta.filename, '--client', inspect].join(' ');
  const force = isExtension(name) ? ['--force'] : [];
  const ran = await runSuite(suite, [
    'client', '--command', command, '--scenario', name, '--spec-version', revision, '-o', folder, ...force,
  ]);
  const checks = checksOf(folder).get(name);
  const judged = checks ? judge(checks) : { result: 'did not run', details: ran.stderr.slice(-2000) };
  if (process.env.SCENARIO !== undefined) console.log(ran.stderr);
  // A client that fails has not passed, even if all checks have.
  if (judged.result === 'passed' && /Client (exited|timed out)/.test(ran.stderr)) {
    Object.assign(judged, { result: 'failed', details: ran.stderr.slice(-2000) });
  }
  report(`${name}, ${revision}`, checks, process.env.SCENARIO !== undefined);
  return { name, revision, ...judged, remark: '' };
}

const isExtension = (name) => EXTENSIONS.some((start) => name.startsWith(start));

async function main(suite, inspect) {
  const work = mkdtempSync(join(tmpdir(), 'conformance-'));
  process.on('exit', () => rmSync(work, { recursive: true }));
  const jobs = [];
  for (const revision of ALL) {
    for (const name of await scenariosOf(suite, 'client', revision)) {
      if (process.env.SCENARIO === undefined || process.env.SCENARIO === name) jobs.push([revision, name]);
    }
  }
  for (const name of (await scenariosOf(suite, 'client')).filter(isExtension)) {
    if (process.env.SCENARIO === undefined || process.env.SCENARIO === name) jobs.push([REVISION_OF_EXTENSIONS, name]);
  }
  // Two at a time, because most of the time is spent starting programs.
  const rows = [];
  let next = 0;
  const workOff = async () => {
    for (let at; (at = next) < jobs.length;) {
      next += 1;
      rows[at] = await runScenario(suite, inspect, work, ...jobs[at]);
    }
  };
  await Promise.all([workOff(), workOff()]);
  if (rows.length > 0) table('client', rows);
  const bad = rows.filter(({ result }) => !['passed', 'as expected', 'not run'].includes(result));
  for (const { name, revision, result, details } of bad) console.log(`FAILED ${name}, ${revision}: ${result} (${details})`);
  const count = (wanted) => rows.filter(({ result }) => result === wanted).length;
  console.log(`${count('passed')} of ${rows.length} client scenarios passed, ${count('not run')} are not applicable`);
  process.exitCode = Number(bad.length > 0 || rows.length === 0);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--client') client(...rest);
else await main(first, ...rest);
