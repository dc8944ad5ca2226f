/** Tests notifications of systemd with a fake `systemd-notify`. The real one is tested in test/cli/night.test.ts. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openServiceManager, watchdogMs } from '../../src/clients/service-manager.ts'
import type { Log } from '../../src/lib/log.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const folders: string[] = []
const logged: string[] = []
const log: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: (event) => void logged.push(event) }

/** A folder for the PATH, in which `systemd-notify` does what a script says. */
function notifying(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'souk-notify-'))
  folders.push(folder)
  const command = join(folder, 'systemd-notify')
  writeFileSync(command, `#!/bin/sh\n${script}\n`)
  chmodSync(command, 0o755)
  const told = join(folder, 'told')
  return {
    env: { PATH: `${folder}:/usr/bin:/bin`, NOTIFY_SOCKET: join(folder, 'socket') },
    told: () => (existsSync(told) ? readFileSync(told, 'utf8').split('\n').slice(0, -1) : []),
  }
}
const writesDown = 'echo "$@" >> "$(dirname "$0")/told"'
const until = async (holds: () => boolean) => {
  while (!holds()) await Bun.sleep(2)
}
const opened: { end(): void }[] = []
afterAll(() => {
  for (const one of opened) one.end()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
function open(env: Record<string, string>) {
  const manager = openServiceManager(env, log)
  if (!manager) throw new Error('nobody is told')
  opened.push(manager)
  return manager
}

test('without NOTIFY_SOCKET there is no service manager', () => {
  expect(openServiceManager({}, log)).toBeUndefined()
  expect(openServiceManager({ NOTIFY_SOCKET: '', WATCHDOG_USEC: '1000' }, log)).toBeUndefined()
})

test('ready and stopping are notified in order, and no watchdog without WATCHDOG_USEC', async () => {
  const { env, told } = notifying(`case $1 in READY*) sleep 0.1;; esac; ${writesDown}`)
  const manager = open(env)
  manager.ready('serving at http://127.0.0.1:3000')
  manager.stopping('finishing')
  await until(() => told().length === 2)
  expect(told()).toEqual(['READY=1 STATUS=serving at http://127.0.0.1:3000', 'STOPPING=1 STATUS=finishing'])
})

test('the watchdog is notified while the event loop runs, and not while it is blocked', async () => {
  const { env, told } = notifying(writesDown)
  open({ ...env, WATCHDOG_USEC: '60000', WATCHDOG_PID: String(process.pid) }).ready('here')
  await until(() => told().length > 2)
  expect(told().slice(1, 3)).toEqual(['WATCHDOG=1', 'WATCHDOG=1'])
  // What is on its way may arrive.
  Bun.sleepSync(100)
  const before = told().length
  Bun.sleepSync(300)
  expect(told().length).toBe(before)
  await until(() => told().length > before)
})

test('the watchdog interval is a third of WATCHDOG_USEC, and only for this process', () => {
  expect(watchdogMs({ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '7' }, 7)).toBe(20_000)
  expect(watchdogMs({ WATCHDOG_USEC: '60000000' }, 7)).toBe(20_000)
  expect(watchdogMs({ WATCHDOG_USEC: '1' }, 7)).toBe(1)
  expect(watchdogMs({ WATCHDOG_USEC: '9'.repeat(16) }, 7)).toBe(2 ** 31 - 1)
  for (const env of [{ WATCHDOG_USEC: '60000000', WATCHDOG_PID: '8' }, { WATCHDOG_USEC: '0' }, { WATCHDOG_USEC: 'x' }, {}])
    expect(watchdogMs(env, 7)).toBeUndefined()
})

test('a failed notification is logged once and ends nothing', async () => {
  const refusing = notifying(`${writesDown}; exit 3`)
  const manager = open(refusing.env)
  manager.ready('here')
  manager.stopping('now')
  await until(() => refusing.told().length === 2 && logged.length > 0)
  open({ PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere' }).ready('here')
  await until(() => logged.length > 1)
  expect(logged).toEqual(['service_manager.not_told', 'service_manager.not_told'])
})
