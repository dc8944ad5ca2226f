import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Migration } from './pending.ts'

/** Returns the migrations of a folder in order. A Bun macro: it runs when the program is bundled. */
export function readMigrations(folder: 'postgres' | 'sqlite'): Migration[] {
  const path = join(import.meta.dir, folder)
  const files = readdirSync(path).filter((file) => file.endsWith('.sql'))
  return files.sort().map((file) => ({ tag: file.slice(0, -4), statements: readFileSync(join(path, file), 'utf8') }))
}
