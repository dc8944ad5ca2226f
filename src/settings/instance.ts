/** Addresses, storage and limits of the instance. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import {
  boolean,
  databaseUrl,
  days,
  httpUrl,
  integer,
  isCidr,
  isSecret,
  listOf,
  minutes,
  nameServer,
  path,
  redisUrl,
  secret,
  serviceUrl,
  setting,
} from './kinds.ts'

export const instance = {
  HOST: setting('host', 'address', '127.0.0.1', 'Address to listen on', (text) => {
    if (isIP(text) === 0 && !/^[a-z0-9.-]+$/i.test(text)) throw new Error('an IP address or a host name')
    return text
  }),
  PORT: setting('port', 'integer', '3000', 'Port to listen on; 0 takes any free one', integer(0, 65535)),
  DATA_DIR: setting('dataDir', 'path', './data', 'Directory of the database file, the keys and the backups', (text) => resolve(text)),
  DATABASE_URL: setting(
    'databaseUrl',
    'URL',
    undefined,
    '`file:PATH` (default: souk.db in DATA_DIR) or `postgres://…`; of several hosts (`HOST:PORT,HOST:PORT`) the one that takes writes is used',
    databaseUrl,
  ),
  DATABASE_CONNECTIONS: setting(
    'databaseConnections',
    'integer',
    '20',
    'Connections of a process to a Postgres server at most: three fifths of them write, the others read',
    integer(2, 1_000),
  ),
  PUBLIC_URL: setting(
    'publicUrl',
    'URL',
    undefined,
    'Where clients reach this instance, and processors that are told an address with each payment (QPay, Tap)',
    httpUrl,
  ),
  ALLOWED_HOSTS: setting(
    'allowedHosts',
    'list',
    undefined,
    'Host names that requests may be for; unset: any well-formed name',
    listOf(
      'host names',
      (item) => /^[a-z0-9._-]+$/.test(item),
      (item) => item.toLowerCase(),
    ),
  ),
  TRUSTED_PROXIES: setting(
    'trustedProxies',
    'list',
    undefined,
    'Addresses (CIDR) of proxies whose forwarding headers are believed',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  OUTGOING_ALLOWED_NETWORKS: setting(
    'outgoingAllowedNetworks',
    'list',
    undefined,
    'Private networks (CIDR) that webhooks and calls to merchants’ own payment servers may go to; unset: none, public addresses only',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  REDIS_URL: secret(
    'redisUrl',
    'URL',
    'Redis by which several processes share limits and the breakers of payment processors: `redis://…`, `rediss://…` by TLS, a database of its own for each instance. Unset, or away: each process by itself',
    redisUrl,
  ),
  DNS_SERVER: setting(
    'dnsServer',
    'address',
    undefined,
    "`IP[:PORT]` of the name server that is asked for the proofs of storefronts' host names; unset: those of the system",
    nameServer,
  ),
  FX_RATES_URL: secret(
    'fxRatesUrl',
    'URL',
    'Where exchange rates are read once a day: answers `{ "base": "USD", "rates": { "EUR": 0.92, … } }`. Unset: only the dollar and currencies pegged to it are worth dollars',
    serviceUrl,
  ),
  JWT_SECRET: secret(
    'jwtSecrets',
    'text',
    'Signs access tokens; at least 32 characters. A list `new,old` rotates. Made on first start with the embedded database',
    listOf('secrets of at least 32 characters', isSecret),
  ),
  ENCRYPTION_KEY: secret(
    'encryptionKeys',
    'text',
    'Seals secrets at rest; at least 32 characters. A list `new,old` rotates, see `souk rotate-keys`. Made on first start with the embedded database',
    listOf('secrets of at least 32 characters', isSecret),
  ),
  INTEGRATION_API_KEY: secret(
    'integrationApiKey',
    'text',
    'The key of the integration layer (header `integration-api-key`); at least 16 characters. Made on first start with the embedded database',
    (text) => {
      if (text.length < 16 || text.includes(',')) throw new Error('at least 16 characters without a comma')
      return text
    },
  ),
  API_V3_PREFIX: setting('apiV3Prefix', 'path', '/api/v3', 'Second path of login, public reads, lending and trust fabric', path),
  KEEP_ALIVE_SECONDS: setting(
    'keepAliveSeconds',
    'integer',
    '75',
    'Seconds after which a silent connection is closed. Longer than a load balancer in front keeps its own (often 60), so that it never uses one that is being closed',
    integer(30, 255),
  ),
  SIGNUP_ENABLED: setting('signupEnabled', 'boolean', 'false', 'Whether anybody may open a shop by POST /merchant/signup', boolean),
  CONSOLE_ENABLED: setting('consoleEnabled', 'boolean', 'true', 'Whether the console is there, at /console', boolean),
  LENDING_PLATFORM_ENABLED: setting('lendingPlatformEnabled', 'boolean', 'false', 'Whether the lending routes exist', boolean),
  LENDING_REPAYMENTS_FROM_ATTESTATIONS: setting(
    'lendingRepaymentsFromAttestations',
    'boolean',
    'false',
    'Whether what lenders attest of loans (schema C) is recorded as repayments of merchants',
    boolean,
  ),
  ACCESS_TOKEN_SECONDS: setting('accessTokenSeconds', 'integer', String(60 * minutes), 'Life of an access token', integer(60, days)),
  REFRESH_TOKEN_SECONDS: setting(
    'refreshTokenSeconds',
    'integer',
    String(30 * days),
    'Life of a login: after it, the password is asked for again',
    integer(minutes, 365 * days),
  ),
  AUDIT_RETENTION_DAYS: setting(
    'auditRetentionDays',
    'integer',
    undefined,
    'Days after which rows of the audit trail are removed; unset: they are kept for ever',
    integer(1, 36_500),
  ),
  INGESTION_RETENTION_DAYS: setting(
    'ingestionRetentionDays',
    'integer',
    '90',
    'Days after which the content of messages of service providers is removed; that they came stays, so that none counts twice',
    integer(1, 3_650),
  ),
  UNPAID_ORDERS_PER_ADDRESS: setting(
    'unpaidOrdersPerAddress',
    'integer',
    '50',
    'Orders of one client address that wait for their payment, and hold stock, at a time',
    integer(1, 1_000_000),
  ),
  UNPAID_ORDERS_PER_SHOP: setting(
    'unpaidOrdersPerShop',
    'integer',
    '5000',
    'Orders of one shop that wait for their payment, and hold stock, at a time',
    integer(1, 1_000_000),
  ),
  STOREFRONT_WRITES_PER_MINUTE: setting(
    'storefrontWritesPerMinute',
    'integer',
    '600',
    'Requests of an address within a minute that change something under a publishable key or none (carts, items, checkouts, clicks), and of a customer; of all customers at one address ten times as many; secret keys, merchants and super admins are not limited',
    integer(1, 1_000_000_000),
  ),
} as const
