import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { eachOncePerMinute } from '../src/note.ts';

describe('notices of errors that end no hold', () => {
  it('are printed at most once a minute for the same error, and immediately for another error', () => {
    const scheduler = new VirtualTimeScheduler();
    const errors$ = new Subject<QueueLockError>();
    const printed: string[] = [];
    errors$.pipe(eachOncePerMinute(scheduler)).subscribe((line) => {
      printed.push(`${scheduler.frame / 1_000} s: ${line}`);
    });
    const emit = (message: string, atSeconds: number): void => {
      scheduler.schedule(() => errors$.next(new QueueLockError('UNAVAILABLE', message)), atSeconds * 1_000);
    };
    for (const seconds of [0, 1, 30, 61, 90]) emit('bad file', seconds);
    emit('bad password', 2);
    scheduler.flush();
    expect(printed).to.deep.equal([
      '0 s: [UNAVAILABLE] bad file',
      '2 s: [UNAVAILABLE] bad password',
      '61 s: [UNAVAILABLE] bad file',
    ]);
  });
});
