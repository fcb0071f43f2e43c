import { respond } from './answer.ts';
import { hideArguments } from './secrets.ts';

const EXIT_WITHIN_MS = 1_000;

hideArguments(process.argv);
// Ignores a closed stderr: a message that cannot be printed is no reason to end a command in the middle of
// its work.
process.stderr.on('error', () => undefined);
const failed = await respond(process.argv);
if (failed !== undefined) process.exitCode = failed;
// All clients of queuelock are closed now. A client library may have left a socket or timer open, which would
// keep the process alive. So the process exits explicitly after a short delay.
setTimeout(() => {
  process.exit();
}, EXIT_WITHIN_MS).unref();
