import type * as testingLibrary from '@testing-library/react/pure.js';
import type { Window } from 'happy-dom';

type Name = keyof Window & string;

/** A simulated browser page, for as long as a test needs it. */
export interface Page {
  readonly testing: typeof testingLibrary;
  /**
   * Queries of this page. The object `screen` of the testing library would query only the first page of the
   * process.
   */
  readonly screen: testingLibrary.BoundFunctions<typeof testingLibrary.queries>;
  /** Unmounts all components of the page, and removes the globals that it has set. */
  close(): Promise<void>;
}

// Globals that React and its testing library read. All other globals stay those of Node, because other tests
// in this process use them.
const NAMES = [
  'window',
  'document',
  'navigator',
  'location',
  'Node',
  'Element',
  'HTMLElement',
  'HTMLIFrameElement',
  'MutationObserver',
  'getComputedStyle',
] as const;

/**
 * Opens a page, and then loads React and its testing library, which read the globals when they are loaded.
 * `more` names further globals to set.
 */
export async function openPage(more: readonly Name[] = []): Promise<Page> {
  const { Window: HappyWindow } = await import('happy-dom');
  const window = new HappyWindow({ url: 'http://localhost/', width: 1_280, height: 800 });
  const names = [...NAMES, ...more];
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const name of names) Object.defineProperty(globalThis, name, globalOf(window, name));
  const testing = await import('@testing-library/react/pure.js');
  testing.configure({ asyncUtilTimeout: 15_000 });
  return {
    testing,
    screen: testing.within(document.body),
    async close() {
      testing.cleanup();
      for (const [name, descriptor] of before) {
        if (descriptor) Object.defineProperty(globalThis, name, descriptor);
        else Reflect.deleteProperty(globalThis, name);
      }
      await window.happyDOM.close();
    },
  };
}

function globalOf(window: Window, name: Name): PropertyDescriptor {
  const value: unknown = Reflect.get(window, name);
  const isMethod = typeof value === 'function' && !/^[A-Z]/.test(name);
  return { value: isMethod ? (value.bind(window) as unknown) : value, configurable: true, writable: true };
}
