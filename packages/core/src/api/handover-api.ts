/** The response to a handover request. `ignored`: the holder did not respond in time. */
export interface HandoverAnswer {
  readonly answer: 'yields' | 'declined' | 'ignored';
  readonly reason?: string;
}

/** A waiter's request that the holder release soon. The holder receives it from `Ownership.requests$`. */
export interface HandoverRequestOptions {
  /** The reason of the request, shown to the holder. At most 200 characters. */
  readonly reason: string;
  /**
   * How long the waiter waits for a response, in milliseconds. If there is none within this time, the response in the state of its claim is
   * `ignored`.
   */
  readonly withinMs: number;
}
