/** A call whose outcome is read at a later time, without waiting for it. */
export class Call {
  isSettled = false;
  /** Description of the error with which the call was rejected. */
  failure: string | undefined;

  constructor(call: Promise<unknown>) {
    call.then(
      () => (this.isSettled = true),
      (error: unknown) => (this.failure = String(error)),
    );
  }
}
