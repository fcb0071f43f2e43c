import type { ConsulSettings } from '@queuelock/harness/services/consul-process';

/**
 * Settings of an agent whose clients all have one address. By default it accepts 200 connections of one address,
 * and closes the others. Twelve workers open several times as many, and would mostly wait for a connection.
 */
export const CONSUL_OF_MANY_CLIENTS: ConsulSettings = { limits: { http_max_conns_per_client: 4_000 } };
