import { invalidArgument } from './errors.ts';

/** What an entry tells people about its client. */
export interface EntryLabel {
  readonly owner: string;
  readonly metadata: Readonly<Record<string, string>>;
}

const MAX_BYTES = 1_024;

/** The stored form: JSON, `{"owner":"…","metadata":{…}}`, metadata only when there is any. */
export function encodeLabel({ owner, metadata }: EntryLabel): string {
  const value = JSON.stringify(Object.keys(metadata).length === 0 ? { owner } : { owner, metadata });
  if (Buffer.byteLength(value) > MAX_BYTES) {
    throw invalidArgument(
      'owner and metadata',
      `${String(Buffer.byteLength(value))} bytes`,
      `take at most ${String(MAX_BYTES)} bytes of JSON together`,
    );
  }
  return value;
}

/** Reads the stored form; a value that another kind of client wrote counts as its label as a whole. */
export function decodeLabel(value: string): EntryLabel {
  const parsed = parse(value);
  if (
    typeof parsed !== 'object' ||
    parsed === null ||
    !('owner' in parsed) ||
    typeof parsed.owner !== 'string'
  ) {
    return { owner: value, metadata: {} };
  }
  const metadata = 'metadata' in parsed && typeof parsed.metadata === 'object' ? parsed.metadata : {};
  const strings = Object.entries(metadata ?? {}).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return { owner: parsed.owner, metadata: Object.fromEntries(strings) };
}

function parse(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not ours: any text is a legal label.
  }
}
