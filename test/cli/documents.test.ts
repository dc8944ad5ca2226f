/** Tests how commands check, back up, restore and reseal the documents of lending applications. */
import { expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { startS3 } from '../clients/documents/s3-server.ts'
import { temporaryDir } from '../support/database.ts'
import { documentPath, lendingOn, pdf, png } from '../support/lending-documents.ts'
import { draftApplication, uploadDocument } from './draft-application.ts'
import { copiesOf, describeProcesses, logIn, pause, serve, servedOnce, souk, withFile } from './souk.ts'

const day = 24 * 60 * 60
/** Lists the files of documents, without the file that marks the store. */
const documentsIn = (dir: string) => {
  const mark = withFile(join(dir, 'souk.db'), (file) =>
    file.query<{ mark: string }, []>("SELECT mark FROM document_stores WHERE kind = 'FILES'").get(),
  )?.mark
  const names = existsSync(join(dir, 'documents')) ? readdirSync(join(dir, 'documents')).sort() : []
  return names.filter((name) => name !== mark)
}
const namesIn = (database: string) =>
  withFile(database, (connection) =>
    connection
      .query<{ name: string }, []>('SELECT storage_name AS name FROM lending_documents ORDER BY storage_name')
      .all()
      .map(({ name }) => name),
  )

const letter = pdf(300_000)
/** Returns a stopped instance with an application and two documents. */
async function instanceWithDocuments() {
  prepared ??= (async () => {
    const { dataDir, database } = await servedOnce()
    const id = draftApplication(database)
    await using server = await serve(dataDir, lendingOn)
    const token = await logIn(server)
    expect((await uploadDocument(server, token, id, 'ein_letter', letter)).status).toBe(200)
    expect((await uploadDocument(server, token, id, 'owner_id', png, 'image/png')).status).toBe(200)
    await server.end('SIGTERM')
    return { copy: copiesOf(dataDir), id }
  })()
  const { copy, id } = await prepared
  const dataDir = copy()
  return { dataDir, database: join(dataDir, 'souk.db'), id }
}
let prepared: Promise<{ copy: () => string; id: string }> | undefined
const documentsOk = 'ok    documents\n'

describeProcesses('documents in backups and checks', () => {
  test('souk check opens every document and reports missing, altered, and day-old unreferenced files', async () => {
    const { dataDir, database, id } = await instanceWithDocuments()
    const [fresh, old] = ['a'.repeat(40), 'b'.repeat(40)].map((name) => join(dataDir, 'documents', name)) as [string, string]
    for (const stray of [fresh, old]) writeFileSync(stray, 'x')
    const then = Date.now() / 1000 - day - 60
    utimesSync(old, then, then)
    const stray = await souk(['check'], dataDir)
    expect([stray.status, stray.stderr]).toEqual([0, ''])
    expect(stray.stdout).toContain(
      `${documentsOk}TO DO files without a document\n      The server removes them within an hour:\n      ${'b'.repeat(40)} in DATA_DIR/documents\n`,
    )
    expect(stray.stdout).not.toContain('a'.repeat(40))
    const pathOf = (key: string) =>
      withFile(database, (connection) =>
        join(
          dataDir,
          'documents',
          connection.query<{ name: string }, [string]>('SELECT storage_name AS name FROM lending_documents WHERE key = ?').get(key)?.name ??
            '',
        ),
      )
    const bytes = readFileSync(pathOf('ein_letter'))
    bytes[100_000] = (bytes[100_000] ?? 0) ^ 1
    writeFileSync(pathOf('ein_letter'), bytes)
    rmSync(pathOf('owner_id'))
    const faulty = await souk(['check'], dataDir)
    expect([faulty.status, faulty.stderr]).toEqual([
      1,
      `FAIL  documents\n      ${id}, ein_letter: its file was changed or is damaged\n      ${id}, owner_id: its file is missing\n`,
    ])
  })

  test('a backup contains the documents sealed, and a restore recreates them in an empty directory', async () => {
    const { dataDir, database } = await instanceWithDocuments()
    const file = join(temporaryDir(), 'shop.db')
    const backup = await souk(['backup', file, '--with-keys'], dataDir, { stdin: 'a passphrase of many words\n' })
    expect([backup.status, backup.stderr]).toEqual([0, ''])
    expect(backup.stdout).toContain(`2 files (documents and images) copied to ${file}.files`)
    expect(readdirSync(`${file}.files`).sort()).toEqual(namesIn(database))
    for (const name of namesIn(database)) {
      expect(readFileSync(join(`${file}.files`, name)).equals(readFileSync(join(dataDir, 'documents', name)))).toBe(true)
      expect(statSync(join(`${file}.files`, name)).mode & 0o777).toBe(0o600)
    }
    const empty = temporaryDir()
    const restored = await souk(['restore', file, '--keys', `${file}.keys`], empty, { stdin: 'a passphrase of many words\n' })
    expect([restored.status, restored.stderr]).toEqual([0, ''])
    expect(restored.stdout).toContain('2 files (documents and images) restored')
    expect((await souk(['check'], empty)).stdout).toContain(documentsOk)
  })

  test('a repeated backup copies only new documents; a restore keeps those of both and reports missing ones', async () => {
    const { dataDir, database, id } = await instanceWithDocuments()
    const folder = temporaryDir()
    const file = join(folder, 'shop.db')
    await souk(['backup', file], dataDir)
    const older = join(copiesOf(folder)(), 'shop.db')
    const inodes = () => readdirSync(`${file}.files`).map((name) => statSync(join(`${file}.files`, name)).ino)
    const before = inodes()
    await using server = await serve(dataDir, lendingOn)
    expect((await uploadDocument(server, await logIn(server), id, 'owner_id', pdf(50))).status).toBe(200)
    const restarted = await souk(['backup', file, '--force'], dataDir)
    expect([restarted.status, restarted.stderr]).toEqual([0, ''])
    expect(inodes().filter((one) => before.includes(one)).length).toBe(1)
    const present = namesIn(database)
    expect(readdirSync(`${file}.files`).sort()).toEqual(present)
    await server.end('SIGTERM')

    const restored = await souk(['restore', older, '--force'], dataDir)
    expect([restored.status, restored.stderr]).toEqual([0, ''])
    const keptFile = readdirSync(join(dataDir, 'backups')).find((name) => name.endsWith('.db.files')) ?? ''
    expect(readdirSync(join(dataDir, 'backups', keptFile)).sort()).toEqual(present)
    expect(namesIn(database).filter((name) => !documentsIn(dataDir).includes(name))).toEqual([])
    rmSync(join(dataDir, 'documents'), { recursive: true })
    // Earlier versions named the folder like this.
    renameSync(`${older}.files`, `${older}.documents`)
    rmSync(join(`${older}.documents`, namesIn(older)[0] ?? ''))
    const incomplete = await souk(['restore', older, '--force'], dataDir)
    expect([incomplete.status, incomplete.stderr.startsWith('1 file is missing in ')]).toEqual([1, true])
  })

  test('a repeated backup replaces altered copies of documents, and reports documents that cannot be opened', async () => {
    const { dataDir, database } = await instanceWithDocuments()
    const [file, folder] = [join(temporaryDir(), 'shop.db'), join(temporaryDir(), 'copies')]
    const settings = { BACKUP_DIR: folder }
    const [name = '', other = ''] = namesIn(database)
    const folders = [`${file}.files`, join(folder, 'documents')]
    const runBackups = async () => [await souk(['backup', file, '--force'], dataDir), await souk(['backup'], dataDir, { settings })]
    for (const { status, stderr } of await runBackups()) expect([status, stderr]).toEqual([0, ''])
    const good = [name, other].map((one) => readFileSync(join(dataDir, 'documents', one)))
    const alter = (path: string) => {
      const altered = readFileSync(path)
      altered[50] = (altered[50] ?? 0) ^ 1
      writeFileSync(path, altered)
    }
    for (const path of [...folders.map((one) => join(one, name)), join(dataDir, 'documents', other)]) alter(path)
    const [toFile, toTarget] = await runBackups()
    for (const backup of [toFile, toTarget])
      expect([backup?.status, backup?.stderr]).toEqual([
        1,
        expect.stringMatching(/1 file changed in the backup and copied again.*\n1 file unreadable in this instance/),
      ])
    expect(toTarget?.stdout).not.toContain('and verified')
    for (const one of folders) expect([name, other].map((file) => readFileSync(join(one, file)))).toEqual(good)
  })

  test('a restore replaces a document that was altered on disk and keeps the altered file', async () => {
    const { dataDir, database } = await instanceWithDocuments()
    const file = join(temporaryDir(), 'shop.db')
    await souk(['backup', file], dataDir)
    const [name = ''] = namesIn(database)
    const path = join(dataDir, 'documents', name)
    const original = readFileSync(path)
    const altered = Buffer.from(original)
    altered[50] = (altered[50] ?? 0) ^ 1
    writeFileSync(path, altered)
    expect((await souk(['check'], dataDir)).status).toBe(1)
    expect((await souk(['restore', file, '--force'], dataDir)).status).toBe(0)
    expect((await souk(['check'], dataDir)).stdout).toContain(documentsOk)
    expect(readFileSync(path).equals(original)).toBe(true)
    const keptFile = readdirSync(join(dataDir, 'backups')).find((one) => one.endsWith('.db.files')) ?? ''
    expect(readFileSync(join(dataDir, 'backups', keptFile, name)).equals(altered)).toBe(true)
  })

  test('a restore keeps the bucket documents of the replaced database, so that it can be restored again', async () => {
    await using s3 = startS3()
    const { settings } = s3
    const { dataDir, id } = await instanceWithDocuments()
    const file = join(temporaryDir(), 'shop.db')
    await souk(['backup', file], dataDir, { settings })
    const server = await serve(dataDir, { ...lendingOn, ...settings })
    expect((await uploadDocument(server, await logIn(server), id, 'lease_agreement', pdf(6_000_000))).status).toBe(200)
    await server.end('SIGTERM')
    const restored = await souk(['restore', file, '--force'], dataDir, { settings })
    expect([restored.status, restored.stderr]).toEqual([0, ''])
    for (const name of s3.objects.keys()) s3.objects.delete(name)
    const keptFile = readdirSync(join(dataDir, 'backups')).find((one) => one.endsWith('.db')) ?? ''
    const back = await souk(['restore', join(dataDir, 'backups', keptFile), '--force'], dataDir, { settings })
    expect([back.status, back.stdout.includes('3 files (documents and images) restored')]).toEqual([0, true])
    expect((await souk(['check'], dataDir, { settings })).stdout).toContain(documentsOk)
  })

  test('when the bucket does not respond, a backup copies the database, names the missing documents and exits 1', async () => {
    const { dataDir, id } = await instanceWithDocuments()
    const file = join(temporaryDir(), 'shop.db')
    const { settings } = await (async () => {
      await using s3 = startS3()
      const server = await serve(dataDir, { ...lendingOn, ...s3.settings })
      expect((await uploadDocument(server, await logIn(server), id, 'lease_agreement', pdf(100))).status).toBe(200)
      await server.end('SIGTERM')
      return s3
    })()
    const backup = await souk(['backup', file], dataDir, { settings })
    expect([backup.status, backup.stderr.startsWith('1 file could not be copied')]).toEqual([1, true])
    expect(backup.stdout).toContain('and verified')
    expect(readdirSync(`${file}.files`).length).toBe(2)
  })

  test('a moved data directory works; without its documents, the start and souk check refuse with a hint', async () => {
    const { dataDir, database, id } = await instanceWithDocuments()
    const file = join(temporaryDir(), 'shop.db')
    await souk(['backup', file], dataDir)
    const [moved, restored] = [`${temporaryDir()}/moved`, temporaryDir()]
    for (const directory of [moved, restored]) {
      if (directory === moved) cpSync(dataDir, moved, { recursive: true })
      else {
        cpSync(join(dataDir, 'keys.json'), join(restored, 'keys.json'))
        expect((await souk(['restore', file], restored)).status).toBe(0)
      }
      await using server = await serve(directory, lendingOn)
      const headers = { authorization: `Bearer ${await logIn(server)}` }
      expect([directory, (await fetch(`${server.url}${documentPath(id, 'ein_letter')}`, { headers })).status]).toEqual([directory, 200])
    }
    const newDir = temporaryDir()
    for (const name of ['souk.db', 'keys.json']) cpSync(join(dataDir, name), join(newDir, name))
    const refused = await souk(['serve'], newDir, { settings: lendingOn })
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain(`The documents of this database are not in ${newDir}/documents, which has no file`)
    const refusedCheck = await souk(['check'], newDir)
    expect(refusedCheck.stderr).toStartWith(`FAIL  store of documents\n      The documents of this database are not in ${newDir}/documents`)
    const mark =
      withFile(database, (one) => one.query<{ mark: string }, []>("SELECT mark FROM document_stores WHERE kind = 'FILES'").get())?.mark ??
      ''
    cpSync(join(dataDir, 'documents'), join(newDir, 'documents'), { recursive: true, filter: (path) => !path.endsWith(mark) })
    writeFileSync(join(newDir, 'documents', mark), '')
    expect((await souk(['check'], newDir)).stdout).toContain(documentsOk)
  })

  test('key rotation changes the rows of documents but no files, and they open with the new key alone', async () => {
    const { dataDir, database } = await instanceWithDocuments()
    const sealed = () =>
      withFile(database, (connection) =>
        connection
          .query<{ key: string }, []>('SELECT sealed_key AS key FROM lending_documents')
          .all()
          .map(({ key }) => key),
      )
    const files = () =>
      documentsIn(dataDir).map((name) => [
        name,
        statSync(join(dataDir, 'documents', name)).mtimeMs,
        statSync(join(dataDir, 'documents', name)).ino,
      ])
    const [rowsBefore, filesBefore] = [sealed(), files()]
    const rotated = await souk(['rotate-keys'], dataDir)
    expect([rotated.status, rotated.stderr]).toEqual([0, ''])
    expect(sealed().filter((one) => rowsBefore.includes(one))).toEqual([])
    expect(files()).toEqual(filesBefore)
    const keys = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8'))
    writeFileSync(join(dataDir, 'keys.json'), JSON.stringify({ ...keys, encryption: keys.encryption.slice(0, 1) }), { mode: 0o600 })
    expect((await souk(['check'], dataDir)).stdout).toContain(documentsOk)
  })

  test('documents in a bucket and older ones on disk are backed up, restored and checked alike', async () => {
    await using s3 = startS3()
    const { settings } = s3
    const { dataDir, id } = await instanceWithDocuments()
    await using server = await serve(dataDir, { ...lendingOn, ...settings })
    expect((await uploadDocument(server, await logIn(server), id, 'lease_agreement', pdf(6_000_000))).status).toBe(200)
    await server.end('SIGTERM')
    // The bucket also has the file that marks the store.
    expect([s3.objects.size, documentsIn(dataDir).length]).toEqual([2, 2])
    const file = join(temporaryDir(), 'shop.db')
    const backup = await souk(['backup', file], dataDir, { settings })
    expect([backup.status, readdirSync(`${file}.files`).length]).toEqual([0, 3])
    s3.objects.clear()
    expect((await souk(['restore', file, '--force'], dataDir, { settings })).status).toBe(0)
    expect(s3.objects.size).toBe(2)
    expect((await souk(['check'], dataDir, { settings })).stdout).toContain(documentsOk)
    const closed = await souk(['check'], dataDir, { settings: { ...settings, DOCUMENTS_S3_SECRET: 'another' } })
    expect([closed.status, closed.stderr]).toEqual([
      1,
      expect.stringContaining("FAIL  files without a document\n      The bucket doesn't answer"),
    ])
    const unset = await souk(['check'], dataDir)
    expect([unset.status, unset.stderr]).toEqual([
      1,
      `FAIL  documents\n      ${id}, lease_agreement: its store doesn't answer, or is not in the settings\n`,
    ])
  })

  test('documents of a bucket that is no longer configured are restored into the data directory', async () => {
    await using s3 = startS3()
    const { settings } = s3
    const { dataDir, id } = await instanceWithDocuments()
    await using server = await serve(dataDir, { ...lendingOn, ...settings })
    expect((await uploadDocument(server, await logIn(server), id, 'lease_agreement', pdf(1_000))).status).toBe(200)
    await server.end('SIGTERM')
    const file = join(temporaryDir(), 'shop.db')
    expect((await souk(['backup', file], dataDir, { settings })).status).toBe(0)
    const newDir = temporaryDir()
    cpSync(join(dataDir, 'keys.json'), join(newDir, 'keys.json'))
    const restored = await souk(['restore', file], newDir)
    expect([restored.status, restored.stderr]).toEqual([0, ''])
    expect(restored.stdout).toContain('3 files (documents and images) restored')
    expect((await souk(['check'], newDir)).stdout).toContain(documentsOk)
    await using restarted = await serve(newDir, lendingOn)
    const headers = { authorization: `Bearer ${await logIn(restarted)}` }
    expect((await fetch(`${restarted.url}${documentPath(id, 'lease_agreement')}`, { headers })).status).toBe(200)
  })

  test('a download that fails on a damaged document writes only log lines to standard error', async () => {
    const { dataDir, database, id } = await instanceWithDocuments()
    const largest = namesIn(database).find((name) => statSync(join(dataDir, 'documents', name)).size > 200_000) ?? ''
    const file = join(dataDir, 'documents', largest)
    const bytes = readFileSync(file)
    bytes[200_000] = (bytes[200_000] ?? 0) ^ 1
    writeFileSync(file, bytes)
    await using server = await serve(dataDir, lendingOn)
    const headers = { authorization: `Bearer ${await logIn(server)}` }
    const answer = await fetch(`${server.url}${documentPath(id, 'ein_letter')}`, { headers })
    await expect(answer.arrayBuffer()).rejects.toThrow()
    await server.log.until(/documents\.damaged/)
    await server.end('SIGTERM')
    await server.log.ended
    const lines = server.log.text().split('\n').filter(Boolean)
    expect(lines.filter((line) => !line.startsWith('{"'))).toEqual([])
  })

  test('a backup into the documents of the instance is refused under any name or link', async () => {
    const { dataDir, database } = await instanceWithDocuments()
    const folder = temporaryDir()
    symlinkSync(join(dataDir, 'documents'), join(folder, 'linked.files'))
    symlinkSync(dataDir, join(folder, 'all'))
    const before = documentsIn(dataDir)
    const [name = ''] = namesIn(database)
    for (const target of [join(folder, 'linked'), join(dataDir, 'documents', name), join(folder, 'all', 'documents', 'new')]) {
      const refused = await souk(['backup', target, '--force'], dataDir)
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('contains the documents of the running instance')])
    }
    expect(documentsIn(dataDir)).toEqual(before)
    expect((await souk(['check'], dataDir)).stdout).toContain(documentsOk)
  })

  test('a server killed during uploads keeps acknowledged documents and leaves at most unreferenced files', async () => {
    const { dataDir, database, id } = await instanceWithDocuments()
    for (const round of [0, 1]) {
      await using server = await serve(dataDir, lendingOn)
      const token = await logIn(server)
      let last = -1
      const uploads = (async () => {
        for (let nth = 0; ; nth++) {
          const answer = await uploadDocument(server, token, id, 'ein_letter', pdf(1_000_000 + nth))
          if (answer.status === 200) last = (await answer.json()).size - 1_000_000
        }
      })().catch(() => undefined)
      while (last < round) await pause()
      await server.end('SIGKILL')
      await uploads
      const size = withFile(database, (connection) =>
        connection.query<{ size: number }, []>("SELECT size FROM lending_documents WHERE key = 'ein_letter'").get(),
      )?.size
      // The last acknowledged upload, or the next one, whose response did not arrive.
      expect([last, last + 1]).toContain((size ?? 0) - 1_000_000)
    }
    expect(namesIn(database).filter((name) => !documentsIn(dataDir).includes(name))).toEqual([])
    const finalCheck = await souk(['check'], dataDir)
    expect([finalCheck.status, finalCheck.stderr]).toEqual([0, ''])
    expect(finalCheck.stdout).toContain(documentsOk)
  })
})
