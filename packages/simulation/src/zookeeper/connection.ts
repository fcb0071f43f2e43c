import { OpCode, type JuteWriter } from '../product.ts';
import type { Member } from './member.ts';
import {
  responseFrame,
  eventFrame,
  helloOf,
  putDone,
  putFailed,
  putStat,
  requestOf,
  welcomeFrame,
  type Hello,
  type ReadRequest,
  type Request,
} from './messages.ts';
import { Code, type Step } from './prepare.ts';

/** The client's end of a connection, to which a member sends frames. */
export interface Peer {
  send(frame: Buffer): void;
  /** Closes the connection after the frames that were sent so far. */
  close(): void;
}

/** Returns whether the simulation denies the client access to the store at present. */
export type IsDenied = () => boolean;

/** The response to a request. Responses are sent in the order of the requests. */
interface PendingResponse {
  /** Sends the response. `undefined` while the request is still being executed. */
  answer: (() => void) | undefined;
}

/** A client's connection to a member. */
export class Connection {
  /** Session id; 0 before the connection has a session. */
  session = 0n;
  readonly #member: Member;
  readonly #peer: Peer;
  readonly #isDenied: IsDenied;
  readonly #line: PendingResponse[] = [];
  #isOver = false;
  #isGreeted = false;

  constructor(member: Member, peer: Peer, isDenied: IsDenied) {
    this.#member = member;
    this.#peer = peer;
    this.#isDenied = isDenied;
  }

