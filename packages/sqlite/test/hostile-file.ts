// Writes a session into the lock file, as another user could: hostile-file.ts FILE INBOX NAMESPACE. The session
// belongs to a process that has ended, its inbox is INBOX, and its entry is the first of the queue `jobs`.
import { loadDriver } from '../src/driver/driver.ts';
import { bootId, machineTime } from '../src/base/machine.ts';
import { fileKindOf, upgrade } from '../src/queue/schema.ts';

const [file = '', inbox = '', namespace = ''] = process.argv.slice(2);
const { DatabaseSync } = await loadDriver();
const db = new DatabaseSync(file);
if (fileKindOf(db).kind === 'empty') upgrade(db, fileKindOf(db));
db.prepare('update boot set id = ?').run(bootId());
db.prepare(
  `insert into session (id, generation, ttl, expires, inbox, pid, started, namespace) values ('hostile', 1, 60000000, ?, ?, 2147483647, '1', ?)`,
).run(machineTime() + 60_000_000, inbox, namespace);
db.prepare(
  `insert into entry values (?, 1, 'hostile', (select max(num) from session), 0, 1, 1, 1, 1, ?)`,
).run(Buffer.from('jobs'), Buffer.from(''));
db.exec('update boot set last = 100');
db.close();
