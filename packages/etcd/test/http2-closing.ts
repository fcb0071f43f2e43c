// A process that http2-driver.test.ts runs. A received message makes it close its clients, while Node is
// still reading from the member.
import { http2Driver } from '../src/wire/http2-driver.ts';
import { checkOptions } from '../src/api/options.ts';

const [endpoint = '', by] = process.argv.slice(2);
const transport = by === 'socket' ? by : 'http2';
const CLIENTS = 100;
const STREAMS = 8;

async function closedByAnEvent(): Promise<void> {
  const driver = http2Driver(endpoint, checkOptions({ hosts: endpoint, transport }));
  const key = Buffer.from('closing');
  await driver.range({ key }, { withinMs: 10_000 });
  await new Promise<void>((resolve) => {
    let left = STREAMS;
    const ended = (): void => {
      left -= 1;
      if (left === 0) resolve();
    };
    for (let i = 0; i < STREAMS; i += 1) {
      const channel = driver.watch({ onResponse: () => driver.close(), onEnd: ended });
      channel.write({ create_request: { key } });
      driver.range({ key }, { withinMs: 10_000 }).then(
        () => driver.close(),
        () => undefined,
      );
    }
  });
}

for (let i = 0; i < CLIENTS; i += 1) await closedByAnEvent();
