import { describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { type Config, ConfigError, parseConfig, settings } from '../../src/config.ts'

type Case = {
  field: keyof Config
  byDefault: unknown
  good: [text: string, value: unknown][]
  bad: string[]
  /** Other settings that must be set with this one. */
  requires?: Record<string, string>
}

const long = (character: string) => character.repeat(32)

const bucket = {
  DOCUMENTS_S3_ENDPOINT: 'https://s3.example',
  DOCUMENTS_S3_BUCKET: 'bucket',
  DOCUMENTS_S3_KEY_ID: 'key',
  DOCUMENTS_S3_SECRET: 'secret',
}
/** The settings of an image bucket. */
const mediaBucket = Object.fromEntries(Object.entries(bucket).map(([name, value]) => [name.replace('DOCUMENTS', 'MEDIA'), value]))
/** The settings that each provider of the operations pages requires. */
const ecs = { OPERATIONS_SERVICES: 'ecs', ECS_REGION: 'eu-central-1', ECS_KEY_ID: 'AKIA1', ECS_SECRET: 'a/b+c' }
const glitchtip = {
  OPERATIONS_ERRORS: 'glitchtip',
  GLITCHTIP_API_URL: 'https://errors.example',
  ERRORS_ORGANIZATION: 'shop',
  ERRORS_TOKEN: 'token',
}
const github = { OPERATIONS_DEPLOYS: 'github', GITHUB_TOKEN: 'token', GITHUB_REPOSITORIES: 'shop/souk' }
/** The settings of a backup bucket, which include a passphrase. */
const backupBucket = {
  ...Object.fromEntries(Object.entries(bucket).map(([name, value]) => [name.replace('DOCUMENTS', 'BACKUP'), value])),
  BACKUP_PASSPHRASE: 'a passphrase of words',
}
const valueWithSpaces = 'with spaces in it'
/** Creates the case of a setting whose value is used unchanged. */
const verbatim = (field: keyof Config, good: string, ...bad: string[]): Case => ({
  field,
  byDefault: undefined,
  good: [[good, good]],
  bad: [valueWithSpaces, '"quoted-value"', 'x'.repeat(301), ...bad],
})
const secretKeys = ['sk_test_0123456789', 'RK_live_0123456789']
const apiUrl = (field: keyof Config, byDefault: string | undefined): Case => ({
  field,
  byDefault,
  good: [
    ['https://sandbox.example/v2/', 'https://sandbox.example/v2'],
    ['http://127.0.0.1:4711', 'http://127.0.0.1:4711'],
    ['http://[::1]:4711/x', 'http://[::1]:4711/x'],
    ['http://localhost:4711', 'http://localhost:4711'],
  ],
  bad: [
    'api.example',
    'http://api.example.com',
    'http://10.0.0.1:8080/',
    'http://localhost.example',
    'https://user:pass@api.example',
    'https://api.example/?key=x',
    'https://api.example/#fragment',
  ],
})

/** The case of every setting: its default, accepted values and values that stop the start. */
const cases: Partial<Record<keyof typeof settings, Case>> = {
  HOST: {
    field: 'host',
    byDefault: '127.0.0.1',
    good: [
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['shop.example', 'shop.example'],
    ],
    bad: ['a b', 'http://x', 'x:80'],
  },
  PORT: {
    field: 'port',
    byDefault: 3000,
    good: [
      ['0', 0],
      ['65535', 65535],
    ],
    bad: ['65536', '-1', '80.5', '1e3', '0x50', 'http'],
  },
  REDIS_URL: {
    field: 'redisUrl',
    byDefault: undefined,
    good: [
      ['redis://127.0.0.1', 'redis://127.0.0.1'],
      ['rediss://souk:p%40ss@redis.example:6380/2', 'rediss://souk:p%40ss@redis.example:6380/2'],
    ],
    bad: ['127.0.0.1:6379', 'http://redis.example', 'redis://', 'redis://redis.example/two', 'redis://redis.example/0?x=1'],
  },
  DNS_SERVER: {
    field: 'dnsServer',
    byDefault: undefined,
    good: [
      ['9.9.9.9', '9.9.9.9'],
      ['127.0.0.1:5353', '127.0.0.1:5353'],
      ['2620:fe::fe', '2620:fe::fe'],
      ['[2620:fe::fe]', '2620:fe::fe'],
      ['[::1]:5353', '[::1]:5353'],
    ],
    bad: ['dns.example', '9.9.9', '9.9.9.9:0', '9.9.9.9:65536', '[9.9.9.9]:53', '9.9.9.9:', '[::1]53', 'https://9.9.9.9'],
  },
  DATA_DIR: { field: 'dataDir', byDefault: resolve('./data'), good: [['/srv/souk', '/srv/souk']], bad: [] },
  DATABASE_URL: {
    field: 'databaseUrl',
    byDefault: `file:${resolve('./data')}/souk.db`,
    good: [['file:./x.db', 'file:./x.db']],
    bad: ['mysql://host/db', 'souk.db', 'file:', 'postgres:', 'postgres://', 'postgres://one,/shop', 'postgres://one:x,two/shop'],
  },
  PUBLIC_URL: {
    field: 'publicUrl',
    byDefault: undefined,
    good: [
      ['https://shop.example/', 'https://shop.example'],
      ['http://a.example/souk/', 'http://a.example/souk'],
    ],
    bad: ['shop.example', 'ftp://shop.example', 'https://user:pass@shop.example'],
  },
  ALLOWED_HOSTS: {
    field: 'allowedHosts',
    byDefault: [],
    good: [
      ['Shop.example, api.example', ['shop.example', 'api.example']],
      ['shop_api', ['shop_api']],
    ],
    bad: ['shop.example,', 'a b', 'https://shop.example'],
  },
  TRUSTED_PROXIES: {
    field: 'trustedProxies',
    byDefault: [],
    good: [['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']]],
    bad: ['10.0.0.0/33', '010.0.0.1', 'proxy', '10.0.0.1/', '::1/129', '10.0.0.0/8/8'],
  },
  OUTGOING_ALLOWED_NETWORKS: {
    field: 'outgoingAllowedNetworks',
    byDefault: [],
    good: [['127.0.0.0/8, fd00::/8', ['127.0.0.0/8', 'fd00::/8']]],
    bad: ['127.0.0.0/33', 'localhost', '0177.0.0.1'],
  },
  SMTP_URL: {
    field: 'smtpUrl',
    byDefault: undefined,
    requires: { MAIL_FROM: 'shop@souk.example' },
    good: [
      ['smtp://mail.example', 'smtp://mail.example'],
      ['smtps://me%40souk:p%40ss@mail.example:465', 'smtps://me%40souk:p%40ss@mail.example:465'],
      ['smtp://relay.internal:25?tls=off', 'smtp://relay.internal:25?tls=off'],
    ],
    bad: [
      'mail.example',
      'https://mail.example',
      'smtp://',
      'smtp://mail.example/path',
      'smtp://mail.example?tls=no',
      'smtp://mail.example?starttls=off',
      'smtps://mail.example?tls=off',
      'smtp://me:secret@mail.example?tls=off',
      'smtps://me:100%secret@mail.example',
    ],
  },
  MAIL_FROM: {
    field: 'mailFrom',
    byDefault: undefined,
    good: [
      ['shop@souk.example', 'shop@souk.example'],
      ['The Souk <shop@souk.example>', 'The Souk <shop@souk.example>'],
    ],
    bad: ['souk', 'shop@', 'The Souk <shop>', 'a@b.example\nBcc: c@d.example', 'A\u202eB <a@b.example>', 'a@b.example, c@d.example'],
  },
  MAIL_TEST_SHOPS: {
    field: 'mailTestShops',
    byDefault: false,
    good: [
      ['true', true],
      ['0', false],
    ],
    bad: ['maybe', '2'],
  },
  MAIL_PER_SHOP_HOUR: { field: 'mailPerShopHour', byDefault: 2000, good: [['1', 1]], bad: ['0', 'many', '10000001'] },
  MAIL_PER_SHOP_DAY: { field: 'mailPerShopDay', byDefault: 20000, good: [['1', 1]], bad: ['0', 'many', '10000001'] },
  MAIL_PER_RECIPIENT_HOUR: { field: 'mailPerRecipientHour', byDefault: 20, good: [['1', 1]], bad: ['0', 'many', '10000001'] },
  MAIL_PER_RECIPIENT_DAY: { field: 'mailPerRecipientDay', byDefault: 60, good: [['1', 1]], bad: ['0', 'many', '10000001'] },
  MAIL_PER_ADDRESS_HOUR: { field: 'mailPerAddressHour', byDefault: 20, good: [['1', 1]], bad: ['0', 'many', '10000001'] },
  MAIL_PER_ADDRESS_DAY: { field: 'mailPerAddressDay', byDefault: 100, good: [['1', 1]], bad: ['0', 'many', '10000001'] },
  FX_RATES_URL: {
    field: 'fxRatesUrl',
    byDefault: undefined,
    good: [
      ['https://rates.example/latest?app_id=abc', 'https://rates.example/latest?app_id=abc'],
      ['http://10.0.0.1:8080', 'http://10.0.0.1:8080/'],
    ],
    bad: ['rates.example', 'file:///etc/passwd', 'https://user:pass@rates.example/'],
  },
  JWT_SECRET: {
    field: 'jwtSecrets',
    byDefault: [],
    good: [
      [long('a'), [long('a')]],
      [`${long('a')}, ${long('b')}`, [long('a'), long('b')]],
    ],
    bad: ['short-secret', `${long('a')},short-secret`],
  },
  ENCRYPTION_KEY: { field: 'encryptionKeys', byDefault: [], good: [[long('a'), [long('a')]]], bad: ['short-secret'] },
  INTEGRATION_API_KEY: {
    field: 'integrationApiKey',
    byDefault: undefined,
    good: [[long('k'), long('k')]],
    bad: ['short-secret', `${long('k')},${long('k')}`],
  },
  API_V3_PREFIX: {
    field: 'apiV3Prefix',
    byDefault: '/api/v3',
    good: [['/v3', '/v3']],
    bad: ['v3', '/', '/v3/', '/a b', '/:x', '/..', '/.', '/v3/..', '/v3/../x', '/v3.1', '//v3'],
  },
  SIGNUP_ENABLED: {
    field: 'signupEnabled',
    byDefault: false,
    good: [
      ['true', true],
      ['ON', true],
      ['0', false],
    ],
    bad: ['maybe', '2'],
  },
  AGENTS_ENABLED: { field: 'agentsEnabled', byDefault: false, good: [['true', true]], bad: ['maybe'] },
  AGENTS_SHOP: { field: 'agentsShop', byDefault: undefined, good: [['my-shop', 'my-shop']], bad: ['My Shop', '-shop', 'a/b'] },
  AGENTS_PROFILE_NETWORKS: {
    field: 'agentsProfileNetworks',
    byDefault: [],
    good: [['127.0.0.0/8, ::1/128', ['127.0.0.0/8', '::1/128']]],
    bad: ['127.0.0.0/33', 'localhost'],
  },
  CONSOLE_ENABLED: {
    field: 'consoleEnabled',
    byDefault: true,
    good: [
      ['no', false],
      ['1', true],
    ],
    bad: ['maybe'],
  },
  LENDING_PLATFORM_ENABLED: {
    field: 'lendingPlatformEnabled',
    byDefault: false,
    good: [
      ['yes', true],
      ['no', false],
    ],
    bad: ['maybe'],
  },
  LENDING_REPAYMENTS_FROM_ATTESTATIONS: {
    field: 'lendingRepaymentsFromAttestations',
    byDefault: false,
    good: [['true', true]],
    bad: ['maybe'],
  },
  OPERATOR_IP_ALLOWLIST: {
    field: 'operatorIpAllowlist',
    byDefault: ['127.0.0.0/8', '::1'],
    good: [['192.0.2.1', ['192.0.2.1']]],
    bad: ['everybody', '192.0.2.1/64'],
  },
  OPERATOR_COUNTRIES: { field: 'operatorCountries', byDefault: [], good: [['ae, mn', ['AE', 'MN']]], bad: ['UAE', 'A', 'AE,,MN'] },
  GEO_COUNTRY_HEADER: {
    field: 'geoCountryHeader',
    byDefault: undefined,
    good: [['CF-IPCountry', 'cf-ipcountry']],
    bad: ['cf ipcountry', 'x:', '-'],
  },
  GEO_DATABASE: { field: 'geoDatabase', byDefault: undefined, good: [['/srv/countries.mmdb', '/srv/countries.mmdb']], bad: [] },
  ACCESS_TOKEN_SECONDS: { field: 'accessTokenSeconds', byDefault: 3600, good: [['60', 60]], bad: ['59', '86401'] },
  REFRESH_TOKEN_SECONDS: { field: 'refreshTokenSeconds', byDefault: 2_592_000, good: [['60', 60]], bad: ['0', 'week'] },
  DATABASE_CONNECTIONS: { field: 'databaseConnections', byDefault: 20, good: [['40', 40]], bad: ['0', 'many'] },
  AUDIT_RETENTION_DAYS: { field: 'auditRetentionDays', byDefault: undefined, good: [['365', 365]], bad: ['0', 'a year'] },
  INGESTION_RETENTION_DAYS: { field: 'ingestionRetentionDays', byDefault: 90, good: [['1', 1]], bad: ['0', '3651', 'ever'] },
  UNPAID_ORDERS_PER_ADDRESS: { field: 'unpaidOrdersPerAddress', byDefault: 50, good: [['1', 1]], bad: ['0', 'many'] },
  UNPAID_ORDERS_PER_SHOP: { field: 'unpaidOrdersPerShop', byDefault: 5000, good: [['1', 1]], bad: ['0', 'many'] },
  KEEP_ALIVE_SECONDS: {
    field: 'keepAliveSeconds',
    byDefault: 75,
    good: [
      ['30', 30],
      ['255', 255],
    ],
    bad: ['29', '256', '-1', '75s'],
  },
  STOREFRONT_WRITES_PER_MINUTE: { field: 'storefrontWritesPerMinute', byDefault: 600, good: [['1', 1]], bad: ['0', 'many'] },
  STRIPE_PUBLISHABLE_KEY: verbatim('stripePublishableKey', 'pk_test_abc', 'hello', ...secretKeys),
  STRIPE_SECRET_KEY: verbatim('stripeSecretKey', 'rk_live_abc', 'hello-hello', 'whsec_0123456789', 'pk_test_0123456789'),
  STRIPE_WEBHOOK_SECRET: verbatim('stripeWebhookSecret', 'whsec_abc', 'sk_test_0123456789'),
  STRIPE_API_URL: apiUrl('stripeApiUrl', 'https://api.stripe.com'),
  TAP_PUBLISHABLE_KEY: verbatim('tapPublishableKey', 'pk_live_abc', 'hello', ...secretKeys),
  TAP_SECRET_KEY: verbatim('tapSecretKey', 'sk_test_abc', 'hello-hello', 'pk_test_0123456789'),
  TAP_MERCHANT_ID: verbatim('tapMerchantId', '599424', ...secretKeys),
  TAP_API_URL: apiUrl('tapApiUrl', 'https://api.tap.company/v2'),
  QPAY_USERNAME: verbatim('qpayUsername', 'SOUK'),
  QPAY_PASSWORD: verbatim('qpayPassword', 'p4ss!'),
  QPAY_INVOICE_CODE: verbatim('qpayInvoiceCode', 'SOUK_INVOICE', ...secretKeys),
  QPAY_API_URL: apiUrl('qpayApiUrl', 'https://merchant.qpay.mn/v2'),
  CHECKOUT_PUBLISHABLE_KEY: verbatim('checkoutPublishableKey', 'pk_sbox_abc', 'hello', ...secretKeys),
  CHECKOUT_SECRET_KEY: verbatim('checkoutSecretKey', 'sk_abc', 'hello-hello', 'pk_sbox_0123456789'),
  CHECKOUT_WEBHOOK_SECRET: verbatim('checkoutWebhookSecret', 'abc'),
  CHECKOUT_CHANNEL_ID: verbatim('checkoutChannelId', 'pc_abc', 'hello', ...secretKeys),
  CHECKOUT_API_URL: apiUrl('checkoutApiUrl', undefined),
  PAYPAL_CLIENT_ID: verbatim('paypalClientId', 'AbC-1', ...secretKeys),
  PAYPAL_SECRET: verbatim('paypalSecret', 'EfG'),
  PAYPAL_WEBHOOK_ID: verbatim('paypalWebhookId', '8PT'),
  PAYPAL_API_URL: apiUrl('paypalApiUrl', 'https://api-m.paypal.com'),
  BTCPAY_STORE_ID: verbatim('btcpayStoreId', 'AbC'),
  BTCPAY_API_KEY: verbatim('btcpayApiKey', 'abc'),
  BTCPAY_WEBHOOK_SECRET: verbatim('btcpayWebhookSecret', 'abc'),
  BTCPAY_API_URL: apiUrl('btcpayApiUrl', undefined),
  DOCUMENTS_S3_ENDPOINT: { ...apiUrl('documentsS3Endpoint', undefined), requires: bucket },
  DOCUMENTS_S3_BUCKET: {
    field: 'documentsS3Bucket',
    byDefault: undefined,
    good: [['my-bucket.1', 'my-bucket.1']],
    bad: ['My_Bucket', 'ab', '-a-'],
    requires: bucket,
  },
  DOCUMENTS_S3_KEY_ID: { ...verbatim('documentsS3KeyId', 'AKIA1'), requires: bucket },
  DOCUMENTS_S3_SECRET: { ...verbatim('documentsS3Secret', 'a/b+c'), requires: bucket },
  DOCUMENTS_S3_REGION: { field: 'documentsS3Region', byDefault: 'us-east-1', good: [['auto', 'auto']], bad: ['Europe', 'a b'] },
  DOCUMENTS_S3_PREFIX: {
    field: 'documentsS3Prefix',
    byDefault: 'souk/',
    good: [['a/b-1/', 'a/b-1/']],
    bad: ['souk', '/souk/', 'a//', '../up/'],
  },
  MEDIA_QUOTA_MB: {
    field: 'mediaQuotaMb',
    byDefault: 1024,
    good: [
      ['0', 0],
      ['250', 250],
    ],
    bad: ['-1', '1.5', '10000001', 'much'],
  },
  MEDIA_S3_ENDPOINT: { ...apiUrl('mediaS3Endpoint', undefined), requires: mediaBucket },
  MEDIA_S3_BUCKET: {
    field: 'mediaS3Bucket',
    byDefault: undefined,
    good: [['my-bucket.1', 'my-bucket.1']],
    bad: ['My_Bucket', 'ab', '-a-'],
    requires: mediaBucket,
  },
  MEDIA_S3_KEY_ID: { ...verbatim('mediaS3KeyId', 'AKIA1'), requires: mediaBucket },
  MEDIA_S3_SECRET: { ...verbatim('mediaS3Secret', 'a/b+c'), requires: mediaBucket },
  MEDIA_S3_REGION: { field: 'mediaS3Region', byDefault: 'us-east-1', good: [['auto', 'auto']], bad: ['Europe', 'a b'] },
  MEDIA_S3_PREFIX: {
    field: 'mediaS3Prefix',
    byDefault: 'souk-media/',
    good: [['a/b-1/', 'a/b-1/']],
    bad: ['souk', '/souk/', 'a//', '../up/'],
  },
  BACKUP_ENABLED: { field: 'backupEnabled', byDefault: true, good: [['false', false]], bad: ['nightly'] },
  BACKUP_DIR: { field: 'backupDir', byDefault: undefined, good: [['./copies', resolve('copies')]], bad: [] },
  BACKUP_S3_ENDPOINT: { ...apiUrl('backupS3Endpoint', undefined), requires: backupBucket },
  BACKUP_S3_BUCKET: {
    field: 'backupS3Bucket',
    byDefault: undefined,
    good: [['my-bucket.1', 'my-bucket.1']],
    bad: ['My_Bucket', 'ab', '-a-'],
    requires: backupBucket,
  },
  BACKUP_S3_KEY_ID: { ...verbatim('backupS3KeyId', 'AKIA1'), requires: backupBucket },
  BACKUP_S3_SECRET: { ...verbatim('backupS3Secret', 'a/b+c'), requires: backupBucket },
  BACKUP_S3_REGION: { field: 'backupS3Region', byDefault: 'us-east-1', good: [['auto', 'auto']], bad: ['Europe', 'a b'] },
  BACKUP_S3_PREFIX: {
    field: 'backupS3Prefix',
    byDefault: 'souk-backups/',
    good: [['a/b-1/', 'a/b-1/']],
    bad: ['souk', '/souk/', '../up/'],
  },
  BACKUP_PASSPHRASE: {
    field: 'backupPassphrase',
    byDefault: undefined,
    good: [['four words, or more', 'four words, or more']],
    bad: ['too short', 'x'.repeat(1_001)],
  },
  BACKUP_KEEP_DAILY: { field: 'backupKeepDaily', byDefault: 7, good: [['1', 1]], bad: ['0', '1001', 'x'] },
  BACKUP_KEEP_WEEKLY: { field: 'backupKeepWeekly', byDefault: 4, good: [['0', 0]], bad: ['-1', '1001'] },
  BACKUP_KEEP_MONTHLY: { field: 'backupKeepMonthly', byDefault: 6, good: [['0', 0]], bad: ['-1', '1001'] },
  BACKUP_LATE_HOURS: { field: 'backupLateHours', byDefault: 30, good: [['1', 1]], bad: ['0', '10001'] },
  CHAIN_SIGNING_KEY: {
    field: 'chainSigningKey',
    byDefault: undefined,
    good: [
      [`0x${'AB'.repeat(32)}`, `0x${'ab'.repeat(32)}`],
      ['1'.repeat(64), `0x${'1'.repeat(64)}`],
    ],
    bad: ['0x12', '0'.repeat(64), 'f'.repeat(64), `${'1'.repeat(64)} 2`],
  },
  CHAINS: {
    field: 'chains',
    byDefault: [],
    good: [
      [
        '[{"chainId":8453,"rpc":["https://base.example/KEY?x=1","http://127.0.0.1:8545"]}]',
        [
          {
            chainId: 8453,
            rpc: ['https://base.example/KEY?x=1', 'http://127.0.0.1:8545'],
            contract: '0x4200000000000000000000000000000000000021',
            startBlock: 3_701_279,
            confirmations: undefined,
          },
        ],
      ],
      [
        `[{"chainId":31337,"rpc":["http://127.0.0.1:1"],"contract":"0x${'aB'.repeat(20)}","confirmations":0}]`,
        [{ chainId: 31_337, rpc: ['http://127.0.0.1:1'], contract: `0x${'ab'.repeat(20)}`, startBlock: 0, confirmations: 0 }],
      ],
      // A contract other than the known one has its own start block.
      [
        `[{"chainId":1,"rpc":["http://127.0.0.1:1"],"contract":"0x${'ab'.repeat(20)}","startBlock":7}]`,
        [{ chainId: 1, rpc: ['http://127.0.0.1:1'], contract: `0x${'ab'.repeat(20)}`, startBlock: 7, confirmations: undefined }],
      ],
      ['[]', []],
    ],
    bad: [
      'https://base.example/KEY',
      '{"chainId":8453}',
      '[7]',
      '[{"chainId":"8453","rpc":["https://base.example/KEY"]}]',
      '[{"chainId":0,"rpc":["https://base.example/KEY"]}]',
      '[{"chainId":8453,"rpc":"https://base.example/KEY"}]',
      '[{"chainId":8453,"rpc":[]}]',
      '[{"chainId":8453,"rpc":["wss://base.example/KEY"]}]',
      '[{"chainId":8453,"rpc":["https://user:pass@base.example"]}]',
      '[{"chainId":8453,"rpc":["https://base.example/KEY","https://base.example/KEY"]}]',
      '[{"chainId":31337,"rpc":["http://127.0.0.1:8545"]}]',
      '[{"chainId":8453,"rpc":["https://base.example/KEY"],"contract":"0x12"}]',
      '[{"chainId":8453,"rpc":["https://base.example/KEY"],"startBlock":-1}]',
      '[{"chainId":8453,"rpc":["https://base.example/KEY"],"confirmations":1.5}]',
      '[{"chainId":8453,"rpc":["https://base.example/KEY"],"confirmation":1}]',
      '[{"chainId":8453,"rpc":["https://a.example/K"]},{"chainId":8453,"rpc":["https://b.example/K"]}]',
    ],
  },
  METRICS_TOKEN: { field: 'metricsToken', byDefault: undefined, good: [['0123456789abcdef', '0123456789abcdef']], bad: ['short-secret'] },
  OPERATIONS_SERVICES: {
    field: 'operationsServices',
    byDefault: 'self',
    good: [
      ['ecs', 'ecs'],
      ['swarm', 'swarm'],
      ['systemd', 'systemd'],
    ],
    bad: ['kubernetes', 'ECS'],
    requires: { ...ecs, SYSTEMD_UNITS: 'souk.service' },
  },
  OPERATIONS_ERRORS: {
    field: 'operationsErrors',
    byDefault: 'self',
    good: [
      ['sentry', 'sentry'],
      ['glitchtip', 'glitchtip'],
    ],
    bad: ['rollbar'],
    requires: glitchtip,
  },
  OPERATIONS_DEPLOYS: { field: 'operationsDeploys', byDefault: 'self', good: [['github', 'github']], bad: ['gitlab'], requires: github },
  OPERATIONS_DEADLINE_MS: { field: 'operationsDeadlineMs', byDefault: 5_000, good: [['100', 100]], bad: ['99', '20001', 'soon'] },
  OPERATIONS_ENVIRONMENT: {
    field: 'operationsEnvironment',
    byDefault: 'production',
    good: [['live eu', 'live eu']],
    bad: ['a\u0007b', 'a'.repeat(101)],
  },
  BUILD_REVISION: { field: 'buildRevision', byDefault: undefined, good: [['5f3a', '5f3a']], bad: [valueWithSpaces, 'a'.repeat(65)] },
  ECS_REGION: { field: 'ecsRegion', byDefault: undefined, good: [['us-gov-west-1', 'us-gov-west-1']], bad: ['here', 'eu-west-1.example'] },
  ECS_CLUSTERS: { field: 'ecsClusters', byDefault: ['default'], good: [['live, test', ['live', 'test']]], bad: ['a b', 'a,,b'] },
  ECS_KEY_ID: verbatim('ecsKeyId', 'AKIA1'),
  ECS_SECRET: verbatim('ecsSecret', 'a/b+c'),
  ECS_SESSION_TOKEN: { field: 'ecsSessionToken', byDefault: undefined, good: [['Fwo/+=', 'Fwo/+=']], bad: [valueWithSpaces] },
  ECS_API_URL: apiUrl('ecsApiUrl', undefined),
  SWARM_SOCKET: {
    field: 'swarmSocket',
    byDefault: '/var/run/docker.sock',
    good: [['/run/docker.sock', '/run/docker.sock']],
    bad: ['docker.sock', 'tcp://docker:2375'],
  },
  SYSTEMD_UNITS: {
    field: 'systemdUnits',
    byDefault: [],
    good: [['souk.service, caddy@1.service', ['souk.service', 'caddy@1.service']]],
    bad: ['-H', 'a b.service', '--property=x'],
  },
  SENTRY_API_URL: apiUrl('sentryApiUrl', 'https://sentry.io'),
  GLITCHTIP_API_URL: apiUrl('glitchtipApiUrl', undefined),
  ERRORS_ORGANIZATION: {
    field: 'errorsOrganization',
    byDefault: undefined,
    good: [['my-shop', 'my-shop']],
    bad: ['../x', 'a/b', valueWithSpaces],
  },
  ERRORS_TOKEN: verbatim('errorsToken', 'sntrys_1'),
  ERRORS_PROJECTS: { field: 'errorsProjects', byDefault: [], good: [['shop, site', ['shop', 'site']]], bad: ['a/b', 'a,,b'] },
  GITHUB_API_URL: apiUrl('githubApiUrl', 'https://api.github.com'),
  GITHUB_TOKEN: verbatim('githubToken', 'ghp_1'),
  GITHUB_REPOSITORIES: {
    field: 'githubRepositories',
    byDefault: [],
    good: [['shop/souk, shop/site', ['shop/souk', 'shop/site']]],
    bad: ['souk', 'a/b/c', 'shop/..', 'https://github.com/a/b'],
  },
  DRAIN_SECONDS: {
    field: 'drainSeconds',
    byDefault: 0,
    good: [
      ['0', 0],
      ['60', 60],
    ],
    bad: ['61', '-1', 'soon'],
  },
  JOB_SCHEDULES: {
    field: 'jobSchedules',
    byDefault: {},
    good: [
      ['forget = 0 0 3 * * * ; recheck-hosts=off;', { forget: '0 0 3 * * *', 'recheck-hosts': 'off' }],
      ['checkpoint=*/30 0-10,20 * 1-31/2 * 7', { checkpoint: '*/30 0-10,20 * 1-31/2 * 7' }],
    ],
    bad: [
      ...[
        'forget',
        'forget=',
        'forget=* * * * *',
        'forget=* * * * * * *',
        'forget=60 * * * * *',
        'forget=* * 24 * * *',
        'forget=* * * 0 * *',
      ],
      ...[
        'forget=* * * * 13 *',
        'forget=* * * * * 8',
        'forget=5-1 * * * * *',
        'forget=*/0 * * * * *',
        'forget=5/2 * * * * *',
        'forget=@daily',
      ],
      ...[
        'forget=off;forget=off',
        'nothing=off',
        'toString=off',
        'off',
        'forget=off=off',
        'forget=0 0 0 L * *',
        'forget=2030-01-01T00:00:00',
      ],
    ],
  },
  SHIP_LOG_SECONDS: {
    field: 'shipLogSeconds',
    byDefault: undefined,
    good: [['5', 5]],
    bad: ['0', '3601', 'often'],
    requires: { BACKUP_DIR: '/mnt/backups' },
  },
  SHIP_LOG_DAYS: { field: 'shipLogDays', byDefault: 7, good: [['30', 30]], bad: ['0', '3651'] },
  DISK_FREE_MIN_MB: {
    field: 'diskFreeMinBytes',
    byDefault: 104_857_600,
    good: [
      ['0', 0],
      ['1', 1_048_576],
    ],
    bad: ['-1', 'lots'],
  },
  LOG_LEVEL: { field: 'logLevel', byDefault: 'info', good: [['debug', 'debug']], bad: ['INFO', 'verbose'] },
}

