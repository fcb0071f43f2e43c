import { expect } from 'chai';
import { Connection } from '../src/server/connection.ts';
import type { Driver } from '../src/driver/driver.ts';
import { GrpcError } from '../src/driver/grpc-status.ts';
import { checkOptions } from '../src/api/options.ts';

const HOSTS = ['a:1', 'b:1', 'c:1', 'd:1'];

/**
 * Lets requests fail again and again, each at the member that the connection uses. Returns the members in the order in which the connection has used
 * them.
 */
function orderOf(connection: Connection): string {
  const hosts: string[] = [];
  for (let requested = 0; requested < 2 * HOSTS.length; requested += 1) {
    const { endpoint } = connection;
    hosts.push(endpoint.host);
    connection.failed(endpoint, { what: 'a request', error: new GrpcError('UNAVAILABLE', 'broken') });
  }
  expect(hosts.slice(HOSTS.length)).to.deep.equal(hosts.slice(0, HOSTS.length));
  expect([...hosts.slice(0, HOSTS.length)].sort()).to.deep.equal(HOSTS);
  return hosts.slice(0, HOSTS.length).join();
}

describe('the members of an etcd cluster', () => {
  it('are used in turn, in a random order for each connection', () => {
    const drive = (): Driver => ({}) as Driver;
    const orders = Array.from({ length: 200 }, () =>
      orderOf(new Connection(checkOptions({ hosts: HOSTS }), drive)),
    );
    expect(new Set(orders).size).to.be.greaterThan(HOSTS.length);
    expect(
      new Set(orders.filter((order) => order.startsWith('a')).map((order) => order[4])).size,
    ).to.be.greaterThan(1);
  });

  it('remain in use when another member fails, or when they refuse a request', () => {
    const connection = new Connection(checkOptions({ hosts: HOSTS }), () => ({}) as Driver);
    const { endpoint } = connection;
    const [other] = connection.endpoints.filter((one) => one !== endpoint);
    connection.failed(other!, { what: 'a request', error: new GrpcError('UNAVAILABLE', 'broken') });
    connection.failed(endpoint, { what: 'a request', error: new GrpcError('INVALID_ARGUMENT', 'too much') });
    expect(connection.endpoint).to.equal(endpoint);
  });
});
