import { runInThisContext } from 'node:vm';
import type { LockManager } from '@queuelock/weblocks';
import { Harness, type SubtestResult } from './harness.ts';
import { settled, type Context } from './scope.ts';
import { scriptsOf } from './test-files.ts';

/**
 * Function that starts a worker or a frame with a script. `receive` gets the messages that it posts to the
 * page.
 */
export type StartContext = (script: string, receive: (data: unknown) => void) => Promise<Context>;

interface Page {
  readonly directory: string;
  readonly file: string;
  readonly locks: LockManager;
  readonly subtestMs: number;
  readonly startContext: StartContext;
}

/**
 * Runs one test file in this process. It replaces the globals of the process by those of a web page that
 * loads the file.
 */
export async function runPage({
  directory,
  file,
  locks,
  subtestMs,
  startContext,
}: Page): Promise<readonly SubtestResult[]> {
  const harness = new Harness(subtestMs);
  const window = new EventTarget();
  const contexts = new Contexts({ directory, locks, startContext, window });
  const globals: Record<string, unknown> = {
    ...harness.globals,
    self: globalThis,
    window: globalThis,
    navigator: { locks },
    location: { pathname: `/web-locks/${file}` },
    document: {
      createElement: () => new Frame(contexts),
      documentElement: { appendChild: () => undefined },
    },
    Worker: class extends WorkerElement {
      constructor(url: string) {
        super(contexts, url);
      }
    },
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  for (const script of await scriptsOf(directory, file)) runInThisContext(script);
  const results = await harness.run();
  contexts.killAll();
  return results;
}

/** All workers and frames of a page. */
class Contexts {
  readonly #page: Pick<Page, 'directory' | 'locks' | 'startContext'> & { readonly window: EventTarget };
  readonly #alive = new Set<Context>();
  #mail: Promise<unknown> = Promise.resolve();

  constructor(page: Pick<Page, 'directory' | 'locks' | 'startContext'> & { readonly window: EventTarget }) {
    this.#page = page;
  }

  /** The event target that represents the page's `window`, to which frames send their messages. */
  get window(): EventTarget {
    return this.#page.window;
  }

  async start(url: string, onReceived: (data: unknown) => void): Promise<Context> {
    const scripts = url === 'about:blank' ? [] : await scriptsOf(this.#page.directory, url);
    const context = await this.#page.startContext(scripts.join('\n'), onReceived);
    this.#alive.add(context);
    return context;
  }

  /**
   * Sends messages in order. Before each message it waits until the store has handled the lock requests that
   * the page has made so far.
   */
  post(context: Promise<Context>, data: unknown): void {
    const copy = structuredClone(data);
    this.#mail = this.#mail
      .then(() => settled(this.#page.locks))
      .then(async () => (await context).post(copy));
  }

  killAll(): void {
    for (const context of this.#alive) context.kill();
  }
}

class WorkerElement extends EventTarget {
  readonly #contexts: Contexts;
  readonly #context: Promise<Context>;

  constructor(contexts: Contexts, url: string) {
    super();
    this.#contexts = contexts;
    this.#context = contexts.start(url, (data) =>
      this.dispatchEvent(Object.assign(new Event('message'), { data })),
    );
  }

  postMessage(data: unknown): void {
    this.#contexts.post(this.#context, data);
  }

  terminate(): void {
    void this.#context.then((context) => context.kill());
  }
}

/** An iframe of the page. When it loads another page, the process that runs the frame's script is killed. */
class Frame extends EventTarget {
  readonly #contexts: Contexts;
  #context: Promise<Context> | undefined;

  constructor(contexts: Contexts) {
    super();
    this.#contexts = contexts;
  }

  readonly contentWindow: object = {
    postMessage: (data: unknown) => {
      if (this.#context) this.#contexts.post(this.#context, data);
    },
    navigator: {
      locks: {
        request: async (name: string, callback: () => unknown) => {
          await (await this.#context)?.hold(name);
          return callback();
        },
      },
    },
  };

  readonly parentElement: object = { removeChild: (frame: Frame) => frame.remove() };

  set src(url: string) {
    this.remove();
    const { window } = this.#contexts;
    this.#context = this.#contexts.start(url, (data) =>
      window.dispatchEvent(Object.assign(new Event('message'), { data, source: this.contentWindow })),
    );
    void this.#context.then(() => this.dispatchEvent(new Event('load')));
  }

  remove(): void {
    void this.#context?.then((context) => context.kill());
    this.#context = undefined;
  }
}
