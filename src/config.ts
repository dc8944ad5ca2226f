import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { readChains } from './lib/chain-settings.ts'
import { logLevels } from './lib/log.ts'
import { blockOf } from './lib/networks.ts'
import { isThisMachine, looksSecret, modeOfKey } from './lib/processor-keys.ts'
import { signingKey } from './lib/signing-key.ts'

/** Every setting that could not be read, so that all are mended in one go. The messages never repeat a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: readonly string[]) {
    super(
      `The settings have ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    )
  }
}

/** Throws with a text that completes "NAME must be …". */
type Read = ((text: string) => unknown) & { readonly whenUnset?: unknown }

type Setting<Field extends string, Default extends string | undefined, Reads extends Read> = {
  /** Its name in the program; of a value or a list of them. */
  field: Field
  type: string
  /** As an operator would write it; undefined where there is none. */
  default: Default
  meaning: string
  secret?: true
  read: Reads
}

const setting = <Field extends string, Default extends string | undefined, Reads extends Read>(
  field: Field,
  type: string,
  byDefault: Default,
  meaning: string,
  read: Reads,
): Setting<Field, Default, Reads> => ({ field, type, default: byDefault, meaning, read })
const secret = <Field extends string, Reads extends Read>(
  field: Field,
  type: string,
  meaning: string,
  read: Reads,
): Setting<Field, undefined, Reads> => ({ ...setting(field, type, undefined, meaning, read), secret: true })

const boolean = (text: string) => {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  if (/^(false|0|no|off)$/i.test(text)) return false
  throw new Error('true or false')
}
const integer = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max) throw new Error(`a whole number from ${min} to ${max}`)
  return value
}
const listOf = (what: string, valid: (item: string) => boolean, normal: (item: string) => string = (item) => item) => {
  const read = (text: string): readonly string[] => {
    const items = text.split(',').map((item) => normal(item.trim()))
    if (items.some((item) => !valid(item))) throw new Error(`a comma-separated list of ${what}`)
    return items
  }
  return Object.assign(read, { whenUnset: [] })
}
const isCidr = (text: string) => blockOf(text) !== undefined
const isSecret = (text: string) => text.length >= 32
const httpUrl = (text: string) => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) throw new Error('an http or https URL without credentials')
  return url.origin + url.pathname.replace(/\/$/, '')
}
/** With its query: services take their keys there. */
const serviceUrl = (text: string) => {
  httpUrl(text)
  return new URL(text).href
}
/** With a user name, a password and a number of a database. */
const redisUrl = (text: string) => {
  const url = URL.parse(text)
  if (!url || !/^rediss?:$/.test(url.protocol) || !url.hostname || !/^(\/\d{0,5})?$/.test(url.pathname) || url.search || url.hash)
    throw new Error('redis://[USER:PASSWORD@]HOST[:PORT][/NUMBER], or rediss:// for TLS')
  return text
}
const databaseUrl = (text: string) => {
  if (/^file:.+/.test(text)) return text
  const url = URL.parse(text)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || !url.hostname)
    throw new Error('file:PATH or postgres://USER:PASSWORD@HOST/DATABASE')
  return text
}
const path = (text: string) => {
  if (!/^(\/[\w-]+)+$/.test(text)) throw new Error('a path such as /api/v3')
  return text
}
/** Of a payment processor's API: keys are sent there. */
const apiUrl = (text: string) => {
  const url = URL.parse(text)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname))
  if (!url || !isSafe || url.username || url.password || url.search || url.hash)
    throw new Error('an https URL without credentials and query; http on this machine only')
  return url.origin + url.pathname.replace(/\/+$/, '')
}
/** What is sent in headers: no spaces, no quotes, nothing but ASCII. */
const token = (text: string) => {
  if (!/^[\x21\x23-\x26\x28-\x7e]{1,300}$/.test(text)) throw new Error('at most 300 characters of ASCII without spaces and quotes')
  return text
}
const publicKey = (text: string) => {
  if (looksSecret(text)) throw new Error('a publishable key: this one begins like a secret one')
  return token(text)
}
const secretKey = (text: string) => {
  if (/^pk_/i.test(text)) throw new Error('a secret key: this one begins like a publishable one')
  return token(text)
}

