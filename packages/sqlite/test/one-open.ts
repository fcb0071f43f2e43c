// Opens a session and reports the outcome: one-open.ts FILE.
import { isQueueLockError } from '@queuelock/core/backend';
import { sqlite } from '@queuelock/sqlite';

const [file = ''] = process.argv.slice(2);
const backend = sqlite({ file });
let outcome = 'opened';
try {
  await (await backend.open(10_000, new AbortController().signal)).close();
} catch (error) {
  outcome = isQueueLockError(error) ? `${error.code} ${error.retryable} ${error.message}` : String(error);
}
await backend.close();
process.send?.(outcome);
process.disconnect();
