import type { HandoverAnswer } from '../api/handover-api.ts';
import { invalidArgument } from '../api/errors.ts';
import { jsonable } from '../base/jsonable.ts';
import { durationOf, listOf, parseJson, recordOf, textOf, timeOf, wholeOf } from '../base/parsed.ts';
import { fits } from '../base/utf8.ts';
import { shorten } from '../base/printable.ts';
import type { HandoverRequestOptions } from '../api/handover-api.ts';
import type { QueueEntry } from '../api/queue-api.ts';
import type { StoredEntry } from '../api/spi.ts';

/** The public data of an entry, which queuelock clients store as the entry's value. */
export interface EntryLabel {
  readonly owner: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly host?: string;
  readonly pid?: number;
  /** Random text that identifies the process of the entry's client. */
  readonly instance?: string;
  readonly since?: number;
  /** Number of permits that the entry takes. Default 1. */
  readonly permits?: number;
  readonly limit?: number;
  /** Set to `true` for an entry that was exclusive when it joined and is shared now. Absent for other entries. */
  readonly shared?: boolean;
  readonly holds?: readonly string[];
  readonly typicalHoldMs?: number;
  readonly request?: HandoverRequestOptions;
  /** Ids of holders' entries. This entry's client has read the responses of these holders to its handover request. */
  readonly heard?: readonly string[];
  readonly answers?: readonly { readonly to: string; readonly answer: HandoverAnswer }[];
}

/** Maximum size of an entry's value in bytes. The parts that the user supplies may take half of it. */
const MAX_BYTES = 2_048;
const MAX_READ = 4 * MAX_BYTES;
/** Maximum owner length in UTF-16 code units; at least as long as any owner this package accepts. */
const MAX_OWNER = 1_024;

/** Encodes a label as JSON, `{"owner":"…","metadata":{…},…}`. Members without information are omitted. */
export function encodeLabel(label: EntryLabel | string): string {
  if (typeof label === 'string') return label;
  const output: Record<string, unknown> = {};
  const parts: readonly [string, unknown][] = Object.entries(label);
  for (const [name, part] of parts) if (typeof part !== 'object' || !isEmptyAnswer(part)) output[name] = part;
  const value = JSON.stringify(output);
  if (fits(value, MAX_BYTES)) return value;
  return encodeLabel(shortened(label));
}

/**
 * Drops an optional part of a label that is too large: first the oldest responses to handover requests, then the ids of the entries that the call
 * chain holds.
 */
function shortened(label: EntryLabel): EntryLabel {
  if (label.answers?.length) return { ...label, answers: label.answers.slice(1) };
  if (label.heard?.length) return { ...label, heard: label.heard.slice(1) };
  if (label.holds?.length) return { ...label, holds: label.holds.slice(1) };
  throw invalidArgument(
    'owner and metadata',
    'more',
    `are at most ${String(MAX_BYTES)} bytes as they are stored`,
  );
}

function isEmptyAnswer(part: object | null): boolean {
  return part !== null && Object.keys(part).length === 0;
}

/** Converts a stored entry to the form in which the API returns it. The whole value of another kind of client becomes the owner. */
export function toEntry({ key, order, shared, value, foreign }: StoredEntry): QueueEntry {
  const label = decodeLabel(value);
  const entry = { key, order, value, ...optional('foreign', foreign), ...label };
  return jsonable({ ...entry, shared: shared || label.shared === true });
}

const NOTE_OF_OWNER = ',"owned":true}';

/**
 * Adds the member `owned` to the label: the entry was admitted, with no conflicting entry ahead of it; see `Departure.owned`. Returns `undefined` for
 * a value in another format, because other programs may read it.
 */
export function labelOfOwner(label: string): string | undefined {
  const ours = typeof parse(label)?.['owner'] === 'string' && label.endsWith('}');
  return ours ? label.slice(0, -1) + NOTE_OF_OWNER : undefined;
}

/** Removes the member `owned` from the label. Returns `undefined` for a value without it. */
export function labelFromOwner(value: string): string | undefined {
  if (!value.endsWith(NOTE_OF_OWNER)) return undefined;
  const label = `${value.slice(0, -NOTE_OF_OWNER.length)}}`;
  return labelOfOwner(label) === value ? label : undefined;
}

type Reported = Omit<QueueEntry, 'key' | 'order' | 'shared' | 'value' | 'foreign'> & {
  readonly shared?: boolean;
};

/** Decodes a stored value. Ignores members with invalid content. */
export function decodeLabel(value: string): Reported {
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
      .map(responseOf)
      .filter((response) => response !== undefined),
    ...optional('id', textOf(label['id'])),
    ...optional('host', textOf(label['host'])),
    ...optional('pid', wholeOf(label['pid'], 0)),
    ...optional('instance', textOf(label['instance'])),
    ...optional('since', timeOf(label['since'])),
    ...optional('typicalHoldMs', durationOf(label['typicalHoldMs'])),
    ...optional('request', request),
    ...(label['shared'] === true ? { shared: true } : {}),
  };
}

function requestOf(part: unknown): HandoverRequestOptions | undefined {
  const { reason, ...newEntry } = recordOf(part);
  const withinMs = durationOf(newEntry['withinMs']);
  return typeof reason === 'string' && withinMs !== undefined ? { reason, withinMs } : undefined;
}

const ANSWERS: ReadonlySet<unknown> = new Set<HandoverAnswer['answer']>(['yields', 'declined', 'ignored']);

function responseOf(part: unknown): { readonly to: string; readonly answer: HandoverAnswer } | undefined {
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

/**
 * Parses a stored value. Any text is allowed. A value that is no JSON object, or is larger than the values of queuelock, belongs to another kind of
 * client.
 */
function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  return text.startsWith('{') && text.length <= MAX_READ ? recordOf(parseJson(text)) : undefined;
}
