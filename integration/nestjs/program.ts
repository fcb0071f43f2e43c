/** The application of `applications.long.ts`, as a user writes it: legacy decorators with their metadata. */
export const PROGRAM = `
import 'reflect-metadata';
import { Controller, Get, Injectable, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { type LockClient, type Ownership } from '@queuelock/core';
import { fromUrl as etcdFromUrl } from '@queuelock/etcd';
import { InjectLocks, Leads, Lock, QueuelockHealthIndicator, QueuelockModule, currentLock, queuelockExceptionFilter } from '@queuelock/nestjs';
import { OncePer } from '@queuelock/nestjs/schedule';
import { fromUrl as postgresFromUrl } from '@queuelock/postgres';
import type { Leadership } from '@queuelock/recipes';

const [url = ''] = process.argv.slice(2);
const say = (event: object): void => console.log(JSON.stringify(event));

@Injectable()
class Ledger {
  constructor(@InjectLocks() readonly locks: LockClient) {}

  @Lock((account: string) => \`accounts/\${account}\`)
  async book(account: string, amount: number): Promise<string> {
    const { ownership } = currentLock()!;
    say({ ev: 'begun', token: String(ownership.token), account, amount });
    await new Promise((resolve) => setTimeout(resolve, 300));
    ownership.throwIfLost();
    say({ ev: 'ended', token: String(ownership.token) });
    return 'booked';
  }
}

@Injectable()
class Jobs {
  @Leads('scheduler')
  async schedule({ token }: Leadership, stop: AbortSignal): Promise<void> {
    say({ ev: 'leads', token: String(token) });
    await new Promise((resolve) => stop.addEventListener('abort', resolve));
    say({ ev: 'leads no more' });
  }

  @OncePer('every-second')
  @Cron('* * * * * *')
  async tick(tick: Date, { held }: Ownership): Promise<void> {
    say({ ev: 'tick', tick: tick.toISOString(), held });
  }
}

@Controller()
class Accounts {
  constructor(
    private readonly ledger: Ledger,
    private readonly health: QueuelockHealthIndicator,
  ) {}

  @Get('book/:account')
  async book(@Param('account') account: string): Promise<string> {
    return this.ledger.book(account, 1);
  }

  @Get('readyz')
  ready(): object {
    return this.health.readiness('locks');
  }
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    QueuelockModule.forRoot({
      backend: () => (url.startsWith('etcd:') ? etcdFromUrl(url) : postgresFromUrl(url)),
    }),
  ],
  controllers: [Accounts],
  providers: [Ledger, Jobs, queuelockExceptionFilter()],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
say({ ev: 'ready', url: await app.getUrl() });
`;

/** Source with wrong uses of the decorators, each of which the compiler has to reject. */
export const MISUSES = `
import { Leads, Lock } from '@queuelock/nestjs';

export class Misuses {
  // @ts-expect-error A method under a lock returns a promise.
  @Lock('sync')
  sync(): number {
    return 1;
  }

  // @ts-expect-error The name gets a text, and the method has a number.
  @Lock((order: string) => order)
  async number(order: number): Promise<number> {
    return order;
  }

  // @ts-expect-error A leading method gets a leadership.
  @Leads('x')
  async lead(text: string): Promise<string> {
    return text;
  }
}
`;
