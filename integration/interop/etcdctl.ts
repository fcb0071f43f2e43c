import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createStamp } from '@queuelock/cli/src/stamp.ts';
import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';

const run = promisify(execFile);

// The command that `etcdctl lock` runs under the lock. It prints events for its beginning and its end, and
// what etcd stores for its key.
const WORK = `
  acquired=$(date +%s%N)
  entry=$(etcdctl get "$ETCD_LOCK_KEY" -w json)
  printf '{"acquired":"%s","key":"%s","entry":%s,"released":"%s"}' "$acquired" "$ETCD_LOCK_KEY" "$entry" "$(date +%s%N)"
`;

interface Worked {
  readonly acquired: string;
  readonly key: string;
  readonly entry: { readonly kvs: readonly [{ readonly create_revision: number }] };
  readonly released: string;
}

export interface EtcdctlOptions {
  /** Address of the etcd server, `host:port`. */
  readonly endpoint: string;
  readonly name: string;
  readonly id: string;
  readonly rounds: number;
}

/**
 * Locks with `etcdctl lock NAME command` repeatedly, each time in a new process. Resolves with the events of
 * all these requests and holds.
 */
export async function contendWithEtcdctl({
  endpoint,
  name,
  id,
  rounds,
}: EtcdctlOptions): Promise<HistoryEvent[]> {
  const stamp = createStamp();
  const env = { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: endpoint };
  const history: HistoryEvent[] = [];
  for (let n = 1; n <= rounds; n += 1) {
    const requesting = stamp();
    const { stdout } = await run('etcdctl', ['lock', name, '--', 'sh', '-c', WORK], { env });
    const { acquired, key, entry, released } = JSON.parse(stdout) as Worked;
    const fields = { id, name, key, token: String(entry.kvs[0].create_revision), n };
    history.push(
      { t: requesting, id, ev: 'requesting', name, n },
      // etcdctl does not report when it has joined the queue. It joined before the grant, so the time of the
      // grant is used for both events.
      { t: acquired, ev: 'enqueued', ...fields },
      { t: acquired, ev: 'acquired', ...fields },
      { t: released, ev: 'released', ...fields },
    );
  }
  return history;
}
