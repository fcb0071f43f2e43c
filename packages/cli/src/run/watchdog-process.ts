/**
 * The watchdog of a command: a process that ends the command when `queuelock run` itself cannot, because it
 * was frozen (SIGSTOP) or killed. It reads orders from standard input: which processes to end, and when. An
 * order is one JSON object a line; `{}` cancels it. The watchdog does not connect to a server.
 */
import { createInterface } from 'node:readline';
import { groupsMarked } from './marked.ts';
import { watchdogAction, momentNow, elapsedMs, type WatchdogAction, type Orders } from './orders.ts';

// Interval in milliseconds at which the watchdog checks whether its orders are due. It is short because
// timers fire late after the machine has slept.
const CHECK_INTERVAL_MS = 250;
const RECHECK_MS = 20;
// Time in milliseconds for which the watchdog searches for a command that is being started. It finds the
// command by an environment variable, which a new process has only once its program runs.
const START_TIMEOUT_MS = 2_000;

class WatchdogProcess {
  #orders: Orders | undefined;
  #termed = false;
  #timer: NodeJS.Timeout | undefined;

  obey(line: string): void {
    const orders = JSON.parse(line) as Orders | Record<string, never>;
    this.#orders = isOrders(orders) ? orders : undefined;
    if (!this.#orders) this.#termed = false;
    this.#check();
  }

  /**
   * Handles the death of `queuelock run`, which gave the orders. If there are orders, it died while its
   * command ran, and the lock is no longer renewed.
   */
  orphaned(): void {
    const orders = this.#orders;
    if (!orders) process.exit();
    const { killInMs, graceMs, from } = orders;
    const passed = elapsedMs(from, momentNow());
    this.#orders = { ...orders, termInMs: passed, killInMs: Math.min(killInMs, passed + graceMs) };
    print('queuelock itself was killed; its watchdog ends the command before the lock can be lost');
    this.#check();
    const begun = momentNow();
    setInterval(() => {
      const mayStart = 'mark' in orders && elapsedMs(begun, momentNow()) < START_TIMEOUT_MS;
      if (!this.#send(0) && !mayStart) process.exit();
    }, RECHECK_MS);
  }

  #check(): void {
    clearTimeout(this.#timer);
    if (!this.#orders) return;
    const action = watchdogAction(this.#orders, elapsedMs(this.#orders.from, momentNow()), this.#termed);
    if (action.do === 'kill' && this.#kill()) return;
    if (action.do === 'term') {
      this.#termed = true;
      this.#send('SIGTERM');
    }
    this.#timer = setTimeout(() => {
      this.#check();
    }, pauseAfter(action));
  }

  /**
   * Sends SIGKILL to the processes of the command. Returns whether the watchdog's work is done. A process
   * group is killed only once, because the system may reuse its id. If no process with the mark of the orders
   * (`Orders.mark`) exists, the command may still be starting, so the watchdog must try again.
   */
  #kill(): boolean {
    const isKilled = this.#send('SIGKILL');
    if (isKilled) print('its watchdog killed the command (SIGKILL) before the lock could be lost');
    else if (this.#orders && 'mark' in this.#orders) return false;
    this.#orders = undefined;
    return true;
  }

  /** Sends the signal to all processes of the command. Returns whether any such process exists. */
  #send(signal: NodeJS.Signals | 0): boolean {
    if (!this.#orders) return false;
    const groups = 'group' in this.#orders ? [this.#orders.group] : groupsMarked(this.#orders.mark);
    return groups.map((group) => sendTo(group, signal)).includes(true);
  }
}

function pauseAfter(action: WatchdogAction): number {
  if (action.do === 'wait') return Math.min(action.ms, CHECK_INTERVAL_MS);
  return action.do === 'term' ? 0 : RECHECK_MS;
}

function sendTo(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // The error EPERM means that a process of the group exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isOrders(orders: Orders | Record<string, never>): orders is Orders {
  return 'from' in orders;
}

function print(line: string): void {
  process.stderr.write(`queuelock: ${line}\n`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => undefined);
process.stderr.on('error', () => undefined);
// Ignores a closed pipe: `queuelock run` may have ended before the watchdog was ready.
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
