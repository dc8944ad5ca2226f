/** Two PostgreSQL servers on this machine. The second is a synchronous standby of the first. */
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.ts'

const folder = globSync('/usr/lib/postgresql/*/bin/initdb')
  .sort()
  .at(-1)
  ?.replace(/initdb$/, '')

/** Why PostgreSQL is not available; undefined if it is. */
export const whyNoPostgres = folder === undefined ? 'the programs of PostgreSQL are not installed' : undefined

/** Returns the user of the servers, because they refuse to run as root. */
function userOfServers(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [, , uid, gid] = (/^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0] ?? '').split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

function run(name: string, args: readonly string[]): void {
  const { exitCode, stderr, stdout } = Bun.spawnSync([join(folder ?? '', name), ...args], { cwd: '/', stdin: 'ignore', ...userOfServers() })
  if (exitCode !== 0) throw new Error(`${name}: ${stdout}${stderr}`)
}

export type Pair = Awaited<ReturnType<typeof postgresPair>>

/** Starts both servers. Each commit of the first waits until the second has received it. */
export async function postgresPair() {
  // In memory if possible, because the disk is not tested.
  const home = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `souk-pair-${process.pid}-${crypto.randomUUID().slice(0, 8)}`)
  mkdirSync(home)
  chmodSync(home, 0o755)
  const { uid, gid } = userOfServers()
  if (uid !== undefined && gid !== undefined) chownSync(home, uid, gid)
  const ports = [await freePort(), await freePort()] as const
  const [first, second] = [join(home, 'first'), join(home, 'second')] as const
  const settings =
    'listen_addresses=127.0.0.1 fsync=off full_page_writes=off max_connections=100 shared_buffers=16MB max_wal_senders=4 wal_level=replica wal_retrieve_retry_interval=200ms'
  const options = (port: number) => ['-o', [`-p ${port} -k ${home}`, ...settings.split(' ').map((one) => `-c ${one}`)].join(' ')]
  run('initdb', ['-D', first, '-U', 'souk', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'])
  run('pg_ctl', ['-D', first, '-w', '-l', join(home, 'first.log'), ...options(ports[0]), 'start'])
  const from = `host=127.0.0.1 port=${ports[0]} user=souk application_name=second`
  run('pg_basebackup', ['-D', second, '-d', from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'])
  run('pg_ctl', ['-D', second, '-w', '-l', join(home, 'second.log'), ...options(ports[1]), 'start'])
  const client = new pg.Client({ connectionString: `postgres://souk@127.0.0.1:${ports[0]}/postgres` })
  client.on('error', () => undefined)
  await client.connect()
  await client.query("alter system set synchronous_standby_names = 'second'")
  await client.query('select pg_reload_conf()')
  const isSynchronous = "select 1 from pg_stat_replication where sync_state = 'sync'"
  while ((await client.query(isSynchronous)).rows.length === 0) await Bun.sleep(10)
  await client.query('create database shop')
  await client.end()
  return {
    /** The URL that names both servers. */
    url: `postgres://souk@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/shop`,
    /** The URL of the second server, for use after `promote`. */
    promoted: `postgres://souk@127.0.0.1:${ports[1]}/shop`,
    /** The URL that names the standby before the first server. */
    standbyFirst: `postgres://souk@127.0.0.1:${ports[1]},127.0.0.1:${ports[0]}/postgres`,
    standby: `postgres://souk@127.0.0.1:${ports[1]}/postgres`,
    /** Kills all processes of the first server at once, as a power failure does. */
    kill() {
      const [pid = ''] = readFileSync(join(first, 'postmaster.pid'), 'utf8').split('\n')
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
      for (const one of [pid, ...children]) if (one !== '') process.kill(Number(one), 'SIGKILL')
    },
    /** Promotes the second server: it accepts writes and follows no other server. */
    async promote() {
      const args = [join(folder ?? '', 'pg_ctl'), '-D', second, '-w', 'promote']
      const status = await Bun.spawn(args, { cwd: '/', stdin: 'ignore', stdout: 'ignore', ...userOfServers() }).exited
      if (status !== 0) throw new Error(`pg_ctl promote ended with ${status}`)
    },
    async [Symbol.asyncDispose]() {
      for (const data of [first, second])
        Bun.spawnSync([join(folder ?? '', 'pg_ctl'), '-D', data, '-w', '-m', 'immediate', 'stop'], { cwd: '/', ...userOfServers() })
      rmSync(home, { recursive: true, force: true })
    },
  }
}
