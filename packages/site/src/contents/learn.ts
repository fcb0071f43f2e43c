import { own, page, readme, sectionsOf, type Chapter } from './page.ts';

/** Pages for learning: first steps, guides and concepts. */
export const LEARN: readonly Chapter[] = [
  {
    title: 'Start',
    pages: [
      page(
        ['quick-start', 'Quick start', 'A first lock in five minutes, without a server.'],
        own('quick-start'),
      ),
      page(
        ['choosing-a-lock', 'Choosing a lock', 'Which call fits which task, and when you need no lock.'],
        sectionsOf('CHOOSING', 'When you need none of this', 'Which lock'),
      ),
      page(
        [
          'choosing-a-store',
          'Choosing a store',
          'Which store to take, and when one lock can have two holders.',
        ],
        sectionsOf('CHOOSING', 'Which store'),
      ),
      page(
        ['calls', 'All calls', 'What a client offers, by what you want to do, with defaults.'],
        own('calls'),
      ),
      page(
        ['playground', 'Playground', 'Contenders to add, freeze and kill, in your browser.'],
        own('playground'),
      ),
      page(
        ['libraries', 'With your libraries', 'Which page is about the library that you use already.'],
        own('libraries'),
      ),
      page(
        ['comparison', 'Comparison', 'How queuelock differs from other lock libraries, on one screen.'],
        own('comparison'),
      ),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page(
        ['guides/mutex', 'One at a time', 'Work that only one process does at a time.'],
        sectionsOf(
          'EXAMPLES',
          'One at a time',
          'For each customer in turn',
          'Skip work that is already running',
        ),
      ),
      page(
        ['guides/cron', 'A cron job once per tick', 'One of all instances runs the job, once per tick.'],
        sectionsOf('EXAMPLES', 'Once per tick'),
        own('late-ticks'),
      ),
      page(
        ['guides/migrations', 'Migrations once per release', 'One of all starting instances migrates.'],
        sectionsOf('EXAMPLES', 'Once per release'),
      ),
      page(
        ['guides/leader', 'Leader election', 'One instance leads, and another takes over when it ends.'],
        sectionsOf('EXAMPLES', 'Leader election'),
      ),
      page(
        ['guides/semaphore', 'Semaphore', 'At most five at a time over all instances.'],
        sectionsOf('EXAMPLES', 'At most five requests'),
      ),
      page(
        ['guides/fair-share', 'Fair shares', 'At most twenty in all and three for each tenant, in turns.'],
        own('fair-share'),
      ),
      page(
        ['guides/read-write', 'Read and write locks', 'Many readers, one writer.'],
        sectionsOf('EXAMPLES', 'Many readers, one writer'),
      ),
      page(
        ['guides/several', 'Several locks', 'Several names at once, without a deadlock.'],
        sectionsOf('EXAMPLES', 'Several at once'),
      ),
      page(
        ['guides/position', 'Position in the queue', 'Tell a user the position and the expected wait.'],
        sectionsOf('EXAMPLES', 'Position in the queue'),
      ),
      page(
        ['guides/shutdown', 'Graceful shutdown', 'Signals, frameworks, process managers and Kubernetes.'],
        own('shutdown'),
        sectionsOf('PRODUCTION', 'Signals and Kubernetes'),
      ),
      page(
        ['guides/express', 'Express', 'Locks in request handlers: 409, 503, pages and shutdown.'],
        own('express'),
      ),
      page(
        [
          'guides/testing',
          'Unit tests',
          'Tests without a server, with fake timers, in Jest, Vitest and Mocha.',
        ],
        sectionsOf('EXAMPLES', 'In a test'),
        own('testing'),
      ),
      page(
        [
          'guides/commonjs',
          'CommonJS and bundlers',
          'require, plain JavaScript, TypeScript settings and bundlers.',
        ],
        sectionsOf('EXAMPLES', 'Plain JavaScript'),
        own('bundlers'),
      ),
      page(
        [
          'guides/health',
          'Health checks',
          'Liveness and readiness over HTTP and in Kubernetes, and a leader that is stuck.',
        ],
        own('health'),
      ),
      page(
        [
          'guides/nestjs',
          'NestJS',
          'Decorators for locks, cron jobs and leaders, health checks and shutdown.',
        ],
        readme('nestjs'),
      ),
      page(
        [
          'guides/observability',
          'Logging and metrics',
          'Logs with pino, metrics with prom-client and OpenTelemetry, and the names that Prometheus shows.',
        ],
        own('observability'),
      ),
      page(
        ['guides/fencing', 'Fencing', 'Writes that a late holder cannot undo.'],
        sectionsOf('EXAMPLES', 'A write that no late holder can undo'),
        readme('fencing'),
      ),
      page(
        [
          'guides/transactions',
          'Transactions of your ORM',
          'Fenced transactions of Prisma, Drizzle, Knex, TypeORM and Kysely.',
        ],
        own('transactions'),
      ),
    ],
  },
  {
    title: 'Lock state in a page',
    pages: [
      page(['guides/react', 'React', 'Hooks for queues, positions and leaders.'], readme('react')),
      page(['guides/angular', 'Angular', 'Lock state with the async pipe.'], own('angular')),
      page(['guides/vue', 'Vue', 'Lock state in a composable.'], own('vue')),
      page(['guides/svelte', 'Svelte', 'Lock state as a store.'], own('svelte')),
      page(['tools/bridge', 'Bridge', 'Lock state over HTTP, and positions for pages.'], readme('bridge')),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page(
        [
          'concepts/sessions',
          'Sessions and TTL',
          'How a client stays alive for the store, and when a lock is lost.',
        ],
        own('sessions'),
      ),
      page(['concepts/queue', 'The queue', 'Entries, order, positions and hand-off.'], own('queue')),
      page(['concepts/guarantees', 'Guarantees', 'What is promised, what is not, and what was measured.'], {
        file: 'packages/core/PROMISES.md',
      }),
      page(
        ['concepts/glossary', 'Glossary', 'One meaning for each word.'],
        { file: 'packages/GLOSSARY.md' },
        sectionsOf('README', 'Words'),
      ),
    ],
  },
];
