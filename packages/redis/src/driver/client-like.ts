/** The part of a client of npm redis or a connection of ioredis that `redis()` uses. */
export interface RedisClientLike {
  /**
   * Returns a new client of the same library for the server of this client. `overrides` replace some of its
   * options.
   */
  duplicate(overrides?: object): unknown;
  readonly options?: object;
}
