import { closeSync, openSync, readdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { expect } from 'chai';
import { ReservedSockets } from '../../src/native/reserved-sockets.ts';

/** Returns the lowest free file number, which the next socket would get. */
function nextNumber(): number {
  const file = openSync(devNull, 'r');
  closeSync(file);
  return file;
}

describe('reserved file descriptors', () => {
  const spent = new ReservedSockets();
  afterEach(() => {
    spent.release();
  });

  it('are not given to the next socket, however many were reserved', () => {
    for (let count = 0; count < 20; count += 1) {
      const number = nextNumber();
      spent.reserve();
      expect(nextNumber(), `after ${count} others`).to.not.equal(number);
    }
  });

  it('are at most eight at a time, and are all released together', () => {
    const first = nextNumber();
    const free: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      spent.reserve();
      free.push(nextNumber());
    }
    expect(new Set(free).size).to.be.at.most(9);
    expect(free.slice(7)).to.not.include(first);
    spent.release();
    expect(nextNumber()).to.equal(first);
  });

  it('are open files of the process, as the system counts them', function () {
    let before: number;
    try {
      before = readdirSync('/proc/self/fd').length;
    } catch {
      this['skipReason'] = 'needs /proc';
      this.skip();
    }
    for (let count = 0; count < 20; count += 1) spent.reserve();
    expect(readdirSync('/proc/self/fd').length - before).to.equal(8);
  });
});
