import { borrowGlobals } from '../src/borrowed-globals.ts';
import { Api } from '../src/etcd/api.ts';
import { Cluster } from '../src/etcd/cluster.ts';
import { Link } from '../src/link.ts';
import type { Driver } from '../src/product.ts';
import { Random } from '../src/random.ts';
import { SimulatedDriver } from '../src/etcd/driver.ts';
import { Machine, Timeline } from '../src/timeline.ts';
import type { Settle } from './two-etcds.ts';

const SETTLES_MS = 130;
const LONGEST_MS = 3_600_000;

/** Calls `use` with a driver that is connected to a single simulated member without faults. */
export async function simulatedAlone<T>(use: (driver: Driver, settle: Settle) => Promise<T>): Promise<T> {
  const timeline = new Timeline();
  const random = new Random(1);
  const cluster = new Cluster(timeline, random, { members: 1, version: '3.5.30', minTtl: 1, rateError: 0 });
  const [member] = cluster.members;
  const client = new Machine(timeline, 'client', { hasPromises: true });
  const link = new Link(timeline, random, { client, member: member! });
  const driver = new SimulatedDriver(link, new Api(cluster, member!, random), { onSent: () => undefined });
  const settle = (): Promise<void> => new Promise((resolve) => client.after(SETTLES_MS, resolve));
  let lost: unknown;
  const giveBack = borrowGlobals(timeline, random, (reason) => (lost = reason));
  try {
    let result: { readonly value: T } | undefined;
    client.do(() => void use(driver, settle).then((value) => (result = { value })));
    await timeline.run(LONGEST_MS, () => result !== undefined || lost !== undefined);
    if (!result) throw new Error('it does not end', { cause: lost });
    return result.value;
  } finally {
    giveBack();
  }
}
