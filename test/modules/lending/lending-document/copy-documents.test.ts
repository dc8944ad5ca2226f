/** Tests copying the files of documents for backups and restores. */
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFileStore } from '../../../../src/clients/documents/files.ts'
import { type DocumentStore, documentName } from '../../../../src/core/documents.ts'
import { AppError } from '../../../../src/core/errors.ts'
import { sealedLength } from '../../../../src/lib/sealed-stream.ts'
import { copyFiles } from '../../../../src/modules/lending/lending-document/copy-documents.ts'
import { temporaryDir } from '../../../support/database.ts'

/** Creates a store with two documents of a thousand bytes, and an empty directory. */
async function setUp() {
  const [source, directory] = [createFileStore(temporaryDir()), temporaryDir()]
  const names = [documentName(randomBytes), documentName(randomBytes)] as const
  const bytes = randomBytes(sealedLength(1_000))
  async function* content() {
    yield bytes
  }
  for (const name of names) await source.put(name, content())
  const files = names.map((storageName) => ({ store: 'FILES' as const, storageName, size: 1_000 }))
  const target = createFileStore(directory)
  const copy = (from: DocumentStore = source, replacedTo?: DocumentStore) =>
    copyFiles(files, { from: { of: () => from }, to: { of: () => target }, ...(replacedTo ? { replacedTo } : {}) })
  return { source, directory, names, bytes, copy }
}

test('a copy continues after an earlier one was killed half-way', async () => {
  const { directory, names, bytes, copy } = await setUp()
  writeFileSync(join(directory, `${names[0]}.tmp`), bytes.subarray(0, 100))
  writeFileSync(join(directory, names[1]), bytes.subarray(0, 100))
  expect(await copy()).toMatchObject({ files: 2, missing: [] })
  expect(readdirSync(directory).sort()).toEqual([...names].sort())
  for (const name of names) expect(readFileSync(join(directory, name)).equals(bytes)).toBe(true)
})

test('a document removed just before it is read is missing from the copy, and the others are copied', async () => {
  const { source, directory, names, copy } = await setUp()
  const from: DocumentStore = {
    ...source,
    get: async (name) => {
      const file = await source.get(name)
      if (name === names[0]) await source.delete(name)
      return file
    },
  }
  expect(await copy(from)).toMatchObject({ files: 1, missing: [names[0]] })
  expect(readdirSync(directory)).toEqual([names[1]])
})

test('a comparison replaces and sets aside files of equal length and other bytes, and keeps files that the copy lacks', async () => {
  const { source, directory, names, bytes, copy } = await setUp()
  const altered = Buffer.from(bytes)
  altered[500] = (altered[500] ?? 0) ^ 1
  for (const name of names) writeFileSync(join(directory, name), altered)
  await source.delete(names[1])
  expect(await copy()).toMatchObject({ files: 2, missing: [] })
  expect(readFileSync(join(directory, names[0])).equals(altered)).toBe(true)
  const replacedDirectory = temporaryDir()
  for (const _ of ['once', 'again']) {
    expect(await copy(source, createFileStore(replacedDirectory))).toMatchObject({ files: 2, missing: [] })
    expect(names.map((name) => readFileSync(join(directory, name)).equals(altered))).toEqual([false, true])
    expect(readFileSync(join(directory, names[0])).equals(bytes)).toBe(true)
    expect(readdirSync(replacedDirectory)).toEqual([names[0]])
    expect(readFileSync(join(replacedDirectory, names[0])).equals(altered)).toBe(true)
  }
})

test('an unreadable document is missing and the others are copied, an unavailable store is read once, and a full target ends the copy', async () => {
  const { source, directory, names, copy } = await setUp()
  const failing: DocumentStore = {
    ...source,
    get: async (name) => {
      const file = await source.get(name)
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10)
        throw Object.assign(new Error('i/o error'), { code: 'EIO' })
      }
      return file && name === names[0] ? { ...file, chunks } : file
    },
  }
  expect(await copy(failing)).toMatchObject({ files: 1, missing: [names[0]] })
  expect(readdirSync(directory)).toEqual([names[1]])
  let readCount = 0
  const unavailable: DocumentStore = {
    ...source,
    get: async () => {
      readCount++
      throw new AppError('UNAVAILABLE', 'silent')
    },
  }
  const emptyDirectory = temporaryDir()
  const files = names.map((storageName) => ({ store: 'S3' as const, storageName, size: 1_000 }))
  const target = createFileStore(emptyDirectory)
  const copied = await copyFiles(files, { from: { of: () => unavailable }, to: { of: () => target } })
  expect([copied.files, copied.missing, readCount, readdirSync(emptyDirectory)]).toEqual([0, [...names], 1, []])
  const full: DocumentStore = {
    ...target,
    put: async () => {
      throw new AppError('UNAVAILABLE', 'The disk is full')
    },
  }
  await expect(copyFiles(files, { from: { of: () => source }, to: { of: () => full } })).rejects.toThrow('The disk is full')
})
