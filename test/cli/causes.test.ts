/** Tests that commands name the cause and the path of a failure, with an unprivileged user and small disks. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'
import { describeProcesses, program, servedOnce, souk } from './souk.ts'

setDefaultTimeout(longTestMs)

const nobody = 65_534
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']

/** Runs a command as the user nobody, which has no privileges. */
function soukAsNobody(args: readonly string[], dataDir: string) {
  const env = { PATH: Bun.env['PATH'] ?? '', DATA_DIR: dataDir, PORT: '0' }
  const { exitCode, stderr } = Bun.spawnSync([...asNobody, ...program, ...args], { cwd: '/', env, stdin: 'ignore' })
  return { status: exitCode, stderr: stderr.toString() }
}

/** Creates a directory that the user nobody owns. */
function dirOfNobody(): string {
  const dir = temporaryDir()
  chownSync(dir, nobody, nobody)
  return dir
}

const canBecomeNobody = (() => {
  try {
    const canRun = Bun.spawnSync([...asNobody, ...program, 'version'], { cwd: '/', env: {}, stderr: 'ignore' }).exitCode === 0
    // A parent of the temporary directory may be closed to this user.
    return canRun && Bun.spawnSync([...asNobody, 'test', '-w', dirOfNobody()], { cwd: '/' }).exitCode === 0
  } catch {
    return false
  }
})()
if (!canBecomeNobody)
  process.stdout.write(
    'skipped: errors for unprivileged users, because this process may not become one, or its temporary files are closed to them\n',
  )

const mounted: string[] = []
/** Mounts a small disk. Returns undefined if this process may not mount. */
function mountSmallDisk(options: string): string | undefined {
  const dir = temporaryDir()
  const { exitCode } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `mode=700,${options}`, 'tmpfs', dir], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  if (exitCode !== 0) return undefined
  mounted.push(dir)
  return dir
}
const canMount = mountSmallDisk('size=1m') !== undefined
if (!canMount) process.stdout.write('skipped: read-only and full disks, because this process may not mount one\n')
afterAll(() => {
  for (const dir of mounted) Bun.spawnSync(['umount', '-l', dir])
})

