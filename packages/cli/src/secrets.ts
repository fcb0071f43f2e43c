import { escapeControls } from '@queuelock/core';

/**
 * Length of the shortest secret that is redacted. Redacting shorter ones would make messages unreadable and
 * protect nothing.
 */
const MIN_LENGTH = 3;
const USER_PART = /:\/\/(.*)@/s;

const known = new Set<string>();

/**
 * Registers a secret. From now on {@link redact} removes it from all output. It finds the secret as it is,
 * and also escaped as in URLs, in JSON and in messages.
 */
export function registerSecret(secret: string): void {
  if (secret.length < MIN_LENGTH) return;
  const wellFormed = secret.replace(/\p{Surrogate}/gu, '\uFFFD');
  const forms = [secret, encodeURIComponent(wellFormed), JSON.stringify(secret).slice(1, -1)];
  for (const form of forms) known.add(form).add(escapeControls(form));
}

/** Replaces the user and password of every URL in a text, and every registered secret. */
export function redact(text: string): string {
  // Replaces the longest secret first, because a shorter secret may be a part of it.
  const secrets = [...known].sort((a, b) => b.length - a.length);
  const rest = secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
  return rest.replace(/:\/\/[^\s"']*@/g, '://');
}

/** Returns the arguments for display in `ps`: everything up to the last `@` is removed from an argument that contains a URL. */
export function withoutSecrets(argv: readonly string[]): readonly string[] {
  return argv.map((argument) => redact(argument.replace(USER_PART, '://')));
}

/**
 * Removes passwords in URLs from the arguments that `ps` shows for this process. Also keeps the arguments
 * before `--` out of error messages. The arguments are visible until this function runs, and shells store
 * them in their history. So users should rather pass a password in a file or in the environment.
 */
export function hideArguments(argv: readonly string[]): void {
  const end = argv.indexOf('--');
  for (const argument of end < 0 ? argv : argv.slice(0, end)) {
    const [, userPart = ''] = USER_PART.exec(argument) ?? [];
    if (userPart.includes(':')) registerSecret(userPart.slice(userPart.indexOf(':') + 1));
  }
  const shown = withoutSecrets(argv);
  if (shown.some((text, at) => text !== argv[at])) process.title = shown.join(' ');
}
