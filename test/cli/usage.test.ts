import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseRefused } from '../../db/engine.ts'
import { commands } from '../../src/cli/commands.ts'
import { explain, UsageError } from '../../src/cli/failure.ts'
import { Interrupted } from '../../src/cli/interruption.ts'
import { settingsMarkdown, settingsText } from '../../src/cli/settings-table.ts'
import { settings } from '../../src/config.ts'
import { OperatorError } from '../../src/core/errors.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'
import { describeProcesses, souk } from './souk.ts'

setDefaultTimeout(longTestMs)

const main = join(import.meta.dir, '..', '..', 'src', 'main.ts')

describeProcesses('the command line', () => {
  test.each(Object.keys(commands))('%s --help explains the command and touches nothing', async (name) => {
    const dataDir = temporaryDir()
    const { status, stdout, stderr } = await souk([name, '--help'], dataDir)
    expect(status).toBe(0)
    expect(stderr).toBe('')
    expect(stdout).toContain(`Usage: souk ${name}`)
    for (const flag of Object.keys(commands[name]?.flags ?? {})) expect(stdout).toContain(`--${flag}`)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test.each([['help'], ['--help'], ['-h']])('%s lists every command', async (argument) => {
    const { status, stdout } = await souk([argument], temporaryDir())
    expect(status).toBe(0)
    for (const [name, { summary }] of Object.entries(commands))
      expect(stdout).toMatch(new RegExp(`^  ${name} +${RegExp.escape(summary)}$`, 'm'))
  })

  test('help settings lists every setting with its default and meaning', async () => {
    const { status, stdout } = await souk(['help', 'settings'], temporaryDir())
    expect(status).toBe(0)
    expect(stdout).toBe(settingsText())
    for (const [name, { meaning }] of Object.entries(settings))
      expect(stdout).toMatch(new RegExp(`^${name} .*${RegExp.escape(meaning)}$`, 'm'))
  })

  test.each([
    [['frobnicate'], 'Unknown command "frobnicate". See `souk help`.\n'],
    [['exprot'], 'Unknown command "exprot". Did you mean "export"? See `souk help`.\n'],
    [['hunter2hunter2hunter2'], 'Unknown command. See `souk help`.\n'],
    [['toString'], 'Unknown command "toString". See `souk help`.\n'],
    [['setup', '--password=hunter2-hunter2'], 'Unknown flag --password. See `souk setup --help`.\n'],
    [['--frobnicate'], 'Unknown flag --frobnicate. See `souk serve --help`.\n'],
    [['serve', '--prot', '1'], 'Unknown flag --prot. Did you mean --port? See `souk serve --help`.\n'],
    [['backup', '--force=hunter2', 'x.db'], '--force takes no value. See `souk backup --help`.\n'],
    [['serve', '--port'], '--port needs a value. See `souk serve --help`.\n'],
    [['restore', 'x.db', '--force', '--data-dir', ''], '--data-dir needs a value. See `souk restore --help`.\n'],
    [['serve', '--port', '1', '--port', '2'], '--port is given twice. See `souk serve --help`.\n'],
    [['backup', '--force', '--force', 'x.db'], '--force is given twice. See `souk backup --help`.\n'],
    [['check', 'hunter2'], 'Too many arguments. See `souk check --help`.\n'],
    [['help', 'frobnicate'], 'Unknown command "frobnicate". See `souk help`.\n'],
    [['help', 'serve', 'more'], 'Too many arguments. See `souk help --help`.\n'],
    [['help', 'guard'], 'ADDRESS must be an IP address, such as `souk help guard 203.0.113.9`\n'],
    [['help', 'guard', 'hunter2'], 'ADDRESS must be an IP address, such as `souk help guard 203.0.113.9`\n'],
    [['help', 'guard', '::1', '--country', 'hunter2'], '--country must be a two-letter country code such as AE\n'],
    [['setup'], '--email is missing. Run `souk setup --email you@example.com`\n'],
    [['setup', '--email', 'nobody'], '--email must be an email address\n'],
    [['mail', 'frobnicate'], 'Unknown argument "frobnicate". Use `souk mail status` or `souk mail test`.\n'],
    [['mail', 'test'], '--to is missing. Run `souk mail test --to you@example.com`\n'],
    [['mail', 'test', '--to', 'nobody'], '--to must be an email address\n'],
    [['restore'], 'Choose either a backup (a FILE, a NAME or latest), or --to TIME\n'],
    [['restore', 'latest', '--to', 'latest'], 'Choose either a backup (a FILE, a NAME or latest), or --to TIME\n'],
    [['restore', 'x.db', '--until-damage'], '--until-damage needs --to. See `souk restore --help`.\n'],
    [['restore', '--to', 'noon'], '--to must be a time with a time zone, such as 2026-01-31T12:00:00Z, or latest\n'],
  ])('the command line %p is refused with advice and without its values', async (args, message) => {
    const dataDir = temporaryDir()
    expect(await souk(args, dataDir)).toEqual({ status: 2, stdout: '', stderr: message })
    expect(readdirSync(dataDir)).toEqual([])
  })

  test.each([
    'import products.csv --shop x',
    'import products.csv --shop x --dry-run',
    'reset-password --email a@example.com',
    'totp remove --email a@example.com',
    'audit export',
    'rotate-keys',
  ])('souk %s creates no instance in a wrong directory and does not change it', async (line) => {
    const dataDir = temporaryDir()
    writeFileSync(join(dataDir, 'products.csv'), 'Title\nTea\n')
    const { status, stdout, stderr } = await souk(line.split(' '), dataDir, { stdin: 'a long password' })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^Database not found: .*souk\.db\. Set DATA_DIR .*\n$|^No database in /)
    expect(readdirSync(dataDir)).toEqual(['products.csv'])
  })

  test('help and openapi to a full disk exit 1 with one sentence', async () => {
    for (const line of ['help', 'openapi']) {
      const child = Bun.spawn(['sh', '-c', `"${process.execPath}" "${main}" ${line} > /dev/full`], {
        env: { PATH: Bun.env['PATH'] ?? '', DATA_DIR: temporaryDir() },
        stderr: 'pipe',
      })
      const [status, stderr] = await Promise.all([child.exited, Bun.readableStreamToText(child.stderr)])
      expect([status, stderr]).toEqual([1, 'Disk full: standard output. Free some space, then run it again\n'])
    }
  })

  test.each(['serve', 'check', 'setup --email a@example.com'])(
    'invalid settings stop %s with every problem together and none of the values',
    async (line) => {
      const invalid = {
        PORT: '99999-port',
        JWT_SECRET: 'hunter2-jwt',
        ENCRYPTION_KEY: 'hunter2-key',
        DATABASE_URL: 'mysql://root:hunter2-db@host/db',
        LOG_LEVEL: 'hunter2-level',
      }
      const { status, stdout, stderr } = await souk(line.split(' '), temporaryDir(), { settings: invalid })
      expect(status).toBe(1)
      expect(stdout).toBe('')
      for (const name of Object.keys(invalid)) expect(stderr).toContain(`  - ${name} must be `)
      for (const value of Object.values(invalid)) expect(stderr).not.toContain(value)
      expect(stderr).not.toContain('hunter2')
      expect(stderr).not.toContain('    at ')
    },
  )

  test('a secret that is too short to redact leaves error messages intact', () => {
    const { text } = explain(new OperatorError('The settings have a problem'), { JWT_SECRET: 'e,the' })
    expect(text).toBe('The settings have a problem')
  })

  test('a flag overrides its setting', async () => {
    const dataDir = temporaryDir()
    const { status, stderr } = await souk(['serve', '--port', 'none'], dataDir, { settings: { PORT: '0' } })
    expect(status).toBe(1)
    expect(stderr).toContain('PORT must be a whole number')
  })
})

test('expected errors print one message: status 2 for usage, 130 for interruption and 1 for the rest', () => {
  expect(explain(new UsageError('say it so'), {})).toEqual({ text: 'say it so', status: 2 })
  expect(explain(new OperatorError('mend that'), {})).toEqual({ text: 'mend that', status: 1 })
  expect(explain(new DatabaseRefused('not ours'), {})).toEqual({ text: 'not ours', status: 1 })
  expect(explain(new Interrupted('Stopped'), {})).toEqual({ text: 'Stopped', status: 130 })
  const full = Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC', path: '/srv/shop.db' })
  const text = 'Disk full: /srv/shop.db. Free some space, then run it again'
  expect(explain(full, {})).toEqual({ text, status: 1 })
  expect(explain(new Error('could not', { cause: full }), {}).text).toBe(text)
})

test('unexpected errors print no stack and no secret of the settings', () => {
  const env = { JWT_SECRET: 'first-secret-of-many-characters,second-secret-of-many-chars', METRICS_TOKEN: 'the-metrics-token' }
  const cause = new Error('postgres://souk:hunter2@host/db said second-secret-of-many-chars')
  const { text, status } = explain(
    new Error('broken by first-secret-of-many-characters and the-metrics-token and sk_live_abcdef', { cause }),
    env,
  )
  expect(status).toBe(1)
  expect(text).toBe('Unexpected error: Error: broken by *** and *** and ***; Error: postgres://souk:***@host/db said ***')
})

test('the Markdown table has one row per setting', () => {
  const lines = settingsMarkdown().trimEnd().split('\n')
  expect(lines.slice(2).map((line) => line.split('`')[1])).toEqual(Object.keys(settings))
  expect(lines).toContain('| `PORT` | integer | `3000` | Port to listen on; 0 picks a free port |')
  for (const line of lines) expect(line.replaceAll('\\|', '').split('|')).toHaveLength(6)
})
