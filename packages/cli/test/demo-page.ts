import { once } from 'node:events';
import { createBridgeClient, type BridgeClient } from '@queuelock/bridge/client';
import type { ContendersSnapshot } from '@queuelock/bridge/wire';
import { filter, firstValueFrom, map, timeout } from 'rxjs';
import { Cli, type Line } from './cli-process.ts';

/** A line that the demo prints about its page and its contenders. */
export interface DemoLine extends Line {
  readonly url?: string;
  readonly until?: string;
  readonly admitted?: boolean;
}

const SOON_MS = 60_000;

/** A process that runs `queuelock demo --page`, with a client of its bridge. */
export class DemoPage {
  readonly cli: Cli;
  readonly url: string;
  /** Name of the queue of the page's contenders. */
  readonly name: string;
  readonly client: BridgeClient;

  /**
   * Starts `queuelock demo --page`, which first lets three contenders acquire the lock once each, and then
   * serves its page. Resolves when the page is served.
   */
  static async open(
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<DemoPage> {
    const cli = new Cli(['demo', '--page', '--json', '--contenders', '3', '--rounds', '1', ...args], env);
    const pages = (): DemoLine | undefined => cli.events.find(({ ev }) => ev === 'page');
    return new DemoPage(cli, (await found(cli, pages)).url!);
  }

  private constructor(cli: Cli, url: string) {
    this.cli = cli;
    this.url = url;
    this.name = decodeURIComponent(url.slice(url.lastIndexOf('/') + 1));
    this.client = createBridgeClient({ url: `${new URL(url).origin}/queuelock` });
  }

  /**
   * The events of the page's contenders, without those of the contenders that the demo runs before it serves
   * the page.
   */
  get events(): readonly DemoLine[] {
    const all = this.cli.events;
    const first = all.findIndex(({ name }) => name === this.name);
    return first < 0 ? [] : all.slice(first);
  }

  /**
   * Resolves with the first event that satisfies the condition and is later than `after`. The demo may have
   * printed it before this call.
   */
  until(isIt: (event: DemoLine) => boolean, after?: DemoLine): Promise<DemoLine> {
    return found(this.cli, () =>
      this.events.find((event) => (!after || isLater(event, after)) && isIt(event)),
    );
  }

  /**
   * Resolves with the first grant that the demo prints after this call. The hold of an earlier grant may end
   * at any moment.
   */
  nextGrant(): Promise<DemoLine> {
    const known = new Set(this.events.map(({ t }) => t));
    return this.until(({ ev, t }) => ev === 'acquired' && !known.has(t));
  }

  /** Resolves with the first snapshot of the page's queue that satisfies the condition. */
  seen(isIt: (snapshot: ContendersSnapshot) => boolean): Promise<ContendersSnapshot> {
    return firstValueFrom(
      this.client.contenders(this.name).pipe(
        map(({ snapshot }) => snapshot),
        filter((snapshot) => snapshot !== undefined),
        filter(isIt),
        timeout(SOON_MS),
      ),
      { defaultValue: undefined as never },
    );
  }

  /** Ends the demo as Ctrl-C does, and resolves with its exit code. */
  async interrupt(): Promise<number | null> {
    this.client.close();
    this.cli.child.kill('SIGINT');
    return (await this.cli.ending).code;
  }
}

/** Returns whether the event is later than the event `than`, by their stamps. */
export function isLater({ t }: DemoLine, than: DemoLine): boolean {
  return BigInt(t) > BigInt(than.t);
}

async function found(cli: Cli, find: () => DemoLine | undefined): Promise<DemoLine> {
  const late = AbortSignal.timeout(SOON_MS);
  for (;;) {
    const event = find();
    if (event) return event;
    const ended = await Promise.race([
      once(cli.child.stdout!, 'data', { signal: late }).catch(() => cli),
      cli.ending,
    ]);
    if ('stdout' in ended)
      throw new Error(`it has not come; the demo has said: ${ended.stdout.slice(-2_000)}`);
  }
}
