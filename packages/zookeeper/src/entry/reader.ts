import type { ZkDriver } from '../driver/driver.ts';

/** The paths of an exclusive entry and of the reader that it is converted to. */
export interface ConvertedNodes {
  readonly writer: string;
  readonly reader: string;
}

/** Creates the reader's node beside the writer's, unless the writer was already removed. Resolves with whether the writer existed. */
export async function makeReader(
  zk: ZkDriver,
  { writer, reader }: ConvertedNodes,
  value: string,
): Promise<boolean> {
  const [created, present] = await Promise.all([
    zk.create(reader, value, 'ephemeral'),
    zk.write(writer, value),
  ]);
  if (!present) await zk.delete(reader);
  else if (created.path === undefined) await zk.write(reader, value);
  return present !== undefined;
}
