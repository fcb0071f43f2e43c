/** A parser of data from the network, with examples of what a real peer sends. */
export interface FuzzTarget {
  /** Examples of valid input, which the fuzzer mutates. At least one. */
  readonly corpus: readonly Buffer[];
  /** Whether the input is JSON text. Its values are then mutated too, and not only its bytes. */
  readonly isJson?: boolean;
  /** Number of inputs in one batch. The fuzzer checks its time limit after each batch. Default 2,000. */
  readonly batchSize?: number;
  /**
   * Passes one input to the code under test, and ignores the errors that this code documents.
   * @throws on a defect: an undocumented error, a result that is too large for the input, or a promise that
   * does not settle
   */
  readonly run: (input: Buffer) => void | Promise<void>;
  /** Releases servers and timers after the last input. */
  readonly close?: () => Promise<void>;
}

/** Creates a target. Called once, in the thread that runs it. */
export type OpenTarget = () => FuzzTarget | Promise<FuzzTarget>;
