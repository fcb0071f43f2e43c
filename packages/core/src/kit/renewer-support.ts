import { invalidArgument } from '../api/errors.ts';
import type { RenewerSource, RenewerSupport } from '../api/renewer-api.ts';
import { boundToCaller } from '../base/caller-context.ts';

/** The options, module and session data with which a backend supports heartbeats from the heartbeat thread. */
export interface RenewerSupportOptions<Options extends object> {
  /** The options that the caller has passed to the backend. */
  readonly options: Options;
  /** Names of the options that the heartbeat thread gets to open its own connection. It gets no other options. */
  readonly sent: readonly (string & keyof Options)[];
  /** Options that cannot be combined with `maxBlockedMs`: for the name of each option, the rule that the error message contains. */
  readonly refused: Readonly<Partial<Record<string & keyof Options, string>>>;
  /**
   * Resolves with the URL of the module that the heartbeat thread runs. Called only for clients with `maxBlockedMs`, so that other clients do not
   * import its code.
   */
  readonly loadModule: () => Promise<string>;
  /** Returns the data of a session that the heartbeat thread needs, as a value that can be cloned. */
  readonly sessionData: (session: never) => unknown;
}

/**
 * Returns the members with which a backend supports heartbeats from the heartbeat thread. That thread connects with the options of the backend. If an
 * option is a function, the main thread calls it each time the heartbeat thread opens a connection.
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

/** Returns an error without the option's value, which may be a secret. */
function unsendable(option: string, rule: string): Error {
  return invalidArgument(`${option} beside maxBlockedMs`, '(not shown)', rule);
}
