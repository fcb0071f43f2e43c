import type { ZkDriver } from '../driver/driver.ts';

/** The node of an exclusive entry, and that of the reader that it turns into. */
export interface Turning {
  readonly writer: string;
  readonly reader: string;
}

/** Makes the reader's node beside the writer's, unless that was gone by then; answers whether it was there. */
export async function makeReader(zk: ZkDriver, { writer, reader }: Turning, value: string): Promise<boolean> {
  const [created, present] = await Promise.all([
    zk.create(reader, value, 'ephemeral'),
    zk.write(writer, value),
  ]);
  if (!present) await zk.delete(reader);
  else if (created.path === undefined) await zk.write(reader, value);
  return present !== undefined;
}
