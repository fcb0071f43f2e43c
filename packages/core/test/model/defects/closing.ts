import { inCore, type Defect } from './defect.ts';

/** Seeded defects of the code that closes a client. */
export const CLOSING_DEFECTS: readonly Defect[] = [
  inCore(
    'closing revokes nothing',
    ['at once', 'nothing left'],
    [
      'session/session.ts',
      `          live.liveness.end(
            new QueueLockError('CLOSED', 'the client was closed', { reason: 'client-closed' }),
          );
`,
      '',
    ],
  ),
  inCore('closing leaves the session to its TTL', 'nothing left', [
    'session/session.ts',
    '          closing(endOrAbandon(session, { keepsSession, exited: standby?.stop(), clock: settings.clock }));\n',
    '',
  ]),
  inCore(
    'closing does not wait for requests in flight',
    ['nothing left', 'at once'],
    ['client.ts', '    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);\n', ''],
  ),
  inCore('a session that opens after the client was closed stays', 'nothing left', [
    'session/session.ts',
    '    await session.close();\n',
    '',
  ]),
  inCore('a closed client reports that it is opening', 'no way back', [
    'session/shared-session.ts',
    "status !== 'closed' && ",
    '',
  ]),
  inCore(
    'a lost session is reported twice',
    'no way back',
    ['session/shared-session.ts', 'error: () => undefined,', 'error: tellEnd,'],
    ['session/shared-session.ts', ' && status !== state.status', ''],
  ),
];
