// What deaf-port.ts stops when it listens.
import { createServer } from 'node:net';

const server = createServer().listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () =>
  process.send(server.address().port),
);
