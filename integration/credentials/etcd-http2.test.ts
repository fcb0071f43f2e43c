import { describeEtcdCertificates } from './etcd-certificates.ts';
import { describeEtcdPasswords } from './etcd-passwords.ts';

describeEtcdCertificates('http2');
describeEtcdPasswords('http2');
