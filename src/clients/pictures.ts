/** Receives and renders pictures in a folder of the data directory. A separate process decodes pixels. */
import { randomBytes } from 'node:crypto'
import { open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../core/errors.ts'
import { type PictureWorkspace, RenderFailed, type UploadedPicture, type WorkspaceFile } from '../core/pictures.ts'
import { isFull, makeDirectory, readChunks } from './atomic-files.ts'

/** A picture of 50 megapixels takes two seconds on an idle machine. */
const renderMaxMs = 30_000
const quality = 75
/** The limit of WebP. */
const sideMax = 16_383

/**
 * Runs in a separate process without secrets, since a codec may crash or exhaust memory. Widths are ascending. Damaged
 * pictures fail even if nothing is rendered.
 */
const renderScript = `
const fs = require('fs'), { createHash } = require('crypto')
try { require('os').setPriority(10) } catch {}
const [, file, order] = process.argv
const { decodes, widths, maxPixels, quality, sideMax } = JSON.parse(order)
const factsOf = (bytes) => ({ bytes: bytes.length, digest: createHash('sha256').update(bytes).digest('hex') })
const source = fs.readFileSync(file)
const result = { original: factsOf(source), sizes: [] }
try {
  const options = { maxPixels }
  if (decodes && widths.length === 0) await new Bun.Image(source, options).resize(1, 1, { filter: 'box' }).png().bytes()
  let from = source
  // Decoded once at full size: the smaller widths are rendered from the largest one, stored as lossless PNG.
  if (decodes && widths.length > 1) from = await new Bun.Image(source, options).resize(widths.at(-1)).png({ compressionLevel: 1 }).bytes()
  for (const width of decodes ? widths : []) {
    const image = new Bun.Image(from, options).resize(width).webp({ quality })
    const bytes = await image.bytes()
    if (image.height > sideMax) continue
    fs.writeFileSync(file + '.' + width, bytes)
    result.sizes.push({ width: image.width, height: image.height, ...factsOf(bytes) })
  }
} catch (error) {
  result.failed = String(error?.code ?? error).slice(0, 100)
}
process.stdout.write(JSON.stringify(result))
`

type RenderResult = {
  readonly original: Omit<WorkspaceFile, 'chunks'>
  readonly sizes: readonly ({ readonly width: number; readonly height: number } & Omit<WorkspaceFile, 'chunks'>)[]
  readonly failed?: string
}

/**
 * Creates the renderer of pictures.
 * @param directory created with the first picture
 * @param maxPixels larger pictures are not decoded
 */
export function createPictureWorkspace(directory: string, maxPixels: number): PictureWorkspace {
  return {
    async receive(chunks, use) {
      await makeDirectory(directory)
      const incoming = join(directory, randomBytes(16).toString('hex'))
      const picture = `${incoming}.picture`
      const sizes: string[] = []
      try {
        await write(incoming, chunks)
        const upload: UploadedPicture = {
          bytes: () => Bun.file(incoming).bytes(),
          async render(pieces, how) {
            await write(picture, pieces)
            sizes.push(...how.widths.map((width) => `${picture}.${width}`))
            const result = await runRenderer(picture, { ...how, maxPixels, quality, sideMax })
            const chunksOf = (path: string) => () => readChunks(path, 'No such picture')
            return {
              original: { ...result.original, chunks: chunksOf(picture) },
              sizes: result.sizes.map((size) => ({ ...size, chunks: chunksOf(`${picture}.${size.width}`) })),
            }
          },
        }
        return await use(upload)
      } catch (error) {
        if (isFull(error))
          throw new AppError('UNAVAILABLE', 'The disk is full: nothing was changed, try again later', { retryAfterSeconds: 5 })
        throw error
      } finally {
        await Promise.all([incoming, picture, ...sizes].map((path) => rm(path, { force: true })))
      }
    },
    async tidy(beforeMs) {
      const names = await readdir(directory).catch(() => [])
      for (const name of names) {
        const path = join(directory, name)
        const stats = await stat(path).catch(() => undefined)
        if (stats && stats.mtimeMs <= beforeMs) await rm(path, { force: true })
      }
    },
  }
}

async function write(path: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at)).bytesWritten
  } finally {
    await file.close()
  }
}

/** @throws RenderFailed */
async function runRenderer(picture: string, order: object): Promise<RenderResult> {
  const child = Bun.spawn([process.execPath, '-e', renderScript, picture, JSON.stringify(order)], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: renderMaxMs,
    killSignal: 'SIGKILL',
    // Makes the compiled binary behave like Bun.
    env: { BUN_BE_BUN: '1' },
  })
  const [text, status] = await Promise.all([new Response(child.stdout).text(), child.exited])
  if (status !== 0) throw new RenderFailed('FAILED', `${child.signalCode ?? status}`)
  const result = JSON.parse(text) as RenderResult
  if (result.failed !== undefined) throw new RenderFailed('DAMAGED', result.failed)
  return result
}
