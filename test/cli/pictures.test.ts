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

async function uploadPicture(
  server: { url: string },
  token: string,
  picture: Uint8Array<ArrayBuffer>,
): Promise<{ id: string; url: string }> {
  const answer = await fetch(`${server.url}/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'image/jpeg' },
    body: picture,
  })
  expect(answer.status).toBe(201)
  return answer.json() as Promise<{ id: string; url: string }>
}

/** Returns a stopped instance with a picture, and the path of the picture. */
async function instanceWithPicture(settings: Record<string, string> = {}) {
  const { dataDir } = await servedOnce()
  const copyDir = copiesOf(dataDir)()
  const picture = await jpegOf(400, 300)
  await using server = await serve(copyDir, settings)
  const { url } = await uploadPicture(server, await logIn(server), picture)
  expect(url).toStartWith(`${server.url}/media/`)
  await server.end('SIGTERM')
  return { dataDir: copyDir, database: join(copyDir, 'souk.db'), path: new URL(url).pathname, picture }
}

async function readPicture(dataDir: string, path: string, settings: Record<string, string> = {}) {
  await using server = await serve(dataDir, settings)
  const answer = await fetch(`${server.url}${path}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  await server.end('SIGTERM')
  return { status: answer.status, bytes }
}

describeProcesses('images in backups', () => {
  test('a backup contains images and restores them into an empty directory', async () => {
    const { dataDir, database, path, picture } = await instanceWithPicture()
    const file = join(temporaryDir(), 'all.db')
    expect((await souk(['backup', file], dataDir)).status).toBe(0)
    const names = namesIn(database)
    expect([names.length, readdirSync(`${file}.files`).sort()]).toEqual([3, names.toSorted()])
    const newDir = temporaryDir()
    writeFileSync(join(newDir, 'keys.json'), readFileSync(join(dataDir, 'keys.json')), { mode: 0o600 })
    const restored = await souk(['restore', file], newDir)
    expect([restored.status, restored.stdout.includes('3 files (documents and images) restored')]).toEqual([0, true])
    expect((await souk(['check'], newDir)).stdout).toContain('ok    pictures\n')
    const response = await readPicture(newDir, path)
    expect([response.status, response.bytes.equals(picture)]).toEqual([200, true])
    // The check finds an altered picture. A second backup keeps the intact copy of the first one.
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
    const { dataDir, path, picture } = await instanceWithPicture(settings)
    expect([s3.objects.size, existsSync(join(dataDir, 'media'))]).toEqual([4, false])
    const file = join(temporaryDir(), 'all.db')
    expect((await souk(['backup', file], dataDir, { settings })).status).toBe(0)
    expect((await souk(['restore', file, '--force'], dataDir)).status).toBe(0)
    const response = await readPicture(dataDir, path)
    expect([response.status, response.bytes.equals(picture)]).toEqual([200, true])
    expect((await souk(['check'], dataDir)).status).toBe(0)
  })
})
