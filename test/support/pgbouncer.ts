/** Debian's PgBouncer in front of the suite's PostgreSQL server, with transaction pooling. */
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from './database.ts'
import { freePort } from './free-port.ts'

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path))

/** Why PgBouncer is not available; undefined if it is. */
export const whyNoPgBouncer = program === undefined ? 'PgBouncer is not installed' : undefined

/**
 * Starts PgBouncer in front of a database.
 * @param url the database's URL
 * @param connections the maximum of server connections, which all transactions share
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
  // PgBouncer refuses to run as root. Its other user must be able to read the settings.
  chmodSync(dir, 0o755)
  const as = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = Bun.spawn([program ?? '', ...as, file], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  let output = ''
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    output += chunk
    if (output.includes('process up')) break
  }
  if (!output.includes('process up')) throw new Error(`PgBouncer did not start: ${output}`)
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