/** As S3 takes names of buckets and regions. */
const bucketName = (text: string) => {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)) throw new Error('3 to 63 small letters, digits, dots and hyphens')
  return text
}

/** An address with or without a port; an IPv6 address with a port in brackets. */
const nameServer = (text: string) => {
  const [, bare = '', port] = /^(\[[^\]]+\]|[^[\]]+?)(?::(\d{1,5}))?$/.exec(isIP(text) === 6 ? `[${text}]` : text) ?? []
  const address = bare.replace(/^\[|\]$/g, '')
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535)
  if (isIP(address) === 0 || !isPort || (isIP(address) === 6) !== bare.startsWith('['))
    throw new Error('an IP address, with or without a port, as 9.9.9.9:53')
  return port === undefined ? address : `${bare}:${port}`
}

const minutes = 60
const days = 24 * 60 * minutes

/** All settings. `souk help settings` and the README's table are made of this. */
export const settings = {
  HOST: setting('host', 'address', '127.0.0.1', 'Address to listen on', (text) => {
    if (isIP(text) === 0 && !/^[a-z0-9.-]+$/i.test(text)) throw new Error('an IP address or a host name')
    return text
  }),
  PORT: setting('port', 'integer', '3000', 'Port to listen on; 0 takes any free one', integer(0, 65535)),
  DATA_DIR: setting('dataDir', 'path', './data', 'Directory of the database file, the keys and the backups', (text) => resolve(text)),
  DATABASE_URL: setting('databaseUrl', 'URL', undefined, '`file:PATH` (default: souk.db in DATA_DIR) or `postgres://…`', databaseUrl),
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
  API_V3_PREFIX: setting('apiV3Prefix', 'path', '/api/v3', 'Second home of login, public reads, lending and trust fabric', path),
  SIGNUP_ENABLED: setting('signupEnabled', 'boolean', 'false', 'Whether anybody may open a shop by POST /merchant/signup', boolean),
  LENDING_PLATFORM_ENABLED: setting('lendingPlatformEnabled', 'boolean', 'false', 'Whether the lending routes exist', boolean),
  LENDING_REPAYMENTS_FROM_ATTESTATIONS: setting(
    'lendingRepaymentsFromAttestations',
    'boolean',
    'false',
    'Whether what lenders attest of loans (schema C) is recorded as repayments of merchants',
    boolean,
  ),
  OPERATOR_IP_ALLOWLIST: setting(
    'operatorIpAllowlist',
    'list',
    '127.0.0.0/8,::1',
    'Addresses (CIDR) from which operators may call. Checked, and without effect as yet',
    listOf('IP addresses or CIDR blocks', isCidr),
  ),
  OPERATOR_COUNTRIES: setting(
    'operatorCountries',
    'list',
    undefined,
    'Countries from which operators may call; unset: any. Checked, and without effect as yet',
    listOf(
      'two-letter country codes',
      (item) => /^[A-Z]{2}$/.test(item),
      (item) => item.toUpperCase(),
    ),
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
  STRIPE_PUBLISHABLE_KEY: setting('stripePublishableKey', 'text', undefined, "Stripe's key for payment pages (`pk_…`)", publicKey),
  STRIPE_SECRET_KEY: secret('stripeSecretKey', 'text', "Stripe's secret key (`sk_…`, `rk_…`); of the same mode", secretKey),
  STRIPE_WEBHOOK_SECRET: secret('stripeWebhookSecret', 'text', "What Stripe's messages are signed with (`whsec_…`)", token),
  STRIPE_API_URL: setting('stripeApiUrl', 'URL', 'https://api.stripe.com', "Where Stripe's API is", apiUrl),
  TAP_PUBLISHABLE_KEY: setting('tapPublishableKey', 'text', undefined, "Tap's key for payment pages (`pk_…`)", publicKey),
  TAP_SECRET_KEY: secret('tapSecretKey', 'text', "Tap's secret key, which also signs its messages; of the same mode", secretKey),
  TAP_MERCHANT_ID: setting('tapMerchantId', 'text', undefined, "Tap's name of the merchant, which Google Pay asks for", publicKey),
  TAP_API_URL: setting('tapApiUrl', 'URL', 'https://api.tap.company/v2', "Where Tap's API is", apiUrl),
  QPAY_USERNAME: setting('qpayUsername', 'text', undefined, 'User name at QPay (Mongolia)', token),
  QPAY_PASSWORD: secret('qpayPassword', 'text', 'Password at QPay', token),
  QPAY_INVOICE_CODE: setting('qpayInvoiceCode', 'text', undefined, "QPay's code of the invoices, which payment pages are told", publicKey),
  QPAY_API_URL: setting('qpayApiUrl', 'URL', 'https://merchant.qpay.mn/v2', "Where QPay's API is; its sandbox is of mode TEST", apiUrl),
  CHECKOUT_PUBLISHABLE_KEY: setting('checkoutPublishableKey', 'text', undefined, "Checkout.com's public key (`pk_…`)", publicKey),
  CHECKOUT_SECRET_KEY: secret('checkoutSecretKey', 'text', "Checkout.com's secret key (`sk_…`); of the same mode", secretKey),
  CHECKOUT_WEBHOOK_SECRET: secret('checkoutWebhookSecret', 'text', "What Checkout.com's messages are signed with", token),
  CHECKOUT_CHANNEL_ID: setting('checkoutChannelId', 'text', undefined, "Checkout.com's processing channel (`pc_…`)", publicKey),
  CHECKOUT_API_URL: setting(
    'checkoutApiUrl',
    'URL',
    undefined,
    "Where Checkout.com's API is, with the account's own prefix; unset: its common host, or its sandbox under keys that say so",
    apiUrl,
  ),
  PAYPAL_CLIENT_ID: setting('paypalClientId', 'text', undefined, 'Client id of the PayPal app, which payment pages are told', publicKey),
  PAYPAL_SECRET: secret('paypalSecret', 'text', 'Secret of the PayPal app', token),
  PAYPAL_WEBHOOK_ID: setting('paypalWebhookId', 'text', undefined, "PayPal's id of the webhook whose messages come here", token),
  PAYPAL_API_URL: setting('paypalApiUrl', 'URL', 'https://api-m.paypal.com', "Where PayPal's API is; its sandbox is of mode TEST", apiUrl),
  BTCPAY_STORE_ID: setting('btcpayStoreId', 'text', undefined, 'Store at the BTCPay server', token),
  BTCPAY_API_KEY: secret('btcpayApiKey', 'text', 'Key to the BTCPay server', token),
  BTCPAY_WEBHOOK_SECRET: secret('btcpayWebhookSecret', 'text', "What the BTCPay server's messages are signed with", token),
  BTCPAY_API_URL: setting('btcpayApiUrl', 'URL', undefined, 'Where the BTCPay server is', apiUrl),
  DOCUMENTS_S3_ENDPOINT: setting(
    'documentsS3Endpoint',
    'URL',
    undefined,
    'Where the S3-compatible store is that keeps the documents of lending applications; unset: DATA_DIR does',
    apiUrl,
  ),
  DOCUMENTS_S3_BUCKET: setting('documentsS3Bucket', 'text', undefined, 'The bucket of that store, which is there already', bucketName),
  DOCUMENTS_S3_KEY_ID: setting('documentsS3KeyId', 'text', undefined, 'Id of the access key to that bucket', token),
  DOCUMENTS_S3_SECRET: secret('documentsS3Secret', 'text', 'The secret access key to that bucket', token),
  DOCUMENTS_S3_REGION: setting('documentsS3Region', 'text', 'us-east-1', 'Region of that bucket', bucketName),
  DOCUMENTS_S3_PREFIX: setting(
    'documentsS3Prefix',
    'text',
    'souk/',
    'What the names of its objects begin with: another one for each instance that shares the bucket',
    (text) => {
      if (!/^[\w-]{1,60}(?:\/[\w-]{1,60}){0,4}\/$/.test(text)) throw new Error('letters, digits, - and _, with a / at the end')
      return text
    },
  ),
  CHAINS: secret(
    'chains',
    'JSON',
    'Chains whose attestations are counted: `[{ "chainId": 8453, "rpc": ["https://…"], "contract"?, "startBlock"?, "confirmations"? }]`; contract and first block are known of the main chains. Without `confirmations` a block is read once it is finalized',
    Object.assign(readChains, { whenUnset: [] }),
  ),
  CHAIN_SIGNING_KEY: secret('chainSigningKey', 'hex', 'Private key of `souk chain register` and `attest` without `--key-file`', signingKey),
  METRICS_TOKEN: secret('metricsToken', 'text', 'Bearer token that opens /metrics to other machines; at least 16 characters', (text) => {
    if (text.length < 16) throw new Error('at least 16 characters')
    return text
  }),
  DRAIN_SECONDS: setting(
    'drainSeconds',
    'integer',
    '0',
    'When told to stop, how long requests are still served while /health/ready says 503 already; 0 to 60',
    integer(0, 60),
  ),
  DISK_FREE_MIN_MB: setting(
    'diskFreeMinBytes',
    'integer',
    '100',
    'Below this, /health/ready turns unready',
    (text) => integer(0, 1_000_000)(text) * 1024 * 1024,
  ),
  LOG_LEVEL: setting('logLevel', 'word', 'info', `One of ${logLevels.join(', ')}`, (text) => {
    const level = logLevels.find((one) => one === text)
    if (!level) throw new Error(`one of ${logLevels.join(', ')}`)
    return level
  }),
} as const

type Settings = (typeof settings)[keyof typeof settings]
/** Undefined only of one that has no default and is no list. */
type ValueOf<S extends Settings> =
  | ReturnType<S['read']>
  | (S extends { default: string } | { read: { whenUnset: unknown } } ? never : undefined)

/** The settings of an instance, read once at the start. Frozen; nothing else reads the environment. */
export type Config = Readonly<{ [S in Settings as S['field']]: ValueOf<S> } & { databaseUrl: string }>

/**
 * Reads the settings out of an environment. Unknown variables are left alone; an empty one counts as unset.
 * @throws ConfigError naming every bad setting at once
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = []
  const read = (name: string, { default: byDefault, read: parse }: Setting<string, string | undefined, Read>) => {
    const text = env[name]?.trim() || byDefault
    if (text === undefined) return parse.whenUnset
    try {
      return parse(text)
    } catch (error) {
      problems.push(`${name} must be ${error instanceof Error ? error.message : 'valid'}`)
    }
  }
  const config = Object.fromEntries(Object.entries(settings).map(([name, one]) => [one.field, read(name, one)])) as Config
  if (config.databaseUrl && !config.databaseUrl.startsWith('file:')) problems.push(...missingSecrets(env))
  problems.push(...mixedModes(config), ...halfStore(env))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze({ ...config, databaseUrl: config.databaseUrl ?? `file:${join(config.dataDir, 'souk.db')}` })
}

/** With the embedded database the secrets are made on first start; processes that share a server must be given the same. */
function missingSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return ['JWT_SECRET', 'ENCRYPTION_KEY', 'INTEGRATION_API_KEY']
    .filter((name) => !env[name]?.trim())
    .map((name) => `${name} must be set when DATABASE_URL names a Postgres server`)
}

/** Test money and real money never meet in one account: what its two keys say of themselves must agree. */
function mixedModes(config: Config): string[] {
  const pairs = [
    ['STRIPE', config.stripePublishableKey, config.stripeSecretKey],
    ['TAP', config.tapPublishableKey, config.tapSecretKey],
    ['CHECKOUT', config.checkoutPublishableKey, config.checkoutSecretKey],
  ] as const
  return pairs
    .filter(([, open, hidden]) => open && hidden && modeOfKey(open) !== modeOfKey(hidden))
    .map(([name]) => `${name}_SECRET_KEY must be of the same mode, test or live, as ${name}_PUBLISHABLE_KEY`)
}

/** A store of documents that is named in part would leave them in the data directory without a word. */
function halfStore(env: Readonly<Record<string, string | undefined>>): string[] {
  const names = ['DOCUMENTS_S3_ENDPOINT', 'DOCUMENTS_S3_BUCKET', 'DOCUMENTS_S3_KEY_ID', 'DOCUMENTS_S3_SECRET']
  const missing = names.filter((name) => !env[name]?.trim())
  return missing.length === names.length ? [] : missing.map((name) => `${name} must be set when another of ${names.join(', ')} is`)
}