const names = Object.keys(settings) as (keyof typeof settings)[]

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

describe('the settings', () => {
  test('every setting has a case in this test', () => {
    expect(Object.keys(cases).sort()).toEqual([...names].sort())
  })

  for (const name of names) {
    test(`the setting ${name} has its default and accepted values, and a refusal that names it without the value`, () => {
      const { field, byDefault, good, bad, requires } = cases[name] as Case
      expect(parseConfig({})[field]).toEqual(byDefault as never)
      expect(parseConfig({ [name]: '' })[field]).toEqual(byDefault as never)
      expect(parseConfig({ [name]: '  ' })[field]).toEqual(byDefault as never)
      for (const [text, value] of good) expect(parseConfig({ ...requires, [name]: text })[field]).toEqual(value as never)
      for (const text of bad) {
        const problems = problemsOf({ ...requires, [name]: text })
        expect([text, problems.length]).toEqual([text, 1])
        expect(problems[0]).toStartWith(`${name} must be `)
        // Short values such as "-1" may be part of a rule. Longer ones never are.
        if (text.length > 11) expect(problems[0]).not.toContain(text)
      }
      expect(settings[name].meaning.length).toBeGreaterThan(10)
    })
  }

  test('all problems of the settings are reported in one error without any value', () => {
    const env = {
      PORT: 'port-value',
      LOG_LEVEL: 'level-value',
      JWT_SECRET: 'jwt-value',
      TRUSTED_PROXIES: 'proxy-value',
      DATABASE_URL: 'url-value',
    }
    const problems = problemsOf(env)
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(
      ['DATABASE_URL', 'PORT', 'TRUSTED_PROXIES', 'JWT_SECRET', 'LOG_LEVEL'].sort(
        (a, b) => problems.findIndex((p) => p.startsWith(a)) - problems.findIndex((p) => p.startsWith(b)),
      ),
    )
    expect(problems).toHaveLength(5)
    const { message } = new ConfigError(problems)
    for (const value of Object.values(env)) expect(message).not.toContain(value)
    expect(message).toStartWith('5 invalid settings:')
  })

  test('the settings of a document bucket must be set together', () => {
    expect(parseConfig(bucket).documentsS3Bucket).toBe('bucket')
    const { DOCUMENTS_S3_BUCKET: _, DOCUMENTS_S3_SECRET: __, ...half } = bucket
    expect(problemsOf(half).map((problem) => problem.split(' ').slice(0, 4).join(' '))).toEqual([
      'DOCUMENTS_S3_BUCKET must be set',
      'DOCUMENTS_S3_SECRET must be set',
    ])
  })

  test('the settings of an image bucket must be set together, and its prefix differs from that of documents', () => {
    const { MEDIA_S3_SECRET: _, ...half } = mediaBucket
    expect(problemsOf(half).map((problem) => problem.split(' ').slice(0, 4).join(' '))).toEqual(['MEDIA_S3_SECRET must be set'])
    expect(parseConfig({ ...bucket, ...mediaBucket }).mediaS3Bucket).toBe('bucket')
    expect(problemsOf({ ...bucket, ...mediaBucket, MEDIA_S3_PREFIX: 'souk/' })).toEqual([
      'MEDIA_S3_PREFIX must differ from DOCUMENTS_S3_PREFIX in the same bucket',
    ])
  })

  test('the error names every setting that a provider of the operations pages still lacks', () => {
    const lacking = { OPERATIONS_SERVICES: 'ecs', OPERATIONS_ERRORS: 'sentry', OPERATIONS_DEPLOYS: 'github', ECS_KEY_ID: 'key' }
    expect(problemsOf(lacking)).toEqual([
      ...['ECS_REGION', 'ECS_SECRET'].map((name) => `${name} must be set when OPERATIONS_SERVICES is ecs`),
      ...['ERRORS_ORGANIZATION', 'ERRORS_TOKEN'].map((name) => `${name} must be set when OPERATIONS_ERRORS is sentry`),
      ...['GITHUB_TOKEN', 'GITHUB_REPOSITORIES'].map((name) => `${name} must be set when OPERATIONS_DEPLOYS is github`),
    ])
    expect(problemsOf({ OPERATIONS_SERVICES: 'systemd' })).toEqual(['SYSTEMD_UNITS must be set when OPERATIONS_SERVICES is systemd'])
    for (const env of [ecs, glitchtip, github, { OPERATIONS_SERVICES: 'swarm' }]) parseConfig(env)
  })

  test('shipping the log needs a backup target and SQLite', () => {
    expect(problemsOf({ SHIP_LOG_SECONDS: '5' })).toEqual([expect.stringContaining('BACKUP_DIR')])
    expect(problemsOf({ SHIP_LOG_SECONDS: '5', DATABASE_URL: 'postgres://db.example/souk' })).toContainEqual(
      expect.stringContaining('archives its own write-ahead log'),
    )
  })

  test('the settings for PostgreSQL need the three secrets, and the error shows nothing of the URL', () => {
    const url = 'postgres://souk:hunter2@db.example/souk'
    const problems = problemsOf({ DATABASE_URL: url })
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['JWT_SECRET', 'ENCRYPTION_KEY', 'INTEGRATION_API_KEY'])
    expect(problems.join()).not.toContain('hunter2')
    expect(
      parseConfig({ DATABASE_URL: url, JWT_SECRET: long('a'), ENCRYPTION_KEY: long('b'), INTEGRATION_API_KEY: long('c') }).databaseUrl,
    ).toBe(url)
  })

  test('invalid settings for PostgreSQL are reported as invalid and not also as missing', () => {
    const env = { DATABASE_URL: 'postgres://souk@db.example/souk', JWT_SECRET: 'short', ENCRYPTION_KEY: ',', INTEGRATION_API_KEY: 'short' }
    expect(problemsOf(env).map((problem) => problem.split(' ').slice(0, 3).join(' '))).toEqual([
      'JWT_SECRET must be',
      'ENCRYPTION_KEY must be',
      'INTEGRATION_API_KEY must be',
    ])
    expect(problemsOf({ ...env, JWT_SECRET: long('a'), ENCRYPTION_KEY: ' ' }).map((problem) => problem.split(' ')[0])).toEqual([
      'INTEGRATION_API_KEY',
      'ENCRYPTION_KEY',
    ])
  })

  test('settings are read from the given environment and frozen, and other variables are ignored', () => {
    const config = parseConfig({ PATH: '/bin', UNKNOWN: 'x' })
    expect(Object.isFrozen(config)).toBe(true)
    expect(config).toEqual(parseConfig({}))
  })

  test('secret settings are marked and have no default', () => {
    const secrets = names.filter((name) => settings[name].secret)
    expect<string[]>(secrets.sort()).toEqual([
      ...[
        'BACKUP_PASSPHRASE',
        'BACKUP_S3_SECRET',
        'BTCPAY_API_KEY',
        'BTCPAY_WEBHOOK_SECRET',
        'CHAINS',
        'CHAIN_SIGNING_KEY',
        'CHECKOUT_SECRET_KEY',
        'CHECKOUT_WEBHOOK_SECRET',
        'DOCUMENTS_S3_SECRET',
        'ECS_SECRET',
        'ECS_SESSION_TOKEN',
        'ENCRYPTION_KEY',
        'ERRORS_TOKEN',
      ],
      ...['FX_RATES_URL', 'GITHUB_TOKEN'],
      ...[
        'INTEGRATION_API_KEY',
        'JWT_SECRET',
        'MEDIA_S3_SECRET',
        'METRICS_TOKEN',
        'PAYPAL_SECRET',
        'QPAY_PASSWORD',
        'REDIS_URL',
        'SMTP_URL',
        'STRIPE_SECRET_KEY',
      ],
      ...['STRIPE_WEBHOOK_SECRET', 'TAP_SECRET_KEY'],
    ])
    for (const name of secrets) expect(settings[name].default).toBeUndefined()
  })

  test.each(['STRIPE', 'TAP', 'CHECKOUT'])('test and live keys of %s together are refused', (name) => {
    const keys = (open: string, hidden: string) => ({ [`${name}_PUBLISHABLE_KEY`]: open, [`${name}_SECRET_KEY`]: hidden })
    for (const [open, hidden] of [
      ['pk_test_a', 'sk_live_a'],
      ['pk_live_a', 'sk_test_a'],
      ['pk_a', 'sk_sbox_a'],
      ['pk_sbox_a', 'sk_a'],
    ] as const)
      expect(problemsOf(keys(open, hidden))).toEqual([
        `${name}_SECRET_KEY must have the same mode (test or live) as ${name}_PUBLISHABLE_KEY`,
      ])
    for (const [open, hidden] of [
      ['pk_test_a', 'sk_test_a'],
      ['pk_live_a', 'sk_live_a'],
      ['pk_a', 'sk_a'],
    ] as const)
      expect(problemsOf(keys(open, hidden))).toEqual([])
  })
})

test('incomplete settings of a backup bucket, or a missing passphrase, stop the start', () => {
  const { BACKUP_PASSPHRASE: _, ...without } = backupBucket
  expect(() => parseConfig(without)).toThrow('BACKUP_PASSPHRASE must be set when another of BACKUP_S3_ENDPOINT')
  expect(() => parseConfig({ BACKUP_S3_BUCKET: 'bucket' })).toThrow('BACKUP_S3_SECRET must be set')
  expect(parseConfig({ BACKUP_PASSPHRASE: 'a passphrase of words' }).backupPassphrase).toBe('a passphrase of words')
})
