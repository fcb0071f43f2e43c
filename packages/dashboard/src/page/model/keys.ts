import { hashOf, type Route } from './route.ts';

/** The actions that the user can start by keys anywhere on the page. */
export type Shortcut =
  | { readonly kind: 'go'; readonly hash: string }
  | { readonly kind: 'search' | 'help' | 'theme' | 'back' | 'contenders' };

/** A key that the user has pressed, and the state of the page at that time. */
export interface Pressed {
  readonly key: string;
  /** Whether Ctrl, Alt or Meta is pressed. Such key combinations belong to the browser. */
  readonly modified: boolean;
  /** Whether the user is typing, or a dialog is open. */
  readonly busy: boolean;
  /** The key that was pressed before, if both may form a sequence such as `g` `q`. */
  readonly before: string | undefined;
}

/** The shortcuts of the dashboard, as the page lists them for the user. */
export const SHORTCUTS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['?'], 'show this list'],
  [['/'], 'search'],
  [['g', 'q'], 'queues'],
  [['g', 'e'], 'elections'],
  [['g', 's'], 'sessions'],
  [['g', 'd'], 'deadlocks'],
  [['g', 'f'], 'faults'],
  [['g', 'c'], 'contenders, in a demo'],
  [['↑', '↓', 'Home', 'End'], 'move in a table; Enter opens'],
  [['b'], 'back from a queue to the list'],
  [['t'], 'switch between dark and light'],
  [['Esc'], 'close a dialog, clear the search'],
];

const ROUTES: Readonly<Record<string, Route>> = {
  q: { view: 'queues' },
  e: { view: 'elections' },
  s: { view: 'sessions' },
  d: { view: 'deadlocks' },
  f: { view: 'faults' },
};

const SINGLE: Readonly<Record<string, 'search' | 'help' | 'theme' | 'back'>> = {
  '/': 'search',
  '?': 'help',
  t: 'theme',
  b: 'back',
};

/** Returns the action of a key, or `undefined` for keys without an action. */
export function shortcutOf({ key, modified, busy, before }: Pressed): Shortcut | undefined {
  if (modified || busy) return undefined;
  if (before === 'g' && key === 'c') return { kind: 'contenders' };
  const route = before === 'g' ? ROUTES[key] : undefined;
  if (route) return { kind: 'go', hash: hashOf(route) };
  const kind = SINGLE[key];
  return kind && { kind };
}
