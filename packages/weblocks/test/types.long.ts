import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import ts from 'typescript';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Compiles programs that use the DOM types, each in one file. Returns the compiler's messages. */
function complaintsAbout(sources: readonly string[]): readonly (readonly string[])[] {
  const files = new Map(sources.map((source, i) => [`${HERE}page-${i}.ts`, source]));
  const options: ts.CompilerOptions = {
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    customConditions: ['@queuelock/source'],
    allowImportingTsExtensions: true,
    types: ['node'],
    skipLibCheck: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const reading: ts.CompilerHost = {
    ...host,
    fileExists: (name) => files.has(name) || host.fileExists(name),
    getSourceFile(name, version) {
      const source = files.get(name);
      return source === undefined
        ? host.getSourceFile(name, version)
        : ts.createSourceFile(name, source, version);
    },
  };
  const program = ts.createProgram([...files.keys()], options, reading);
  return [...files.keys()].map((file) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  );
}

const HEAD = `
  import { createLockManager, type LockManager as Ours } from '@queuelock/weblocks';
  declare const ours: Ours;
`;

const STANDS_FOR = `${HEAD}
  const standard: LockManager = ours;
  export async function app(locks: Pick<LockManager, 'request' | 'query'>): Promise<string> {
    const n: number = await locks.request('a', { mode: 'shared' }, async (lock: Lock | null) => lock!.name.length);
    const { held = [] } = await locks.query();
    const infos: LockInfo[] = held;
    return String(n) + String(infos.length);
  }
  void app(ours); void app(navigator.locks); void standard; void createLockManager;
`;
const OWN = `${HEAD} void ours.request('a', (lock) => [lock?.token, lock?.signal, lock?.held] satisfies unknown[]);`;
const UNCHECKED = `${HEAD} void ours.request('a', (lock) => lock.token);`;
const NOT_STANDARD = `${HEAD} void navigator.locks.request('a', (lock) => lock?.token);`;

describe('the types of a lock manager', function () {
  this.timeout(60_000);
  let complaints: readonly (readonly string[])[];
  before(() => {
    complaints = complaintsAbout([STANDS_FOR, OWN, UNCHECKED, NOT_STANDARD]);
  });

  it('are accepted wherever code expects the browser type LockManager', () => {
    expect(complaints[0]).to.deep.equal([]);
  });

  it('declare members that the browser type Lock lacks, and require a check of a lock for null', () => {
    expect(complaints.slice(1)).to.deep.equal([
      [],
      ["'lock' is possibly 'null'."],
      ["Property 'token' does not exist on type 'Lock'."],
    ]);
  });
});
