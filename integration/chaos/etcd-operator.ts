import { Etcd3, Range } from 'etcd3';

export interface Account {
  readonly username: string;
  readonly password: string;
}

/** Does to a cluster of etcd what its operator does, by way of one of its members. */
export class EtcdOperator {
  readonly #client: Etcd3;

  constructor(endpoint: string, auth?: Account) {
    this.#client = new Etcd3({ hosts: endpoint, ...(auth ? { auth } : {}) });
  }

  /** The newest. */
  async revision(): Promise<bigint> {
    const { header } = await this.#client.kv.range({ key: Buffer.from('revision'), keys_only: true });
    return BigInt(header.revision);
  }

  async put(key: string, value: string): Promise<void> {
    await this.#client.put(key).value(value);
  }

  /** Forgets all history up to now. */
  async compact(): Promise<void> {
    const revision = String(await this.revision());
    await this.#client.kv.compact({ revision }).catch((error: unknown) => {
      // Nothing was written since the last time.
      if (!String(error).includes('has been compacted')) throw error;
    });
  }

  /** Of this member; it serves nothing meanwhile. */
  async defragment(): Promise<void> {
    await this.#client.maintenance.defragment();
  }

  /** As if this member's database were full: the whole cluster accepts nothing that takes space, or does so again. */
  async outOfSpace(isSo: boolean): Promise<void> {
    const { header } = await this.#client.maintenance.status();
    const action = isSo ? 'Activate' : 'Deactivate';
    await this.#client.maintenance.alarm({ memberID: header.member_id, action, alarm: 'Nospace' });
  }

  /** From now on only these two are let in, and both may do everything with keys. */
  async switchOnAccessControl(root: Account, user: Account): Promise<void> {
    const client = this.#client;
    await client.user(root.username).create(root.password);
    await client.user(root.username).addRole('root');
    const role = client.role('everything');
    await role.create();
    await role.grant({ permission: 'Readwrite', range: Range.prefix('') });
    await client.user(user.username).create(user.password);
    await client.user(user.username).addRole(role);
    await client.auth.authEnable();
  }

  /** Lets everybody in again; of an operator that is root. */
  async switchOffAccessControl(): Promise<void> {
    await this.#client.auth.authDisable();
  }

  close(): void {
    this.#client.close();
  }
}
