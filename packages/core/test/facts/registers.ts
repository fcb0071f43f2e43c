import type { MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import { throwError } from 'rxjs';
import type { Backend, Registers } from '../../src/backend.ts';
import { Gate, losingReplies, rejection, thrownBy, type CoreFact } from '../stage.ts';

/**
 * Returns a function that appends a line to the text of a register, unless the text already contains that
 * line.
 */
function adding(line: string) {
  return (text: string | undefined): string => {
    const lines = text === undefined ? [] : text.split('\n');
    return lines.includes(line) ? lines.join('\n') : [...lines, line].join('\n');
  };
}

export const registerFacts: readonly CoreFact[] = [
  {
    title:
      'a change of a register whose reply is lost is applied once if its function recognises its own earlier result',
    async check(stage) {
      const client = stage.client({
        link: { intercept: losingReplies(['writeRegister', 'readRegister'], 3) },
      });
      const register = client.register('x', 'notes');
      expect(await stage.passing(register.change(adding('a')))).to.equal('a');
      expect(await stage.passing(register.change(adding('b')))).to.equal('a\nb');
      expect(await stage.passing(register.read())).to.equal('a\nb');
      await stage.passing(register.change(() => undefined));
      expect(stage.server.registerCount).to.equal(0);
    },
  },
  {
    title: 'no change of a register is lost when twelve clients change it at the same time',
    async check(stage) {
      const calls: readonly MemoryCall[] = ['readRegister', 'writeRegister'];
      const lines = Array.from({ length: 12 }, (_, at) => `line ${String(at).padStart(2, '0')}`);
      const changes = lines.map((line, at) => {
        const link = { latencyMs: at, intercept: losingReplies(calls, at % 3) };
        return stage.client({ link }).register('x', 'notes').change(adding(line));
      });
      await stage.passing(Promise.all(changes));
      const text = await stage.client().register('x', 'notes').read();
      expect(text?.split('\n').sort()).to.deep.equal(lines);
    },
  },
  {
    title:
      'a client calls the function of a change again with the new text when another client wrote between the read and the write',
    async check(stage) {
      const gate = new Gate('writeRegister');
      const slow = stage.client({ link: { intercept: gate.requests } }).register('x', 'notes');
      const seen: (string | undefined)[] = [];
      const changed = slow.change((text) => {
        seen.push(text);
        return `${text ?? ''}!`;
      });
      await stage.settle();
      await stage
        .client()
        .register('x', 'notes')
        .change(() => 'other');
      gate.open();
      expect(await stage.passing(changed)).to.equal('other!');
      expect(seen).to.deep.equal([undefined, 'other']);
    },
  },
  {
    title: 'a change of a register to its current text writes nothing, also when both texts are empty',
    async check(stage) {
      const calls: MemoryCall[] = [];
      const client = stage.client({
        link: {
          intercept: (call, proceed) => {
            calls.push(call);
            return proceed();
          },
        },
      });
      const register = client.register('x', 'notes');
      await register.change(() => undefined);
      await register.change(() => 'a');
      await register.change((text) => text);
      expect(calls.filter((call) => call === 'writeRegister')).to.have.length(1);
      await register.change(() => undefined);
    },
  },
  {
    title: 'a change rejects and writes nothing when its function throws or returns a text that is too long',
    async check(stage) {
      const register = stage.client().register('x', 'notes');
      const refusal = Object.assign(new Error('not like this'), { name: 'QueueLockError', code: 'CLOSED' });
      expect(
        await rejection(
          register.change(() => {
            throw refusal;
          }),
        ),
      ).to.equal(refusal);
      const error = await rejection(register.change(() => 'x'.repeat(4_097)));
      expect(String(error)).to.include('INVALID_ARGUMENT').and.to.include('4096');
      expect(stage.server.registerCount).to.equal(0);
    },
  },
  {
    title:
      'the stream of a register emits the present text and then its changes, and reports an outage of the server without an error',
    async check(stage) {
      let isAway = false;
      const spoil = (backend: Backend): Backend => {
        const registers = backend.registers!;
        const away$ = throwError(() => new Error('away'));
        const value = (queue: string, kind: string): unknown =>
          isAway ? away$ : registers.observe(queue, kind);
        return { ...backend, registers: Object.create(registers, { observe: { value } }) as Registers };
      };
      isAway = true;
      const client = stage.client({ spoil });
      const reported: string[] = [];
      const subscription = client
        .register('x', 'notes')
        .state$.subscribe(({ status, text, error }) =>
          reported.push([status, text ?? '-', error instanceof Error ? error.message : ''].join(' ').trim()),
        );
      await stage.settle();
      isAway = false;
      await stage.clock.advance(500);
      await stage
        .client()
        .register('x', 'notes')
        .change(() => 'a');
      await stage
        .client()
        .register('x', 'notes')
        .change(() => undefined);
      expect(reported).to.deep.equal(['connecting -', 'connecting - away', 'live -', 'live a', 'live -']);
      subscription.unsubscribe();
    },
  },
  ...(['readRegister', 'writeRegister'] as const).map((call): CoreFact => ({
    title: `a change rejects with CLOSED when its client closes while ${call} gets no reply`,
    async check(stage) {
      const client = stage.client({
        link: {
          intercept: (at, proceed) => (at === call ? Promise.reject(new Error('no way')) : proceed()),
        },
      });
      const changed = rejection(client.register('x', 'notes').change(adding('a')));
      await stage.clock.advance(100);
      await stage.passing(client.close());
      expect(await stage.passing(changed)).to.include({ code: 'CLOSED' });
    },
  })),
  {
    title: 'a register is refused when its kind is invalid or the backend has no registers',
    async check(stage) {
      for (const kind of ['', 'A', 'a b', 'a'.repeat(17)])
        expect(String(thrownBy(() => stage.client().register('x', kind))))
          .to.include('kind')
          .and.to.include('1 to 16 letters')
          .and.to.include(JSON.stringify(kind));
      const without = (backend: Backend): Backend => Object.assign(backend, { registers: undefined });
      const client = stage.client({ spoil: without });
      expect(String(thrownBy(() => client.register('x', 'notes'))))
        .to.include('register')
        .and.to.include('memory');
      const claim = await stage.client().acquire('x');
      await stage.passing(claim.release());
    },
  },
];
