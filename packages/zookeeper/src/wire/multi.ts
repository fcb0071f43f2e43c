import type { Get, JuteReader } from './jute-read.ts';
import type { JuteWriter, Put } from './jute-write.ts';
import { CreateFlag, getMade, getText, putCreate, type NewNode } from './node-requests.ts';
import { OpCode } from './op-code.ts';
import { getStat, type WireStat } from './records.ts';
import { requestOf, type WireRequest } from './request.ts';
import { WireError } from './wire-error.ts';

/** One step of a transaction, of which all steps are done or none. Version -1 matches any version. */
export type WireStep =
  | { readonly type: 'create'; readonly node: NewNode }
  | { readonly type: 'delete' | 'check'; readonly path: string; readonly version: number }
  | {
      readonly type: 'setData';
      readonly path: string;
      readonly data: Uint8Array;
      readonly version: number;
    };

/**
 * The result of a step. If one step failed, the result of every step is an `error`: 0 for the steps before the failed one, -2 for the steps after it.
 */
export type StepResult =
  | { readonly type: 'create'; readonly path: string }
  | { readonly type: 'delete' | 'check' }
  | { readonly type: 'setData'; readonly stat: WireStat }
  | { readonly type: 'error'; readonly error: number };

/**
 * Encodes a transaction. If a step fails, the reply itself still has code 0, and the results contain the
 * error.
 */
export function multi(steps: readonly WireStep[]): WireRequest<readonly StepResult[]> {
  return requestOf({ type: OpCode.multi, body: (writer) => putSteps(writer, steps), answer: getResults });
}

function putSteps(writer: JuteWriter, steps: readonly WireStep[]): void {
  for (const step of steps) {
    writer.int(typeOf(step)).bool(false).int(-1);
    putStep(writer, step);
  }
  writer.int(-1).bool(true).int(-1);
}

function typeOf(step: WireStep): number {
  if (step.type !== 'create') return OpCode[step.type];
  return step.node.flags === CreateFlag.container ? OpCode.createContainer : OpCode.create;
}

const putStep: Put<WireStep> = (writer, step) => {
  switch (step.type) {
    case 'create':
      putCreate(writer, step.node);
      return;
    case 'setData':
      writer.text(step.path).buffer(step.data).int(step.version);
      return;
    case 'delete':
    case 'check':
      writer.text(step.path).int(step.version);
  }
};

const getResults: Get<readonly StepResult[]> = (reader) => {
  const results: StepResult[] = [];
  for (;;) {
    const [type, isEnd] = [reader.int(), reader.bool()];
    reader.int();
    if (isEnd) return results;
    results.push(getResult(type, reader));
  }
};

function getResult(type: number, reader: JuteReader): StepResult {
  switch (type) {
    case OpCode.create:
      return { type: 'create', path: getText(reader) };
    case OpCode.create2:
      // The server reports a created container with the type `create2`.
      return { type: 'create', path: getMade(reader).path };
    case OpCode.delete:
      return { type: 'delete' };
    case OpCode.check:
      return { type: 'check' };
    case OpCode.setData:
      return { type: 'setData', stat: getStat(reader) };
    case OpCode.error:
      return { type: 'error', error: reader.int() };
    default:
      throw new WireError(`a result of a step of type ${type}`);
  }
}
