/**
 * The watchdog of a command: a process beside `queuelock run` that ends the command when `queuelock` itself cannot, because it is
 * frozen (SIGSTOP) or was killed. It gets its orders, a JSON object a line, on standard input; `{}` takes them back. It knows no server.
 */
import { createInterface } from 'node:readline';
import { groupsMarked } from './marked.ts';
import { deedOf, momentNow, passedMs, type Deed, type Orders } from './orders.ts';

// A machine that slept wakes timers late.
const LOOK_EVERY_MS = 250;
const LOOK_FOR_THE_REST_MS = 20;
// A command that is just being started shows its mark once its program runs.
const STARTS_WITHIN_MS = 2_000;

class WatchdogProcess {
  #orders: Orders | undefined;
  #termed = false;
  #timer: NodeJS.Timeout | undefined;

  obey(line: string): void {
    const orders = JSON.parse(line) as Orders | Record<string, never>;
    this.#orders = isOrders(orders) ? orders : undefined;
    if (!this.#orders) this.#termed = false;
    this.#look();
  }

  /** Whoever gave the orders is gone: if there are some, it died, and nobody renews the lock any more. */
  orphaned(): void {
    const orders = this.#orders;
    if (!orders) process.exit();
    const { killInMs, graceMs, from } = orders;
    const passed = passedMs(from, momentNow());
    this.#orders = { ...orders, termInMs: passed, killInMs: Math.min(killInMs, passed + graceMs) };
    tell('it was killed itself; its watchdog ends the command before the lock can be lost');
    this.#look();
    const begun = momentNow();
    setInterval(() => {
      const mayStart = 'mark' in orders && passedMs(begun, momentNow()) < STARTS_WITHIN_MS;
      if (!this.#send(0) && !mayStart) process.exit();
    }, LOOK_FOR_THE_REST_MS);
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (!this.#orders) return;
    const deed = deedOf(this.#orders, passedMs(this.#orders.from, momentNow()), this.#termed);
    if (deed.do === 'kill' && this.#kill()) return;
    if (deed.do === 'term') {
      this.#termed = true;
      this.#send('SIGTERM');
    }
    this.#timer = setTimeout(() => {
      this.#look();
    }, pauseAfter(deed));
  }

  /**
   * Whether that was all. The number of a group that is gone may be given to another one, so nothing is sent to it any more; whoever shows
   * the mark later is the command.
   */
  #kill(): boolean {
    const isKilled = this.#send('SIGKILL');
    if (isKilled) tell('its watchdog killed the command (SIGKILL) before the lock can be lost');
    else if (this.#orders && 'mark' in this.#orders) return false;
    this.#orders = undefined;
    return true;
  }

  /** To everybody who is to be ended; whether there is somebody. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (!this.#orders) return false;
    const groups = 'group' in this.#orders ? [this.#orders.group] : groupsMarked(this.#orders.mark);
    return groups.map((group) => sendTo(group, signal)).includes(true);
  }
}

function pauseAfter(deed: Deed): number {
  if (deed.do === 'wait') return Math.min(deed.ms, LOOK_EVERY_MS);
  return deed.do === 'term' ? 0 : LOOK_FOR_THE_REST_MS;
}

function sendTo(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isOrders(orders: Orders | Record<string, never>): orders is Orders {
  return 'from' in orders;
}

function tell(line: string): void {
  process.stderr.write(`queuelock: ${line}\n`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => undefined);
process.stderr.on('error', () => undefined);
// Whoever started it may have ended before it came up: nobody hears that it is ready, and nothing is wrong with that.
process.stdout.on('error', () => undefined);
const watchdog = new WatchdogProcess();
createInterface(process.stdin)
  .on('line', (line) => {
    watchdog.obey(line);
  })
  .on('close', () => {
    watchdog.orphaned();
  });
process.stdout.write('ready\n');
