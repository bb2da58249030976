// Makes tables of results and compares docs/interop.md with them.
//
//     node document.mjs SECTION <LINES
//
// The last step of `run` and `conformance`. Reads `RESULT WHO, WHAT | COLUMN | VERDICT` lines and ignores others. Fails
// if a verdict is FAILED, or if the document differs between the markers of SECTION. BLESS=1 writes the document.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const file = join(here, '../../docs/interop.md');
const CLIENT = 'our client, ';
const SAME = 'the same checks';

const results = readFileSync(0, 'utf8').split('\n').filter((line) => line.startsWith('RESULT ')).map((line) => {
  const [who, column, verdict, remark] = line.slice('RESULT '.length).split('|').map((part) => part.trim());
  const ours = who.startsWith(CLIENT);
  const [, peer, what] = /^(.*?)(?:, (.*))?$/.exec(ours ? who.slice(CLIENT.length) : who);
  return { ours, peer, what: what ?? SAME, column, verdict, remark };
});

const unique = (values) => [...new Set(values)];
const lines = (rows) => rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');

// A table with a row for each of `rows` and a column for each of `columns`. A cell combines the results for which
// `wanted` returns true.
function table(corner, rows, columns, wanted) {
  const cell = (row, column) => {
    const verdicts = results.filter((result) => wanted(result, row, column)).map(({ verdict }) => verdict);
    return verdicts.find((verdict) => verdict !== 'ok') ?? verdicts[0] ?? '–';
  };
  const cells = rows.map((row) => [row, ...columns.map((column) => cell(row, column))]);
  return lines([[corner, ...columns], Array(columns.length + 1).fill('---'), ...cells]);
}

// The mark of a client that was run over HTTP.
const HTTP = ' over HTTP';
// The example between official clients and official servers.
const BRIDGE = 'bridge';

function interop() {
  const clients = results.filter(({ ours, peer }) => !ours && peer !== BRIDGE);
  const bridged = results.filter(({ peer }) => peer === BRIDGE);
  const basic = clients.filter(({ what }) => what === SAME);
  const rest = clients.filter(({ what }) => what !== SAME);
  const kind = ({ peer, column }) => `${peer.replace(HTTP, '')}, ${column}`;
  const features = (of) => table('feature', unique(of.map(({ what }) => what)), unique(of.map(kind)),
    (it, what, column) => of.includes(it) && it.what === what && kind(it) === column);
  const sections = [
    '## Our server, official clients: `stdio_server`',
    'Tools, bad arguments, progress, calls side by side, timeouts, cancelling, pings, and how the server ends. `auto`: the client\n' +
      'finds out which era the server is of.',
    table('client', unique(basic.map(({ peer }) => peer)), unique(basic.map(({ column }) => column)).sort(),
      (it, peer, column) => it.what === SAME && it.peer === peer && it.column === column),
    '## Our server, official clients: `everything_server`',
    'Each feature in every revision of the era that the client can speak. The tools of the SDKs for Python and TypeScript are in\n' +
      'the table above. The inspector runs in its command-line mode, which has no other features.',
    features(rest.filter(({ peer }) => !peer.endsWith(HTTP))),
    '## Our server over HTTP, official clients: `everything_server`',
    'The same at a URL. Revision 2024-11-05 has another transport, and is left out.',
    features(rest.filter(({ peer }) => peer.endsWith(HTTP))),
    '## Our client, official servers',
    'The checks that use `mcp-inspect`. `auto` asks the server which era it is of.',
  ];
  for (const peer of unique(results.filter(({ ours }) => ours).map((it) => it.peer))) {
    const of = results.filter((it) => it.ours && it.peer === peer);
    sections.push(`### ${peer}`, table('what', unique(of.map(({ what }) => what)), unique(of.map(({ column }) => column)),
      (it, what, column) => it.ours && it.peer === peer && it.what === what && it.column === column));
  }
  sections.push('## `bridge`, official clients and servers',
    'An official client on one transport uses an official server on the other one. A column names the transport of the client\nfirst.',
    table('client and server', unique(bridged.map(({ what }) => what)), unique(bridged.map(({ column }) => column)),
      (it, what, column) => bridged.includes(it) && it.what === what && it.column === column));
  return sections.join('\n\n');
}

function conformance() {
  const role = (role) => {
    const of = results.filter(({ peer }) => peer === role);
    return table('scenario', unique(of.map(({ what }) => what)), unique(of.map(({ column }) => column)),
      (it, what, column) => it.peer === role && it.what === what && it.column === column);
  };
  const remarks = unique(results.map(({ remark }) => remark).filter(Boolean)).map((remark) => {
    const of = unique(results.filter((it) => it.remark === remark).map(({ what }) => `\`${what}\``));
    return `- ${of.join(', ')}: ${remark}.`;
  });
  return [
    '## The official conformance suite, server scenarios: `everything_server`', role('server'),
    '## The official conformance suite, client scenarios: `mcp-inspect`', role('client'), remarks.join('\n'),
  ].join('\n\n');
}

function versions() {
  const json = (name) => JSON.parse(readFileSync(join(here, name), 'utf8'));
  const npm = (name) => Object.entries({ ...json(name).dependencies }).filter(([name]) => name.startsWith('@'));
  const python = ['sdk1', 'sdk2', 'servers'].flatMap((name) =>
    readFileSync(join(here, `requirements-${name}.txt`), 'utf8').trim().split('\n').map((line) => line.split('==')));
  const [, rmcp] = /^rmcp = .*"=([^"]+)"/m.exec(readFileSync(join(here, 'rmcp/Cargo.toml'), 'utf8'));
  const all = [...npm('package.json'), ...npm('conformance-suite/package.json'), ...python, ['rmcp', rmcp]];
  return unique(all.map(([name, version]) => `- \`${name}\` ${version}`)).join('\n');
}

const [section] = process.argv.slice(2);
const made = { interop: () => `## Versions\n\n${versions()}\n\n${interop()}`, conformance }[section]();
console.log(made);
const [begin, end] = [`<!-- ${section} -->`, `<!-- end of ${section} -->`];
const text = readFileSync(file, 'utf8');
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from < 0 || to < from) throw new Error(`docs/interop.md lacks the markers of ${section}`);
const wanted = `${text.slice(0, from)}${begin}\n${made}\n${text.slice(to)}`;
const bad = results.filter(({ verdict }) => verdict === 'FAILED');
for (const { ours, peer, what, column } of bad) console.log(`FAILED ${ours ? CLIENT : ''}${peer}, ${what}, ${column}`);
const good = results.filter(({ verdict }) => verdict === 'ok').length;
console.log(`${good} ok, ${bad.length} failed, ${results.length - good - bad.length} differ or do not apply`);
if (bad.length > 0) {
  process.exitCode = 1;
} else if (wanted !== text && process.env.BLESS === '1') {
  writeFileSync(file, wanted);
  console.log('docs/interop.md is written');
} else if (wanted !== text) {
  console.log(`docs/interop.md says something else: run BLESS=1 ./.ci/run ${section}`);
  process.exitCode = 1;
}
