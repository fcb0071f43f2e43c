import { inCallerContext } from '../base/caller-context.ts';
import type { Clock } from '../base/clock.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import { invalidArgument } from '../api/errors.ts';
import { checkedRegisterKind } from '../kit/name-checks.ts';
import { liveView } from './live-view.ts';
import type { RegisterState, SharedRegister } from '../api/queue-api.ts';
import { distinctUntilChanged, map, takeUntil, type Observable } from '../base/rx.ts';
import type { Backend, Registers } from '../api/spi.ts';

/** The name and the kind that identify a register in a store. */
export interface RegisterPlace {
  readonly name: string;
  readonly kind: string;
}

/** Events of the client after which its registers cannot be used any more. */
export interface RegisterEnd {
  readonly closes$: Observable<unknown>;
  readonly closing: AbortSignal;
}

/** A register whose changes are compare-and-set operations. Each is retried until its outcome is certain. */
export class RetryingRegister implements SharedRegister {
  readonly state$: Observable<RegisterState>;
  readonly #registers: Registers;
  readonly #place: RegisterPlace;
  readonly #closing: AbortSignal;

  constructor(backend: Backend, place: RegisterPlace, { clock, end }: { clock: Clock; end: RegisterEnd }) {
    const { registers } = backend;
    checkedRegisterKind(place.kind);
    if (!registers)
      throw invalidArgument('register', place.kind, `is not offered by the backend ${backend.info.name}`);
    this.#registers = registers;
    this.#place = place;
    this.#closing = end.closing;
    const state$ = liveView(() => registers.observe(place.name, place.kind), clock).pipe(
      map((view) => ({
        status: view.status,
        text: view.status === 'connecting' ? undefined : view.value?.text,
        ...('error' in view ? { error: view.error } : {}),
      })),
      distinctUntilChanged(
        (before, now) =>
          before.status === now.status && before.text === now.text && before.error === now.error,
      ),
      takeUntil(end.closes$),
    );
    this.state$ = inCallerContext(state$);
  }

  async read(): Promise<string | undefined> {
    const { name, kind } = this.#place;
    const register = await repeatUntilDefinite(() => this.#registers.read(name, kind), this.#closing);
    return register?.text;
  }

  change(change: (text: string | undefined) => string | undefined): Promise<string | undefined> {
    const { name, kind } = this.#place;
    return repeatUntilDefinite(async () => {
      for (;;) {
        this.#closing.throwIfAborted();
        const present = await this.#registers.read(name, kind);
        const text = change(present?.text);
        if (text === present?.text) return text;
        if (await this.#registers.write(name, kind, { text, was: present?.version })) return text;
      }
    }, this.#closing);
  }
}
