import { describeEtcdCertificates } from './etcd-certificates.ts';
import { describeEtcdPasswords } from './etcd-passwords.ts';

describeEtcdCertificates('socket');
describeEtcdPasswords('socket');
