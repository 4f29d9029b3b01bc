// The discovery document is OpenRPC as the authors of OpenRPC read it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MethodCallValidator, parseOpenRPCDocument, validateOpenRPCDocument } from '@open-rpc/schema-utils-js';
import jayson from 'jayson';
import { startDaemon } from './daemon.mjs';

let daemon;
before(async () => { daemon = await startDaemon(); });
after(() => daemon.stop());

test('rpc.discover', { timeout: 60_000 }, async () => {
  const client = jayson.Client.tcp({ path: daemon.socket });
  const { result: document } = await new Promise((resolve, reject) => {
    client.request('rpc.discover', {}, (error, reply) => (error ? reject(error) : resolve(reply)));
  });
  assert.equal(validateOpenRPCDocument(document), true);
  const parsed = await parseOpenRPCDocument(document, { validate: true, dereference: true });
  const names = parsed.methods.map((method) => method.name);
  for (const name of ['daemon.ping', 'daemon.info', 'daemon.stats', 'client.hello', 'rpc.discover'])
    assert.ok(names.includes(name), name);
  const calls = new MethodCallValidator(parsed);
  assert.deepEqual(calls.validate('client.hello', { name: 'x' }), []);
  assert.notDeepEqual(calls.validate('client.hello', { name: 5 }), []);
  assert.notDeepEqual(calls.validate('daemon.stats', { format: 'xml' }), []);
});