describeProcesses('causes in error messages of commands', () => {
  test.skipIf(!canBecomeNobody)('a directory without permission is reported as such, not as missing', async () => {
    const { dataDir, database } = await servedOnce()
    chmodSync(dataDir, 0o700)
    for (const args of [
      ['serve'],
      ['check'],
      ['rotate-keys'],
      ['backup', join(dirOfNobody(), 'copy.db')],
      ['setup', '--email', 'a@example.com'],
    ]) {
      const { status, stderr } = soukAsNobody(args, dataDir)
      expect({ args, status }).toEqual({ args, status: 1 })
      expect(stderr).toMatch(new RegExp(`^Permission denied: ${dataDir}[^ ]*\\. .*souk runs as user ${nobody}: .*\n$`))
    }
    const target = join(dataDir, 'copy.db')
    const writableDir = dirOfNobody()
    expect((await souk(['backup', join(writableDir, 'souk.db')], dataDir)).status).toBe(0)
    chownSync(join(writableDir, 'souk.db'), nobody, nobody)
    expect(soukAsNobody(['backup', target], writableDir).stderr).toStartWith(`Permission denied: ${target}`)
    expect(soukAsNobody(['restore', database, '--force'], writableDir).stderr).toStartWith(`Permission denied: ${database}`)
  })

  test.skipIf(!canBecomeNobody)('files of another user in the data directory are named', async () => {
    for (const name of ['souk.db', 'keys.json']) {
      const { dataDir } = await servedOnce()
      for (const path of [dataDir, join(dataDir, 'souk.db'), join(dataDir, 'keys.json'), join(dataDir, 'lock.db')])
        chownSync(path, nobody, nobody)
      chownSync(join(dataDir, name), 0, 0)
      chmodSync(join(dataDir, name), 0o600)
      const { status, stderr } = soukAsNobody(['serve'], dataDir)
      expect({ name, status }).toEqual({ name, status: 1 })
      expect(stderr).toStartWith(`Permission denied: ${join(dataDir, name)}. `)
    }
  })

  test.skipIf(!canBecomeNobody)('a privileged port is reported as such, not as taken', () => {
    const { status, stderr } = soukAsNobody(['serve', '--port', '80'], dirOfNobody())
    expect({ status, stderr: stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{')) }).toEqual({
      status: 1,
      stderr: [
        'Port 80 needs a right that souk does not have here: set a PORT of 1024 or above and put a proxy in front, or give it CAP_NET_BIND_SERVICE',
      ],
    })
  })

  test.skipIf(!canMount)('a read-only file system is reported as such, not as missing', async () => {
    const dir = mountSmallDisk('size=8m') ?? ''
    const { dataDir } = await servedOnce()
    expect((await souk(['backup', join(dir, 'souk.db')], dataDir)).status).toBe(0)
    Bun.spawnSync(['mount', '-o', 'remount,ro', dir])
    for (const args of [['serve'], ['setup', '--email', 'a@example.com'], ['rotate-keys'], ['serve', '--data-dir', join(dir, 'below')]]) {
      const { status, stderr } = await souk(args, dir, { stdin: 'password-of-root' })
      expect({ args, status }).toEqual({ args, status: 1 })
      expect(stderr).toMatch(new RegExp(`^Read-only file system: ${dir}`))
    }
    expect((await souk(['backup', join(dir, 'copy.db')], dataDir)).stderr).toStartWith(`Read-only file system: ${dir}/copy.db`)
    // Restoring from a read-only disk works, because it only reads.
    expect((await souk(['restore', join(dir, 'souk.db')], temporaryDir())).status).toBe(0)
  })

  test.skipIf(!canMount)('a full disk is named as the cause', async () => {
    const dir = mountSmallDisk('size=64k') ?? ''
    const { dataDir } = await servedOnce()
    const target = join(dir, 'copy.db')
    const { status, stderr } = await souk(['backup', target], dataDir)
    expect(status).toBe(1)
    expect(stderr).toMatch(new RegExp(`^Disk full: ${target}`))
    expect((await souk(['serve'], dir)).stderr).toMatch(new RegExp(`^Disk full: ${dir}`))
  })

  test('an obstacle at a path is named: a directory, a file, a loop of symbolic links, or a missing path', async () => {
    const dir = temporaryDir()
    mkdirSync(join(dir, 'souk.db'))
    expect((await souk(['serve'], dir)).stderr).toBe(`Not a file, but a directory: ${join(dir, 'souk.db')}\n`)
    const other = temporaryDir()
    writeFileSync(join(other, 'file'), '')
    const below = join(other, 'file', 'data')
    for (const command of [['serve'], ['check'], ['setup', '--email', 'a@example.com']]) {
      const { status, stderr } = await souk([...command, '--data-dir', below], other)
      expect({ command, status }).toEqual({ command, status: 1 })
      expect(stderr).toContain(other)
    }
    expect((await souk(['restore', join(other, 'none.db')], other)).stderr).toBe(`Database not found: ${join(other, 'none.db')}\n`)
    const { dataDir } = await servedOnce()
    const unreachable = join(other, 'none', 'file')
    for (const command of [
      ['backup', unreachable],
      ['export', 'orders', unreachable, '--shop', 'x'],
      ['support-bundle', unreachable],
      ['move', '--env-file', unreachable],
    ])
      expect({ command, ...(await souk(command, dataDir)) }).toEqual({
        command,
        status: 1,
        stdout: '',
        stderr: `Directory not found: ${join(other, 'none')}\n`,
      })
    expect(existsSync(join(other, 'none'))).toBe(false)
    expect(statSync(join(other, 'file')).size).toBe(0)
  })
})
