// JSON-RPC clients from the npm registry: Content-Length headers, lines, HTTP.
import assert from 'node:assert/strict';
import net from 'node:net';
import readline from 'node:readline';
import { after, before, test } from 'node:test';
import jayson from 'jayson';
import { createJSONRPCErrorResponse, JSONRPCClient } from 'json-rpc-2.0';
import rpc from 'vscode-jsonrpc/node';
import { startDaemon } from './daemon.mjs';

const limit = { timeout: 60_000 };
let daemon;
before(async () => { daemon = await startDaemon(); });
after(() => daemon.stop());

test('vscode-jsonrpc with Content-Length headers', limit, async () => {
  const socket = net.connect(daemon.socket);
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(socket), new rpc.StreamMessageWriter(socket));
  connection.listen();
  assert.equal((await connection.sendRequest('daemon.ping')).pong, true);
  // The length counts bytes, not characters.
  const name = 'Grüße, 世界 🌍';
  assert.equal((await connection.sendRequest('client.hello', { name })).name, name);
  await connection.sendNotification('daemon.ping');
  const many = await Promise.all(Array.from({ length: 500 }, () => connection.sendRequest('daemon.info')));
  assert.equal(many.length, 500);
  await assert.rejects(connection.sendRequest('daemon.pong'), (error) =>
    error.code === -32601 && error.data.error === 'method_not_found');
  await assert.rejects(connection.sendRequest('client.hello', { nam: 'x' }), (error) =>
    error.code === -32602 && error.message.includes("did you mean 'name'?"));
  connection.dispose();
  socket.destroy();
});

function ask(client, ...request) {
  return new Promise((resolve, reject) => {
    client.request(...request, (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

for (const [kind, connect] of [
  ['lines', () => jayson.Client.tcp({ path: daemon.socket })],
  ['HTTP', () => jayson.Client.http({ socketPath: daemon.socket, path: '/' })],
]) {
  test(`jayson with ${kind}`, limit, async () => {
    const client = connect();
    const pong = await ask(client, 'daemon.ping', {});
    assert.equal(pong.result.pong, true);
    assert.equal((await ask(client, 'daemon.ping', [])).result.pong, true);
    const failed = await ask(client, 'no.such.method', {});
    assert.equal(failed.error.code, -32601);
    const batch = await ask(client, [
      client.request('daemon.ping', {}, undefined, false),
      client.request('client.hello', { name: 'jayson' }, 'hello', false),
      client.request('daemon.ping', {}, null, false),
    ]);
    assert.equal(batch.length, 2);
    assert.equal(batch[1].id, 'hello');
    assert.equal(batch[1].result.name, 'jayson');
    await ask(client, 'daemon.ping', {}, null);
  });
}

test('json-rpc-2.0 with lines', limit, async () => {
  const socket = net.connect(daemon.socket);
  const client = new JSONRPCClient((message) => { socket.write(JSON.stringify(message) + '\n'); });
  readline.createInterface({ input: socket }).on('line', (line) => client.receive(JSON.parse(line)));
  assert.equal((await client.request('daemon.ping')).pong, true);
  assert.equal((await client.request('client.hello', { name: 'json-rpc-2.0' })).name, 'json-rpc-2.0');
  client.notify('daemon.ping', {});
  await assert.rejects(client.request('no.such.method', {}), (error) => error.code === -32601);
  const replies = await client.requestAdvanced([
    { jsonrpc: '2.0', id: 'a', method: 'daemon.ping' },
    { jsonrpc: '2.0', id: 'b', method: 'daemon.ping', params: { x: 1 } },
  ]);
  assert.equal(replies.length, 2);
  assert.equal(replies[0].result.pong, true);
  assert.equal(replies[1].error.code, -32602);
  const timed = client.timeout(10_000, (id) => createJSONRPCErrorResponse(id, 1, 'late'));
  assert.equal((await timed.request('daemon.stats', {})).requests_by_method['client.hello'] >= 1, true);
  socket.destroy();
});