  hear(frame: Buffer): void {
    if (this.#isOver) return;
    if (this.#isGreeted) this.#take(requestOf(frame));
    else this.#greet(helloOf(frame));
  }

  event(path: string, type: number): void {
    this.#peer.send(eventFrame(path, type));
  }

  /** Handles the client's disconnect. The session continues. */
  gone(): void {
    this.#isOver = true;
    this.#member.forget(this);
  }

  /** Closes the connection after the responses that were sent so far. */
  hangUp(): void {
    if (this.#isOver) return;
    this.gone();
    this.#peer.close();
  }

  #greet(hello: Hello): void {
    const member = this.#member;
    this.#isGreeted = true;
    if (!member.isServing || hello.lastZxid > member.tree.zxid) {
      this.#peer.close();
      this.#isOver = true;
      return;
    }
    member.connections.add(this);
    const { tickMs } = member.ensemble.options;
    const timeoutMs = Math.min(20 * tickMs, Math.max(2 * tickMs, hello.timeoutMs));
    if (hello.session === 0n) this.#begin(timeoutMs);
    else this.#goOn(hello, timeoutMs);
  }

  #begin(timeoutMs: number): void {
    const member = this.#member;
    const session = member.newSession();
    member.ask((leading) =>
      leading.begin({ member, session }, timeoutMs, () => this.#welcome(session, timeoutMs)),
    );
  }

  /** Moves an existing session to this connection, if the client has sent its password. */
  #goOn({ session, password }: Hello, timeoutMs: number): void {
    const member = this.#member;
    for (const other of [...member.connections]) if (other.session === session) other.hangUp();
    if (!password.equals(passwordOf(session))) {
      this.#welcome(session, 0);
      return;
    }
    member.ask((leading, response) => {
      const isValid = leading.tracker.touch(session);
      if (isValid) leading.tracker.own(session, member);
      response(() => this.#welcome(session, isValid ? timeoutMs : 0));
    });
  }

  #welcome(session: bigint, timeoutMs: number): void {
    if (this.#isOver) return;
    this.session = session;
    this.#peer.send(welcomeFrame(timeoutMs > 0 ? session : 0n, timeoutMs, passwordOf(session)));
    if (timeoutMs === 0) this.hangUp();
  }

  #take(request: Request): void {
    const member = this.#member;
    // As in ZooKeeper, requests of an expired session get no response.
    if (!member.touch(this.session)) return;
    const place: PendingResponse = { answer: undefined };
    this.#line.push(place);
    const settle = (response: () => void): void => {
      place.answer = response;
      this.#advance();
    };
    if (request.type === 'look') settle(() => this.#read(request));
    else if (request.type === 'ephemerals') settle(() => this.#ephemerals(request));
    else if (request.type === 'change') this.#change(request, settle);
    else if (request.type === 'close') this.#close(request, settle);
    else if (request.type === 'sync')
      member.ask((leading, response) =>
        leading.sync(() =>
          response(() => settle(() => this.#respond(request, Code.ok, (writer) => writer.text('/')))),
        ),
      );
    else settle(() => this.#respond(request, request.type === 'unknown' ? Code.unimplemented : Code.ok));
  }

  /**
   * Sends all responses up to the first one that is not ready yet. Responses must be in the order of the
   * requests.
   */
  #advance(): void {
    while (!this.#isOver && this.#line[0]?.answer) this.#line.shift()?.answer?.();
  }

  #change(request: Extract<Request, { type: 'change' }>, settle: (response: () => void) => void): void {
    const { steps, op } = request;
    const member = this.#member;
    member.ask((leading) => {
      const origin = { member, session: this.session, isDenied: this.#isDenied() };
      leading.change(origin, steps, (outcome, nodes) => {
        if (outcome.code === Code.sessionMoved) {
          this.hangUp();
          return;
        }
        settle(() => {
          if ('paths' in outcome)
            this.#respond(request, Code.ok, (writer) =>
              putDone(writer, { op, steps, paths: outcome.paths, nodes }),
            );
          else if (op === OpCode.multi) this.#answerFailed(request, steps, outcome);
          else this.#respond(request, outcome.code);
        });
      });
    });
  }

  /** Sends the error of a failed request. Ends the connection instead if the session has ended. */
  #answerFailed(
    request: Request,
    steps: readonly Step[],
    { failed, code }: { readonly failed: number; readonly code: number },
  ): void {
    if (code === Code.sessionExpired) this.#respond(request, code);
    else this.#respond(request, Code.ok, (writer) => putFailed(writer, steps, { failed, code }));
  }

  #close(request: Request, settle: (response: () => void) => void): void {
    const member = this.#member;
    const go = (): void =>
      settle(() => {
        this.#respond(request, Code.ok);
        this.hangUp();
      });
    member.ask((leading) => {
      leading.end(this.session, { member, period: member.period, go });
    });
  }

  #read({ path, op, watches, ...request }: ReadRequest & { readonly xid: number }): void {
    const node = this.#member.tree.nodes.get(path);
    const isRead = op === OpCode.exists;
    const code = !node ? Code.noNode : !isRead && this.#isDenied() ? Code.noAuth : Code.ok;
    const isList = op === OpCode.getChildren || op === OpCode.getChildren2;
    if (watches && (code === Code.ok || isRead)) this.#member.watch(isList ? 'child' : 'data', path, this);
    this.#respond(request, code, (writer) => {
      if (!node || code !== Code.ok) return;
      if (op === OpCode.getData) writer.buffer(node.data);
      if (isList) writer.list([...node.children], (list, name) => list.text(name));
      if (op !== OpCode.getChildren) putStat(writer, node);
    });
  }

  #ephemerals({ prefix, ...request }: Extract<Request, { type: 'ephemerals' }>): void {
    const paths = this.#member.tree.ephemeralsOf(this.session).filter((path) => path.startsWith(prefix));
    this.#respond(request, Code.ok, (writer) => writer.list(paths, (list, path) => list.text(path)));
  }

  #respond({ xid }: { readonly xid: number }, code: number, put?: (writer: JuteWriter) => unknown): void {
    this.#peer.send(
      responseFrame({ xid, zxid: this.#member.tree.zxid, code }, code === Code.ok ? put : undefined),
    );
  }
}

/** Returns the password of a session. The simulation computes it from the session id. */
function passwordOf(session: bigint): Buffer {
  const password = Buffer.alloc(16, 0x5a);
  password.writeBigInt64BE(session);
  return password;
}
