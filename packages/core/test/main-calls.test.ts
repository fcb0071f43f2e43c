import { expect } from 'chai';
import {
  MainFunctions,
  sendFirstResults,
  serveCall,
  type CallOfThread,
  type ResultOfCall,
} from '../src/session/main-calls.ts';

/**
 * Simulates a main thread and its heartbeat thread, both in the thread of the test. The main thread offers
 * one function, `auth`. Messages between the two are cloned, as between real threads.
 */
class Threads {
  readonly calls: CallOfThread[] = [];
  readonly thread: MainFunctions;
  isBlocked = false;
  readonly #functions: Readonly<Record<string, () => unknown>>;

  constructor(auth: () => unknown) {
    this.#functions = { auth };
    this.thread = new MainFunctions(
      ['auth'],
      (call) => this.calls.push(call),
      () => this.isBlocked,
    );
  }

  /**
   * Calls each function that the main thread offers, and sends the results to the heartbeat thread. The main
   * thread does this when it starts the heartbeat thread.
   */
  start(): void {
    sendFirstResults(this.#functions, this.#post);
  }

  /** Lets the main thread respond to all calls that the heartbeat thread has sent. */
  respond(): void {
    for (const call of this.calls.splice(0)) void serveCall(call, this.#functions, this.#post);
  }

  call(): Promise<unknown> {
    const outcome = this.thread.all['auth']!();
    return outcome.catch((error: unknown) => String(error));
  }

  readonly #post = (result: ResultOfCall): void => {
    this.thread.settle(structuredClone(result));
  };
}

describe('the calls of the heartbeat thread to functions of the main thread', () => {
  it('get a first result, prepared at the start, while the main thread is blocked', async () => {
    const threads = new Threads(async () => 'secret');
    threads.start();
    threads.isBlocked = true;
    expect(await threads.call()).to.equal('secret');
    expect(threads.calls).to.deep.equal([]);
  });

  it('call the function again for each further result', async () => {
    let count = 0;
    const threads = new Threads(() => (count += 1));
    threads.start();
    await threads.call();
    const [second, third] = [threads.call(), threads.call()];
    threads.respond();
    expect(await Promise.all([second, third])).to.deep.equal([2, 3]);
  });

  it('reject at once while the main thread is known to be blocked', async () => {
    const threads = new Threads(() => 'secret');
    threads.start();
    await threads.call();
    threads.isBlocked = true;
    expect(await threads.call()).to.match(/the main thread is blocked/);
    expect(threads.calls).to.deep.equal([]);
  });

  it('reject with the error of the function, and then call the function again', async () => {
    let isDown = true;
    const threads = new Threads(() => {
      if (isDown) throw new Error('the vault is closed');
      return 'secret';
    });
    threads.start();
    await Promise.resolve();
    expect(await threads.call()).to.match(/the vault is closed/);
    isDown = false;
    const again = threads.call();
    threads.respond();
    expect(await again).to.equal('secret');
  });

  it('reject for a result that cannot be cloned', async () => {
    const threads = new Threads(() => () => 'secret');
    threads.start();
    expect(await threads.call()).to.match(/could not be cloned/);
  });

  it('get the bytes in a result as objects of the class Buffer', async () => {
    const threads = new Threads(() => ({ ca: Buffer.from('pem'), list: [Buffer.from('pem')], name: 'a' }));
    threads.start();
    const { ca, list } = (await threads.call()) as {
      readonly ca: unknown;
      readonly list: readonly unknown[];
    };
    expect([ca, ...list].map((each) => Buffer.isBuffer(each) && each.toString())).to.deep.equal([
      'pem',
      'pem',
    ]);
  });
});
