/** Tests that backups contain images and that restores recreate them. */
import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startS3 } from '../clients/documents/s3-server.ts'
import { temporaryDir } from '../support/database.ts'
import { jpegOf } from '../support/pictures.ts'
import { copiesOf, describeProcesses, logIn, serve, servedOnce, souk, withFile } from './souk.ts'

const namesIn = (database: string) =>
  withFile(database, (connection) =>
    connection.query<{ name: string }, []>('SELECT storage_name AS name FROM picture_files ORDER BY width').all(),
  ).map(({ name }) => name)

async function handIn(server: { url: string }, token: string, picture: Uint8Array<ArrayBuffer>): Promise<{ id: string; url: string }> {
  const answer = await fetch(`${server.url}/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/jpeg' },
    body: picture,
  })
  expect(answer.status).toBe(201)
  return answer.json() as Promise<{ id: string; url: string }>
}

/** A stopped instance with a picture, and where it is read. */
async function withPicture(settings: Record<string, string> = {}) {
  const { dataDir } = await servedOnce()
  const own = copiesOf(dataDir)()
  const picture = await jpegOf(400, 300)
  await using server = await serve(own, settings)
  const { url } = await handIn(server, await logIn(server), picture)
  expect(url).toStartWith(`${server.url}/media/`)
  await server.end('SIGTERM')
  return { dataDir: own, database: join(own, 'souk.db'), path: new URL(url).pathname, picture }
}

async function shownBy(dataDir: string, path: string, settings: Record<string, string> = {}) {
  await using server = await serve(dataDir, settings)
  const answer = await fetch(`${server.url}${path}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  await server.end('SIGTERM')
  return { status: answer.status, bytes }
}

describeProcesses('images in backups', () => {
  test('a backup contains images and restores them into an empty directory', async () => {
    const { dataDir, database, path, picture } = await withPicture()
    const file = join(temporaryDir(), 'all.db')
    expect((await souk(['backup', file], dataDir)).status).toBe(0)
    const names = namesIn(database)
    expect([names.length, readdirSync(`${file}.files`).sort()]).toEqual([3, names.toSorted()])
    const elsewhere = temporaryDir()
    writeFileSync(join(elsewhere, 'keys.json'), readFileSync(join(dataDir, 'keys.json')), { mode: 0o600 })
    const restored = await souk(['restore', file], elsewhere)
    expect([restored.status, restored.stdout.includes('3 files (documents and images) restored')]).toEqual([0, true])
    expect((await souk(['check'], elsewhere)).stdout).toContain('ok    pictures\n')
    const shown = await shownBy(elsewhere, path)
    expect([shown.status, shown.bytes.equals(picture)]).toEqual([200, true])
    // One that the disk has altered is found, and a second backup leaves what the first one has.
    const [altered = ''] = names
    const damaged = join(dataDir, 'media', altered)
    const bytes = readFileSync(damaged)
    bytes[100] = (bytes[100] ?? 0) ^ 255
    writeFileSync(damaged, bytes)
    const checked = await souk(['check'], dataDir)
    expect([checked.status, checked.stderr]).toEqual([1, expect.stringContaining('its file was changed or is damaged')])
    expect((await souk(['backup', file, '--force'], dataDir)).status).not.toBe(0)
    expect(readFileSync(join(`${file}.files`, altered)).equals(picture)).toBe(true)
    rmSync(join(dataDir, 'media'), { recursive: true })
    const missing = await souk(['check'], dataDir)
    expect(missing.stderr).toContain('store of pictures')
  })

  test('images of a bucket that is no longer configured are restored into the data directory', async () => {
    await using s3 = startS3()
    const settings = Object.fromEntries(Object.entries(s3.settings).map(([name, value]) => [name.replace('DOCUMENTS', 'MEDIA'), value]))
    const { dataDir, path, picture } = await withPicture(settings)
    expect([s3.objects.size, existsSync(join(dataDir, 'media'))]).toEqual([4, false])
    const file = join(temporaryDir(), 'all.db')
    expect((await souk(['backup', file], dataDir, { settings })).status).toBe(0)
    expect((await souk(['restore', file, '--force'], dataDir)).status).toBe(0)
    const shown = await shownBy(dataDir, path)
    expect([shown.status, shown.bytes.equals(picture)]).toEqual([200, true])
    expect((await souk(['check'], dataDir)).status).toBe(0)
  })
})
