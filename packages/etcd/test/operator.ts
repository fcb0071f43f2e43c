import { Etcd3, Range, type IKeyValue } from 'etcd3';

interface Account {
  readonly username: string;
  readonly password: string;
}

export interface AccessRules {
  readonly root: Account;
  readonly user: Account;
  readonly prefix: string;
}

/** Changes the store directly, as an operator does by etcdctl, without the backend under test. */
export class Operator {
  readonly client: Etcd3;

  constructor(endpoint: string, auth?: Account) {
    this.client = new Etcd3({ hosts: endpoint, ...(auth ? { auth } : {}) });
  }

  async keysUnder(prefix: string): Promise<string[]> {
    return this.client.getAll().prefix(prefix).sort('Create', 'Ascend').keys();
  }

  /** Returns all keys that begin with the prefix, with their values. */
  async under(prefix: string): Promise<Record<string, string>> {
    return this.client.getAll().prefix(prefix).strings();
  }

  async put(key: string, value = ''): Promise<void> {
    await this.client.put(key).value(value);
  }

  /** Writes a key again with the same value and lease, which only raises its revision. */
  async touch(key: string): Promise<void> {
    await this.client.kv.put({ key: Buffer.from(key), ignore_value: true, ignore_lease: true });
  }

  /** Writes a value of `bytes` bytes to a key, `puts` times. */
  async clutter(
    key: string,
    { puts, bytes }: { readonly puts: number; readonly bytes: number },
  ): Promise<void> {
    for (let sent = 0; sent < puts; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => this.put(key, 'x'.repeat(bytes))));
    }
  }

  /** Writes until the server refuses further writes because its quota is used up. */
  async fillUp(): Promise<void> {
    const full = async (): Promise<boolean> =>
      this.put('filling', 'x'.repeat(500_000)).then(
        () => false,
        (error: unknown) => /database space exceeded/.test(String(error)),
      );
    while (!(await full()));
  }

  async remove(key: string): Promise<void> {
    await this.client.delete().key(key);
  }

  /** Ends a session by revoking its lease, which is given in hexadecimal. */
  async revoke(lease: string): Promise<void> {
    await this.client.leaseClient.leaseRevoke({ ID: BigInt(`0x${lease}`).toString() });
  }

  /** Returns the lease of a key in hexadecimal. */
  async leaseOf(key: string): Promise<string> {
    return BigInt((await this.#read(key)).lease).toString(16);
  }

  async createRevisionOf(key: string): Promise<bigint> {
    return BigInt((await this.#read(key)).create_revision);
  }

  async #read(key: string): Promise<IKeyValue> {
    const { kvs } = await this.client.kv.range({ key: Buffer.from(key) });
    if (!kvs[0]) throw new Error(`there is no key ${key}`);
    return kvs[0];
  }

  /** Enables authentication. `root` has all permissions, and `user` may read and write the keys that begin with `prefix`. */
  async switchOnAccessControl({ root, user, prefix }: AccessRules): Promise<void> {
    const { client } = this;
    await client.user(root.username).create(root.password);
    await client.user(root.username).addRole('root');
    const role = client.role(`below ${prefix}`);
    await role.create();
    await role.grant({ permission: 'Readwrite', range: Range.prefix(prefix) });
    await client.user(user.username).create(user.password);
    await client.user(user.username).addRole(role);
    await client.auth.authEnable();
  }

  /** Compacts the store at its present revision, so that it keeps no earlier history. */
  async compact(): Promise<void> {
    const { header } = await this.client.kv.range({ key: Buffer.from('compact') });
    await this.client.kv.compact({ revision: header.revision, physical: true });
  }

  close(): void {
    this.client.close();
  }
}
