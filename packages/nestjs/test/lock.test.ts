import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Param,
  Scope,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type INestApplication,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { of } from 'rxjs';
import {
  InjectLocks,
  Lock,
  QueuelockModule,
  currentLock,
  getLockClientToken,
  queuelockExceptionFilter,
} from '../src/index.ts';
import { memoryLocks, useMemoryLocks } from '../src/testing.ts';
import { Applications, testingModule } from './application.ts';

const failure = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'resolved', String);

@Injectable()
class Ledger {
  @InjectLocks() readonly locks!: LockClient;
  readonly prefix: string = 'orders';

  @Lock(function (this: Ledger, order: string) {
    return `${this.prefix}/${order}`;
  })
  async pay(order: string, amount = 1): Promise<string> {
    const { ownership, stop } = currentLock()!;
    return [ownership.name, ownership.held, stop.aborted, order, amount].join(' ');
  }

  @Lock('audited', { client: 'audit' })
  async audit(): Promise<string> {
    return currentLock()!.ownership.name;
  }

  @Lock('nowhere', { client: 'unknown' })
  async nowhere(): Promise<void> {}

  @Lock('streamed')
  async streamed(): Promise<unknown> {
    return of(1);
  }
}

@Injectable()
class SpecialLedger extends Ledger {
  override readonly prefix = 'special';
}

@Injectable({ scope: Scope.REQUEST })
class RequestLedger extends Ledger {}

@Injectable()
class OnlyAdmins implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller()
class Orders {
  @Inject(RequestLedger) readonly ledger!: RequestLedger;

  @Get('pay/:order')
  @Lock((order: string) => `http/${order}`, { timeoutMs: 0 })
  @SetMetadata('roles', ['payer'])
  @UseGuards(OnlyAdmins)
  async pay(@Param('order') order: string): Promise<object> {
    return { http: currentLock()!.ownership.name, inner: await this.ledger.pay(order) };
  }
}

@Module({
  imports: [
    QueuelockModule.forRoot({ backend: () => expect.fail('tests have memory') }),
    QueuelockModule.forRootAsync({
      name: 'audit',
      useFactory: async () => ({ backend: () => expect.fail('tests have memory') }),
    }),
  ],
  controllers: [Orders],
  providers: [Ledger, SpecialLedger, RequestLedger, OnlyAdmins, queuelockExceptionFilter()],
})
class App {}

describe('@Lock', () => {
  let apps: Applications;
  let app: INestApplication;
  let url: string;

  beforeEach(async () => {
    apps = new Applications();
    const builder = testingModule({ imports: [App] });
    ({ app, url } = await apps.start(
      useMemoryLocks(builder, { server: apps.server, names: ['default', 'audit'] }),
    ));
  });

  afterEach(() => apps.close());

  it('runs a method under a lock whose name is made of the arguments of the method', async () => {
    const ledger = app.get(Ledger);
    expect(await ledger.pay('1', 5)).to.equal('orders/1 true false 1 5');
    const hold = await apps.other.acquire('orders/1');
    let isPaid = false;
    const paying = ledger.pay('1').then(() => (isPaid = true));
    expect(await ledger.pay('2')).to.match(/^orders\/2/);
    expect(isPaid).to.equal(false);
    await hold.release();
    await paying;
    expect(await apps.other.tryAcquire('orders/1').then((one) => one?.release())).to.equal(undefined);
    expect(currentLock()).to.equal(undefined);
  });

  it('works in subclasses, in request-scoped providers, and with a named client', async () => {
    expect(await app.get(SpecialLedger).pay('1')).to.match(/^special\/1/);
    expect(await (await app.resolve(RequestLedger)).pay('3')).to.match(/^orders\/3/);
    expect(await app.get(Ledger).audit()).to.equal('audited');
    expect(await failure(app.get(Ledger).nowhere())).to.match(
      /INVALID_ARGUMENT.*client is the name.*default.*audit.*unknown/,
    );
  });

  it('works on handlers of a controller, with their parameters, guards and metadata', async () => {
    const response = await fetch(`${url}/pay/7`);
    expect(await response.json()).to.deep.equal({ http: 'http/7', inner: 'orders/7 true false 7 1' });
    const method = Reflect.get(Orders.prototype, 'pay') as () => Promise<object>;
    expect([method.name, method.length]).to.deep.equal(['pay', 1]);
    expect(new Reflector().get<unknown>('roles', method)).to.deep.equal(['payer']);
  });

  it('names no servers or clients in the HTTP response when a lock is not available', async () => {
    const hold = await apps.other.acquire('http/7');
    const response = await fetch(`${url}/pay/7`);
    expect(response.status).to.equal(429);
    expect(await response.json()).to.deep.equal({
      statusCode: 429,
      code: 'TIMEOUT',
      message: 'The resource is in use. Try again later.',
    });
    await hold.release();
  });

  it('rejects a method that returns a stream, and an instance that Nest did not create', async () => {
    expect(await failure(app.get(Ledger).streamed())).to.match(/Ledger.streamed.*not a stream/);
    expect(await failure(new Ledger().pay('1'))).to.match(/Ledger.pay needs an instance that Nest made/);
    const decorate = (target: object, descriptor: unknown) => () =>
      Lock('x')(target, 'key', descriptor as TypedPropertyDescriptor<() => Promise<void>>);
    expect(decorate({}, undefined)).to.throw(/experimentalDecorators/);
    expect(decorate(Ledger, { value: () => undefined })).to.throw(/no static method/);
    expect(decorate({}, { get: () => undefined })).to.throw(/not a property or accessor/);
  });

  it('makes the start of an application fail if its module is missing or a client name is repeated', async () => {
    const bare = testingModule({ providers: [Ledger] }).compile();
    expect(await failure(bare)).to.match(/Ledger/);
    const twice = testingModule({ imports: [memoryLocks(), memoryLocks()] }).compile();
    expect(await failure(twice)).to.match(
      /INVALID_ARGUMENT.*name is the name of one lock client only.*default/,
    );
    expect(() => QueuelockModule.forRoot({ backend: undefined as never })).to.throw(/backend.*is a backend/);
    expect(() =>
      QueuelockModule.forRoot({ backend: () => expect.fail(), shutdown: { drainMs: -1 } }),
    ).to.throw(/drainMs.*from 0/);
    expect(() => QueuelockModule.forRootAsync({ useFactory: undefined as never })).to.throw(/useFactory/);
  });

  it('works with clients of the memory backend in a test of a single provider', async () => {
    const testing = await testingModule({
      imports: [memoryLocks({ names: ['default', 'audit'] })],
      providers: [Ledger],
    }).compile();
    expect(await testing.get(Ledger).pay('1')).to.match(/^orders\/1/);
    const locks = testing.get<LockClient>(getLockClientToken());
    await testing.close();
    expect(await failure(locks.acquire('x'))).to.match(/CLOSED/);
  });
});
