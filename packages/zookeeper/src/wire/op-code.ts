/** The types of requests (`ZooDefs.OpCode`). */
export const OpCode = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getACL: 6,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  createContainer: 19,
  createTTL: 21,
  auth: 100,
  setWatches: 101,
  getEphemerals: 103,
  closeSession: -11,
  error: -1,
} as const;

/** Fixed numbers of messages that are not ordinary requests, such as pings and events. */
export const Xid = { event: -1, ping: -2, auth: -4, setWatches: -8 } as const;
