import { fileURLToPath } from 'node:url';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import type { Cost } from './storm-load.ts';

const SCRIPT = fileURLToPath(new URL('storm-client.ts', import.meta.url));

export interface StormPlan {
  readonly hosts: readonly string[];
  readonly transport: 'etcd3' | 'http2' | 'socket';
  readonly does: 'holds and waits' | 'opens a session again and again';
  readonly forMs: number;
}

export type StormEvent = { readonly ev: 'ready' } | { readonly ev: 'cost'; readonly cost: Cost };

/** Runs a client whose servers fail in its own process, so that the CPU time of proxies and test runner is not measured. */
export class StormProcess extends ScriptProcess<StormEvent> {
  constructor(spec: StormPlan) {
    super(scriptOf(SCRIPT), [JSON.stringify(spec)]);
  }

  /** Starts the measurement of the client's cost, and resolves with its result. */
  async cost(): Promise<Cost> {
    this.tell({});
    const event = await this.untilEvent('cost');
    await this.ended;
    return (event as Extract<StormEvent, { ev: 'cost' }>).cost;
  }
}
