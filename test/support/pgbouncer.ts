/** Debian's PgBouncer in front of the server that the suite runs on, pooling by transaction. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from './database.ts'
import { freePort } from './free-port.ts'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path))

/** Why there is none; undefined when there is. */
export const whyNoPgBouncer = program === undefined ? 'PgBouncer is not installed' : undefined

/**
 * Starts one before a database.
 * @param url of the database
 * @param connections that it makes to the server at most; everybody's transactions take turns on them
 */
export async function startPgBouncer(url: string, connections: number) {
  const dir = temporaryDir()
  const { hostname, port, username, password, pathname } = new URL(url)
  const listenPort = await freePort()
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${port || 5432} user=${decodeURIComponent(username)}${secret}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
  ]
  const file = join(dir, 'pgbouncer.ini')
  writeFileSync(file, `${lines.join('\n')}\n`)
  // It refuses to run as root, and reads its settings as whom it becomes.
  chmodSync(dir, 0o755)
  const as = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = Bun.spawn([program ?? '', ...as, file], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  let said = ''
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    said += chunk
    if (said.includes('process up')) break
  }
  if (!said.includes('process up')) throw new Error(`PgBouncer did not start: ${said}`)
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(listenPort)
  through.pathname = pathname
  return {
    url: through.href,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
