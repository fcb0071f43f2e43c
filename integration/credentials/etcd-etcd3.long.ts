import { describeEtcdCertificates } from './etcd-certificates.ts';
import { describeEtcdPasswords } from './etcd-passwords.ts';

describeEtcdCertificates('etcd3');
describeEtcdPasswords('etcd3');
