import { invalidArgument } from '../api/errors.ts';
import type { RenewerSource, RenewerSupport } from '../api/renewer-api.ts';
import { boundToCaller } from '../base/caller-context.ts';

/** What a backend states about its heartbeats from another thread. */
export interface RenewerSupportOptions<Options extends object> {
  /** The options that the caller has passed to the backend. */
  readonly options: Options;
  /** The options from which a thread opens its own connection. The thread gets no others. */
  readonly sent: readonly (string & keyof Options)[];
  /** The options beside which no thread can send heartbeats. For each, the rule that the error states. */
  readonly refused: Readonly<Partial<Record<string & keyof Options, string>>>;
  /** Imports the code that finds the module of the thread, and returns the URL of that module. */
  readonly loadModule: () => Promise<string>;
  /** Returns the data of a session that a thread needs. They can be cloned. */
  readonly sessionData: (session: never) => unknown;
}

/**
 * Returns the members of a backend that can send heartbeats from another thread. The thread connects with the options of the backend. An option
 * that is a function is called in the main thread, whenever the thread opens a connection.
 */
export function renewerSupport<Options extends object>({
  options,
  sent,
  refused,
  loadModule,
  sessionData,
}: RenewerSupportOptions<Options>): RenewerSupport {
  const present = Object.entries(options).filter(([, value]) => value !== undefined);
  const connecting = present.filter(([name]) => (sent as readonly string[]).includes(name));
  const functions = Object.fromEntries(
    connecting.flatMap(([name, value]) => (isCallable(value) ? [[name, boundToCaller(value)] as const] : [])),
  );
  const values = Object.fromEntries(connecting.filter(([, value]) => !isCallable(value)));
  return {
    check: () => {
      for (const [name, rule] of Object.entries(refused))
        if (present.some(([other]) => other === name)) throw unsendable(name, rule as string);
      for (const [name, value] of Object.entries(values)) checkClonable(name, value);
    },
    loadSources: async () => {
      const module = await loadModule();
      return (session): RenewerSource => {
        const data = sessionData(session as never);
        return { module, options: values, functions, session: data };
      };
    },
  };
}

function isCallable(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function checkClonable(name: string, value: unknown): void {
  try {
    structuredClone(value);
  } catch {
    throw unsendable(name, 'is left out, or a value that a thread can be passed (see structuredClone)');
  }
}

/** The message does not contain the value, which may be a secret. */
function unsendable(option: string, rule: string): Error {
  return invalidArgument(`${option} beside maxBlockedMs`, '(not shown)', rule);
}
