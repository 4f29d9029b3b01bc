// HTTP as curl speaks it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { startDaemon } from './daemon.mjs';

const limit = { timeout: 60_000 };
const ping = '{"jsonrpc":"2.0","id":1,"method":"daemon.ping"}';
let daemon;
before(async () => { daemon = await startDaemon('limits: {frame_bytes: 4194304}\n'); });
after(() => daemon.stop());

// Runs curl; resolves to what it printed, with the status (and the number of new connections) on the last line.
function curl(words, input = '') {
  return new Promise((resolve, reject) => {
    const child = execFile('curl',
      ['--silent', '--show-error', '--max-time', '30', '--unix-socket', daemon.socket, ...words],
      { maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => (error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve({ stdout, stderr })));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

async function post(body, ...words) {
  const { stdout, stderr } = await curl(
    ['--write-out', '\n%{http_code}', '--data-binary', '@-', ...words, 'http://localhost/'], body);
  const end = stdout.lastIndexOf('\n');
  return { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end), stderr };
}

test('POST', limit, async () => {
  const reply = await post(ping, '-H', 'Content-Type: application/json');
  assert.equal(reply.status, 200);
  assert.equal(JSON.parse(reply.body).result.pong, true);
  assert.equal((await post(ping, '--http1.0')).status, 200);
});

test('a batch and a notification', limit, async () => {
  const batch = await post(`[${ping},{"jsonrpc":"2.0","method":"daemon.ping"},${ping}]`);
  assert.equal(batch.status, 200);
  assert.equal(JSON.parse(batch.body).length, 2);
  const notification = await post('{"jsonrpc":"2.0","method":"daemon.ping"}');
  assert.equal(notification.status, 204);
  assert.equal(notification.body, '');
});

test('two requests on one connection', limit, async () => {
  const { stdout } = await curl(['--data', ping, '--write-out', '\n%{http_code} %{num_connects}\n',
    'http://localhost/a', 'http://localhost/b']);
  assert.deepEqual(stdout.match(/^\d+ \d$/gm), ['200 1', '200 0']);
});

test('what is not JSON, and what is not JSON-RPC', limit, async () => {
  const bad = await post('{"jsonrpc":');
  assert.equal(JSON.parse(bad.body).error.code, -32700);
  assert.equal(JSON.parse((await post('{}')).body).error.code, -32600);
  assert.equal(JSON.parse((await post('')).body).error.code, -32700);
});

test('web pages are refused', limit, async () => {
  const refused = await post(ping, '-H', 'Origin: http://localhost');
  assert.equal(refused.status, 403);
  assert.equal(JSON.parse(refused.body).error.data.error, 'access_denied');
});

test('other verbs and chunks are refused', limit, async () => {
  const { stdout } = await curl(['--include', 'http://localhost/']);
  assert.match(stdout, /^HTTP\/1\.1 405 /);
  assert.match(stdout, /\r\nAllow: POST\r\n/);
  assert.equal((await post(ping, '-H', 'Transfer-Encoding: chunked')).status, 411);
});

test('a large body waits for 100 Continue', limit, async () => {
  const name = 'x'.repeat(3 * 1024 * 1024);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'client.hello', params: { name } });
  const large = await post(body, '-H', 'Expect: 100-continue', '--verbose', '--expect100-timeout', '20');
  assert.equal(large.status, 200);
  assert.match(large.stderr, /< HTTP\/1\.1 100 Continue/);
  const reply = JSON.parse(large.body);
  assert.equal(reply.id, 7);
  assert.equal(reply.error.code, -32602);
});

test('a body over the limit is refused before it is sent', limit, async () => {
  const refused = await post('x'.repeat(5 * 1024 * 1024), '-H', 'Expect: 100-continue', '--expect100-timeout', '20');
  assert.equal(refused.status, 413);
  assert.equal(JSON.parse(refused.body).error.data.error, 'frame_too_large');
  // Without asking first: the body is read and thrown away.
  assert.equal((await post('x'.repeat(5 * 1024 * 1024), '-H', 'Expect:')).status, 413);
});
