/**
 * One client's use of a session. A client that resumes the session starts a new generation, and the store
 * refuses requests of earlier generations.
 */
export interface Tenancy {
  readonly id: string;
  readonly num: number;
  readonly generation: number;
  readonly ttlMs: number;
  /**
   * The text `number/id` (see `refOf`) of each entry that earlier clients of the session added. Empty when this
   * client opened the session.
   */
  readonly inherited: ReadonlySet<string>;
}
