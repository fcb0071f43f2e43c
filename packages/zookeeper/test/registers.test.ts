import type { Register, Registers } from '@queuelock/core/backend';
import { expect } from 'chai';
import { identity } from 'rxjs';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { sharedZooKeeper } from '@queuelock/harness/services';
import type { ZkDriver } from '../src/driver/driver.ts';
import { gateDirectory, registerPaths } from '../src/queue/names.ts';
import { NodeRegisters } from '../src/views/registers.ts';
import { NEVER } from '../src/base/rx.ts';
import { Bench, eventually, newQueue, outcome } from './bench.ts';
import { OpCode, requestsIn } from './frames.ts';
import { losing } from './lose-reply.ts';
import { asOperator } from './operator.ts';

describe('a register in ZooKeeper', () => {
  const bench = new Bench();
  let server: string;
  let proxy: TcpProxy;
  let queue: string;

  beforeEach(async () => {
    server = (await sharedZooKeeper('registers of @queuelock/zookeeper')).endpoint;
    proxy = bench.keep(await startProxy(server), (started) => {
      started.refuse();
      started.cut();
    });
    queue = newQueue();
  });
  afterEach(() => bench.clear());

  function registersAt(endpoint = server): Registers {
    return bench.backend(endpoint).registers!;
  }

  it('is empty at first, and its version decides whether a write succeeds', async () => {
    const registers = registersAt();
    const read = () => registers.read(queue, 'limit');
    expect(await read()).to.equal(undefined);
    expect(await registers.write(queue, 'limit', { text: '5', was: '1:0' })).to.equal(false);
    expect(await registers.write(queue, 'limit', { text: undefined, was: undefined })).to.equal(true);
    expect(await registers.write(queue, 'limit', { text: '5', was: undefined })).to.equal(true);
    const first = (await read())!;
    expect(first.text).to.equal('5');
    expect(await registers.write(queue, 'limit', { text: '6', was: undefined })).to.equal(false);
    expect(await registers.write(queue, 'limit', { text: '', was: first.version })).to.equal(true);
    const second = (await read())!;
    expect(second.text).to.equal('');
    expect(second.version).to.not.equal(first.version);
    expect(await registers.write(queue, 'limit', { text: undefined, was: first.version })).to.equal(false);
    expect(await registers.write(queue, 'limit', { text: undefined, was: second.version })).to.equal(true);
    expect(await read()).to.equal(undefined);
    const { directory } = registerPaths('', queue, 'limit');
    const left = await asOperator(server, (zk) => zk.children(directory));
    expect(left?.filter((name) => name.includes(queue))).to.deep.equal([]);
  });

  it('has another version after it was deleted and written again', async () => {
    const registers = registersAt();
    const write = (text: string | undefined, was: string | undefined) =>
      registers.write(queue, 'limit', { text, was });
    await write('5', undefined);
    const { version } = (await registers.read(queue, 'limit'))!;
    await write(undefined, version);
    await write('5', undefined);
    expect(await write('6', version)).to.equal(false);
    expect(await write(undefined, version)).to.equal(false);
    expect((await registers.read(queue, 'limit'))?.text).to.equal('5');
  });

  for (const [what, text] of [
    ['overwritten', '6'],
    ['emptied', undefined],
  ] as const) {
    it(`is not changed (${what}) by a client if an operator has written since the client read it`, async () => {
      const registers = registersAt();
      await registers.write(queue, 'limit', { text: '5', was: undefined });
      const { version } = (await registers.read(queue, 'limit'))!;
      const { path } = registerPaths('', queue, 'limit');
      /**
       * Returns a driver that writes to the register's node directly after each read of it, as an operator
       * might do.
       */
      const meeting = (zk: ZkDriver): ZkDriver =>
        new Proxy(zk, {
          get: (_, name: keyof ZkDriver) => {
            if (name !== 'read') return bound(zk, name);
            return async (...args: Parameters<ZkDriver['read']>) => {
              const data = await zk.read(...args);
              if (args[0] === path) await asOperator(server, (other) => other.write(path, 'by hand'));
              return data;
            };
          },
        });
      const slow = new NodeRegisters({
        root: '',
        withViewer: (work) => asOperator(server, (zk) => work(meeting(zk))),
        viewer$: NEVER,
        mapErrors: identity,
      });
      expect(await slow.write(queue, 'limit', { text, was: version })).to.equal(false);
      expect((await registers.read(queue, 'limit'))?.text).to.equal('by hand');
    });
  }

  it('is separate for each queue and kind, even for nested names', async () => {
    const registers = registersAt();
    const text = '錠 🔒'.repeat(400);
    const registerNames = [queue, `${queue}/b`, `${queue}%2Fb`, `${queue}//b`].flatMap((name) =>
      ['limit', 'count'].map((kind) => [name, kind] as const),
    );
    for (const [at, [name, kind]] of registerNames.entries())
      expect(await registers.write(name, kind, { text: `${text}${at}`, was: undefined })).to.equal(true);
    const texts = await Promise.all(
      registerNames.map(async ([name, kind]) => (await registers.read(name, kind))?.text),
    );
    expect(texts).to.deep.equal(registerNames.map((_, at) => `${text}${at}`));
  });

  it('loses no accepted write when clients change and delete it at the same time', async () => {
    const MANY = 4;
    const EACH = 15;
    let emptied = 0;
    const add = async (registers: Registers): Promise<void> => {
      for (let done = 0; done < EACH;) {
        const now = await registers.read(queue, 'count');
        const count = Number(now?.text ?? '0') + 1;
        const text = count % 3 === 0 ? undefined : String(count);
        if (!(await registers.write(queue, 'count', { text, was: now?.version }))) continue;
        if (text === undefined) emptied += count;
        done += 1;
      }
    };
    const all = Array.from({ length: MANY }, () => registersAt());
    await Promise.all(all.map(add));
    const rest = Number((await all[0]!.read(queue, 'count'))?.text ?? '0');
    expect(emptied + rest).to.equal(MANY * EACH);
    const { gate } = registerPaths('', queue, 'count');
    await eventually(async () => (await asOperator(server, (zk) => zk.children(gate)))?.length === 0);
  });

  it('costs two requests in one packet to read, and six requests to write', async () => {
    const registers = registersAt(proxy.endpoint);
    await registers.write(queue, 'limit', { text: '5', was: undefined });
    const { version } = (await registers.read(queue, 'limit'))!;
    const seen: number[] = [];
    proxy.onClientData = (chunk) => seen.push(...requestsIn(chunk));
    const requests = (): number[] => seen.splice(0).filter((code) => code !== OpCode.ping);
    await registers.read(queue, 'limit');
    expect(requests()).to.deep.equal([OpCode.sync, OpCode.getData]);
    await registers.write(queue, 'limit', { text: '6', was: version });
    await eventually(() => seen.includes(OpCode.delete));
    const { create, getChildren, getData, setData } = OpCode;
    expect(requests()).to.deep.equal([create, getChildren, getData, setData, OpCode.delete]);
  });

  it('is written once when the reply to the write is lost, and does not block the next writer', async () => {
    const registers = registersAt(proxy.endpoint);
    await registers.write(queue, 'limit', { text: '5', was: undefined });
    const { version } = (await registers.read(queue, 'limit'))!;
    const write = () => registers.write(queue, 'limit', { text: '6', was: version });
    expect(await losing(proxy, OpCode.setData, write)).to.equal('UNAVAILABLE');
    await eventually(async () => (await outcome(registers.read(queue, 'limit'))) === 'fine');
    expect((await registers.read(queue, 'limit'))?.text).to.equal('6');
    expect(await registersAt().write(queue, 'limit', { text: '7', was: version })).to.equal(false);
  });

  it('is emitted to observers when they subscribe, and after every change', async () => {
    const seen: (Register | undefined)[] = [];
    const watching = registersAt()
      .observe(queue, 'limit')
      .subscribe((register) => seen.push(register));
    await eventually(() => seen.length === 1);
    const registers = registersAt();
    await registers.write(queue, 'limit', { text: '5', was: undefined });
    await eventually(() => seen.at(-1)?.text === '5');
    await registers.write(queue, 'limit', { text: '5', was: seen.at(-1)!.version });
    await eventually(() => seen.length === 3);
    await registers.write(queue, 'limit', { text: undefined, was: seen.at(-1)!.version });
    await eventually(() => seen.length === 4);
    await registers.write(queue, 'limit', { text: '7', was: undefined });
    await eventually(() => seen.length === 5);
    expect(seen.map((register) => register?.text)).to.deep.equal([undefined, '5', '5', undefined, '7']);
    watching.unsubscribe();
  });

  it('reports a broken connection to its observers', async () => {
    const ended = new Promise<string>((resolve) => {
      registersAt(proxy.endpoint)
        .observe(queue, 'limit')
        .subscribe({ next: () => proxy.cut(), error: (error: unknown) => resolve(String(error)) });
    });
    expect(await ended).to.include('UNAVAILABLE');
  });

  it('has a separate directory for the gate that admits one writer at a time', () => {
    const { gate } = registerPaths('/root', 'jobs/invoices', 'limit');
    expect(gate).to.equal(`${gateDirectory('/root')}/limit/jobs%2Finvoices`);
  });
});

function bound(zk: ZkDriver, name: keyof ZkDriver): unknown {
  const member = Reflect.get(zk, name, zk) as unknown;
  return typeof member === 'function' ? (member.bind(zk) as unknown) : member;
}
