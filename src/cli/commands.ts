/** All commands with help and flags. Each is loaded on use, so that every command starts fast. */
import type { Command, Flag } from './command.ts'

const dataDir: Flag = { value: 'DIR', meaning: 'Data directory. Overrides DATA_DIR', setting: 'DATA_DIR' }
const listening: Record<string, Flag> = {
  host: { value: 'ADDRESS', meaning: 'Address to listen on. Overrides HOST', setting: 'HOST' },
  port: { value: 'PORT', meaning: 'Port to listen on; 0 picks a free port. Overrides PORT', setting: 'PORT' },
  'data-dir': dataDir,
}

export const commands: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'Start the server (default)',
    flags: listening,
    details: `Prints its address to standard output when it is ready, and logs to standard error.

SIGTERM or Ctrl-C stops the server: it reports unready for DRAIN_SECONDS, closes its
port, finishes requests in flight and exits with status 0. A second signal ends it
immediately. Only one server can use a data directory at a time.`,
    async run({ config, env }) {
      await (await import('./serve.ts')).serveInstance(config(), env)
      return undefined
    },
  },
  setup: {
    summary: 'Create the first administrator',
    flags: {
      email: { value: 'EMAIL', meaning: 'Email to log in with (required)' },
      another: { meaning: 'Create a further administrator' },
      'data-dir': dataDir,
    },
    details: `Asks for the password (10 to 200 characters) on a terminal. Otherwise reads it from the
first line of standard input:

  souk setup --email you@example.com < password.txt

Works while the server is running.`,
    run: async (input) => (await import('./setup.ts')).setup(input),
  },
  'reset-password': {
    summary: 'Set a new password for a user',
    flags: { email: { value: 'EMAIL', meaning: 'Email of the user (required)' }, 'data-dir': dataDir },
    details: `Asks for the password (10 to 200 characters) on a terminal. Otherwise reads it from the
first line of standard input:

  souk reset-password --email you@example.com < password.txt

Ends all sessions of the user. Works while the server is running.`,
    run: async (input) => (await import('./reset-password.ts')).resetPassword(input),
  },
  totp: {
    summary: "Remove a user's two-factor authentication",
    positionals: ['remove'],
    flags: { email: { value: 'EMAIL', meaning: 'Email of the user (required)' }, 'data-dir': dataDir },
    details: `  souk totp remove --email you@example.com

The user can then log in with the password alone, and set up two-factor authentication
again. Verify the person's identity first: anyone who knows the password can log in.
Ends no session. Works while the server is running.`,
    run: async (input) => (await import('./totp.ts')).totp(input),
  },
  demo: {
    summary: 'Start a demo shop with sample data',
    flags: listening,
    details: `Creates the sample data on the first run and prints the addresses and logins. Refuses a
database with other data. Simulates all payment processors on free ports of 127.0.0.1,
and never uses your accounts.`,
    async run({ config }) {
      await (await import('./demo.ts')).demo(config())
      return undefined
    },
  },
  import: {
    summary: 'Import products or customers from Shopify or WooCommerce CSV',
    positionals: ['FILE'],
    flags: {
      shop: { value: 'NAME', meaning: 'Handle of the shop (required)' },
      'dry-run': { meaning: 'Check the file and report the changes without saving them' },
      overwrite: { meaning: 'Update existing products instead of skipping them; keeps their stock' },
      stock: { meaning: 'With --overwrite: also set stock and tracking of existing variants' },
      currency: { value: 'CODE', meaning: "Currency of the prices; must be the shop's currency (default)" },
      customers: { meaning: 'Import customers; combines with --dry-run and --overwrite only' },
      'fetch-images': { meaning: 'Then download product images from other servers into the shop' },
      'data-dir': dataDir,
    },
    details: `Reads Shopify product exports (old and new columns) and WooCommerce product exports, and
detects the format by the header. Skips and lists products with invalid rows, and then
exits with status 1. Works while the server is running. After an interruption
(Ctrl-C, status 130), run it again: nothing is created twice.

Stock: new products and variants get the stock of the file. For existing ones,
--overwrite keeps stock and tracking unless --stock is given. With --stock, an export of
yesterday undoes today's sales. Variants that are not in the file are kept.
Use --dry-run to see all changes first.

--customers reads Shopify's customer export: names, phone, marketing consent and default
address. Lists the columns that it ignores. Sends no emails and sets no passwords:
customers activate their account with a password reset.

--fetch-images downloads images of products from other servers, four at a time, removes
their metadata and stores them (see MEDIA_…). Private networks are blocked unless
OUTGOING_ALLOWED_NETWORKS lists them. Lists failed images and exits with status 1;
run it again to retry them.`,
    run: async (input) => (await import('./import.ts')).importFile(input),
  },
  export: {
    summary: 'Export orders, products, customers and other lists as CSV',
    positionals: ['LIST', '[FILE]'],
    flags: {
      shop: { value: 'NAME', meaning: 'Handle of the shop (required)' },
      from: { value: 'DAY', meaning: 'Only records created on or after this day (UTC), such as 2026-01-31' },
      to: { value: 'DAY', meaning: 'Only records created on or before this day (UTC)' },
      force: { meaning: 'Overwrite FILE if it exists' },
      'data-dir': dataDir,
    },
    details: `Uses the columns and order of the API route with text/csv. \`souk export any --shop NAME\`
shows the names of all lists. Writes to standard output without FILE or with -. FILE gets
its name when it is complete, and only its owner can read it. Works while the server is
running; records that are created meanwhile are not included.

Products are exported in Shopify's columns, oldest first; \`souk import\` can read them.

  souk export orders --shop my-shop --from 2026-01-01 --to 2026-01-31 january.csv`,
    run: async (input) => (await import('./export.ts')).exportList(input),
  },
  backup: {
    summary: 'Back up the database and documents',
    positionals: ['[FILE]'],
    flags: {
      list: { meaning: 'List the backups in the configured targets' },
      force: { meaning: 'Overwrite FILE if it exists' },
      'with-keys': { meaning: 'Also write the keys to FILE.keys, encrypted with a passphrase' },
      'data-dir': dataDir,
    },
    details: `Without FILE, backs up to the configured targets (BACKUP_DIR, BACKUP_S3_…, otherwise
DATA_DIR/backups), as the server does every night, and removes old backups by the
retention settings.

With FILE, writes a complete, verified copy; FILE gets its name at the end. Copies loan
documents, still encrypted, to FILE.files, except those of an earlier backup. The copy does
not include the keys, and its secrets can't be read without them: keep a copy of
DATA_DIR/keys.json elsewhere, or use --with-keys. Asks for the passphrase (12 characters or
more) on a terminal; otherwise reads it from the first line of standard input.

Works while the server is running. For the embedded database only; on PostgreSQL use
pg_dump.`,
    run: async (input) => (await import('./backup.ts')).backup(input),
  },
  restore: {
    summary: 'Restore a backup or a point in time',
    positionals: ['[FILE|NAME|latest]'],
    flags: {
      to: {
        value: 'TIME',
        meaning: 'Point in time, such as 2026-01-31T12:00:00Z, or latest; needs log shipping (SHIP_LOG_SECONDS)',
      },
      'until-damage': { meaning: 'With --to: restore up to the first damaged part of the log' },
      instance: { value: 'ID', meaning: 'With --to: the instance, if several share a target' },
      force: { meaning: 'Replace the current database; keeps a copy in DATA_DIR/backups' },
      keys: { value: 'FILE.keys', meaning: 'Also restore the keys of `souk backup --with-keys`' },
      check: { meaning: 'Then run `souk check`' },
      'data-dir': dataDir,
    },
    details: `Restores a FILE, a NAME from \`souk backup --list\`, or the latest backup. Stop the server
first.

A NAME is read from the configured targets and verified: length, hash and rows. Missing
keys are restored from an encrypted backup. FILE is verified first and never changed.
Documents in FILE.files are restored, too. Asks for the passphrase of --keys on a
terminal; otherwise reads it from the first line of standard input.

With --to, restores everything that was committed up to the last shipment before that
time, up to SHIP_LOG_SECONDS earlier, and prints the exact time.`,
    run: async (input) => (await import('./restore.ts')).restore(input),
  },
  move: {
    summary: 'Move the instance to PostgreSQL',
    flags: {
      to: { value: 'URL', meaning: 'postgres://USER:PASSWORD@HOST/DATABASE, an empty database' },
      'env-file': { value: 'FILE', meaning: 'Write DATABASE_URL and the keys for new processes to a private file' },
      'data-dir': dataDir,
    },
    details: `Stop the server first. Checks that PostgreSQL accepts all data before it copies anything.
Copies every table in batches, then compares counts, sums and each row. After an
interruption, run it again to resume. souk refuses to serve the new database until the
copy is complete. The source instance is not changed.

Loan documents are copied to the bucket (DOCUMENTS_S3_…). Without a bucket they stay in
DATA_DIR/documents, where only processes on this machine can read them. --env-file alone
writes the keys and moves nothing. Other users of this machine may see the value of --to:
leave the password out, and set PGPASSWORD.`,
    run: async (input) => (await import('./move.ts')).move(input),
  },
  check: {
    summary: 'Check data integrity: database, keys, secrets, documents',
    flags: { 'data-dir': dataDir },
    details: 'Changes nothing. Works while the server is running. Exits with status 1 and lists the\nproblems if there are any.',
    run: async (input) => (await import('./check.ts')).check(input),
  },
  processors: {
    summary: 'Test the configured payment processor accounts',
    flags: { 'data-dir': dataDir },
    details: `Tests the accounts of the settings and of all shops, in test and live mode. Calls each
processor once, for up to 15 seconds; makes no payments, changes nothing and shows no
secrets. Exits with status 1 and lists the problems if an account fails. Works while the
server is running.`,
    run: async (input) => (await import('./processors.ts')).processors(input),
  },
  health: {
    summary: 'Check whether the server is ready',
    flags: {
      url: { value: 'URL', meaning: 'Address of the server. Overrides HOST and PORT' },
      json: { meaning: 'Print JSON' },
    },
    details: `Exits with status 0 if the server is ready; otherwise with status 1, and lists the
problems. Waits up to five seconds, and doesn't open the database. For Docker's
HEALTHCHECK and scripts.`,
    run: async (input) => (await import('./health.ts')).health(input),
  },
  order: {
    summary: "Show an order's history and next steps",
    positionals: ['show', 'ID|NUMBER'],
    flags: {
      shop: { value: 'NAME', meaning: 'Handle of the shop; required with a number' },
      json: { meaning: 'Print JSON' },
      'data-dir': dataDir,
    },
    details: `Shows payments, refunds, disputes, messages and events without personal data. Changes
nothing and needs no keys. Works while the server is running.

  souk order show order_01hgw2bbg0e5fvp2r5xn4k6m8t
  souk order show 1042 --shop a-shop`,
    run: async (input) => (await import('./order.ts')).order(input),
  },
  orders: {
    summary: 'List stuck orders with causes and next steps',
    positionals: ['stuck'],
    flags: {
      'older-than': { value: 'MINUTES', meaning: 'Minutes without a change; default 5' },
      limit: { value: 'N', meaning: 'Maximum number of orders, oldest first; default 50' },
      json: { meaning: 'Print JSON' },
      'data-dir': dataDir,
    },
    details: `Stuck orders are paid but not confirmed, have a refund in progress, wait for a processor
that doesn't answer, or should have expired. Orders that wait for the customer are not
stuck. Exits with status 1 if there are any. Changes nothing and needs no keys. Works
while the server is running.`,
    run: async (input) => (await import('./order.ts')).orders(input),
  },
  'support-bundle': {
    summary: 'Create a diagnostics file without secrets or personal data',
    positionals: ['FILE'],
    flags: { 'no-check': { meaning: 'Skip `souk check`, which is slow on large databases' }, 'data-dir': dataDir },
    details: `Writes a JSON file that only its owner can read: versions, settings without secrets, the
state of the server, sizes, migrations, jobs, processors, errors of the last day, stuck
orders and the result of \`souk check\`. A part that can't be read contains the cause
instead. Changes nothing, needs no keys and overwrites no file. Works with and without a
running server.`,
    run: async (input) => (await import('./support-bundle.ts')).supportBundle(input),
  },
  jobs: {
    summary: 'Show the status of background jobs',
    flags: { 'data-dir': dataDir },
    details: `Shows the last run, its result and the next run of each job. The last minute of a running
server may be missing. Exits with status 1 if a job is stuck or its last run failed.
Changes nothing and needs no keys.`,
    run: async (input) => (await import('./jobs.ts')).jobs(input),
  },
  mail: {
    summary: 'Show the email status, or send a test email',
    positionals: ['status|test'],
    flags: { to: { value: 'ADDRESS', meaning: 'With test: the recipient' }, 'data-dir': dataDir },
    details: `Exits with status 1 if the mail server doesn't accept emails or SMTP_URL is not set.
Works while the server is running.

  souk mail status
  souk mail test --to you@example.com`,
    run: async (input) => (await import('./mail.ts')).mail(input),
  },
  audit: {
    summary: 'Export the audit log',
    positionals: ['export'],
    flags: {
      from: { value: 'DAY', meaning: 'First day (UTC), such as 2026-01-31; default: the beginning' },
      to: { value: 'DAY', meaning: 'Last day, inclusive; default: today' },
      format: { value: 'FORMAT', meaning: 'jsonl (one JSON object per line, default) or csv' },
      'data-dir': dataDir,
    },
    details: `Writes to standard output, oldest first. Works while the server is running.

  souk audit export --from 2026-01-01 --to 2026-01-31 --format csv > january.csv`,
    run: async (input) => (await import('./audit.ts')).audit(input),
  },
  lending: {
    summary: 'Print, replay or backtest credit rules',
    positionals: ['rules|replay|backtest', '[RULES.json]'],
    flags: { all: { meaning: 'With backtest: also list unchanged decisions' }, 'data-dir': dataDir },
    details: `Changes nothing. Works while the server is running.

  souk lending rules > rules.json    prints the current credit rules
  souk lending replay                recalculates each decision that has figures with the
                                     rules of its time, and lists every difference;
                                     exits with status 1 if there is one
  souk lending backtest rules.json   compares past decisions with the rules of a file, case
                                     by case and in total. Rejects a file with unknown
                                     fields, or whose rules lower the limit for more
                                     revenue or raise it for more risk`,
    run: async (input) => (await import('./lending.ts')).lending(input),
  },
  chain: {
    summary: 'Read, verify and write attestations on blockchains',
    positionals: ['status|sync|resync|registry|verify|register|attest', '[FILE.json]'],
    flags: {
      chain: { value: 'ID', meaning: 'Chain id, such as 8453' },
      rpc: {
        value: 'URL',
        meaning: 'Node URL; separate several by commas. Overrides CHAINS. Visible to other users of this machine',
      },
      contract: { value: 'ADDRESS', meaning: 'Address of the Ethereum Attestation Service, if the chain is not built in' },
      from: { value: 'BLOCK', meaning: 'With resync and verify: first block' },
      to: { value: 'BLOCK', meaning: 'With verify: last block; default: the newest finalized block' },
      registry: { value: 'FILE', meaning: 'With verify: the output of `souk chain registry`' },
      against: { value: 'URL', meaning: 'With verify: URL of the souk server to compare with' },
      schema: { value: 'NAME', meaning: 'With attest: A, B, C or D' },
      'key-file': {
        value: 'FILE',
        meaning: 'With register and attest: private key file, readable by its owner only. Overrides CHAIN_SIGNING_KEY',
      },
      yes: { meaning: 'With register and attest: send without confirmation' },
      'dry-run': { meaning: 'With register and attest: send nothing' },
      'data-dir': dataDir,
    },
    details: `  souk chain status               shows how far each chain of CHAINS is read; exits with
                                  status 1 if one is halted
  souk chain sync                 reads new blocks now
  souk chain resync --chain ID    reads a chain again, from the last agreed block or --from
                                  BLOCK; ends a halt
  souk chain registry > FILE      prints the grants that count, with the hash that
                                  /v2/trust-fabric/proof shows

These work while the server is running. The following commands don't open a database:

  souk chain verify --registry FILE --rpc URL [--against https://shop.example]
                                  counts again from the file and the chain; exits with
                                  status 1 if the server's figures differ
  souk chain register --chain ID  registers the missing schemas and prints their UIDs
  souk chain attest FILE.json --schema C --chain ID --key-file FILE
                                  creates an attestation from a JSON object with all fields
                                  of the schema, and a recipient if it is about an address.
                                  Use ids or hashes for merchants, lenders and loans

Transactions are simulated and priced first. On a terminal, souk asks before it sends one;
otherwise it sends only with --yes.`,
    run: async (input) => (await import('./chain.ts')).chain(input),
  },
  'rotate-keys': {
    summary: 'Re-encrypt all secrets with a new key',
    flags: { 'data-dir': dataDir },
    details: `Adds a new first key to DATA_DIR/keys.json (and a new key for access tokens), re-encrypts
all secrets with it and retires the old key. Works while the server is running; the server
uses the new key automatically. After an interruption, run it again to resume. Old keys
stay in the file, because old backups need them: copy the file again.

If the keys are in the settings: set ENCRYPTION_KEY=new,old, restart all servers, and run
this command with the same setting. When \`souk check\` finds no problem with
ENCRYPTION_KEY=new, the servers no longer need the old key.`,
    run: async (input) => (await import('./rotate-keys.ts')).rotateKeys(input),
  },
  openapi: {
    summary: 'Print the OpenAPI document',
    details: 'Needs no database and no data directory.',
    run: async () => (await import('./openapi.ts')).openapi(),
  },
  help: {
    summary: 'Show help for a command, or all settings (`souk help settings`)',
    positionals: ['[COMMAND]', '[ADDRESS]'],
    flags: { country: { value: 'XX', meaning: "With guard: the country in the proxy's header" } },
    details: `\`souk help guard ADDRESS\` checks whether the settings let an administrator in from an
address. Exits with status 0 if they do, and with status 1 and the cause if they don't.`,
    async run({ positionals: [topic, address], values, config }) {
      if (topic === 'guard') return (await import('./help-guard.ts')).helpGuard(config(), { address, country: values.get('country') })
      return (await import('./help.ts')).help(topic, commands, address !== undefined || values.size > 0)
    },
  },
  version: {
    summary: 'Print the version',
    async run() {
      process.stdout.write(`souk ${(await import('../version.ts')).version}\n`)
      return 0
    },
  },
}
