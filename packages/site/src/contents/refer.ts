import { page, readme, sectionsOf, type Chapter } from './page.ts';

/** Reference pages: stores, operation, tools, internals. */
export const REFER: readonly Chapter[] = [
  {
    title: 'Stores',
    pages: [
      page(['stores/etcd', 'etcd', 'Locks over etcd, in one queue with Go.'], readme('etcd')),
      page(
        ['stores/zookeeper', 'ZooKeeper', 'Locks over ZooKeeper, in one queue with Curator and kazoo.'],
        readme('zookeeper'),
      ),
      page(['stores/consul', 'Consul', 'Locks over Consul, beside consul lock.'], readme('consul')),
      page(['stores/redis', 'Redis and Valkey', 'Locks over Redis and Valkey.'], readme('redis')),
      page(['stores/postgres', 'PostgreSQL', 'Locks over PostgreSQL.'], readme('postgres')),
      page(['stores/mysql', 'MySQL and MariaDB', 'Locks over MySQL and MariaDB.'], readme('mysql')),
      page(['stores/sqlite', 'SQLite', 'Locks between the processes of one machine.'], readme('sqlite')),
      page(['stores/memory', 'Memory', 'Locks in one process, for tests.'], readme('memory')),
    ],
  },
  {
    title: 'Operation',
    pages: [
      page(['production', 'Going to production', 'A checklist, then each point in a minute.'], {
        file: 'packages/PRODUCTION.md',
        without: ['Signals and Kubernetes'],
      }),
      page(
        ['troubleshooting', 'Troubleshooting', 'Each error code, why a lock was lost, and what you may see.'],
        { file: 'packages/TROUBLESHOOTING.md' },
      ),
      page(['security', 'Security model', 'Which party is trusted with what.'], {
        file: 'packages/SECURITY-MODEL.md',
      }),
      page(['versions', 'Versions', 'What a version promises, and what is supported.'], {
        file: 'packages/VERSIONING.md',
      }),
      page(
        [
          'migration',
          'Migration',
          'Moving from redlock, redis-semaphore, async-mutex, etcd3 and ZooKeeper recipes.',
        ],
        { file: 'packages/MIGRATION.md' },
      ),
      page(['interoperability', 'Interoperability', 'Which recipes in Go, Java and Python share a queue.'], {
        file: 'packages/COMPATIBILITY.md',
      }),
      page(
        ['formats', 'Formats', 'What a client in another language reads and writes, and how to check it.'],
        {
          file: 'packages/FORMATS.md',
        },
      ),
    ],
  },
  {
    title: 'Tools',
    pages: [
      page(['tools/cli', 'Command line', 'The command queuelock.'], readme('cli')),
      page(['tools/dashboard', 'Dashboard', 'The web page for queues.'], readme('dashboard')),
      page(
        ['tools/cron', 'Cron', 'Jobs of croner, cron, node-cron and node-schedule, once per tick.'],
        readme('cron'),
      ),
      page(
        [
          'tools/testing',
          'Testing kit',
          'Moved time, faults, and a check for work that goes on after the loss.',
        ],
        readme('testing'),
      ),
      page(['tools/bullmq', 'BullMQ', 'One job per key at a time, over all workers.'], readme('bullmq')),
      page(['tools/otel', 'OpenTelemetry', 'Traces and metrics.'], readme('otel')),
      page(['tools/weblocks', 'Web Locks', 'navigator.locks across machines.'], readme('weblocks')),
      page(
        ['tools/recipes', 'Recipes', 'Elections, semaphores, barriers, latches, cohorts, deadlocks.'],
        readme('recipes'),
      ),
    ],
  },
  {
    title: 'Internals',
    pages: [
      page(['internals/core', 'How it works', 'The core and the proof of its promises.'], readme('core')),
      page(
        [
          'internals/packages',
          'Packages and architecture',
          'The packages, their chapters, and how to work on them.',
        ],
        {
          file: 'packages/README.md',
          without: ['Words', 'A backend in an afternoon'],
        },
      ),
      page(
        ['internals/backend', 'Writing a backend', 'A store of your own, and the suite that judges it.'],
        sectionsOf('README', 'A backend in an afternoon'),
        readme('conformance'),
      ),
      page(['internals/contributing', 'Contributing', 'How to run, change and judge.'], {
        file: '.github/CONTRIBUTING.md',
      }),
      page(
        ['internals/simulation', 'Simulation', 'The unchanged code over simulated stores.'],
        readme('simulation'),
      ),
      page(
        [
          'internals/faults',
          'Faults on real servers',
          'What is done to real servers, and what must not happen.',
        ],
        { file: 'integration/README.md' },
      ),
      page(['internals/benchmarks', 'Benchmarks', 'How fast it is, next to others.'], readme('bench')),
      page(['internals/features', 'Features', 'What it offers, feature by feature, next to other tools.'], {
        file: 'packages/FEATURES.md',
      }),
    ],
  },
];
