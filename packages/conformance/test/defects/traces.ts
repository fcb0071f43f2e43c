import { line, traces, type Defects } from '../defective.ts';

/** Seeded defects in the traces of holds, which the conformance suite must detect. */
export const traceDefects: Defects = [
  [
    'forgets traces with the session',
    () => traces(() => ({ leave: async () => [] })),
    [
      'a hold whose session ended leaves a trace until it is erased',
      'a hold that an operator ended leaves a trace, even if its client removes the entry afterwards',
    ],
  ],
  [
    'leaves a trace of every hold, however it ends',
    (server) => {
      const left = new Set<string>();
      return traces((sound) => ({
        leave: async (queue, id) => {
          await sound.leave(queue, id);
          const others = [...left].filter(
            (trace) => !line(server, queue).some((entry) => entry.id === trace),
          );
          left.add(id);
          return others.filter((trace) => trace !== id);
        },
      }));
    },
    [
      'a hold that ended by its removal leaves no trace',
      'a hold whose session ended leaves a trace until it is erased',
    ],
  ],
  [
    'takes a present hold for a trace',
    (server) =>
      traces((sound) => ({
        leave: async (queue, id) => {
          const found = await sound.leave(queue, id);
          return [...found, ...line(server, queue).flatMap((entry) => (entry.id === id ? [] : [entry.id]))];
        },
      })),
    ['a hold that has not ended is no trace to another'],
  ],
  [
    "finds traces by a prefix of the queue's name",
    () => {
      const left = new Map<string, string>();
      return traces((sound) => ({
        leave: async (queue, id) => {
          const found = await sound.leave(queue, id);
          left.set(id, queue);
          return [
            ...found,
            ...[...left].flatMap(([other, of]) => (of.startsWith(`${queue}/`) ? [other] : [])),
          ];
        },
      }));
    },
    ['a trace of one queue does not appear in a queue whose name it is a prefix of'],
  ],
  [
    'leaves a trace for an entry that does not exist',
    () => {
      const late: string[] = [];
      return traces((sound) => ({
        leave: async (queue, id) => {
          const found = await sound.leave(queue, id).catch(() => {
            late.push(id);
            return [];
          });
          return [...found, ...late.filter((trace) => trace !== id)];
        },
      }));
    },
    ['a session without an entry in the queue leaves no trace'],
  ],
  [
    'leaves a trace after the removal of the entry',
    () => {
      const late: string[] = [];
      return traces((sound) => ({
        leave: async (queue, id) => {
          const found = sound.leave(queue, id);
          late.push(id);
          return [...(await found), ...late.filter((trace) => trace !== id)];
        },
      }));
    },
    ['an entry that is removed while its trace is in flight leaves no trace'],
  ],
];
