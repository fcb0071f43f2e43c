import { escapeControls } from '@queuelock/core';

/** Shorter ones would blot out half of a message, and protect nothing. */
const SHORTEST = 3;
const USER_PART = /:\/\/(.*)@/s;

const known = new Set<string>();

/** From now on {@link redact} takes this text out of everything that is printed, also as URLs, JSON and messages escape it. */
export function keepSecret(secret: string): void {
  if (secret.length < SHORTEST) return;
  const wellFormed = secret.replace(/\p{Surrogate}/gu, '\uFFFD');
  const forms = [secret, encodeURIComponent(wellFormed), JSON.stringify(secret).slice(1, -1)];
  for (const form of forms) known.add(form).add(escapeControls(form));
}

/** Takes user and password out of every URL in a text, and every secret that was read. */
export function redact(text: string): string {
  // The longest first: a secret may be a part of another.
  const secrets = [...known].sort((a, b) => b.length - a.length);
  const rest = secrets.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
  return rest.replace(/:\/\/[^\s"']*@/g, '://');
}

/** Arguments as `ps` may show them: an argument that holds a URL has everything up to its last `@` taken out. */
export function withoutSecrets(argv: readonly string[]): readonly string[] {
  return argv.map((argument) => redact(argument.replace(USER_PART, '://')));
}

/**
 * Takes passwords of URLs out of what `ps` shows of this process, and keeps its own, before `--`, out of messages about the command line. Until it runs
 * they can be read, and shells keep a history: a password is better in a file or in the environment.
 */
export function hideArguments(argv: readonly string[]): void {
  const end = argv.indexOf('--');
  for (const argument of end < 0 ? argv : argv.slice(0, end)) {
    const [, userPart = ''] = USER_PART.exec(argument) ?? [];
    if (userPart.includes(':')) keepSecret(userPart.slice(userPart.indexOf(':') + 1));
  }
  const shown = withoutSecrets(argv);
  if (shown.some((text, at) => text !== argv[at])) process.title = shown.join(' ');
}
