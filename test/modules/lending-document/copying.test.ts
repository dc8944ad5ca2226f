/** Copies of the files of documents, as backups and restores make them. */
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFileStore } from '../../../src/clients/documents/files.ts'
import { type DocumentStore, documentName } from '../../../src/core/documents.ts'
import { sealedLength } from '../../../src/lib/sealed-stream.ts'
import { copyFiles } from '../../../src/modules/lending-document/copying.ts'
import { temporaryDir } from '../../support/database.ts'

/** Two documents of a thousand bytes in a directory, and an empty one. */
async function world() {
  const [source, directory] = [createFileStore(temporaryDir()), temporaryDir()]
  const names = [documentName(randomBytes), documentName(randomBytes)] as const
  const bytes = randomBytes(sealedLength(1_000))
  async function* whole() {
    yield bytes
  }
  for (const name of names) await source.put(name, whole())
  const files = names.map((storageName) => ({ store: 'FILES' as const, storageName, size: 1_000 }))
  const target = createFileStore(directory)
  const copy = (from: DocumentStore = source) => copyFiles(files, { from: { of: () => from }, to: { of: () => target } })
  return { source, directory, names, bytes, copy }
}

test('a copy goes on over what one before it left half-way when it was killed', async () => {
  const { directory, names, bytes, copy } = await world()
  writeFileSync(join(directory, `${names[0]}.tmp`), bytes.subarray(0, 100))
  writeFileSync(join(directory, names[1]), bytes.subarray(0, 100))
  expect(await copy()).toMatchObject({ files: 2, missing: [] })
  expect(readdirSync(directory).sort()).toEqual([...names].sort())
  for (const name of names) expect(readFileSync(join(directory, name)).equals(bytes)).toBe(true)
})

test('a document that is removed just before it is read is missing from a copy, and the others are in it', async () => {
  const { source, directory, names, copy } = await world()
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
