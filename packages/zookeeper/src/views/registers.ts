import type { Register, Registers } from '@queuelock/core/backend';
import type { NodeData, ZkDriver } from '../driver/driver.ts';
import { throughGate } from '../turn/gate.ts';
import { registerPaths } from '../queue/names.ts';
import { readWhileConnected } from './observe.ts';
import { sessionContextOf } from '../server/session-context.ts';
import { withDirectory } from '../queue/parents.ts';
import { distinctUntilChanged, map, switchMap, type Observable } from '../base/rx.ts';

/** Where the registers are stored, and the connection to read and write them. */
export interface RegisterStore {
  /** The path of the chroot; empty if there is none. */
  readonly root: string;
  /** Runs `work` on a connection that stays open until `work` settles. */
  withViewer<T>(work: (zk: ZkDriver) => Promise<T>): Promise<T>;
  /** Emits the connection for observers. It is open while there are subscribers. */
  readonly viewer$: Observable<ZkDriver>;
  /** Converts the errors of a stream to those that the backend reports. */
  mapErrors<T>(seen$: Observable<T>): Observable<T>;
}

type Change = Parameters<Registers['write']>[2];
type Paths = ReturnType<typeof registerPaths>;

/**
 * Stores each register in a persistent node. The version of a register consists of the transaction that created the node and the number of
 * writes since then.
 * Each register has a gate, a queue that admits one writer at a time (`gate.ts`). A conditional write of ZooKeeper compares only the number
 * of writes, which begins at 0 in each new node. Without the gate, a client could overwrite a register that was deleted and written again,
 * as if it were the earlier one.
 */
export class NodeRegisters implements Registers {
  readonly #store: RegisterStore;

  constructor(store: RegisterStore) {
    this.#store = store;
  }

  async read(queue: string, kind: string): Promise<Register | undefined> {
    const { path } = registerPaths(this.#store.root, queue, kind);
    return this.#store.withViewer(async (zk) => {
      const [, data] = await Promise.all([zk.sync(), zk.read(path)]);
      return data && registerOf(data);
    });
  }

  async write(queue: string, kind: string, change: Change): Promise<boolean> {
    const { root } = this.#store;
    const paths = registerPaths(root, queue, kind);
    return this.#store.withViewer((zk) =>
      throughGate({ context: sessionContextOf(zk), location: { root, directory: paths.gate } }, async () => {
        // The gate admits one writer at a time. So the previous writer has completed its write, and the
        // following read shows that write.
        const data = await zk.read(paths.path);
        if ((data && registerOf(data).version) !== change.was) return false;
        return data ? replace(zk, { path: paths.path, data }, change) : make(zk, { root, ...paths }, change);
      }),
    );
  }

  observe(queue: string, kind: string): Observable<Register | undefined> {
    const { root, viewer$ } = this.#store;
    const data$ = viewer$.pipe(
      switchMap((zk) => {
        const { path } = registerPaths(root, queue, kind);
        return readWhileConnected(zk, zk.changes(path), { read: () => dataAndWatch(zk, path) });
      }),
    );
    return this.#store.mapErrors(data$).pipe(
      map((data) => data && registerOf(data)),
      distinctUntilChanged((before, now) => before?.version === now?.version),
    );
  }
}

/**
 * Replaces the text of a register, or removes its node. The server compares the version again, since an operator may have written without
 * waiting for the gate.
 */
async function replace(
  zk: ZkDriver,
  { path, data: { version } }: { readonly path: string; readonly data: NodeData },
  { text }: Change,
): Promise<boolean> {
  if (text === undefined) return zk.delete(path, { version });
  return (await zk.write(path, text, { version })) !== undefined;
}

async function make(
  zk: ZkDriver,
  location: Paths & { readonly root: string },
  { text }: Change,
): Promise<boolean> {
  if (text === undefined) return true;
  return withDirectory(zk, location, async () => {
    const created = await zk.create(location.path, text, 'persistent');
    if (created.path !== undefined) return true;
    return created.reason === 'exists' ? false : undefined;
  });
}

/**
 * Reads the node of a register and sets a watch on it. If the node is missing, sets a watch on its creation.
 */
async function dataAndWatch(zk: ZkDriver, path: string): Promise<NodeData | undefined> {
  for (;;) {
    const data = await zk.read(path, { watch: true });
    if (data) return data;
    if (!(await zk.stat(path, { watch: true }))) return undefined;
  }
}

function registerOf({ text, czxid, version }: NodeData): Register {
  return { text, version: `${czxid}:${version}` };
}
