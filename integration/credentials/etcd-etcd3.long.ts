import { ETCD_NAMES, etcdWithCertificates } from './etcd-certificates.ts';
import { etcdWithUser } from './etcd-passwords.ts';
import { describePasswords } from './passwords.ts';
import { describeRotation } from './rotation.ts';

describeRotation('etcd over etcd3', ETCD_NAMES, etcdWithCertificates('etcd3'));
describePasswords('etcd over etcd3', etcdWithUser('etcd3'));
