/**
 * `bun run build`: creates dist/souk. It builds twice: a run of the first binary records which functions a start uses.
 * The second build places their bytecode together, so that a start reads less.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleConsole } from './clients/console/bundle.ts'
import { packFile, packFiles } from './clients/console/files.ts'

const root = join(import.meta.dir, '..')

const flags = [
  ...['--compile', '--no-compile-autoload-bunfig', '--no-compile-autoload-dotenv', '--external', 'pg-native'],
  // Not --minify: shortened names break protected routes.
  ...['--minify-syntax', '--minify-whitespace'],
  // Bytecode alone would select CommonJS, in which main.ts cannot use top-level await.
  ...['--bytecode', '--format=esm', '--splitting'],
  // Delays the JIT, because code that runs once is not worth compiling. `serve` resets it at the first request
  // (src/server.ts), other commands at once.
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
 * Bundles the console.
 * @returns a file in `folder`, one more entry point of the compiled program
 */
export async function packConsole(folder: string): Promise<string> {
  const file = join(folder, packFile)
  writeFileSync(file, packFiles(await bundleConsole(undefined, { effort: 'all' })))
  return file
}

/**
 * Compiles a program with the flags of the binary.
 * @param entryPoints paths from the repository root: the program, then its workers
 * @param outfile output path
 * @param profile recorded by a run of the same program
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

/** Starts the binary on an empty directory, stops it, and writes the used functions to `profile`. */
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
