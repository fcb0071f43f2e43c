/** The part of a client of npm redis or a connection of ioredis that `redis()` uses. */
export interface RedisClientLike {
  /** Returns another client of the same kind for the same server. */
  duplicate(overrides?: object): unknown;
  readonly options?: object;
}
