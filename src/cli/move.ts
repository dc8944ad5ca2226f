import { linkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseRefused, engineErrorCode } from '../../db/engine.ts'
import { serversOf } from '../../db/hosts.ts'
import { type MoveResult, moveDatabase, type Searchable, type Watch } from '../../db/moving/move.ts'
import { openSource, type Source } from '../../db/moving/source.ts'
import { directoriesOf, isThere, lockAll, prepareDataDir } from '../../db/open.ts'
import { isCertainRollback, isUnavailable } from '../../db/postgres/errors.ts'
import { productTermsOf } from '../../db/search-words.ts'
import type { Config } from '../config.ts'
import { isPictureStore } from '../core/documents.ts'
import { OperatorError } from '../core/errors.ts'
import { keyFile, loadSecrets, writePrivateFile } from '../keys.ts'
import type { Progress } from '../lib/progress.ts'
import { searchWords } from '../modules/catalog/products/domain.ts'
import { type CopyResult, emptyCopyResult, type NamedFile } from '../modules/lending/lending-document/index.ts'
import type { Input } from './command.ts'
import { countText } from './count-text.ts'
import { embeddedFile, inspectFile } from './database-file.ts'
import { moveDocumentsToBuckets, namedFiles } from './documents.ts'
import { assertDirectoryOf, UsageError } from './failure.ts'
import { onInterruption } from './interruption.ts'
import { isMoved, removeMovedNote, writeMovedNote } from './moved-instance.ts'
import { createProgress } from './progress.ts'

/** Everything was moved except unavailable documents. */
const incompleteStatus = 1
const resumeHint = 'Run the same command again to resume'
const labels = { looking: 'Checking', moving: 'Moving', comparing: 'Comparing' } as const

/** `souk move --to URL`: copies a stopped instance from its file into an empty PostgreSQL database. */
export async function move({ config: settings, values }: Input): Promise<number> {
  const config = settings()
  const [url, envFile] = [values.get('to'), values.get('env-file')]
  if (url === undefined && envFile === undefined)
    throw new UsageError('--to is missing. Run `souk move --to postgres://USER:PASSWORD@HOST/DATABASE`')
  if (url !== undefined && serversOf(url).length === 0) throw new UsageError('--to must be postgres://USER:PASSWORD@HOST/DATABASE')
  const file = embeddedFile(config, '`souk move` works with the embedded database only')
  if (envFile !== undefined) assertDirectoryOf(envFile)
  if (envFile !== undefined && isThere(envFile)) throw new OperatorError(`${envFile} already exists. Choose another name`)
  // Reports missing keys before the work.
  loadSecrets(config, false)
  const status = url === undefined ? 0 : await moveTo(config, file, url)
  if (envFile !== undefined) writeSettings(config, envFile, url)
  if (url !== undefined) printNextSteps(config, envFile)
  return status
}

async function moveTo(config: Config, file: string, url: string): Promise<number> {
  const { pending } = inspectFile(file)
  if (pending.length > 0)
    throw new OperatorError(
      `The database is older than this version (missing: ${pending.map(({ tag }) => tag).join(', ')}): start souk once to migrate it`,
    )
  const directories = directoriesOf(config.databaseUrl, config.dataDir)
  for (const directory of directories) prepareDataDir(directory)
  const lock = lockAll(directories)
  if (!lock) throw new OperatorError(`souk is running on ${config.dataDir}. Stop it first`)
  const interruption = onInterruption(() => `Stopped. The source instance is unchanged. ${resumeHint}`)
  let source: Source | undefined
  let copyResult = emptyCopyResult
  const wasMoved = isMoved(config)
  let isNoted = false
  const watch = createMoveProgress()
  try {
    source = openSource(file)
    const documents = namedFiles(file).filter(({ store }) => store === 'FILES' || store === 'MEDIA_FILES')
    const before = async () => {
      const { copied: done, going } = await moveDocumentsToBuckets(config, documents)
      copyResult = done
      // Written before the target is opened: after a crash in between, the instance must not be served twice.
      writeMovedNote(config, Date.now())
      isNoted = true
      const missing = new Set(copyResult.missing)
      if (config.documentsS3Bucket === undefined && config.mediaS3Bucket === undefined) return undefined
      return going.map(({ storageName }) => storageName).filter((name) => !missing.has(name))
    }
    const moveResult = await moveDatabase({ source, url, now: Date.now(), products: productsOf(source), watch, before })
    watch.end()
    printMoved(config, moveResult, documents, copyResult)
    return copyResult.missing.length === 0 ? 0 : incompleteStatus
  } catch (error) {
    watch.end()
    // Whether the commit of a connection lost at the very end succeeded is unknown. A note of an earlier complete run
    // stays.
    if (isNoted && isCertainRollback(error)) removeMovedNote(config)
    throw explainMoveError(error, wasMoved)
  } finally {
    interruption.end()
    source?.close()
    lock.release()
  }
}

const refuseMovedAlready =
  'This instance was already moved (see the file MOVED in the data directory). If it was moved into this database, serve that one'
const refusedLogin = /^(28P01|28000|3D000)$/

/** Errors of the target's server concern the target only. */
function explainMoveError(error: unknown, wasMoved: boolean): unknown {
  if (error instanceof DatabaseRefused) return new OperatorError(`Not moved: ${error.message}${wasMoved ? `. ${refuseMovedAlready}` : ''}`)
  if (isUnavailable(error))
    return new OperatorError(`The server in --to doesn't answer: check that it is running, and check the URL. ${resumeHint}`)
  if (refusedLogin.test(engineErrorCode(error) ?? ''))
    return new OperatorError('The server in --to rejected the login: check user, password and database in the URL')
  return error
}

