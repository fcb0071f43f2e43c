/** A call of an asynchronous function. Its outcome can be read at any time, without waiting for the call. */
export class Call {
  isSettled = false;
  /** Description of the error with which the call rejected; `undefined` otherwise. */
  failure: string | undefined;

  constructor(call: Promise<unknown>) {
    call.then(
      () => (this.isSettled = true),
      (error: unknown) => (this.failure = String(error)),
    );
  }
}
