import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process of `etcdctl lock` that waits in a queue or holds its lock. */
export interface EtcdctlLock {
  /** Returns what the process has printed. It prints its key when it holds the lock. */
  printed(): string;
  /** Ends the process, whether it waits or holds. */
  release(): Promise<void>;
}

/** Starts `etcdctl lock NAME`. */
export function lockByEtcdctl(endpoint: string, name: string): EtcdctlLock {
  const child = spawn('etcdctl', ['lock', name], {
    env: { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: endpoint },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const exited = once(child, 'exit');
  return {
    printed: () => printed,
    release: async () => {
      child.kill('SIGINT');
      await exited;
    },
  };
}
