/** The contents of the site: which text stands at which address. Texts have one place, so most pages are made of files of the repository. */

/** A text of the repository, or some of its sections. */
export interface Part {
  /** From the root of the repository. */
  readonly file: string;
  /** Headings of the second level, in this order; without them the whole file. */
  readonly sections?: readonly string[];
  /** Headings of the second level that are left out, since another page has them. */
  readonly without?: readonly string[];
}

export interface Page {
  /** The address, without a slash in front and without an ending. */
  readonly route: string;
  /** In the list of pages, and the heading of a page that is made of sections. */
  readonly title: string;
  /** One sentence for search engines and for `llms.txt`. */
  readonly about: string;
  readonly parts: readonly Part[];
}

export interface Chapter {
  readonly title: string;
  readonly pages: readonly Page[];
}

const own = (name: string): Part => ({ file: `packages/site/pages/${name}.md` });
const readme = (name: string): Part => ({ file: `packages/${name}/README.md` });
const tasks = (...sections: readonly string[]): Part => ({ file: 'packages/TASKS.md', sections });
const page = (route: string, title: string, about: string, ...parts: readonly Part[]): Page => ({
  route,
  title,
  about,
  parts,
});

const CHOOSING = 'packages/CHOOSING.md';
const PACKAGES = 'packages/README.md';
const BACKEND = 'A backend in an afternoon';

