const check = Symbol('check');

interface Checked extends AbortSignal {
  [check](): unknown;
}

const PLATFORM = AbortSignal.prototype;

/** One for all: to give each signal accessors of its own costs more than the signal. */
const LOOKING = Object.create(PLATFORM, {
  aborted: {
    get(this: Checked): unknown {
      this[check]();
      return Reflect.get(PLATFORM, 'aborted', this);
    },
  },
  reason: {
    get(this: Checked): unknown {
      this[check]();
      return Reflect.get(PLATFORM, 'reason', this);
    },
  },
  throwIfAborted: {
    value(this: Checked): void {
      this[check]();
      PLATFORM.throwIfAborted.call(this);
    },
  },
}) as object;

/**
 * The controller's own signal, made to run `look` before it answers whether it is aborted. A deadline that has passed is
 * noticed by whoever looks, without waiting for a timer that is late; the `abort` event comes before the answer.
 * `look` aborts the controller if need be.
 */
export function checkedSignal({ signal }: AbortController, look: () => unknown): AbortSignal {
  return looking(signal, look);
}

/**
 * `AbortSignal.any` that looks: whenever somebody asks it, it asks the signals that it is made of, so it is as right as they are, also
 * after a blocked event loop. That of the platform hears of `hold.signal` and of the `stop` of a work by the `abort` event only, which a late timer
 * brings late; and so does whatever a library derives by itself. Look at the one that you gave before an effect, or call `throwIfLost()`.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  // To look at one that is overdue makes it abort, and with it all that are derived from it.
  return looking(AbortSignal.any([...signals]), () => signals.some(({ aborted }) => aborted));
}

function looking(signal: AbortSignal, look: () => unknown): AbortSignal {
  Object.defineProperty(signal, check, { value: look });
  return Object.setPrototypeOf(signal, LOOKING) as AbortSignal;
}
