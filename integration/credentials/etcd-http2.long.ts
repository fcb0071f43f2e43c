import { ETCD_NAMES, etcdWithCertificates } from './etcd-certificates.ts';
import { etcdWithUser } from './etcd-passwords.ts';
import { describePasswords } from './passwords.ts';
import { describeRotation } from './rotation.ts';

describeRotation('etcd over http2', ETCD_NAMES, etcdWithCertificates('http2'));
describePasswords('etcd over http2', etcdWithUser('http2'));
