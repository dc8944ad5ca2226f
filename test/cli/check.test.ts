import { expect, test } from 'bun:test'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { engine } from '../../db/columns.ts'
import { temporaryDir, testDatabase } from '../support/database.ts'
import { copiesOf, describeProcesses, logIn, serve, servedOnce, signUp, souk, withFile } from './souk.ts'

const ownSecrets = { JWT_SECRET: 'j'.repeat(32), ENCRYPTION_KEY: 'e'.repeat(32), INTEGRATION_API_KEY: 'i'.repeat(16) }
const allOk =
  'ok    database file\nok    migrations\nok    keys\nok    sealed secrets\nok    documents\nok    pictures\nok    listings\nok    filters of listings\nok    products of collections\nok    search of products\nok    gift cards\nok    gift cards of orders\nok    money owed\nok    stock\nok    orders\nok    discounts\nok    money of orders\nok    order numbers\nok    credit notes\nok    amounts of payments\nok    payments\nok    refunds\nok    disputes\nok    books\nok    refunds to be paid by hand\nok    disputes of unknown payments\nok    fulfilments\nok    tracking of orders\nok    search of orders\nok    draft orders\nok    sessions of agents\nok    signals of repayments\nok    defaults by day\nok    defaults by sixteen days\nok    reversals\nok    counts of the trust fabric\nok    counted attestations\nok    wallets\nok    messages of service providers\nok    attested repayments\nok    grants\nok    mails\nok    numbers of customers\nok    search of customers\nok    pages of long lists\nok    owners of shops\nok    staff of shops\nok    erased customers\nok    figures of the dashboards\n'

/** Returns a stopped instance with a shop of three visible products. */
async function instanceWithProducts() {
  stockedCopy ??= createProducts()
  const dataDir = (await stockedCopy)()
  return { dataDir, database: join(dataDir, 'souk.db') }
}
let stockedCopy: Promise<() => string> | undefined

async function createProducts() {
  const { dataDir } = await servedOnce()
  await using server = await serve(dataDir)
  const token = await logIn(server)
  for (const title of ['One', 'Two', 'Three']) {
    const created = await server.call('POST', '/product-v2', {
      token,
      body: { title, status: 'ACTIVE', variants: [{ price: { amount: 100, currency: 'USD' } }] },
    })
    expect(created.status).toBe(201)
  }
  await server.end('SIGTERM')
  return copiesOf(dataDir)
}

describeProcesses('souk check', () => {
  test('souk check finds no problem beside a running server and changes nothing', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    await signUp(server)
    const before = readdirSync(dataDir)
    expect(await souk(['check'], dataDir)).toEqual({ status: 0, stdout: allOk, stderr: '' })
    expect(readdirSync(dataDir)).toEqual(before)
  })

  test('souk check creates no files where there is no instance', async () => {
    const dataDir = temporaryDir()
    const { status, stderr } = await souk(['check'], dataDir)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `Database not found: ${join(dataDir, 'souk.db')}. Set DATA_DIR or --data-dir to the directory of your instance\n`,
    })
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('souk check reports an empty database file and nothing else', async () => {
    const { dataDir, database } = await servedOnce()
    writeFileSync(database, '')
    expect(await souk(['check'], dataDir)).toEqual({
      status: 1,
      stdout: '',
      stderr: `FAIL  database file\n      ${database} is empty: restore a backup, or correct DATA_DIR\n`,
    })
  })

  test('souk check reports wrong listing counts by shop and order', async () => {
    const { dataDir, database } = await instanceWithProducts()
    expect(await souk(['check'], dataDir)).toEqual({ status: 0, stdout: allOk, stderr: '' })
    withFile(database, (file) =>
      file.run('DELETE FROM product_documents WHERE product_id = (SELECT min(product_id) FROM product_documents)'),
    )
    const { status, stdout, stderr } = await souk(['check'], dataDir)
    expect({ status, stdout }).toEqual({ status: 1, stdout: allOk.replace('ok    listings\n', '') })
    expect(stderr).toMatch(/^FAIL {2}listings\n( {6}Shop shop_\w+, sorted by (newest|price|title): counted 3 of 2\n){3}$/)
  })

  test('souk check reports dangling references, secrets that cannot be opened and missing keys', async () => {
    const { dataDir, database } = await instanceWithProducts()
    withFile(database, (file) => file.run("UPDATE api_keys SET sealed = sealed || 'AA' WHERE sealed IS NOT NULL"))
    expect(await souk(['check'], dataDir)).toMatchObject({
      status: 1,
      stderr: "FAIL  sealed secrets\n      api_keys: 1 can't be decrypted with the available keys\n",
    })
    rmSync(join(dataDir, 'keys.json'))
    expect(await souk(['check'], dataDir)).toMatchObject({ status: 1, stderr: expect.stringContaining('FAIL  keys\n') })
    withFile(database, (file) => {
      file.run('PRAGMA foreign_keys = OFF')
      file.run('DELETE FROM users')
    })
    const dangling = await souk(['check'], dataDir)
    expect(dangling).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'FAIL  database file\n      staff.user_id refers to rows of users that are not there, in rowid 1\n      shops.merchant_id refers to rows of users that are not there, in rowid 1\n',
    })
  })

  test('souk check reports an outdated database and does not migrate it', async () => {
    const { dataDir, database } = await instanceWithProducts()
    const tag = withFile(database, (file) => {
      const last = file.query<{ tag: string }, []>('SELECT max(tag) AS tag FROM souk_migrations').get()?.tag ?? ''
      file.run('DELETE FROM souk_migrations WHERE tag = ?', [last])
      return last
    })
    const { status, stderr } = await souk(['check'], dataDir)
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `FAIL  migrations\n      The database is older than this version (missing: ${tag}): start souk once to migrate it\n`,
    })
    expect(withFile(database, (file) => file.query('SELECT 1 FROM souk_migrations WHERE tag = ?').get(tag))).toBeNull()
  })
})

test.skipIf(engine !== 'postgres')(
  'on PostgreSQL, setup, rotate-keys and check need only settings, and check does not migrate',
  async () => {
    const { url, dataDir, drop } = await testDatabase()
    const settings = { ...ownSecrets, DATABASE_URL: url }
    const rotating = { ...settings, ENCRYPTION_KEY: `${'n'.repeat(32)},${'e'.repeat(32)}` }
    expect(await souk(['setup', '--email', 'root@example.com'], dataDir, { settings, stdin: 'password-of-root' })).toMatchObject({
      status: 0,
      stderr: '',
    })
    expect(await souk(['rotate-keys'], dataDir, { settings: rotating })).toMatchObject({ status: 0, stderr: '' })
    const settingsAfter = { ...settings, ENCRYPTION_KEY: 'n'.repeat(32) }
    expect(await souk(['check'], dataDir, { settings: settingsAfter })).toEqual({
      status: 0,
      // No server has run yet, so the dashboards have no figures.
      stdout: allOk.replace('ok    database file\n', '').replace('ok    figures of the dashboards\n', ''),
      stderr: '',
    })

    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query<{ tag: string }>(
      "DELETE FROM souk_migrations WHERE tag = (SELECT max(tag) FROM souk_migrations WHERE tag <> 'lock') RETURNING tag",
    )
    const outdatedCheck = await souk(['check'], dataDir, { settings: settingsAfter })
    expect(outdatedCheck).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(`(missing: ${rows[0]?.tag})`) })
    expect((await client.query('SELECT 1 FROM souk_migrations WHERE tag = $1', [rows[0]?.tag])).rows).toEqual([])
    await client.end()
    await drop()
  },
)
