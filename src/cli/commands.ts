/** All commands with help and flags. Each is loaded on use, so that every command starts fast. */
import type { Command, Flag } from './command.ts'

const dataDir: Flag = { value: 'DIR', meaning: 'Directory of the data, instead of DATA_DIR', setting: 'DATA_DIR' }
const listening: Record<string, Flag> = {
  host: { value: 'ADDRESS', meaning: 'Address to listen on, instead of HOST', setting: 'HOST' },
  port: { value: 'PORT', meaning: 'Port to listen on, instead of PORT; 0 takes any free one', setting: 'PORT' },
  'data-dir': dataDir,
}

export const commands: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'Serve the shop: HTTP API and jobs (what `souk` alone does)',
    flags: listening,
    details: `Prints its address on standard output when it is ready and logs to standard error. SIGTERM and Ctrl-C stop it:
it is unready for DRAIN_SECONDS, takes no new connections, finishes what is in flight and exits 0; a second one ends it at once. Only one serves a data directory at a time.`,
    async run({ config, env }) {
      await (await import('./serve.ts')).serve(config(), { env })
      return undefined
    },
  },
  setup: {
    summary: 'Make the first super admin',
    flags: {
      email: { value: 'EMAIL', meaning: 'The e-mail address to log in with (required)' },
      another: { meaning: 'Make one though there is a super admin already' },
      'data-dir': dataDir,
    },
    details: `The password (10 to 200 characters) is asked for on a terminal, or else is the first line of standard input:

  souk setup --email you@example.com < password.txt

Works beside a running server.`,
    run: async (input) => (await import('./setup.ts')).setup(input),
  },
  'reset-password': {
    summary: 'Give a merchant or a super admin a new password',
    flags: { email: { value: 'EMAIL', meaning: 'The e-mail address that they log in with (required)' }, 'data-dir': dataDir },
    details: `The password (10 to 200 characters) is asked for on a terminal, or else is the first line of standard input:

  souk reset-password --email you@example.com < password.txt

Ends all their sessions. Works beside a running server.`,
    run: async (input) => (await import('./reset-password.ts')).resetPassword(input),
  },
  totp: {
    summary: 'Let in again a merchant or a super admin who has lost their second factor',
    positionals: ['remove'],
    flags: { email: { value: 'EMAIL', meaning: 'The e-mail address that they log in with (required)' }, 'data-dir': dataDir },
    details: `  souk totp remove --email you@example.com

They log in with the password alone then, and may set up another. Be sure that it is they who ask: whoever knows the password is let
in by this. Ends no session. Works beside a running server.`,
    run: async (input) => (await import('./totp.ts')).totp(input),
  },
  demo: {
    summary: 'Fill a demo shop and serve it; run again, it serves',
    flags: listening,
    details: `Refuses a database that holds anything else. Prints what to open and which credentials to use. It plays the payment
processors itself, on free ports of 127.0.0.1, and uses no account of yours.`,
    async run({ config }) {
      await (await import('./demo.ts')).demo(config())
      return undefined
    },
  },
  import: {
    summary: 'Import the products of a Shopify or WooCommerce CSV, or the customers of a Shopify CSV, into a shop',
    positionals: ['FILE'],
    flags: {
      shop: { value: 'NAME', meaning: 'The shop, by its handle (required)' },
      'dry-run': { meaning: 'Check the file and say what would be done; store nothing' },
      overwrite: { meaning: 'Change products whose handle is known; otherwise they are skipped. Leaves their stock alone' },
      stock: { meaning: "With --overwrite: also set counts and tracking of known variants to the file's" },
      currency: { value: 'CODE', meaning: "Currency of the file's prices: the shop's, which is the default" },
      customers: { meaning: 'The file holds customers, known by their e-mail address; goes with --dry-run and --overwrite alone' },
      'fetch-images': { meaning: "Then take the pictures that the shop's products show from other servers into the shop's own" },
      'data-dir': dataDir,
    },
    details: `Takes both dialects of Shopify's product export, and WooCommerce's, told apart by the header. A product with a bad row is left out and named, the others are
stored, and the exit status is 1. Works beside a running server. Stopped half-way (Ctrl-C: exit status 130), run it
again: nothing is made twice.

Stock: new products and variants come with the counts of the file. Of known ones, --overwrite changes neither how many
there are nor whether they are counted, unless --stock is given: then a file that was exported yesterday takes back what
was sold since. Variants that the file does not name always stay. --dry-run says what would become of all of these.

With --customers, Shopify's export of customers: names, phone, consent and the default address are taken, and what is not is
told. Nobody gets a mail or a password: they claim their account by a mail that they ask for.

With --fetch-images, pictures that products of the shop show from other servers are fetched, four at once, cleared of metadata and kept
(see MEDIA_…). Addresses in private networks are not called but for OUTGOING_ALLOWED_NETWORKS. Where one cannot be had the product keeps
its address, it is named, and the exit status is 1; run again, it goes on with those.`,
    run: async (input) => (await import('./import.ts')).importFile(input),
  },
  export: {
    summary: 'Export a list of a shop as CSV: orders, products, customers and others',
    positionals: ['LIST', '[FILE]'],
    flags: {
      shop: { value: 'NAME', meaning: 'The shop, by its handle (required)' },
      from: { value: 'DAY', meaning: 'Only records made on this day or later, as 2026-01-31, UTC' },
      to: { value: 'DAY', meaning: 'Only records made on this day or earlier' },
      force: { meaning: 'Replace FILE when it exists' },
      'data-dir': dataDir,
    },
    details: `The columns and the order are those of the route's answer as text/csv; \`souk export any --shop NAME\` says which lists there are.
Without FILE, or with -, on standard output. A FILE gets its name once it is whole, and is for its owner alone. Read a piece at a time, beside
a running server: what is made after it began is not in it, and each record is as it was when it was read.

Products come in the columns of Shopify, oldest first, and \`souk import\` reads them back.

  souk export orders --shop my-shop --from 2026-01-01 --to 2026-01-31 january.csv`,
    run: async (input) => (await import('./export.ts')).exportList(input),
  },
  backup: {
    summary: 'Back up the database and its documents, beside a running server',
    positionals: ['[FILE]'],
    flags: {
      list: { meaning: 'Show the backups that there are where the settings put them' },
      force: { meaning: 'Replace FILE when it exists' },
      'with-keys': { meaning: 'Also write FILE.keys: the keys, sealed under a passphrase' },
      'data-dir': dataDir,
    },
    details: `Without FILE it is put where the settings say (BACKUP_DIR, BACKUP_S3_…, else DATA_DIR/backups), as a server does by itself every
night, and older ones are removed by the rule of the settings.

With FILE the copy is whole, checked and on the disk before it gets its name. Documents of lending applications are copied into
FILE.files as they are, sealed; those that are there from an earlier backup are not copied again. The keys are not in it, and without them the
secrets in it cannot be read: keep a copy of DATA_DIR/keys.json elsewhere, or use --with-keys. The passphrase (12
characters or more) is asked for on a terminal, or else is the first line of standard input. For the embedded
database only; on Postgres use pg_dump.`,
    run: async (input) => (await import('./backup.ts')).backup(input),
  },
  restore: {
    summary: 'Put a backup in place: a FILE, a NAME of `souk backup --list`, or the latest; or go back to a moment',
    positionals: ['[FILE|NAME|latest]'],
    flags: {
      to: {
        value: 'TIME',
        meaning: 'The moment to go back to, as 2026-01-31T12:00:00Z, or latest; where the log was shipped (SHIP_LOG_SECONDS)',
      },
      'until-damage': { meaning: 'With --to: as far as what was shipped is sound, where some of it is not' },
      instance: { value: 'ID', meaning: 'With --to: whose log, where several instances share a target' },
      force: { meaning: 'Replace the database that is there; it is kept in DATA_DIR/backups' },
      keys: { value: 'FILE.keys', meaning: 'Restore the keys of `souk backup --with-keys` as well' },
      check: { meaning: 'Run `souk check` on it afterwards' },
      'data-dir': dataDir,
    },
    details: `Needs the server stopped. With --to everything is restored that was committed by the last shipment before that time, which is
said: up to SHIP_LOG_SECONDS earlier. A NAME is looked for where the settings say, and held against its record: length, hash and rows. The
keys that are in a sealed one are put in place where they are missing. FILE is checked first and stays as it is. The documents in FILE.files are put where the settings
say. The passphrase of --keys is asked for on a
terminal, or else is the first line of standard input.`,
    run: async (input) => (await import('./restore.ts')).restore(input),
  },
  move: {
    summary: 'Copy the whole instance into an empty PostgreSQL database',
    flags: {
      to: { value: 'URL', meaning: 'postgres://USER:PASSWORD@HOST/DATABASE: a database without a table' },
      'env-file': { value: 'FILE', meaning: 'Write DATABASE_URL and the keys, as new processes need them, to a file for you alone' },
      'data-dir': dataDir,
    },
    details: `Needs the server stopped. What PostgreSQL would refuse is named before anything is moved. Then every table is copied in
pieces, and compared with the source: counts, sums and each row. Stopped at any time (Ctrl-C, kill, a server that goes away),
run it again: it goes on where it was. Until all is there, souk refuses to serve the new database. The instance stays as it was.

Documents of lending applications go into the bucket of the settings (DOCUMENTS_S3_…); without one they stay in
DATA_DIR/documents, where only processes on this machine find them. --env-file alone writes the keys, and moves nothing.
Others on this machine may see what --to holds: leave the password out of it, and give it in PGPASSWORD.`,
    run: async (input) => (await import('./move.ts')).move(input),
  },
  check: {
    summary: 'Look for damage: database, migrations, keys, sealed secrets, documents, listings',
    flags: { 'data-dir': dataDir },
    details: 'Changes nothing and works beside a running server. Exits 1 and says what is wrong when anything is.',
    run: async (input) => (await import('./check.ts')).check(input),
  },
  processors: {
    summary: 'Ask the payment processors whether they know the accounts that are configured',
    flags: { 'data-dir': dataDir },
    details: `Those of the settings and, where there is a database, those of shops, of test and of real money. Each is called once and
has 15 seconds; nothing is paid, nothing is changed, and no secret is shown. Exits 1 and says what is wrong when one does
not work. Works beside a running server.`,
    run: async (input) => (await import('./processors.ts')).processors(input),
  },
  health: {
    summary: 'Ask the server that runs whether it is ready',
    flags: {
      url: { value: 'URL', meaning: 'Where it listens, instead of HOST and PORT of the settings' },
      json: { meaning: 'Print the answer as a JSON object' },
    },
    details: `Takes five seconds at most, opens no database, and changes nothing. Exits 0 where the server is ready; else 1, and says what is
wrong. For HEALTHCHECK of Docker, and for scripts.`,
    run: async (input) => (await import('./health.ts')).health(input),
  },
  order: {
    summary: 'Print what happened to an order, what is asked of whom, and what happens next and when',
    positionals: ['show', 'ID|NUMBER'],
    flags: {
      shop: { value: 'NAME', meaning: 'With a number: the shop, by its handle' },
      json: { meaning: 'Print it as a JSON object' },
      'data-dir': dataDir,
    },
    details: `Its payments, refunds, disputes, messages and events, without anything that says who bought it. Changes nothing, needs no keys, and
works beside a running server.

  souk order show order_01hgw2bbg0e5fvp2r5xn4k6m8t
  souk order show 1042 --shop a-shop`,
    run: async (input) => (await import('./order.ts')).order(input),
  },
  orders: {
    summary: 'Print the orders that are stuck: why, and what happens next and when',
    positionals: ['stuck'],
    flags: {
      'older-than': { value: 'MINUTES', meaning: 'For so long nothing has happened to them; default 5' },
      limit: { value: 'N', meaning: 'How many are shown, the longest first; default 50' },
      json: { meaning: 'Print them as a JSON object' },
      'data-dir': dataDir,
    },
    details: `Orders that are paid and no sale yet, whose money is on its way back, whose processor does not answer, or that should have expired.
Orders that wait for their shopper are none. Changes nothing, needs no keys, and works beside a running server. Exits 1 where there is one.`,
    run: async (input) => (await import('./order.ts')).orders(input),
  },
  'support-bundle': {
    summary: 'Write into one file what somebody who helps has to know, without secrets and personal values',
    positionals: ['FILE'],
    flags: { 'no-check': { meaning: 'Leave out what `souk check` would find, which takes long on a large database' }, 'data-dir': dataDir },
    details: `A JSON file for its owner alone: versions, settings without secrets, what the running server says of itself, sizes, migrations, jobs,
processors, the errors of the last day, orders that are stuck, and what \`souk check\` finds. What cannot be found out is told in
its place. Changes nothing, needs no keys, works beside a running server or without one, and replaces no file.`,
    run: async (input) => (await import('./support-bundle.ts')).supportBundle(input),
  },
  jobs: {
    summary: 'Print how every background job stands: its last run, what came of it, and its next',
    flags: { 'data-dir': dataDir },
    details: `Changes nothing, needs no keys, and works beside a running server, whose last minute may be missing. Exits 1 where a job is
stuck or its last run did not end well.`,
    run: async (input) => (await import('./jobs.ts')).jobs(input),
  },
  mail: {
    summary: 'Print how mails stand and whether the mail server takes them, or send one to try it',
    positionals: ['status|test'],
    flags: { to: { value: 'ADDRESS', meaning: 'With test: where the mail goes' }, 'data-dir': dataDir },
    details: `Works beside a running server. Exits 1 where the mail server does not take mails, or SMTP_URL is not set.

  souk mail status
  souk mail test --to you@example.com`,
    run: async (input) => (await import('./mail.ts')).mail(input),
  },
  audit: {
    summary: 'Print the audit trail: who did what',
    positionals: ['export'],
    flags: {
      from: { value: 'DAY', meaning: 'The first day, as 2026-01-31, UTC; default the first there is' },
      to: { value: 'DAY', meaning: 'The last day, inclusive; default today' },
      format: { value: 'FORMAT', meaning: 'jsonl (a JSON object a line, the default) or csv' },
      'data-dir': dataDir,
    },
    details: `Oldest first, to standard output, a piece at a time however much there is. Works beside a running server.

  souk audit export --from 2026-01-01 --to 2026-01-31 --format csv > january.csv`,
    run: async (input) => (await import('./audit.ts')).audit(input),
  },
  lending: {
    summary: 'Print the rules of credit, judge all decisions again, or by other rules',
    positionals: ['rules|replay|backtest', '[RULES.json]'],
    flags: { all: { meaning: 'With backtest: also the decisions that other rules would leave as they are' }, 'data-dir': dataDir },
    details: `Writes nothing, and works beside a running server.

  souk lending rules > rules.json       the rules by which credit is judged now, as a file to try others with
  souk lending replay                   judges every decision that was given figures again, by the rules of its time, and
                                        names each that does not come out to the byte as it was; exits 1 if one does not
  souk lending backtest rules.json      what the rules of that file would have decided instead, case by case and in sum.
                                        A file with an unknown field, or by whose rules more revenue would be lent less or
                                        more risk more, is refused`,
    run: async (input) => (await import('./lending.ts')).lending(input),
  },
  chain: {
    summary: 'Read attestations from the chains, count them again, and attest',
    positionals: ['status|sync|resync|registry|verify|register|attest', '[FILE.json]'],
    flags: {
      chain: { value: 'ID', meaning: 'The chain, by its id, as 8453' },
      rpc: {
        value: 'URL',
        meaning: 'Its node, instead of those of CHAINS; several with commas between. Others on this machine may see what it holds',
      },
      contract: { value: 'ADDRESS', meaning: 'Where the Ethereum Attestation Service is on it, where that is not known' },
      from: { value: 'BLOCK', meaning: 'With resync and verify: the first block' },
      to: { value: 'BLOCK', meaning: 'With verify: the last block, instead of the newest that is finalized' },
      registry: { value: 'FILE', meaning: 'With verify: what `souk chain registry` has written' },
      against: { value: 'URL', meaning: 'With verify: the souk whose figures are compared' },
      schema: { value: 'NAME', meaning: 'With attest: A, B, C or D' },
      'key-file': {
        value: 'FILE',
        meaning: 'With register and attest: the private key, in a file that only its owner may read; else CHAIN_SIGNING_KEY',
      },
      yes: { meaning: 'With register and attest: send without asking' },
      'dry-run': { meaning: 'With register and attest: send nothing, and do not ask' },
      'data-dir': dataDir,
    },
    details: `  souk chain status               how far each chain of CHAINS is read; exits 1 where one is halted
  souk chain sync                 reads on now, until all that may be counted is
  souk chain resync --chain ID    reads anew what was read since the chain and we agreed, or from --from BLOCK on; ends a halt
  souk chain registry > FILE      the grants by which is counted, with the hash that /v2/trust-fabric/proof shows

All of these work beside a running server. The others open no database:

  souk chain verify --registry FILE --rpc URL [--against https://shop.example]
                                  counts again from that file and the chain alone, and exits 1 where a souk says otherwise
  souk chain register --chain ID  registers those of the four schemas that the chain does not have, and prints their uids
  souk chain attest FILE.json --schema C --chain ID --key-file FILE
                                  makes an attestation: a JSON object with every field of the schema, and a recipient if it is
                                  about an address. Merchants, lenders and loans are given by their ids, or as hashes

What is sent is tried and priced first. On a terminal it is asked about; elsewhere nothing is sent without --yes.`,
    run: async (input) => (await import('./chain.ts')).chain(input),
  },
  'rotate-keys': {
    summary: 'Seal every secret under a new encryption key',
    flags: { 'data-dir': dataDir },
    details: `Adds a new first key to DATA_DIR/keys.json (a new one for access tokens too), seals every secret anew under it and
retires the old one. Works beside a running server, which takes the new key up by itself. Stopped half-way, it goes
on where it was when run again. Old keys stay in the file, because old backups need them: copy the file again.

With the keys in the settings: set ENCRYPTION_KEY=new,old, restart every server with it, run this command with it.
When \`souk check\` finds no fault with ENCRYPTION_KEY=new alone, the servers need no more than that.`,
    run: async (input) => (await import('./rotate-keys.ts')).rotateKeys(input),
  },
  openapi: {
    summary: 'Print the OpenAPI document',
    details: 'Needs no database and no data directory.',
    run: async () => (await import('./openapi.ts')).openapi(),
  },
  help: {
    summary: 'Explain a command, or with `settings` every setting, or with `guard ADDRESS` who may see the dashboards',
    positionals: ['[COMMAND]', '[ADDRESS]'],
    flags: { country: { value: 'XX', meaning: "With guard: the country that a proxy's header says" } },
    details: `\`souk help guard ADDRESS\` says by the settings at hand which condition would refuse a super admin who calls from there: exit
status 0 when none would, 1 when one would.`,
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
