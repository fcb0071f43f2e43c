import { expect } from 'chai';
import { parseMetrics, sumOf } from '../../src/services/metrics.ts';

const PAGE = `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{code="OK",method="Txn"} 3
calls_total{code="Aborted",method="Txn"} 1 1395066363000
calls_total{code="OK",method="Range"} 1.5e+02
path_total{path="C:\\\\a\\"{b}"} 2
up 1
wait_bucket{le="+Inf"} +Inf
wait_sum NaN
`;

describe('a page of metrics', () => {
  const metrics = parseMetrics(PAGE);

  it('has one number for each line with a metric and its labels', () => {
    expect(metrics.size).to.equal(7);
    expect(metrics.get('calls_total{code="OK",method="Range"}')).to.equal(150);
    expect(metrics.get('up')).to.equal(1);
    expect(metrics.get('wait_bucket{le="+Inf"}')).to.equal(Infinity);
    expect(metrics.get('wait_sum')).to.be.NaN;
  });

  it('yields the sum over all lines of a metric that have the selected labels', () => {
    expect(sumOf(metrics, 'calls_total')).to.equal(154);
    expect(sumOf(metrics, 'calls_total', { method: 'Txn' })).to.equal(4);
    expect(sumOf(metrics, 'calls_total', { method: 'Txn', code: 'OK' })).to.equal(3);
    expect(sumOf(metrics, 'path_total')).to.equal(2);
  });

  it('counts missing metrics as 0', () => {
    expect(sumOf(metrics, 'calls')).to.equal(0);
    expect(sumOf(metrics, 'calls_total', { method: 'Put' })).to.equal(0);
  });
});
