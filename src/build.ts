/**
 * `bun run build`: makes dist/souk. Built twice, because what a start uses is known only once it has run: its bytecode is then
 * laid out together, and the rest of the program is not read into memory until it is wanted.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleConsole } from './clients/console/bundle.ts'
import { packFile, packFiles } from './clients/console/files.ts'

const root = join(import.meta.dir, '..')

const flags = [
  ...['--compile', '--no-compile-autoload-bunfig', '--no-compile-autoload-dotenv', '--external', 'pg-native'],
  // Not --minify: with names shortened, protected routes fail.
  ...['--minify-syntax', '--minify-whitespace'],
  // The format is named because bytecode alone would make CommonJS, where main.ts may not await.
  ...['--bytecode', '--format=esm', '--splitting'],
  // Code that runs once is not worth compiling; `serve` sets it back at the first request (src/server.ts), other commands at once.
  '--compile-jit-policy=100',
]

/** souk and its workers. */
export const entries = [
  'src/main.ts',
  'db/sqlite/copy-worker.ts',
  'db/sqlite/log-worker.ts',
  'db/sqlite/background-reader-worker.ts',
] as const

/**
 * Makes the console.
 * @returns a file in the folder, in which a program carries it: one more entry point of what is compiled
 */
export async function packConsole(folder: string): Promise<string> {
  const file = join(folder, packFile)
  writeFileSync(file, packFiles(await bundleConsole(undefined, { effort: 'all' })))
  return file
}

/**
 * Compiles a program of ours as the binary is compiled.
 * @param entryPoints paths from the root of the checkout, the program first and then its workers
 * @param outfile where to write it
 * @param profile what a run of the same program has recorded
 */
export function compile(entryPoints: readonly string[], outfile: string, profile?: string): void {
  const order = profile === undefined ? [] : [`--bytecode-order=${profile}`]
  const { success, stderr } = Bun.spawnSync([process.execPath, 'build', ...flags, ...order, ...entryPoints, '--outfile', outfile], {
    cwd: root,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  if (!success) throw new Error(`bun build failed: ${stderr}`)
}

/** Starts the binary on an empty directory, stops it, and leaves in `profile` which functions it has used. */
async function record(binary: string, profile: string): Promise<void> {
  const dataDir = join(profile, '..', 'data')
  const child = Bun.spawn([binary, 'serve'], {
    env: { DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'error', BUN_BYTECODE_ORDER_OUT: profile },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  for await (const _ready of child.stdout) child.kill('SIGTERM')
  if ((await child.exited) !== 0) throw new Error('the binary did not start')
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'souk-build-'))
  try {
    const [first, profile] = [join(folder, 'souk'), join(folder, 'profile')]
    const all = [...entries, await packConsole(folder)]
    compile(all, first)
    await record(first, profile)
    compile(all, 'dist/souk', profile)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
