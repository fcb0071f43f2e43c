import { expect } from 'chai';
import { borrowGlobals } from '../src/borrowed-globals.ts';
import { Link } from '../src/link.ts';
import { dial } from '../src/product.ts';
import { Random } from '../src/random.ts';
import { Machine, Timeline } from '../src/timeline.ts';
import { Ensemble } from '../src/zookeeper/ensemble.ts';
import { SimulatedSocket, dialled } from '../src/zookeeper/socket.ts';
import { groups, transcribe, type Group, type Transcript } from './two-zookeepers.ts';

const NEVER_MS = 2 ** 40;

/**
 * Compares every response and every event of a sequence of requests between a simulated ZooKeeper and the
 * real one at `address`.
 */
export async function compareWith(
  address: string,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<void> {
  const list = groups(new Random(seed), count);
  const simulated = await simulatedTranscript(list);
  const real = await transcribe(dial, address, list);
  real.forEach((output, i) => {
    expect(simulated[i], `seed ${seed}, group ${i}: ${JSON.stringify(list[i])}`).to.deep.equal(output);
  });
}

/** Returns the responses and events that clients get from a single simulated member without faults. */
async function simulatedTranscript(list: readonly Group[]): Promise<Transcript> {
  const timeline = new Timeline();
  const random = new Random(1);
  const setup = { tickMs: 500, syncLimit: 2, containersEveryMs: NEVER_MS, rateError: 0 };
  const ensemble = new Ensemble(timeline, random, { members: 1, ...setup });
  const member = ensemble.members[0]!;
  const client = new Machine(timeline, 'client', { hasPromises: true });
  const link = new Link(timeline, random, { client, member });
  let lost: unknown;
  const giveBack = borrowGlobals(timeline, random, (reason) => (lost = reason));
  const wiring = { link, isDenied: () => false, onSent: () => undefined };
  try {
    let transcript: Transcript | undefined;
    client.do(() => {
      const over = (): ReturnType<typeof dialled> => dialled(new SimulatedSocket(wiring));
      void transcribe(over, member.host, list).then((output) => (transcript = output));
    });
    await timeline.run(NEVER_MS, () => transcript !== undefined || lost !== undefined);
    if (!transcript) throw new Error('it does not end', { cause: lost });
    return transcript;
  } finally {
    giveBack();
  }
}
