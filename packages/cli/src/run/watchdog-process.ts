/**
 * The watchdog of a command: a process that ends the command when `queuelock run` itself cannot, because it was frozen (SIGSTOP)
 * or killed. It reads orders from standard input, one JSON object a line; `{}` cancels them. It does not connect to a server.
 */
import { createInterface } from 'node:readline';
import { groupsMarked } from './marked.ts';
import { deedOf, momentNow, passedMs, type Deed, type Orders } from './orders.ts';

// Short, because timers fire late after the machine slept.
const LOOK_EVERY_MS = 250;
const LOOK_FOR_THE_REST_MS = 20;
// A command that is being started shows its mark only once its program runs.
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

  /** Handles the death of the process that gave the orders. If there are any, it died, and the lock is not renewed any more. */
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
   * Sends SIGKILL. Returns whether no target is left. The id of an ended group may be reused, so it is never signalled again. A
   * process that shows the mark later belongs to the command.
   */
  #kill(): boolean {
    const isKilled = this.#send('SIGKILL');
    if (isKilled) tell('its watchdog killed the command (SIGKILL) before the lock can be lost');
    else if (this.#orders && 'mark' in this.#orders) return false;
    this.#orders = undefined;
    return true;
  }

  /** Signals all targets. Returns whether there were any. */
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
    // EPERM: the process exists and belongs to another user.
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
// Ignores a closed pipe: the parent may have ended before the watchdog was ready.
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
