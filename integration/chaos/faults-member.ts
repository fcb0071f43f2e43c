import type { Member } from '@queuelock/harness/clusters';
import type { MemberKind } from './faults-menu.ts';
import type { Fault } from './schedule.ts';
import type { Undo } from './fault-stage.ts';

const HALF_SPEED = { duty: { frozenMs: 200, runningMs: 200 } } as const;
// Speed of a network link that a fault slows down: 256 kbit/s.
const LOW_RATE = { bytesPerSecond: 32_000 } as const;
const LOSS = { lossRatio: 0.05 } as const;

interface Subject {
  readonly fault: Fault;
  readonly member: Member;
}

/** Functions that begin a fault of one member. Each returns a function that ends the fault. */
export const MEMBER_ACTIONS: Readonly<Record<MemberKind, (subject: Subject) => Promise<Undo>>> = {
  'member killed': killed,
  'member frozen': frozen,
  'leader killed': killed,
  'leader frozen': frozen,
  'member cut off': cutOff,
  'leader cut off': cutOff,
  'member at half speed': ({ member }) => slow(member, HALF_SPEED),
  'member at a low rate': ({ member }) => slow(member, LOW_RATE),
  'member loses packets': ({ member }) => slow(member, LOSS),
};

async function killed({ member }: Subject): Promise<Undo> {
  await member.kill();
  return () => member.start();
}

async function frozen({ member }: Subject): Promise<Undo> {
  await member.freeze();
  return () => member.thaw();
}

function cutOff({ member, fault: { direction = 'both' } }: Subject): Promise<Undo> {
  return member.cut({ from: 'members', direction });
}

async function slow(member: Member, how: Parameters<Member['slow']>[0]): Promise<Undo> {
  await member.slow(how);
  return () => member.slow({});
}