export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'Start',
    pages: [
      page(
        'quick-start',
        'Quick start',
        'A first lock in five minutes, without a server.',
        own('quick-start'),
      ),
      page('choosing-a-lock', 'Choosing a lock', 'Which call fits which task, and when you need no lock.', {
        file: CHOOSING,
        sections: ['When you need none of this', 'Which lock'],
      }),
      page(
        'choosing-a-store',
        'Choosing a store',
        'Which store to take, and when one lock can have two holders.',
        {
          file: CHOOSING,
          sections: ['Which store'],
        },
      ),
      page(
        'playground',
        'Playground',
        'Contenders to add, freeze and kill, in your browser.',
        own('playground'),
      ),
      page(
        'comparison',
        'Comparison',
        'How queuelock differs from other lock libraries, on one screen.',
        own('comparison'),
      ),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page(
        'guides/mutex',
        'One at a time',
        'Work that only one process does at a time.',
        tasks('One at a time', 'For each customer in turn', 'Only if nobody else does'),
      ),
      page(
        'guides/cron',
        'A cron job once per tick',
        'One of all instances runs the job, once per tick.',
        tasks('Once per tick', 'Once per release'),
      ),
      page(
        'guides/leader',
        'Leader election',
        'One instance leads, and another takes over when it ends.',
        tasks('One that leads'),
      ),
      page(
        'guides/semaphore',
        'Semaphore',
        'At most five at a time over all instances.',
        tasks('At most five requests'),
      ),
      page(
        'guides/read-write',
        'Read and write locks',
        'Many readers, one writer.',
        tasks('Many readers, one writer'),
      ),
      page(
        'guides/several',
        'Several locks',
        'Several names at once, without a deadlock.',
        tasks('Several at once'),
      ),
      page(
        'guides/position',
        'Position in the queue',
        'Tell a user the position and the expected wait.',
        tasks('A place in line'),
      ),
      page(
        'guides/shutdown',
        'Graceful shutdown',
        'Signals, frameworks, process managers and Kubernetes.',
        own('shutdown'),
        {
          file: 'packages/PRODUCTION.md',
          sections: ['Signals and Kubernetes'],
        },
      ),
      page(
        'guides/testing',
        'Unit tests',
        'Tests without a server, with fake timers, in Jest, Vitest and Mocha.',
        tasks('In a test'),
        own('testing'),
      ),
      page(
        'guides/commonjs',
        'CommonJS and bundlers',
        'require, plain JavaScript, TypeScript settings and bundlers.',
        tasks('Plain JavaScript'),
        own('bundlers'),
      ),
      page(
        'guides/health',
        'Health checks',
        'Liveness and readiness from the state of the session.',
        own('health'),
      ),
      page(
        'guides/observability',
        'Logging and metrics',
        'Logs with pino, OpenTelemetry, and the names that Prometheus shows.',
        own('observability'),
      ),
      page(
        'guides/fencing',
        'Fencing',
        'Writes that a late holder cannot undo.',
        tasks('A write that no late holder can undo'),
        readme('fencing'),
      ),
    ],
  },
  {
    title: 'Lock state in a page',
    pages: [
      page('guides/react', 'React', 'Hooks for queues, positions and leaders.', readme('react')),
      page('guides/angular', 'Angular', 'Lock state with the async pipe.', own('angular')),
      page('guides/vue', 'Vue', 'Lock state in a composable.', own('vue')),
      page('guides/svelte', 'Svelte', 'Lock state as a store.', own('svelte')),
      page('tools/bridge', 'Bridge', 'Lock state over HTTP, and positions for pages.', readme('bridge')),
    ],
  },
  {
    title: 'Concepts',
    pages: [
      page(
        'concepts/sessions',
        'Sessions and TTL',
        'How a client stays alive for the store, and when a lock is lost.',
        own('sessions'),
      ),
      page('concepts/queue', 'The queue', 'Entries, order, positions and hand-off.', own('queue')),
      page('concepts/guarantees', 'Guarantees', 'What is promised, what is not, and what was measured.', {
        file: 'packages/core/PROMISES.md',
      }),
      page('concepts/glossary', 'Glossary', 'One meaning for each word.', {
        file: PACKAGES,
        sections: ['Words'],
      }),
    ],
  },
  {
    title: 'Stores',
    pages: [
      page('stores/etcd', 'etcd', 'Locks over etcd, in one queue with Go.', readme('etcd')),
      page(
        'stores/zookeeper',
        'ZooKeeper',
        'Locks over ZooKeeper, in one queue with Curator and kazoo.',
        readme('zookeeper'),
      ),
      page('stores/redis', 'Redis and Valkey', 'Locks over Redis and Valkey.', readme('redis')),
      page('stores/postgres', 'PostgreSQL', 'Locks over PostgreSQL.', readme('postgres')),
      page('stores/mysql', 'MySQL and MariaDB', 'Locks over MySQL and MariaDB.', readme('mysql')),
      page('stores/sqlite', 'SQLite', 'Locks between the processes of one machine.', readme('sqlite')),
      page('stores/memory', 'Memory', 'Locks in one process, for tests.', readme('memory')),
    ],
  },
  {
    title: 'Operation',
    pages: [
      page('production', 'Going to production', 'A checklist, then each point in a minute.', {
        file: 'packages/PRODUCTION.md',
        without: ['Signals and Kubernetes'],
      }),
      page(
        'troubleshooting',
        'Troubleshooting',
        'Each error code, why a lock was lost, and what you may see.',
        { file: 'packages/TROUBLE.md' },
      ),
      page('security', 'Security model', 'Which party is trusted with what.', {
        file: 'packages/SECURITY-MODEL.md',
      }),
      page('versions', 'Versions', 'What a version promises, and what is supported.', {
        file: 'packages/VERSIONING.md',
      }),
      page(
        'migration',
        'Migration',
        'Moving from redlock, redis-semaphore, async-mutex, etcd3 and ZooKeeper recipes.',
        { file: 'packages/MOVING.md' },
      ),
      page('interoperability', 'Interoperability', 'Which recipes in Go, Java and Python share a queue.', {
        file: 'packages/COMPATIBILITY.md',
      }),
    ],
  },
  {
    title: 'Tools',
    pages: [
      page('tools/cli', 'Command line', 'The command queuelock.', readme('cli')),
      page('tools/dashboard', 'Dashboard', 'The web page for queues.', readme('dashboard')),
      page('tools/otel', 'OpenTelemetry', 'Traces and metrics.', readme('otel')),
      page('tools/weblocks', 'Web Locks', 'navigator.locks across machines.', readme('weblocks')),
      page(
        'tools/recipes',
        'Recipes',
        'Elections, semaphores, barriers, latches, cohorts, deadlocks.',
        readme('recipes'),
      ),
    ],
  },
  {
    title: 'Internals',
    pages: [
      page('internals/core', 'How it works', 'The core and the proof of its promises.', readme('core')),
      page(
        'internals/packages',
        'Packages and architecture',
        'The packages, their chapters, and how to work on them.',
        {
          file: PACKAGES,
          without: ['Words', BACKEND],
        },
      ),
      page(
        'internals/backend',
        'Writing a backend',
        'A store of your own, and the suite that judges it.',
        { file: PACKAGES, sections: [BACKEND] },
        readme('conformance'),
      ),
      page('internals/contributing', 'Contributing', 'How to run, change and judge.', {
        file: '.github/CONTRIBUTING.md',
      }),
      page(
        'internals/simulation',
        'Simulation',
        'The unchanged code over simulated stores.',
        readme('simulation'),
      ),
      page(
        'internals/faults',
        'Faults on real servers',
        'What is done to real servers, and what must not happen.',
        { file: 'integration/README.md' },
      ),
      page('internals/benchmarks', 'Benchmarks', 'How fast it is, next to others.', readme('bench')),
      page(
        'internals/features',
        'Features and their tests',
        'Feature by feature, with the tests that show it.',
        { file: 'packages/FEATURES.md' },
      ),
    ],
  },
];

export const PAGES: readonly Page[] = CHAPTERS.flatMap(({ pages }) => pages);
