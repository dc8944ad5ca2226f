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

/** Creates a folder for PATH with a `systemd-notify` that runs a script. */
function createNotifyScript(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'souk-notify-'))
  folders.push(folder)
  const command = join(folder, 'systemd-notify')
  writeFileSync(command, `#!/bin/sh\n${script}\n`)
  chmodSync(command, 0o755)
  const recordFile = join(folder, 'told')
  return {
    env: { PATH: `${folder}:/usr/bin:/bin`, NOTIFY_SOCKET: join(folder, 'socket') },
    notifications: () => (existsSync(recordFile) ? readFileSync(recordFile, 'utf8').split('\n').slice(0, -1) : []),
  }
}
const recordArgs = 'echo "$@" >> "$(dirname "$0")/told"'
const until = async (isReached: () => boolean) => {
  while (!isReached()) await Bun.sleep(2)
}
const managers: { end(): void }[] = []
afterAll(() => {
  for (const one of managers) one.end()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
function open(env: Record<string, string>) {
  const manager = openServiceManager(env, log)
  if (!manager) throw new Error('nobody is told')
  managers.push(manager)
  return manager
}

test('without NOTIFY_SOCKET there is no service manager', () => {
  expect(openServiceManager({}, log)).toBeUndefined()
  expect(openServiceManager({ NOTIFY_SOCKET: '', WATCHDOG_USEC: '1000' }, log)).toBeUndefined()
})

test('ready and stopping are notified in order, and no watchdog without WATCHDOG_USEC', async () => {
  const { env, notifications } = createNotifyScript(`case $1 in READY*) sleep 0.1;; esac; ${recordArgs}`)
  const manager = open(env)
  manager.ready('serving at http://127.0.0.1:3000')
  manager.stopping('finishing')
  await until(() => notifications().length === 2)
  expect(notifications()).toEqual(['READY=1 STATUS=serving at http://127.0.0.1:3000', 'STOPPING=1 STATUS=finishing'])
})

test('the watchdog is notified while the event loop runs, and not while it is blocked', async () => {
  const { env, notifications } = createNotifyScript(recordArgs)
  open({ ...env, WATCHDOG_USEC: '60000', WATCHDOG_PID: String(process.pid) }).ready('here')
  await until(() => notifications().length > 2)
  expect(notifications().slice(1, 3)).toEqual(['WATCHDOG=1', 'WATCHDOG=1'])
  // Notifications in flight may still arrive.
  Bun.sleepSync(100)
  const before = notifications().length
  Bun.sleepSync(300)
  expect(notifications().length).toBe(before)
  await until(() => notifications().length > before)
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
  const failing = createNotifyScript(`${recordArgs}; exit 3`)
  const manager = open(failing.env)
  manager.ready('here')
  manager.stopping('now')
  await until(() => failing.notifications().length === 2 && logged.length > 0)
  open({ PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere' }).ready('here')
  await until(() => logged.length > 1)
  expect(logged).toEqual(['service_manager.not_told', 'service_manager.not_told'])
})
