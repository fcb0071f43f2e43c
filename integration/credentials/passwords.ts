import { createLockClient, type Backend } from '@queuelock/core';
import { until } from '@queuelock/harness/services/until';
import { expect } from 'chai';

const TTL_MS = 10_000;
const WITHIN_MS = 15_000;

/** Name and password of a user of the server. */
export interface Account {
  readonly username: string;
  readonly password: string;
}

/** A server with a user whose password may change. */
interface PasswordServer {
  /** The function and options that create a backend for the server. The option `auth` is not among them. */
  readonly store: LoginStore;
  /** Gives the user a password on the server, and closes all connections of the user. */
  change(password: string): Promise<void>;
  stop(): Promise<void>;
  /**
   * Whether the client keeps using its password for new connections, and calls `auth` again only when the
   * server has rejected that password.
   */
  readonly asksWhenRefused?: boolean;
}

/** A function that creates backends with the option `auth`, and the values of all other options. */
export interface LoginStore {
  /** URL of the module that exports the function, which `backend` names. */
  readonly module: string;
  readonly backend: string;
  readonly options: object;
}

/** Starts a server on which a user with the given name and password may log in. */
export type StartPasswordServer = (account: Account) => Promise<PasswordServer>;

/** Creates a backend that calls `auth` for each new connection. */
export async function connect(
  { module, backend, options }: LoginStore,
  auth: () => Promise<Account>,
): Promise<Backend> {
  const backends = (await import(module)) as Record<string, (options: object) => Backend>;
  return backends[backend]!({ ...options, auth });
}

/** Defines the test of replaced passwords for one store. */
export function describePasswords(store: string, start: StartPasswordServer): void {
  describe(`replaced passwords of ${store}`, () => {
    it('cost the client no lock, even if the function that reads its password fails', async function () {
      this.timeout(120_000);
      let account: Account = { username: 'rotating', password: 'one-4711' };
      let isVaultDown = false;
      const server = await start(account);
      try {
        const auth = async (): Promise<Account> => {
          if (isVaultDown) throw new Error('the vault is down');
          return account;
        };
        await using locks = createLockClient(await connect(server.store, auth), { ttlMs: TTL_MS });
        const errors: string[] = [];
        const subscription = locks.errors$.subscribe(({ message }) => errors.push(message));
        const hold = await locks.acquire('rotated', { timeoutMs: WITHIN_MS });
        const deadline = (): number => performance.now() + hold.remainingMs;
        for (const password of ['two-4711', 'three-4711']) {
          account = { ...account, password };
          await server.change(password);
          expect(await locks.run(password, ({ held }) => held, { timeoutMs: WITHIN_MS })).to.equal(true);
          const reached = deadline();
          await until(async () => expect(deadline()).to.be.above(reached + 500), {
            what: 'a heartbeat with the new password',
            withinMs: WITHIN_MS,
          });
        }
        isVaultDown = true;
        await server.change(account.password);
        expect(await locks.run('last', ({ held }) => held, { timeoutMs: WITHIN_MS })).to.equal(true);
        expect([hold.held, hold.signal.aborted]).to.deep.equal([true, false]);
        if (!server.asksWhenRefused)
          expect(errors.join()).to.include('the vault is down; the last valid ones are used');
        expect(errors.join()).not.to.include('4711');
        await hold.release();
        subscription.unsubscribe();
      } finally {
        await server.stop();
      }
    });
  });
}
