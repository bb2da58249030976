// Calls tools of a board until stdin ends, with an official TypeScript SDK; `noise_run.py` starts it.
//
//     node typescript_calls.mjs 1|2 MODE PROGRAM

import { sdk1, sdk2 } from './typescript_client.mjs';

const LIMIT = 60_000; // for a call
const [which, mode, program] = process.argv.slice(2);
let ended = false;
process.stdin.on('end', () => { ended = true; }).resume();

async function calls(peer, name, parameters) {
  for (let number = 1; !ended; number += 1) {
    const [given, wanted] = parameters(number);
    let result;
    try {
      result = await peer.call(name, given, { timeout: LIMIT });
    } catch (error) {
      if (typeof error.code !== 'number') throw error;
      console.log(`error ${name} ${error.code}`);
      continue;
    }
    if (result.isError || result.content[0].text !== wanted) {
      throw new Error(`${name} ${JSON.stringify(given)} responds ${JSON.stringify(result)}`);
    }
    console.log(`ok ${name}`);
  }
}

const sdk = which === '1' ? await sdk1() : await sdk2();
const peer = await sdk.connect(new sdk.Transport({ command: program }), mode);
await peer.open();
await Promise.all([
  calls(peer, 'led_set', (number) => [{ on: number % 2 === 0 }, `the LED is ${number % 2 ? 'off' : 'on'}`]),
  calls(peer, 'self_test', () => [{}, 'test passed']),
]);
await peer.client.close();
