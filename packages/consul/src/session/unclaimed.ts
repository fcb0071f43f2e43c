import { leave, type EntryTools } from '../entry/entering.ts';
import { Entry } from '../entry/entry.ts';
import { contenderOf } from '../queue/entries.ts';

/** Removes all entries of a resumed session that no call of this process has used. */
export async function removeUnclaimed(tools: EntryTools, claimed: ReadonlyMap<string, Entry>): Promise<void> {
  const { connection, keys, session, singleKeyOf } = tools;
  const { pairs } = await connection.read(keys.queuesFrom(''), { isConsistent: true, isTree: true });
  for (const pair of pairs) {
    const place = pair.session === session ? keys.entryIn(pair.key) : undefined;
    if (!place || claimed.has(place.id)) continue;
    const { shared, limit, permits } = contenderOf(pair);
    const entry = new Entry({ ...place, shared, limit, permits }, pair.key, singleKeyOf(place.queue));
    entry.state = 'placed';
    await leave(tools, entry);
  }
}
