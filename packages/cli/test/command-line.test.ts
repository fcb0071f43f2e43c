import { InvalidArgumentError } from '@commander-js/extra-typings';
import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { describeFailure, describeUsageError, exitCodeFor, Failure } from '../src/failure.ts';
import { label, wholeNumber } from '../src/options.ts';
import { redact } from '../src/secrets.ts';

describe('numbers on the command line', () => {
  const parse = wholeNumber(1, 100);

  for (const [text, value] of [
    ['1', 1],
    ['100', 100],
    ['+7', 7],
    ['007', 7],
  ] as const) {
    it(`are accepted when written as ${JSON.stringify(text)}`, () => {
      expect(parse(text)).to.equal(value);
    });
  }

  for (const text of [
    '',
    ' ',
    '0',
    '101',
    '-1',
    '1.5',
    '1e2',
    '0x10',
    'NaN',
    'Infinity',
    '5ms',
    '99999999999999999999',
  ]) {
    it(`are rejected when written as ${JSON.stringify(text)}, and the error states the rule`, () => {
      expect(() => parse(text)).to.throw(InvalidArgumentError, 'a whole number from 1 to 100');
    });
  }
});

describe('labels on the command line', () => {
  it('may be printable text', () => {
    expect(label('Käthe, host:17')).to.equal('Käthe, host:17');
  });

  for (const text of ['', 'a\nb', '\u001b[2J', 'x'.repeat(201)]) {
    it(`are rejected with the text ${JSON.stringify(text.slice(0, 10))}`, () => {
      expect(() => label(text)).to.throw(InvalidArgumentError, '1 to 200 characters');
    });
  }
});

describe('an error of the command line on stderr', () => {
  it('is printed on one line', () => {
    expect(describeFailure(new Error('a\n  b\nc'), false)).to.equal('queuelock: a b c');
  });

  it('contains advice on what to do', () => {
    const error = new QueueLockError('UNAVAILABLE', 'no session at etcd://h:1 within 5000 ms');
    expect(describeFailure(error, false)).to.match(/etcd:\/\/h:1.*; check that the server runs/);
  });

  it('contains no advice to check the server when the server itself sent the error', () => {
    const error = new QueueLockError('UNAVAILABLE', 'h:1: too many connections', { responded: true });
    expect(describeFailure(error, false)).to.equal('queuelock: [UNAVAILABLE] h:1: too many connections');
  });

  it('is followed by its causes when --verbose is set', () => {
    const error = new Error('top', { cause: new Error('middle', { cause: 'bottom' }) });
    expect(describeFailure(error, true).split('\n')).to.deep.equal([
      'queuelock: top',
      '  caused by: middle',
      '  caused by: bottom',
    ]);
  });

  it('is printed completely when its causes form a cycle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(describeFailure(error, true).split('\n').length).to.be.lessThan(20);
  });

  for (const url of [
    'etcd://user:secret@h:1',
    'etcd://user:se@cret@h:1/p',
    'zk://:secret@h',
    'etcds://u:s/ecret@h',
  ]) {
    it(`never shows the password of ${url.replace(/s.?e.?cret/, '…')}`, () => {
      expect(redact(`cannot reach ${url}, "${url}"`)).to.not.match(/cret/);
      expect(describeFailure(new Error('x', { cause: new Error(url) }), true)).to.not.match(/cret/);
    });
  }

  it('names the option, the value and the rule when the parser commander rejects a value', () => {
    const text = "error: option '--ttl <s>' argument 'x' is invalid. It must be a whole number.\n";
    expect(describeUsageError(text)).to.equal(
      "queuelock: option '--ttl <s>' argument 'x' is invalid. It must be a whole number; see queuelock --help",
    );
  });
});

describe('the exit code of a failed command', () => {
  for (const [error, code] of [
    [new Error('x'), 1],
    [new QueueLockError('UNAVAILABLE', 'x'), 1],
    [new QueueLockError('TIMEOUT', 'x'), 69],
    [new QueueLockError('INVALID_ARGUMENT', 'x'), 2],
    [new QueueLockError('OWNERSHIP_LOST', 'x'), 75],
    [new Failure('x', { exitCode: 127 }), 127],
  ] as const) {
    it(`is ${String(code)} for ${error instanceof QueueLockError ? error.code : error.name}`, () => {
      expect(exitCodeFor(error)).to.equal(code);
    });
  }
});
