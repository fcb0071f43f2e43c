import type {
  ILeaseGrantRequest,
  ILeaseKeepAliveRequest,
  ILeaseKeepAliveResponse,
  ILeaseTimeToLiveRequest,
  IRangeRequest,
  IRequestOp,
  ITxnRequest,
} from 'etcd3';
import type { Driver } from '../product.ts';
import type { Random } from '../random.ts';
import type { Cluster, Command } from './cluster.ts';
import type { Member } from './member.ts';
import { numberOf } from './reading.ts';
import { refusal } from './refusal.ts';
import type { Applied } from './store.ts';

/** The calls of the etcd driver that have a single response. */
export type Method = Exclude<keyof Driver, 'watch' | 'keepAlive' | 'close'>;

/** Receives the response of the simulated server, or the error with which it rejects the request. */
export type Reply = (answer: object) => void;

const EXPIRED_CHECK_INTERVAL_MS = 100;

/** Executes the requests of one client at one member of the simulated etcd cluster. */
export class Api {
  readonly member: Member;
  /** Whether the simulated cluster denies this client all reads and writes of keys. */
  isDenied = false;
  readonly #cluster: Cluster;
  readonly #random: Random;

  constructor(cluster: Cluster, member: Member, random: Random) {
    this.member = member;
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Executes a request, or rejects it when the member cannot execute it at present. */
  handle(method: Method, request: unknown, reply: Reply): void {
    const { member } = this;
    if (method === 'status') reply(this.#status());
    else if (!this.#cluster.terms.knownTo(member)) reply(refusal.noLeader());
    else if (this.isDenied && !method.startsWith('lease')) reply(refusal.denied());
    else if (method === 'range') this.#range(request as IRangeRequest, reply);
    else if (method === 'leaseTimeToLive') this.#timeToLive(request as ILeaseTimeToLiveRequest, reply);
    else if (method === 'txn' && isReadOnly(request as ITxnRequest))
      this.#read(() => this.#readTxn(request as ITxnRequest), reply);
    else this.#propose(this.#commandOf(method, request), reply);
  }

  /**
   * Responds to a keepalive of a lease with the lease's TTL. If the lease has expired, waits until it is
   * removed, and then responds with a TTL of 0.
   */
  keepAlive({ ID }: ILeaseKeepAliveRequest, reply: (response: ILeaseKeepAliveResponse) => void): void {
    const id = String(ID);
    // Makes the response's header now, with the term that the member knows at present. The member may learn
    // of a later term before it responds.
    const header = this.member.header();
    const sendRequest = (): void => {
      this.#cluster.toLeader(this.member, (leader) => {
        const renewal = leader?.leads ? leader.lessor.renew(id) : 'expired';
        if (renewal === 'expired') this.member.machine.after(EXPIRED_CHECK_INTERVAL_MS, sendRequest);
        else reply({ header, ID: id, TTL: String(renewal) });
      });
    };
    sendRequest();
  }

  #status(): object {
    const { member } = this;
    const { terms } = this.#cluster;
    const leader = member.leads ? member : terms.knownTo(member) ? terms.leader : undefined;
    return {
      header: member.header(),
      version: member.version,
      leader: leader?.id ?? '0',
      raftTerm: String(member.term),
      errors: [],
    };
  }

  #range(request: IRangeRequest, reply: Reply): void {
    const { member } = this;
    const readState = (): Applied => member.store.range(request, member);
    if (request.serializable) this.#response(readState, reply);
    else this.#read(readState, reply);
  }

  #read(readState: () => Applied, reply: Reply): void {
    const outcome = (answer: Applied | Error): void => reply(answer);
    this.#cluster.read(this.member, outcome, () => this.#response(readState, reply));
  }

  /**
   * Executes a read-only transaction at the revision that the member has applied. Comparisons use the newest
   * state, which is a simplification: queuelock compares nothing in such transactions.
   */
  #readTxn({ success = [] }: ITxnRequest): Applied {
    const { revision, store } = this.member;
    const header = { cluster_id: '0', member_id: '0', raft_term: '0', revision: String(revision) };
    const responses = success.map(({ request_range }) => ({
      response_range: { header, ...store.range(request_range ?? {}, this.member).body },
    }));
    return { revision, body: { succeeded: true, responses } };
  }

  #response(readState: () => Applied, reply: Reply): void {
    try {
      reply(this.#withHeader(readState()));
    } catch (error) {
      reply(error as Error);
    }
  }

  #propose(command: Command, reply: Reply): void {
    this.#cluster.propose(this.member, command, (answer) =>
      reply(answer instanceof Error ? answer : this.#withHeader(answer)),
    );
  }

  #withHeader({ revision, body }: Applied): object {
    return { ...body, header: this.member.header(revision) };
  }

  #commandOf(method: Method, request: unknown): Command {
    if (method === 'put') return (store) => store.put(request as object);
    if (method === 'deleteRange') return (store) => store.deleteRange(request as object);
    if (method === 'leaseGrant') return this.#grant(request as ILeaseGrantRequest);
    if (method === 'leaseRevoke') return (store) => store.revoke((request as { ID: string }).ID);
    return (store) => store.txn(request as ITxnRequest);
  }

  #grant({ ID, TTL }: ILeaseGrantRequest): Command {
    const id = numberOf(ID) === 0 ? String(this.#random.int(1, 2 ** 52)) : String(ID);
    return (store) => store.grant(id, Math.max(this.#cluster.minTtl, numberOf(TTL)));
  }

  #timeToLive({ ID, keys: wantsKeys = false }: ILeaseTimeToLiveRequest, reply: Reply): void {
    const id = String(ID);
    this.#cluster.toLeader(this.member, (leader) => {
      if (!leader?.leads) {
        reply(refusal.timedOut());
        return;
      }
      const lease = this.member.store.leases.get(id);
      const TTL = String(lease ? leader.lessor.remaining(id) : -1);
      const keys = wantsKeys ? [...(lease?.keys ?? [])].map((key) => Buffer.from(key)) : [];
      reply({ header: this.member.header(), ID: id, TTL, grantedTTL: String(lease?.ttl ?? 0), keys });
    });
  }
}

function isReadOnly({ compare = [], success = [], failure = [] }: ITxnRequest): boolean {
  const operations: readonly IRequestOp[] = [...success, ...failure];
  return compare.length === 0 && operations.every(({ request_range }) => request_range !== undefined);
}
