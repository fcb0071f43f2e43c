import { describeViews } from './cli-views.ts';

describe('the view into the queues from the command line', function () {
  this.timeout(90_000);

  describeViews('zookeeper');
});
