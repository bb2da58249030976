// Drives every feature of the example everything_server with the official TypeScript SDKs, 1.x and 2.x.
//
//     node typescript_features.mjs SERVER [ARGUMENT...]
//     node typescript_features.mjs URL
//
// Each group of features runs once for each revision that the SDKs support, in the form of that revision. A line that
// starts with RESULT sums up a group in one era; each error is printed in a line that starts with FAILED.

import { setTimeout as sleep } from 'node:timers/promises';

import { Failed, HANDSHAKE, STATELESS, expect, sdk1, sdk2, versionOf } from './typescript_client.mjs';

const GROUP_LIMIT = 30_000;
const CAPABILITIES = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };
const CHOICES = {
  untitledSingle: 'option1', titledSingle: 'value2', legacyEnum: 'opt3',
  untitledMulti: ['option1', 'option2'], titledMulti: ['value3'],
};
const EVERY_LEVEL = ['info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

// One connection, the host's answers on it, and the received notifications.
class World {
  constructor(peer, mode) {
    this.version = HANDSHAKE.includes(mode) ? mode : STATELESS;
    this.stateless = this.version === STATELESS;
    this.peer = peer;
    this.client = peer.client;
    this.heard = [];
    this.asked = [];
    this.problems = [];
    this.elicit = { action: 'accept', content: {} };
    this.client.onerror = (error) => this.problems.push(String(error));
    this.client.fallbackNotificationHandler = async (message) => { this.heard.push(message); };
  }

  // 1.x takes schemas, 2.x the names of methods.
  async answer(name) {
    const handlers = {
      'sampling/createMessage': ['CreateMessageRequestSchema', async ({ params }) => {
        this.asked.push(params);
        const content = { type: 'text', text: 'made by a model' };
        return { role: 'assistant', content, model: 'm', stopReason: 'endTurn' };
      }],
      'elicitation/create': ['ElicitRequestSchema', async ({ params }) => {
        this.asked.push(params);
        return this.elicit;
      }],
      'roots/list': ['ListRootsRequestSchema', async () => ({ roots: [{ uri: 'file:///home/ada', name: 'Ada' }] })],
    };
    const schemas = name === 'sdk' ? await import('@modelcontextprotocol/sdk/types.js') : undefined;
    for (const [method, [schema, handler]] of Object.entries(handlers)) {
      this.client.setRequestHandler(schemas ? schemas[schema] : method, handler);
    }
  }

  since(version) { return this.version >= version; }

  call(name, args = {}, options = {}) {
    const meta = this.stateless ? { 'io.modelcontextprotocol/logLevel': 'info' } : undefined;
    return this.peer.call(name, args, { timeout: 20_000, ...options }, meta);
  }

  async text(name, args, options) {
    const result = await this.call(name, args, options);
    if (result.isError || result.content?.length !== 1 || result.content[0].type !== 'text') {
      throw new Failed(`${name}: expected one text, got ${JSON.stringify(result)}`);
    }
    return result.content[0].text;
  }

  async hears(method, uri) {
    for (let round = 0; round < 200; round += 1) {
      const at = this.heard.findIndex((it) => it.method === method && (!uri || it.params.uri === uri));
      if (at >= 0) return void this.heard.splice(at, 1);
      await sleep(20);
    }
    throw new Failed(`${method} ${uri ?? ''} was not heard, only ${JSON.stringify(this.heard)}`);
  }

  levels() {
    const messages = this.heard.filter((it) => it.method === 'notifications/message');
    this.heard = this.heard.filter((it) => it.method !== 'notifications/message');
    return messages.map((it) => it.params.level);
  }
}

async function refused(what, codes, request) {
  let answer;
  try {
    answer = await request;
  } catch (error) {
    if (!codes.includes(error.code)) throw new Failed(`${what}: expected an error of ${codes}, got ${error}`);
    return error;
  }
  throw new Failed(`${what} must be refused, but is ${JSON.stringify(answer)}`);
}

const isPng = (text) => Buffer.from(text, 'base64').subarray(1, 4).toString() === 'PNG';
const FIRST = '2024-11-05';

const GROUPS = {
  content: [FIRST, async (world) => {
    expect('a text', await world.text('test_simple_text'), 'This is a simple text response for testing.');
    const [image] = (await world.call('test_image_content')).content;
    expect('an image', [image.type, image.mimeType, isPng(image.data)], ['image', 'image/png', true]);
    if (world.since('2025-03-26')) {
      const [sound] = (await world.call('test_audio_content')).content;
      expect('sound', [sound.type, sound.mimeType], ['audio', 'audio/wav']);
    }
    const [embedded] = (await world.call('test_embedded_resource')).content;
    expect('a resource in it', embedded.resource.text, 'This is an embedded resource content.');
    const several = (await world.call('test_multiple_content_types')).content.map((block) => block.type);
    expect('several kinds', several, ['text', 'image', 'resource']);
    const shown = (await world.call('show_content')).content.map((block) => block.type);
    if (world.since('2025-06-18')) expect('a link', shown.includes('resource_link'), true);
    const failed = await world.call('test_error_handling');
    const why = 'This tool intentionally returns an error for testing';
    expect('isError', [failed.isError, failed.content[0].text], [true, why]);
  }],

  'structured content': [FIRST, async (world) => {
    const { structuredContent } = await world.call('add', { a: 1, b: 2 });
    expect('structuredContent', structuredContent, world.since('2025-06-18') ? { sum: 3 } : undefined);
  }],

  progress: [FIRST, async (world) => {
    const steps = [];
    const onprogress = ({ progress, total }) => steps.push([progress, total]);
    await world.text('test_tool_with_progress', {}, { onprogress });
    // The SDKs handle progress that arrives together with the answer after the answer, without its token.
    const late = () => world.problems.filter((it) => it.includes('unknown token'));
    for (let round = 0; round < 200 && steps.length + late().length < 3; round += 1) await sleep(20);
    steps.push(...late().map((it) => JSON.parse(it.slice(it.indexOf('{'))).params).map((it) => [it.progress, it.total]));
    expect('steps', steps, [[0, 2], [1, 2], [2, 2]]);
    world.problems = world.problems.filter((it) => !it.includes('unknown token'));
  }],

  cancel: [FIRST, async (world) => {
    const stop = new AbortController();
    const slow = world.call('slow', { seconds: 20 }, { signal: stop.signal }).then(
      () => { throw new Failed('slow answered a call that was cancelled'); },
      (error) => { if (error instanceof Failed) throw error; },
    );
    await sleep(200);
    stop.abort('changed my mind');
    await slow;
    expect('echo after it', await world.text('echo', { message: 'still there' }), 'still there');
  }],

  logging: [FIRST, async (world) => {
    if (!world.stateless) await world.client.setLoggingLevel('info');
    await world.text('log', { text: 'hi' });
    expect('levels', world.levels(), EVERY_LEVEL);
    if (!world.stateless) {
      await world.client.setLoggingLevel('error');
      await world.text('log', { text: 'hi' });
      expect('levels', world.levels(), EVERY_LEVEL.slice(3));
    }
    await world.text('test_tool_with_logging');
    expect('log messages of a worker', world.levels().length, world.stateless ? 3 : 0);
  }],

  resources: [FIRST, async (world) => {
    const listed = (await world.client.listResources()).resources.map((it) => it.uri);
    for (const uri of ['test://static-text', 'test://static-binary', 'test://watched-resource', 'clock://ticks']) {
      if (!listed.includes(uri)) throw new Failed(`${uri} is not listed, only ${listed}`);
    }
    const read = async (uri) => (await world.client.readResource({ uri })).contents[0];
    expect('text', (await read('test://static-text')).text, 'This is the content of the static text resource.');
    const bytes = await read('test://static-binary');
    expect('bytes', [bytes.mimeType, isPng(bytes.blob)], ['image/png', true]);
    // 2.x reports the old error code as the new one.
    const codes = world.stateless ? [-32602] : [-32002, -32602];
    const error = await refused('a resource that is not there', codes, read('test://nonexistent'));
    expect('what is not there', error.data.uri, 'test://nonexistent');
  }],

  templates: [FIRST, async (world) => {
    const listed = (await world.client.listResourceTemplates()).resourceTemplates.map((it) => it.uriTemplate);
    expect('templates', listed, ['note://{name}', 'test://template/{id}/data']);
    const [part] = (await world.client.readResource({ uri: 'test://template/123/data' })).contents;
    expect('what it is', [part.mimeType, part.text.includes('123')], ['application/json', true]);
  }],

  'list changes': [FIRST, async (world) => {
    const filter = { resourcesListChanged: true, toolsListChanged: true, promptsListChanged: true };
    const subscription = world.stateless ? await world.client.listen(filter) : undefined;
    if (subscription) expect('what is honored', subscription.honoredFilter, filter);
    await world.call('write_note', { name: 'todo', text: 'interop' });
    await world.hears('notifications/resources/list_changed');
    await world.call('test_trigger_tool_change');
    await world.hears('notifications/tools/list_changed');
    await world.call('test_trigger_prompt_change');
    await world.hears('notifications/prompts/list_changed');
    await subscription?.close();
    const listed = (await world.client.listResources()).resources.map((it) => it.uri);
    expect('the note is listed', listed.includes('note://todo'), true);
    await world.text('remove_note', { name: 'todo' });
    world.heard = [];
  }],

  subscriptions: [FIRST, async (world) => {
    const uri = 'clock://ticks';
    let end = () => world.client.unsubscribeResource({ uri });
    if (world.stateless) {
      const subscription = await world.client.listen({ resourceSubscriptions: [uri] });
      expect('what is honored', subscription.honoredFilter, { resourceSubscriptions: [uri] });
      end = () => subscription.close();
    } else {
      await world.client.subscribeResource({ uri });
    }
    await world.text('tick');
    await world.hears('notifications/resources/updated', uri);
    await end();
    await world.text('tick');
    await world.text('tick');
    expect('heard after it was ended', world.heard.filter((it) => it.method.includes('updated')), []);
  }],

  prompts: [FIRST, async (world) => {
    const { prompts } = await world.client.listPrompts();
    const taken = prompts.find((it) => it.name === 'test_prompt_with_arguments').arguments;
    expect('arguments', taken.map((it) => it.name), ['arg1', 'arg2']);
    const said = async (name, args) => (await world.client.getPrompt({ name, arguments: args })).messages;
    const [simple] = await said('test_simple_prompt');
    expect('a prompt', [simple.role, simple.content.text], ['user', 'This is a simple prompt for testing.']);
    const [filled] = await said('test_prompt_with_arguments', { arg1: 'ä', arg2: 'b' });
    expect('its arguments', filled.content.text, "Prompt with arguments: arg1='ä', arg2='b'");
    const [embedded] = await said('test_prompt_with_embedded_resource', { resourceUri: 'test://static-text' });
    expect('a resource in it', embedded.content.resource.uri, 'test://static-text');
    const [image] = await said('test_prompt_with_image');
    expect('an image in it', [image.content.type, image.content.mimeType], ['image', 'image/png']);
    await refused('a prompt without its argument', [-32602], said('test_prompt_with_arguments', { arg1: 'a' }));
    await refused('an unknown prompt', [-32602], said('no_such_prompt'));
  }],

  completion: [FIRST, async (world) => {
    const values = async (name, argument, value) => {
      const ref = { type: 'ref/prompt', name };
      return (await world.client.complete({ ref, argument: { name: argument, value } })).completion.values;
    };
    expect('par', await values('test_prompt_with_arguments', 'arg1', 'par'), ['paris', 'park', 'party']);
    expect('part', await values('test_prompt_with_arguments', 'arg1', 'part'), ['party']);
    expect('c', await values('discuss_note', 'mood', 'c'), ['critical', 'curious']);
    expect('nothing', await values('discuss_note', 'mood', 'x'), []);
  }],

  sampling: [FIRST, async (world) => {
    const text = await world.text('test_sampling', { prompt: 'say something' });
    expect('what the model said', text, 'LLM response: made by a model');
    const { messages: [message], maxTokens } = world.asked.at(-1);
    expect('what it was asked', [message.content.text, maxTokens], ['say something', 100]);
  }],

  roots: [FIRST, async (world) => {
    expect('roots', await world.text('ask_roots'), 'Roots: file:///home/ada');
  }],

  elicitation: ['2025-06-18', async (world) => {
    world.elicit = { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
    let text = await world.text('test_elicitation', { message: 'Who?' });
    expect('accept', [text.includes('action=accept'), text.includes('ada@example.com')], [true, true]);
    expect('what was asked', world.asked.at(-1).message, 'Who?');
    for (const action of ['decline', 'cancel']) {
      world.elicit = { action };
      text = await world.text('test_elicitation', { message: 'Who?' });
      expect(action, text.includes(`action=${action}`), true);
    }
    world.elicit = { action: 'accept', content: { name: 'Ada', age: 36, score: 1.5, verified: false } };
    text = await world.text('test_elicitation_sep1034_defaults');
    expect('defaults', world.asked.at(-1).requestedSchema.properties.age.default, 30);
    expect('numbers', text.includes('"age":36') && text.includes('"score":1.5'), true);
    if (world.since('2025-11-25')) {
      world.elicit = { action: 'accept', content: CHOICES };
      text = await world.text('test_elicitation_sep1330_enums');
      expect('choices', text.includes('"untitledMulti":["option1","option2"]'), true);
    }
  }],

  'url elicitation': ['2025-11-25', async (world) => {
    world.elicit = { action: 'accept' };
    const text = await world.text('ask_page');
    expect('page', [world.asked.at(-1).mode, text.includes('action=accept')], ['url', true]);
  }],

  rounds: [STATELESS, async (world) => {
    world.elicit = { action: 'accept', content: { name: 'Ada', color: 'blue', ok: true, context: 'c' } };
    expect('one round', await world.text('test_input_required_result_elicitation'), 'Hello, Ada!');
    const state = await world.text('test_input_required_result_request_state');
    expect('a state', state.includes('state-ok'), true);
    const several = await world.text('test_input_required_result_multiple_inputs');
    expect('three questions at once', several, 'made by a model, "Ada", in 1 roots');
    const two = await world.text('test_input_required_result_multi_round');
    expect('two rounds', two.includes('blue'), true);
    const prompt = await world.client.getPrompt({ name: 'test_input_required_result_prompt' });
    expect('a prompt that asks', prompt.messages.length > 0, true);
  }],
};

// A failed group does not stop the others.
async function run(name, sdk, mode, command, failures) {
  const transport = isUrl
    ? new sdk.HttpTransport(new URL(command[0]))
    : new sdk.Transport({ command: command[0], args: command.slice(1) });
  const peer = await sdk.connect(transport, mode, { capabilities: CAPABILITIES });
  const world = new World(peer, mode);
  await world.answer(name);
  await peer.open();
  for (const [group, [since, check]] of Object.entries(GROUPS)) {
    if (world.version < since) continue;
    const limit = sleep(GROUP_LIMIT, undefined, { ref: false }).then(() => {
      throw new Failed(`nothing happened for ${GROUP_LIMIT / 1000} s`);
    });
    try {
      await Promise.race([check(world), limit]);
      expect('complaints of the SDK', world.problems.splice(0), []);
      console.log(`  ok  ${group}`);
    } catch (error) {
      (failures[group] ??= []).push(`${mode}: ${error instanceof Failed ? error.message : error}`);
    }
  }
  await peer.client.close();
}

const command = process.argv.slice(2);
const isUrl = command[0].startsWith('http://');
// Skip 2024-11-05, which has another transport for HTTP.
const handshake = HANDSHAKE.filter((version) => !isUrl || version > '2024-11-05');
const runs = [
  ['sdk', 'typescript sdk', sdk1, 'handshake', ['2025-11-25']],
  ['client', 'typescript client', sdk2, 'handshake', handshake],
  ['client', 'typescript client', sdk2, 'stateless', [STATELESS]],
];
let failed = false;
for (const [name, label, load, era, modes] of runs) {
  const title = `${label} ${versionOf(`@modelcontextprotocol/${name}`)}${isUrl ? ' over HTTP' : ''}`;
  const failures = {};
  for (const mode of modes) {
    console.log(`${title}, features | ${mode}`);
    await run(name, await load(), mode, command, failures).catch((error) => {
      (failures.connection ??= []).push(`${mode}: ${error}`);
    });
  }
  for (const group of [...Object.keys(GROUPS), 'connection']) {
    if (group in GROUPS && modes.at(-1) < GROUPS[group][0]) continue;
    for (const why of failures[group] ?? []) console.log(`FAILED ${group}, ${why}`);
    console.log(`RESULT ${title}, ${group} | ${era} | ${group in failures ? 'FAILED' : 'ok'}`);
    failed ||= group in failures;
  }
}
process.exit(failed ? 1 : 0);
