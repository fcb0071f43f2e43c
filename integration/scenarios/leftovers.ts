import { fileURLToPath } from 'node:url';
import { scriptOf } from '@queuelock/harness/services/script';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import type { CycleEvent } from './cycle-event.ts';
import type { Site } from './store.ts';

const SCRIPT = fileURLToPath(new URL('cycles.ts', import.meta.url));

export type Round = Extract<CycleEvent, { ev: 'round' }>;

/**
 * A process that takes and releases many locks in several rounds, and reports its memory and resources after
 * each round.
 */
export class CyclesProcess extends ScriptProcess<CycleEvent> {
  constructor(site: Site, rounds: number, cycles: number, what: 'heap' | 'instances') {
    const { script, execArgv } = scriptOf(SCRIPT);
    const options = [...execArgv, '--expose-gc', '--disable-warning=ExperimentalWarning'];
    super({ script, execArgv: options }, [site.url(), String(rounds), String(cycles), what]);
  }

  /** Resolves with the reports of all rounds when the process has taken and released all locks. */
  async rounds(): Promise<readonly Round[]> {
    await this.untilEvent('ran');
    return this.events.filter((event) => event.ev === 'round');
  }

  /**
   * Closes the client of the process. Resolves with the resources that would still keep the process alive.
   */
  async close(): Promise<readonly string[]> {
    this.tell({ close: true });
    await this.untilEvent('closed');
    return this.events.flatMap((event) => (event.ev === 'closed' ? event.resources : []));
  }
}
