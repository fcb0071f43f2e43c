import type { HandoverAnswer } from '../api/hold-api.ts';
import { invalidArgument } from '../api/errors.ts';
import { jsonable } from '../base/jsonable.ts';
import { durationOf, listOf, parseJson, recordOf, textOf, timeOf, wholeOf } from '../base/parsed.ts';
import { shorten } from '../base/printable.ts';
import type { HandoverRequestOptions } from '../api/options.ts';
import type { QueueEntry } from '../api/queue-api.ts';
import type { StoredEntry } from '../api/spi.ts';

/** What an entry of ours tells everybody. */
export interface EntryLabel {
  readonly owner: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly host?: string;
  readonly pid?: number;
  readonly since?: number;
  /** 1 if it is not said. */
  readonly permits?: number;
  readonly limit?: number;
  /** Exclusive when it joined, shared now. */
  readonly shared?: boolean;
  readonly holds?: readonly string[];
  readonly typicalHoldMs?: number;
  readonly request?: HandoverRequestOptions;
  /** The entries whose answers it has read. */
  readonly heard?: readonly string[];
  readonly answers?: readonly { readonly to: string; readonly answer: HandoverAnswer }[];
}

/** Of an entry; those who make it may fill half of it. */
const MAX_BYTES = 2_048;
const MAX_READ = 4 * MAX_BYTES;
/** Of an owner, in UTF-16 code units: every one that this package accepts fits in. */
const MAX_OWNER = 1_024;

/** The stored form: JSON, `{"owner":"…","metadata":{…},…}`, each member only when it says something. */
export function encodeLabel(label: EntryLabel | string): string {
  if (typeof label === 'string') return label;
  const said: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(label)) if (!saysNothing(part)) said[name] = part;
  const value = JSON.stringify(said);
  if (Buffer.byteLength(value) <= MAX_BYTES) return value;
  return encodeLabel(shortened(label));
}

/** What may be left out when there is too much to tell: old answers, then what is held. */
function shortened(label: EntryLabel): EntryLabel {
  if (label.answers?.length) return { ...label, answers: label.answers.slice(1) };
  if (label.heard?.length) return { ...label, heard: label.heard.slice(1) };
  if (label.holds?.length) return { ...label, holds: label.holds.slice(1) };
  throw invalidArgument(
    'owner and metadata',
    'more',
    `take at most ${String(MAX_BYTES)} bytes as they are stored`,
  );
}

function saysNothing(part: unknown): boolean {
  return typeof part === 'object' && part !== null && Object.keys(part).length === 0;
}

/** An entry as everybody can see it. A value that another kind of client wrote counts as its label as a whole. */
export function toEntry({ key, order, shared, value, foreign }: StoredEntry): QueueEntry {
  const label = decodeLabel(value);
  const entry = { key, order, value, ...optional('foreign', foreign), ...label };
  return jsonable({ ...entry, shared: shared || label.shared === true });
}

const NOTE_OF_OWNER = ',"owned":true}';

/**
 * The same label with a note that the entry owns its queue as `Departure.owned` says. `undefined` for a value that is no label of
 * ours, such as one that others watch.
 */
export function labelOfOwner(label: string): string | undefined {
  const ours = typeof parse(label)?.['owner'] === 'string' && label.endsWith('}');
  return ours ? label.slice(0, -1) + NOTE_OF_OWNER : undefined;
}

/** The label without that note; `undefined` for a value that does not have it. */
export function labelFromOwner(value: string): string | undefined {
  if (!value.endsWith(NOTE_OF_OWNER)) return undefined;
  const label = `${value.slice(0, -NOTE_OF_OWNER.length)}}`;
  return labelOfOwner(label) === value ? label : undefined;
}

type Told = Omit<QueueEntry, 'key' | 'order' | 'shared' | 'value' | 'foreign'> & {
  readonly shared?: boolean;
};

/** Reads the stored form. Members that do not look as they should are left out. */
export function decodeLabel(value: string): Told {
  const label = parse(value);
  if (typeof label?.['owner'] !== 'string') {
    const owner = shorten(value, MAX_OWNER);
    return { owner, metadata: {}, permits: 1, limit: 1, holds: [], heard: [], answers: [] };
  }
  const metadata = Object.entries(recordOf(label['metadata'])).filter(isText);
  const request = requestOf(label['request']);
  return {
    owner: shorten(label['owner'], MAX_OWNER),
    metadata: Object.fromEntries(metadata),
    permits: countOf(label['permits']),
    limit: countOf(label['limit']),
    holds: textsOf(label['holds']),
    heard: textsOf(label['heard']),
    answers: listOf(label['answers'])
      .map(answerOf)
      .filter((answer) => answer !== undefined),
    ...optional('id', textOf(label['id'])),
    ...optional('host', textOf(label['host'])),
    ...optional('pid', wholeOf(label['pid'], 0)),
    ...optional('since', timeOf(label['since'])),
    ...optional('typicalHoldMs', durationOf(label['typicalHoldMs'])),
    ...optional('request', request),
    ...(label['shared'] === true ? { shared: true } : {}),
  };
}

function requestOf(part: unknown): HandoverRequestOptions | undefined {
  const { reason, ...wish } = recordOf(part);
  const withinMs = durationOf(wish['withinMs']);
  return typeof reason === 'string' && withinMs !== undefined ? { reason, withinMs } : undefined;
}

const ANSWERS: ReadonlySet<unknown> = new Set<HandoverAnswer['answer']>(['yields', 'declined', 'ignored']);

function answerOf(part: unknown): { readonly to: string; readonly answer: HandoverAnswer } | undefined {
  const { to, answer } = recordOf(part);
  const { answer: word, reason } = recordOf(answer);
  if (typeof to !== 'string' || !ANSWERS.has(word)) return undefined;
  return { to, answer: { answer: word as HandoverAnswer['answer'], ...optional('reason', textOf(reason)) } };
}

function optional<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V });
}

function isText(pair: readonly [string, unknown]): pair is [string, string] {
  return typeof pair[1] === 'string';
}

function textsOf(part: unknown): readonly string[] {
  return listOf(part).filter((text) => typeof text === 'string');
}

function countOf(part: unknown): number {
  return wholeOf(part, 1) ?? 1;
}

/** Any text is a legal label: one that is no JSON object, or larger than a client of this kind writes, is not ours. */
function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  return text.startsWith('{') && text.length <= MAX_READ ? recordOf(parseJson(text)) : undefined;
}
