/** What the operator can do about a failure, for failures whose own message names no remedy. */
const REMEDIES: readonly (readonly [failure: RegExp, remedy: string])[] = [
  [
    /wrong version number|packet length too long|disconnected before secure TLS/,
    'the server does not seem to speak TLS on this port',
  ],
  [
    /alert (bad certificate|certificate required|handshake failure|unknown ca)/,
    'the server requires a certificate that it trusts: tls.cert and tls.key, or cert and key of the URL',
  ],
  [
    /unable to verify|self.signed certificate|unable to get (local )?issuer/,
    'the certificate of the server was issued by an unknown authority: tls.ca, or ca of the URL',
  ],
  [
    /closed the connection$|ECONNRESET|EPIPE/,
    'a server does so when it has maxClientCnxns connections of this address or maxCnxns in all, and when it has no quorum or is read-only',
  ],
];

/** Describes a failed attempt in one line. OpenSSL ends its messages with a line break, which would be printed escaped. */
export function failureText({ message }: Error): string {
  const text = message.trim();
  const remedy = REMEDIES.find(([failure]) => failure.test(text))?.[1];
  return remedy === undefined ? text : `${text} (${remedy})`;
}
