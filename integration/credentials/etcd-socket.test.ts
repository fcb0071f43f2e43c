import { ETCD_NAMES, etcdWithCertificates } from './etcd-certificates.ts';
import { etcdWithUser } from './etcd-passwords.ts';
import { describePasswords } from './passwords.ts';
import { describeRotation } from './rotation.ts';

describeRotation('etcd over socket', ETCD_NAMES, etcdWithCertificates('socket'));
describePasswords('etcd over socket', etcdWithUser('socket'));
