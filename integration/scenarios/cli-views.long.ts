import { describeViews } from './cli-views.ts';

describe('queue views of the command line', function () {
  this.timeout(90_000);

  describeViews('zookeeper');
  describeViews('consul');
});
