import { createMemoryServer, fromUrl, memory } from '@queuelock/memory';
import { expect } from 'chai';

/** Passes options without type checks, as plain JavaScript can. */
const untyped = (options: unknown): never => options as never;

describe('options of a memory backend', () => {
  it('are refused when they are unknown, with an error that suggests the option that was probably meant', () => {
    expect(() => memory(untyped({ latency: 5 }))).to.throw(
      '[INVALID_ARGUMENT] options of memory: latency is unknown, did you mean latencyMs?',
    );
    expect(() => createMemoryServer(untyped({ clocks: 5 }))).to.throw('did you mean clock?');
  });

  it('are refused with a hint when the caller passes the server instead of options', () => {
    expect(() => memory(untyped(createMemoryServer()))).to.throw(
      '[INVALID_ARGUMENT] options of memory have the server as a property: memory({ server })',
    );
  });

  it('are refused when they are not an object, or have another type', () => {
    for (const options of [null, 'x', 5])
      expect(() => memory(untyped(options))).to.throw('options of memory must be an object');
    expect(() => memory({ server: untyped({}) })).to.throw('server comes from createMemoryServer()');
    expect(() => memory({ latencyMs: untyped('5') })).to.throw('latencyMs is a number; got "5"');
    expect(() => memory({ intercept: untyped(true) })).to.throw('intercept is a function; got true');
    expect(() => createMemoryServer(untyped(null))).to.throw('options of createMemoryServer must be');
    expect(() => createMemoryServer({ clock: untyped(5) })).to.throw('clock must be an object; got 5');
    expect(() => fromUrl(untyped(undefined))).to.throw('backend URL is a string; got "undefined"');
  });
});
