import { Etcd3, Range } from 'etcd3';

export interface Account {
  readonly username: string;
  readonly password: string;
}

/** Operations of an etcd operator, sent to one of the members. */
export class EtcdOperator {
  readonly #client: Etcd3;

  constructor(endpoint: string, auth?: Account) {
    this.#client = new Etcd3({ hosts: endpoint, ...(auth ? { auth } : {}) });
  }

  /** Returns the newest revision of the etcd cluster. */
  async revision(): Promise<bigint> {
    const { header } = await this.#client.kv.range({ key: Buffer.from('revision'), keys_only: true });
    return BigInt(header.revision);
  }

  async put(key: string, value: string): Promise<void> {
    await this.#client.put(key).value(value);
  }

  /** Compacts all history of the etcd cluster up to now. */
  async compact(): Promise<void> {
    const revision = String(await this.revision());
    await this.#client.kv.compact({ revision }).catch((error: unknown) => {
      // etcd rejects a compaction with the error "… has been compacted" if there was no write since the last
      // one.
      if (!String(error).includes('has been compacted')) throw error;
    });
  }

  /** Defragments the database of the etcd member, which serves no requests meanwhile. */
  async defragment(): Promise<void> {
    await this.#client.maintenance.defragment();
  }

  /**
   * Raises or clears the alarm that this member's database is full. While it is raised, the whole cluster
   * rejects writes that take space.
   */
  async outOfSpace(isSo: boolean): Promise<void> {
    const { header } = await this.#client.maintenance.status();
    const action = isSo ? 'Activate' : 'Deactivate';
    await this.#client.maintenance.alarm({ memberID: header.member_id, action, alarm: 'Nospace' });
  }

  /** Creates the users `root` and `user` with all rights on keys, and enables authentication. */
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

  /** Disables authentication. The operator must be the user root. */
  async switchOffAccessControl(): Promise<void> {
    await this.#client.auth.authDisable();
  }

  close(): void {
    this.#client.close();
  }
}
