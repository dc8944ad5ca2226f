import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, program, serve, servedOnce, signUp, souk, startCommand, withFile } from './souk.ts'

const rows = 20_000
/** Inserts more rows than a pipe can buffer, one second apart from 1 January 2026. */
function insertRows(database: string): void {
  withFile(database, (connection) => {
    connection.run(
      `with recursive nth(n) as (select 0 union all select n + 1 from nth where n < ${rows - 1})
       insert into audit_log (id, at, actor, action, subject, before, after)
       select printf('aud_%026d', n), 1767225600000 + n * 1000, 'mer_1', 'blog.changed', '=blog', '{"title":"a, \\"b\\""}', '{"title":"c"}' from nth`,
    )
  })
}

describeProcesses('souk audit export', () => {
  test('souk audit export prints the audit trail of a running server, oldest first, as one JSON object a line', async () => {
    const dataDir = temporaryDir()
    await using server = await serve(dataDir)
    await signUp(server)
    const { status, stdout, stderr } = await souk(['audit', 'export'], dataDir)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([status, stderr]).toEqual([0, ''])
    expect(lines.map(({ action, address }) => [action, address])).toEqual([
      ['merchant.created', '127.0.0.1'],
      ['session.started', '127.0.0.1'],
      ['shop.private_key_read', '127.0.0.1'],
    ])
    expect(lines[0].after).toMatchObject({ country: 'US', email: '[redacted]' })
    expect(stdout).not.toContain('example.com')
  })

  test('souk audit export prints a long trail completely through a pipe, as JSON lines, as CSV, and by days', async () => {
    const { dataDir, database } = await servedOnce()
    insertRows(database)
    const lines = (await souk(['audit', 'export', '--from', '2026-01-01', '--to', '2026-01-01'], dataDir)).stdout.split('\n')
    expect(lines).toHaveLength(rows + 1)
    expect(lines.slice(0, rows).map((line) => Number(JSON.parse(line).id.slice(4)))).toEqual(Array.from({ length: rows }, (_, nth) => nth))
    const csv = (await souk(['audit', 'export', '--from', '2026-01-01', '--to', '2026-01-01', '--format', 'csv'], dataDir)).stdout.split(
      '\r\n',
    )
    expect(csv).toHaveLength(rows + 2)
    expect(csv.slice(0, 2)).toEqual([
      'id,at,actor,action,subject,shopId,address,requestId,before,after',
      `aud_${'0'.repeat(26)},2026-01-01T00:00:00.000Z,mer_1,blog.changed,'=blog,,,,"{""title"":""a, \\""b\\""""}","{""title"":""c""}"`,
    ])
    expect((await souk(['audit', 'export', '--to', '2025-12-31'], dataDir)).stdout).toBe('')
  })

  test('souk audit export exits 0 when its reader closes the pipe', async () => {
    const { dataDir, database } = await servedOnce()
    insertRows(database)
    const command = `(${program.map((word) => `"${word}"`).join(' ')} audit export; echo "ended with $?" >&2) | head -n 1`
    const child = Bun.spawn(['sh', '-c', command], {
      cwd: dataDir,
      env: { PATH: Bun.env['PATH'] ?? '', DATA_DIR: dataDir },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [line, ending] = await Promise.all([Bun.readableStreamToText(child.stdout), Bun.readableStreamToText(child.stderr)])
    expect([JSON.parse(line).subject, ending]).toEqual(['=blog', 'ended with 0\n'])
  })

  test('souk audit export to a full disk exits 1 with one sentence', async () => {
    const { dataDir, database } = await servedOnce()
    insertRows(database)
    const command = `${program.map((word) => `"${word}"`).join(' ')} audit export > /dev/full`
    const child = Bun.spawn(['sh', '-c', command], {
      cwd: dataDir,
      env: { PATH: Bun.env['PATH'] ?? '', DATA_DIR: dataDir },
      stderr: 'pipe',
    })
    const [status, stderr] = await Promise.all([child.exited, Bun.readableStreamToText(child.stderr)])
    expect([status, stderr]).toEqual([1, 'Disk full: standard output. Free some space, then run it again\n'])
  })

  test('an interrupted souk audit export says that its output is incomplete', async () => {
    const { dataDir, database } = await servedOnce()
    insertRows(database)
    const child = startCommand(['audit', 'export'], dataDir)
    // The export waits, because only the first chunk of its output is read.
    const reader = child.stdout.getReader()
    await reader.read()
    child.kill('SIGINT')
    expect(await child.exited).toBe(130)
    expect(await Bun.readableStreamToText(child.stderr)).toBe('Stopped. The output is incomplete. Run it again\n')
  })

  test('souk audit export creates no files without a database, and explains invalid arguments', async () => {
    const dataDir = temporaryDir()
    expect((await souk(['audit', 'export'], dataDir)).stderr).toBe(
      `Database not found: ${join(dataDir, 'souk.db')}. Set DATA_DIR or --data-dir to the directory of your instance\n`,
    )
    expect(readdirSync(dataDir)).toEqual([])
    for (const [args, message] of [
      [['audit'], 'export is missing'],
      [['audit', 'import'], 'Unknown argument "import". '],
      [['audit', 'export', '--format', 'xml'], '--format must be jsonl or csv'],
      [['audit', 'export', '--from', '2026-02-30'], '--from must be a day'],
      [['audit', 'export', '--from', '2026-02-02', '--to', '2026-02-01'], '--to must not be before --from'],
    ] as const) {
      const { status, stdout, stderr } = await souk(args, dataDir)
      expect([status, stdout, stderr.slice(0, message.length)]).toEqual([2, '', message])
    }
  })
})
