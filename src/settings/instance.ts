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
  PORT: setting('port', 'integer', '3000', 'Port to listen on; 0 picks a free port', integer(0, 65535)),
  DATA_DIR: setting('dataDir', 'path', './data', 'Directory of the database file, keys and backups', (text) => resolve(text)),
  DATABASE_URL: setting(
    'databaseUrl',
    'URL',
    undefined,
    '`file:PATH` (default: souk.db in DATA_DIR) or `postgres://…`. Of several hosts (`HOST:PORT,HOST:PORT`), the primary is used',
    databaseUrl,
  ),
  DATABASE_CONNECTIONS: setting(
    'databaseConnections',
    'integer',
    '20',
    'Maximum connections of a process to a PostgreSQL server: three fifths for writes, the rest for reads',
    integer(2, 1_000),
  ),
  PUBLIC_URL: setting(
    'publicUrl',
    'URL',
    undefined,
    'Public URL of this instance, for clients, links in emails and callbacks of payment processors (QPay, Tap)',
    httpUrl,
  ),
  ALLOWED_HOSTS: setting(
    'allowedHosts',
    'list',
    undefined,
    'Host names that requests may use. Default: any',
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
    'Addresses (CIDR) of proxies whose forwarding headers are trusted',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  OUTGOING_ALLOWED_NETWORKS: setting(
    'outgoingAllowedNetworks',
    'list',
    undefined,
    'Private networks (CIDR) that webhooks, image downloads and merchants’ payment servers may use. Default: public addresses only',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  REDIS_URL: secret(
    'redisUrl',
    'URL',
    'Redis for rate limits and circuit breakers of several processes: `redis://…`, or `rediss://…` with TLS. Use a separate database for each instance. Without Redis, each process counts on its own',
    redisUrl,
  ),
  DNS_SERVER: setting(
    'dnsServer',
    'address',
    undefined,
    "`IP[:PORT]` of the DNS server that verifies storefront domains. Default: the system's servers",
    nameServer,
  ),
  FX_RATES_URL: secret(
    'fxRatesUrl',
    'URL',
    'URL of daily exchange rates: `{ "base": "USD", "rates": { "EUR": 0.92, … } }`. Default: only the dollar and currencies pegged to it can be converted',
    serviceUrl,
  ),
  JWT_SECRET: secret(
    'jwtSecrets',
    'text',
    'Signs access tokens; at least 32 characters. Rotate with a list `new,old`. Created on first start with the embedded database',
    listOf('secrets of at least 32 characters', isSecret),
  ),
  ENCRYPTION_KEY: secret(
    'encryptionKeys',
    'text',
    'Encrypts secrets at rest; at least 32 characters. Rotate with a list `new,old`, see `souk rotate-keys`. Created on first start with the embedded database',
    listOf('secrets of at least 32 characters', isSecret),
  ),
  INTEGRATION_API_KEY: secret(
    'integrationApiKey',
    'text',
    'Key of the integration API (header `integration-api-key`); at least 16 characters. Created on first start with the embedded database',
    (text) => {
      if (text.length < 16 || text.includes(',')) throw new Error('at least 16 characters without a comma')
      return text
    },
  ),
  API_V3_PREFIX: setting(
    'apiV3Prefix',
    'path',
    '/api/v3',
    'Additional path prefix for login, public reads, lending and attestations',
    path,
  ),
  KEEP_ALIVE_SECONDS: setting(
    'keepAliveSeconds',
    'integer',
    '75',
    'Seconds after which an idle connection is closed. Must be longer than the keep-alive of a load balancer (often 60), so that it never uses a closing connection',
    integer(30, 255),
  ),
  SIGNUP_ENABLED: setting('signupEnabled', 'boolean', 'false', 'Let anyone open a shop with POST /merchant/signup', boolean),
  CONSOLE_ENABLED: setting('consoleEnabled', 'boolean', 'true', 'Serve the console at /console', boolean),
  LENDING_PLATFORM_ENABLED: setting('lendingPlatformEnabled', 'boolean', 'false', 'Turn on lending', boolean),
  LENDING_REPAYMENTS_FROM_ATTESTATIONS: setting(
    'lendingRepaymentsFromAttestations',
    'boolean',
    'false',
    'Record lenders’ loan attestations (schema C) as repayments',
    boolean,
  ),
  ACCESS_TOKEN_SECONDS: setting(
    'accessTokenSeconds',
    'integer',
    String(60 * minutes),
    'Lifetime of an access token in seconds',
    integer(60, days),
  ),
  REFRESH_TOKEN_SECONDS: setting(
    'refreshTokenSeconds',
    'integer',
    String(30 * days),
    'Lifetime of a login in seconds; then the password is required again',
    integer(minutes, 365 * days),
  ),
  AUDIT_RETENTION_DAYS: setting(
    'auditRetentionDays',
    'integer',
    undefined,
    'Days to keep the audit log. Default: forever',
    integer(1, 36_500),
  ),
  INGESTION_RETENTION_DAYS: setting(
    'ingestionRetentionDays',
    'integer',
    '90',
    'Days to keep the content of service providers’ messages. Their ids are kept, so that no message counts twice',
    integer(1, 3_650),
  ),
  UNPAID_ORDERS_PER_ADDRESS: setting(
    'unpaidOrdersPerAddress',
    'integer',
    '50',
    'Maximum unpaid orders per client address at a time; they reserve stock',
    integer(1, 1_000_000),
  ),
  UNPAID_ORDERS_PER_SHOP: setting(
    'unpaidOrdersPerShop',
    'integer',
    '5000',
    'Maximum unpaid orders per shop at a time; they reserve stock',
    integer(1, 1_000_000),
  ),
  STOREFRONT_WRITES_PER_MINUTE: setting(
    'storefrontWritesPerMinute',
    'integer',
    '600',
    'Maximum write requests per minute with a publishable key or without a key (carts, items, checkouts, clicks), per address and per customer; ten times as many for all customers of one address. Secret keys, merchants and administrators are not limited',
    integer(1, 1_000_000_000),
  ),
} as const
