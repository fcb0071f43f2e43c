import { expect } from 'chai';
import { asQueueLockError } from '../src/driver/errors.ts';
import { space } from '../src/diagnose.ts';

describe('a SQLite file on a full disk', () => {
  const refused = (errcode: number): Error =>
    asQueueLockError(Object.assign(new Error('refused'), { errcode }), '/locks.db');

  it('causes an error that names the full disk, and whose property responded is true', () => {
    expect(refused(13)).to.include({ code: 'UNAVAILABLE', retryable: true, responded: true });
    expect(refused(13).message).to.contain('free space on its file system');
    // 778 is the extended result code `SQLITE_IOERR_WRITE`.
    expect(refused(778).message).to.contain('full or broken');
  });

  it('is reported by the diagnosis as an error', () => {
    expect(space(512 * 1024, '/locks.db')).to.have.nested.property('[0].level', 'error');
    expect(space(512 * 1024, '/locks.db')[0]?.text).to.contain('has only 512 KiB left');
    expect(space(1024 ** 3, '/locks.db')).to.deep.equal([]);
  });
});

describe('a SQLite file that another program keeps locked', () => {
  it('causes an error that states that another program keeps the file locked', () => {
    const { message } = asQueueLockError(
      Object.assign(new Error('database is locked'), { errcode: 5 }),
      '/l',
    );
    expect(message).to.contain('another program keeps the file locked');
  });
});
