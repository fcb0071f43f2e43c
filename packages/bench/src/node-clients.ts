import { fileURLToPath } from 'node:url';
import { scriptOf } from '@queuelock/harness/services/script';
import type { Cell } from './cells.ts';
import { floorWords, lockWords, type Client } from './client.ts';

const file = (name: string): string => fileURLToPath(new URL(`../peers/node/${name}`, import.meta.url));
const MULTI_OF = 32;
/** Number of sessions among which the waiters of the scenarios `sessions` and `sessions-cold` are divided in turn. */
const SESSIONS = 8;
/** Suffix in the name of queuelock's clients with the key format `fast`. */
export const FAST = ', naming fast';

/**
 * Returns the command that runs a client program. It uses the published bundle if this run of the benchmark
 * has built it. The sources would be slower, because tsx keeps function names, which makes every closure cost
 * more.
 */
function node(name: string): Client['command'] {
  return async () => {
    const { script, execArgv } = scriptOf(file('program.ts'));
    return [process.execPath, ...execArgv, script, name];
  };
}

/** Returns the command that runs a script with the published bundle instead of the sources. */
function published(script: string, kind: string): Client['command'] {
  return async () => [process.execPath, '--expose-gc', file(`published/${script}.mjs`), kind];
}

const standard = lockWords(10_000);
const alone: Client['words'] = (cell, pace) => (cell.scenario === 'drain' ? undefined : standard(cell, pace));

/**
 * Returns the arguments of every scenario that queuelock runs: those that only queuelock supports, such as
 * `mass` and `idle`, and the standard ones.
 */
const own: Client['words'] = (cell, pace) => {
  const { scenario, size } = cell;
  if (scenario === 'mass') return ['mass', `n=${size}`];
  if (scenario === 'idle') return ['idle', `held=${size}`];
  if (scenario === 'spread') return ['spread', `n=${size}`];
  if (scenario === 'sessions') return ['drain', `n=${size}`, `sessions=${SESSIONS}`];
  if (scenario === 'sessions-cold') return ['drain', `n=${size}`, `sessions=${SESSIONS}`, 'warm=0'];
  return standard(cell, pace);
};

/** Returns the arguments of the scenarios in which the key format makes a difference. */
const inLine: Client['words'] = (cell, pace) =>
  ['free', 'drain', 'spread'].includes(cell.scenario) ? own(cell, pace) : undefined;

const inMultis: Client['words'] = ({ scenario, size }: Cell, { ms, warm }) =>
  scenario === 'many' ? ['many', `locks=${size}`, `per=${MULTI_OF}`, `ms=${ms}`, `warm=${warm}`] : undefined;

/** The clients that run in Node, for etcd, ZooKeeper and Redis. */
export const nodeClients: readonly Client[] = [
  floor('etcd', 'etcd3', floorWords('put', 'putdelete')),
  ours('etcd', 'etcd3'),
  oursFast('etcd3'),
  floor('etcd', 'http2', floorWords('put', 'putdelete')),
  ours('etcd', 'http2'),
  oursFast('http2'),
  floor('etcd', 'socket', floorWords('put', 'putdelete')),
  ours('etcd', 'socket'),
  oursFast('socket'),
  peer('etcd', { name: 'npm etcd3 Lock', program: 'etcd3-lock', words: lockOnly }),
  peer('etcd', { name: 'npm etcd3 Election', program: 'etcd3-election', words: lockWords(1_000) }),
  other('etcd', 'npm etcd3 watchers', ['memory', 'etcd3-watchers']),
  other('etcd', 'npm etcd3 Lock', ['start', 'etcd3-lock']),
  other('etcd', 'bare node', ['start', 'bare-node']),
  other('etcd', 'queuelock, memory', ['cold', 'ours-memory']),
  floor('zookeeper', 'npm zookeeper', floorWords('create', 'createdelete')),
  ours('zookeeper', 'npm zookeeper'),
  floor('zookeeper', 'wire', floorWords('create', 'createdelete')),
  ours('zookeeper', 'wire'),
  other('zookeeper', 'bare node', ['start', 'bare-node']),
  peer('redis', { name: 'redis-semaphore Mutex', program: 'redis-semaphore', words: alone }),
  peer('redis', { name: 'redlock', program: 'redlock', words: alone }),
].flat();

/**
 * Returns the arguments of the scenarios without waiters, for npm etcd3's lock, which fails when the lock is
 * held.
 */
function lockOnly(...[cell, pace]: Parameters<Client['words']>): ReturnType<Client['words']> {
  return cell.scenario === 'free' || cell.scenario === 'many' ? standard(cell, pace) : undefined;
}

function floor(store: Client['store'], transport: string, words: Client['words']): Client {
  const command = node(`raw-${transport.replace('npm ', '')}`);
  return { name: `floor, ${transport}`, store, kind: 'floor', transport, command, words };
}

function ours(store: Client['store'], transport: string): Client[] {
  const started = `ours-${transport.replace('npm ', '')}`;
  const common = { store, kind: 'ours', transport, command: node(started) } as const;
  const name = `queuelock, ${transport}`;
  return [
    { ...common, name, words: own },
    { ...common, name: `${name}, ${MULTI_OF} in one`, words: inMultis },
    { ...common, name, command: published('memory', started), words: only('memory') },
    { ...common, name, command: published('start', started), words: only('start') },
    { ...common, name, command: published('cold', started), words: only('cold') },
  ];
}

function oursFast(transport: string): Client {
  const name = `queuelock, ${transport}${FAST}`;
  return {
    name,
    store: 'etcd',
    kind: 'ours',
    transport,
    command: node(`ours-${transport}-fast`),
    words: inLine,
  };
}

function only(scenario: Cell['scenario']): Client['words'] {
  return (cell) => (cell.scenario === scenario ? [scenario, `n=${cell.size}`] : undefined);
}

/** Returns the client that measures one scenario (`cold`, `memory` or `start`) with another Node library. */
function other(
  store: Client['store'],
  name: string,
  [script, kind]: readonly ['cold' | 'memory' | 'start', string],
): Client {
  const command = published(script, kind);
  return { name, store, kind: 'peer', transport: name, command, words: only(script) };
}

function peer(
  store: Client['store'],
  {
    name,
    program: started,
    words,
  }: { readonly name: string; readonly program: string; readonly words: Client['words'] },
): Client {
  return { name, store, kind: 'peer', transport: started, command: node(started), words };
}
