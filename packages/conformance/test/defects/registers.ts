import { randomBytes } from 'node:crypto';
import type { Registers } from '@queuelock/core/backend';
import { NEVER, concat, firstValueFrom, take } from 'rxjs';
import {
  later,
  registers,
  type CompleteBackend,
  type Defect,
  type Defects,
  type Replaced,
} from '../defective.ts';

type Write = Registers['write'];

/** Makes a defect that changes how registers are written. */
function writing(write: (sound: Registers, backend: CompleteBackend) => Write): Defect {
  return () => registers((sound, backend) => ({ write: write(sound, backend) }));
}

/** Makes a defect that stores registers under other names. */
function keptAt(place: (queue: string, kind: string) => readonly [queue: string, kind: string]): Replaced {
  return registers((sound) => ({
    read: (queue, kind) => sound.read(...place(queue, kind)),
    write: (queue, kind, change) => sound.write(...place(queue, kind), change),
    observe(queue, kind) {
      return sound.observe(...place(queue, kind));
    },
  }));
}

async function versionOf(
  sound: Registers,
  ...place: [queue: string, kind: string]
): Promise<string | undefined> {
  return (await sound.read(...place))?.version;
}

const takesTheTextForTheVersion: Defect = () =>
  registers((sound) => ({
    read: async (...place) => {
      const register = await sound.read(...place);
      return register && { ...register, version: `is ${register.text}` };
    },
    write: async (queue, kind, { text, was }) => {
      const register = await sound.read(queue, kind);
      const right = was === (register && `is ${register.text}`);
      return right && sound.write(queue, kind, { text, was: register?.version });
    },
  }));

const forgetsWithTheConnection: Defect = () => ({
  backend: (sound) => {
    const places: [string, string][] = [];
    const write: Write = (queue, kind, change) => {
      places.push([queue, kind]);
      return sound.registers.write(queue, kind, change);
    };
    return {
      registers: { ...sound.registers, write },
      close: async () => {
        for (const place of places) {
          const was = await versionOf(sound.registers, ...place);
          await sound.registers.write(...place, { text: undefined, was });
        }
        await sound.close();
      },
    };
  },
});

const keepsThemInTheQueue: Defect = writing((sound, backend) => async (queue, kind, change) => {
  const session = await backend.open(2_000, new AbortController().signal);
  await session.enqueue({ queue, id: randomBytes(16).toString('hex'), shared: false, limit: 1 });
  return sound.write(queue, kind, change);
});

const removesTheFirstEntry: Defect = writing((sound, backend) => async (queue, kind, change) => {
  const [front] = await firstValueFrom(backend.observe(queue));
  if (front) await backend.evict(queue, front);
  return sound.write(queue, kind, change);
});

/** Seeded defects in registers, the small texts beside a queue, which the conformance suite must detect. */
export const registerDefects: Defects = [
  [
    'writes a register whatever it contains',
    writing((sound) => async (queue, kind, { text }) => {
      return sound.write(queue, kind, { text, was: await versionOf(sound, queue, kind) });
    }),
    [
      'a register is empty first, and can be written only with its present version',
      'a register that was emptied behaves like one never written',
    ],
  ],
  [
    'uses the text of a register as its version',
    takesTheTextForTheVersion,
    ['a register has another version after every write, also of the same text'],
  ],
  [
    'keeps an empty text in a register that was emptied',
    writing(
      (sound) =>
        (queue, kind, { text = '', was }) =>
          sound.write(queue, kind, { text, was }),
    ),
    ['a register that was emptied behaves like one never written'],
  ],
  [
    'compares a register first and writes it later',
    writing((sound) => async (queue, kind, { text, was }) => {
      if ((await versionOf(sound, queue, kind)) !== was) return false;
      const now = await later(() => versionOf(sound, queue, kind));
      return sound.write(queue, kind, { text, was: now });
    }),
    ['of several concurrent writers exactly one succeeds'],
  ],
  [
    'shows a register only once',
    () =>
      registers(
        (sound) =>
          ({
            observe(queue, kind) {
              return concat(sound.observe(queue, kind).pipe(take(1)), NEVER);
            },
          }) satisfies Partial<Registers>,
      ),
    ['an observer sees a register and every change of it'],
  ],
  [
    'forgets registers when the connection closes',
    forgetsWithTheConnection,
    ['a register outlives the sessions and the connection that wrote it'],
  ],
  [
    'keeps one register for all names that nest',
    () => keptAt((queue, kind) => [queue.split('/').find(Boolean) ?? '', kind]),
    ['registers of different kinds are separate, as are registers of queues whose names contain one another'],
  ],
  [
    'keeps one register for all kinds',
    () => keptAt((queue) => [queue, 'one']),
    ['registers of different kinds are separate, as are registers of queues whose names contain one another'],
  ],
  [
    'truncates texts of registers',
    writing((sound) => (queue, kind, { text, was }) => {
      return sound.write(queue, kind, { text: text?.slice(0, 2_048), was });
    }),
    ['a register returns 4,096 bytes unchanged'],
  ],
  ['keeps registers in the queue', keepsThemInTheQueue, ['a register of a queue is not an entry of it']],
  [
    'removes the first entry of the queue with the write of a register',
    removesTheFirstEntry,
    ['a register is written by a client whose session has ended, and the queue beside it stays as it is'],
  ],
];
