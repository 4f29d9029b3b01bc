// Starts the real daemon on a socket of its own and stops it again.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

function connects(socket) {
  return new Promise((resolve) => {
    const probe = net.connect(socket);
    probe.on('connect', () => { probe.end(); resolve(true); });
    probe.on('error', () => resolve(false));
  });
}

export async function startDaemon(config = '') {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'sessiond-interop-'));
  const socket = path.join(directory, 'run', 'sessiond.sock');
  const file = path.join(directory, 'sessiond.yaml');
  writeFileSync(file, config);
  const child = spawn(process.env.SESSIOND,
    ['--config', file, '--state-dir', path.join(directory, 'state'), '--socket', socket],
    { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  process.on('exit', () => child.kill('SIGKILL'));
  const deadline = Date.now() + 30_000;
  while (!(await connects(socket))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('the daemon did not start');
    await pause(2);
  }
  return {
    socket,
    async stop() {
      child.kill('SIGTERM');
      const [status] = await ended;
      rmSync(directory, { recursive: true, force: true });
      if (status !== 0) throw new Error(`the daemon ended with status ${status}`);
    },
  };
}
