const check = Symbol('check');

interface Checked extends AbortSignal {
  [check](): unknown;
}

const PLATFORM = AbortSignal.prototype;

/** Property descriptors shared by all signals. Creating accessors for each signal costs more than the signal itself. */
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
 * Returns the controller's signal, which calls `read` at each read of `aborted` or `reason`. `read` aborts the controller if the signal should be
 * aborted by now. So a read notices a passed deadline without waiting for a late timer. The `abort` event fires before the read returns.
 */
export function checkedSignal({ signal }: Pick<AbortController, 'signal'>, read: () => unknown): AbortSignal {
  return observeOptions(signal, read);
}

/**
 * Combines signals like `AbortSignal.any`, but checks the sources on each read, so it is correct even after a blocked event loop. The
 * result of `AbortSignal.any` aborts only with the `abort` event of its sources, such as `hold.signal`, and a late timer delays that
 * event. The same applies to a signal that a library derives from one that you pass to it. So before a write, read `aborted` of the signal that
 * you passed to the library, or call `throwIfLost()` of the hold.
 * @returns a signal that is aborted as soon as one of `signals` is
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  // Reading `aborted` of a source after its deadline aborts the source, and with it all signals derived from
  // it.
  return observeOptions(AbortSignal.any([...signals]), () => signals.some(({ aborted }) => aborted));
}

function observeOptions(signal: AbortSignal, read: () => unknown): AbortSignal {
  Object.defineProperty(signal, check, { value: read });
  return Object.setPrototypeOf(signal, LOOKING) as AbortSignal;
}
