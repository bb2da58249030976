// Makes tables of results, and holds docs/interop.md against them: the last step of `run` and `conformance`.
//
//     node document.mjs SECTION <LINES
//
// Reads `RESULT WHO, WHAT | COLUMN | VERDICT` lines and ignores others. The part of the document between the markers of
// SECTION has to be what they say; with BLESS=1 it is written. Fails if it is not, or if something has failed.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const file = join(here, '../../docs/interop.md');
const CLIENT = 'our client, ';

const results = readFileSync(0, 'utf8').split('\n').filter((line) => line.startsWith('RESULT ')).map((line) => {
  const [who, column, verdict, remark] = line.slice('RESULT '.length).split('|').map((part) => part.trim());
  const ours = who.startsWith(CLIENT);
  const [, peer, what] = /^(.*?)(?:, (.*))?$/.exec(ours ? who.slice(CLIENT.length) : who);
  return { ours, peer, what: what ?? 'the same checks in each revision', column, verdict, remark };
});

const unique = (values) => [...new Set(values)];
const lines = (rows) => rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');

// A table with a row for each of `rows` and a column for each of `columns`, from the results that belong there.
function table(corner, rows, columns, found, titles = columns) {
  const cells = rows.map((row) => [row, ...columns.map((column) => found(row, column)?.verdict ?? '–')]);
  return lines([[corner, ...titles], Array(columns.length + 1).fill('---'), ...cells]);
}

function interop() {
  const sections = [];
  const clients = results.filter(({ ours }) => !ours);
  const grouped = (of) => unique(of.map(({ peer }) => peer));
  const basic = clients.filter(({ what }) => what.startsWith('the same checks'));
  sections.push(
    '## Our server, official clients: `stdio_server`',
    'Tools, bad arguments, progress, calls side by side, timeouts, cancelling, pings, and how the server ends. `auto`: the client finds\nout which era the server is of.',
    table('client', grouped(basic), unique(basic.map(({ column }) => column)).sort(),
      (peer, column) => basic.find((it) => it.peer === peer && it.column === column)),
    '## Our server, official clients: `everything_server`',
    'Each feature in every revision that the client can speak.',
  );
  const rest = clients.filter((it) => !basic.includes(it));
  const kinds = unique(rest.map(({ peer, column }) => `${peer}, ${column}`));
  sections.push(table('feature', unique(rest.map(({ what }) => what)), kinds,
    (row, kind) => rest.find((it) => it.what === row && `${it.peer}, ${it.column}` === kind)));
  sections.push('## Our client, official servers', 'What `inspect` does with them. `auto` asks the server which era it is of.');
  const visits = results.filter(({ ours }) => ours);
  for (const peer of grouped(visits)) {
    const of = visits.filter((it) => it.peer === peer);
    sections.push(`### ${peer}`, table('what', unique(of.map(({ what }) => what)), unique(of.map(({ column }) => column)),
      (row, column) => of.find((it) => it.what === row && it.column === column)));
  }
  return sections.join('\n\n');
}

function conformance() {
  const side = (peer) => {
    const of = results.filter((it) => it.peer === peer);
    const columns = unique(of.map(({ column }) => column));
    return table('scenario', unique(of.map(({ what }) => what)), columns,
      (row, column) => of.find((it) => it.what === row && it.column === column));
  };
  const remarks = unique(results.filter(({ remark }) => remark).map(({ peer, what, remark }) => `- ${peer}, \`${what}\`: ${remark}.`));
  return [
    '## The official conformance suite: server scenarios', side('server'),
    '## The official conformance suite: client scenarios', side('client'), remarks.join('\n'),
  ].join('\n\n');
}

function versions() {
  const json = (name) => JSON.parse(readFileSync(join(here, name), 'utf8'));
  const npm = (name) => Object.entries({ ...json(name).dependencies });
  const python = ['sdk1', 'sdk2', 'servers'].flatMap((name) =>
    readFileSync(join(here, `requirements-${name}.txt`), 'utf8').trim().split('\n').map((line) => line.split('==')));
  const [, rmcp] = /^rmcp = .*"=([^"]+)"/m.exec(readFileSync(join(here, 'rmcp/Cargo.toml'), 'utf8'));
  const all = [...npm('package.json'), ...npm('conformance-suite/package.json'), ...python, ['rmcp', rmcp]];
  return unique(all.map(([name, version]) => `- \`${name}\` ${version}`)).join('\n');
}

const [section] = process.argv.slice(2);
const made = { interop: () => `${versions()}\n\n${interop()}`, conformance }[section]();
console.log(made);
const [begin, end] = [`<!-- ${section} -->`, `<!-- end of ${section} -->`];
const text = readFileSync(file, 'utf8');
const [from, to] = [text.indexOf(begin), text.indexOf(end)];
if (from < 0 || to < from) throw new Error(`docs/interop.md lacks the markers of ${section}`);
const wanted = `${text.slice(0, from)}${begin}\n${made}\n${text.slice(to)}`;
const bad = results.filter(({ verdict }) => verdict === 'FAILED');
for (const { ours, peer, what, column } of bad) console.log(`FAILED ${ours ? CLIENT : ''}${peer}, ${what}, ${column}`);
console.log(`${results.length - bad.length} passed, ${bad.length} failed`);
if (bad.length > 0) {
  process.exitCode = 1;
} else if (wanted !== text && process.env.BLESS === '1') {
  writeFileSync(file, wanted);
  console.log('docs/interop.md is written');
} else if (wanted !== text) {
  console.log(`docs/interop.md says something else: run BLESS=1 ./.ci/run ${section}`);
  process.exitCode = 1;
}