function createMoveProgress(): Watch & { end(): void } {
  let progress: Progress | undefined
  const end = () => {
    progress?.end()
    progress = undefined
  }
  return {
    onBegin(step, total, done) {
      end()
      progress = createProgress({ total, label: labels[step], stream: process.stderr, unit: 'rows', from: done })
      progress.at(done)
    },
    onDone: (rows, table) => progress?.at(rows, table),
    end,
  }
}

type ProductRow = {
  rowid: bigint
  id: string
  shopId: string
  visibleFrom: bigint
  title: string
  vendor: string
  type: string
  tags: string
  options: string
  descriptionHtml: string
  skus: string
}

/** Builds the search words of visible products like the catalog does. */
const productsOf =
  (source: Source) =>
  (after: bigint, limit: number): Searchable[] =>
    source
      .all<ProductRow>(
        `SELECT d.rowid AS rowid, p.id, d.shop_id AS shopId, d.visible_from AS visibleFrom, p.title, p.vendor, p.type, p.tags, p.options,
           p.description_html AS descriptionHtml, (SELECT json_group_array(v.sku) FROM variants v WHERE v.product_id = p.id) AS skus
         FROM product_documents d JOIN products p ON p.id = d.product_id WHERE d.rowid > ${after} ORDER BY d.rowid LIMIT ${limit}`,
      )
      .map(({ rowid, id, shopId, visibleFrom, tags, options, skus, ...texts }) => {
        const tagList = parseColumn<string[]>(tags, { id, column: 'tags' })
        const words = searchWords({
          product: { ...texts, tags: tagList, options: parseColumn(options, { id, column: 'options' }) },
          variants: (JSON.parse(skus) as (string | null)[]).map((sku) => ({ sku })),
        })
        const tagsInLowerCase = tagList.map((tag) => tag.toLowerCase())
        const searchable = { productId: id, shopId, visibleFrom: Number(visibleFrom), words, tags: tagsInLowerCase }
        return { rowid, id, shopId, visibleFrom: String(visibleFrom), words: productTermsOf(searchable).join(' ') }
      })

/** @throws DatabaseRefused if another program stored invalid JSON */
function parseColumn<T>(text: string, { id, column }: { id: string; column: string }): T {
  try {
    return JSON.parse(text)
  } catch {
    throw new DatabaseRefused(`products.${column} of ${id} is not valid JSON: correct the row, then run the same command again`)
  }
}

function printMoved(
  config: Config,
  { tables, rows, products }: MoveResult,
  documents: readonly NamedFile[],
  { missing }: CopyResult,
): void {
  process.stdout.write(
    `Move complete: ${countText(rows, 'row')} in ${countText(tables, 'table')}, ${countText(products, 'product')} in the search index. Counts, sums and all rows match.\n`,
  )
  const kinds = [
    {
      what: 'document',
      whose: 'of loan applications',
      folder: 'documents',
      settings: 'DOCUMENTS',
      bucket: config.documentsS3Bucket,
      ofPictures: false,
    },
    { what: 'file', whose: 'of images', folder: 'media', settings: 'MEDIA', bucket: config.mediaS3Bucket, ofPictures: true },
  ]
  for (const { what, whose, folder: name, settings, bucket, ofPictures } of kinds) {
    const files = documents.filter(({ store }) => isPictureStore(store) === ofPictures)
    if (files.length === 0) continue
    const folder = join(config.dataDir, name)
    if (bucket === undefined) {
      process.stdout.write(
        `${countText(files.length, what)} ${whose} stayed in ${folder}: the new processes need this directory and the same DATA_DIR. Several machines need a bucket: move again into a new database, with ${settings}_S3_… set.\n`,
      )
      continue
    }
    const lost = files.filter(({ storageName }) => missing.includes(storageName)).length
    process.stdout.write(
      `${countText(files.length - lost, what)} ${whose} copied to the bucket. Use another DATA_DIR for the new processes: in ${config.dataDir} they would delete the files of the old instance.\n`,
    )
    if (lost > 0) process.stderr.write(`${countText(lost, what)} could not be read in ${folder}. Run \`souk check\` for details.\n`)
  }
}

/** Contains the settings for new processes, readable by the owner only, for systemd and Docker. */
function writeSettings(config: Config, file: string, url: string | undefined): void {
  const { jwt, encryption, integrationApiKey } = loadSecrets(config, false)
  const lines = [
    ...(url === undefined ? [] : [`DATABASE_URL=${url}`]),
    `JWT_SECRET=${jwt.join(',')}`,
    `ENCRYPTION_KEY=${encryption.join(',')}`,
    `INTEGRATION_API_KEY=${integrationApiKey}`,
  ]
  // A link never replaces an existing file.
  writePrivateFile(file, `${lines.join('\n')}\n`, linkSync)
  process.stdout.write(`Settings and keys for the new processes written to ${file}; only its owner can read it.\n`)
}

function printNextSteps(config: Config, envFile: string | undefined): void {
  const where = isThere(keyFile(config)) ? keyFile(config) : "this instance's settings"
  const keys =
    envFile === undefined
      ? `JWT_SECRET, ENCRYPTION_KEY and INTEGRATION_API_KEY from ${where} (\`souk move --env-file FILE\` writes them to a private file)`
      : `the settings in ${envFile}`
  process.stdout.write(`Don't start the old instance again. Every new process needs DATABASE_URL and ${keys}.
Next: run \`souk check\`, then start the first process. Keep ${config.dataDir} until you have a backup of the new database (pg_dump).\n`)
}
