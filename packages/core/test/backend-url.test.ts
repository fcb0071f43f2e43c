import { expect } from 'chai';
import { parseBackendUrl, isQueueLockError } from '../src/backend.ts';

describe('a backend URL', () => {
  it('contains several hosts, each with its port', () => {
    expect(parseBackendUrl('etcd://h1:2379,[::1]:2380,h3/locks/blue')).to.deep.include({
      scheme: 'etcd',
      hosts: ['h1:2379', '[::1]:2380', 'h3'],
      path: 'locks/blue',
    });
  });

  it('contains user and password, percent-decoded, and hides them when it is printed', () => {
    const url = parseBackendUrl('zk://me:p%40ss:word@h1:2181/chroot?a=1');
    expect(url).to.include({ username: 'me', password: 'p@ss:word', display: 'zk://h1:2181/chroot' });
    expect(url.params.get('a')).to.equal('1');
  });

  it('may have no host', () => {
    expect(parseBackendUrl('memory:')).to.deep.include({ scheme: 'memory', hosts: [], path: '' });
    expect(parseBackendUrl('sqlite:dir/file.db')).to.deep.include({ path: 'dir/file.db' });
  });

  for (const bad of [
    '',
    'etcd',
    '//h:1',
    'etcd://h:0',
    'etcd://h:70000',
    'etcd://h:x',
    'etcd://a b:1',
    'etcd://h/%zz',
  ]) {
    it(`is refused if it is ${JSON.stringify(bad)}`, () => {
      expect(() => parseBackendUrl(bad))
        .to.throw()
        .that.satisfies((error: unknown) => isQueueLockError(error, 'INVALID_ARGUMENT'));
    });
  }

  for (const bad of ['::://user:secret@h:1', 'etcd://user:secret@h:99999', '1://user:secret@h']) {
    it(`is refused with an error that does not contain the password, if it is ${JSON.stringify(bad.replace('secret', '…'))}`, () => {
      expect(() => parseBackendUrl(bad))
        .to.throw()
        .with.property('message')
        .that.does.not.include('secret');
    });
  }
});
