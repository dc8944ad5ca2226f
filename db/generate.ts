/**
 * `bun run migrations:generate NAME`: writes the next migration of both trees from the schema. drizzle-kit knows no
 * STRICT, so it is added here.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const name = Bun.argv[2]
if (!name) throw new Error('usage: bun run migrations:generate NAME')

for (const DATABASE_URL of ['', 'postgres://localhost/any']) {
  const kit = ['bun', '--bun', 'node_modules/.bin/drizzle-kit', 'generate', '--name', name]
  const { exitCode } = Bun.spawnSync(kit, { env: { ...Bun.env, DATABASE_URL }, stdout: 'inherit', stderr: 'inherit' })
  if (exitCode !== 0) throw new Error('drizzle-kit failed')
}

const tree = join(import.meta.dir, 'migrations', 'sqlite')
for (const file of readdirSync(tree).filter((entry) => entry.endsWith('.sql'))) {
  const path = join(tree, file)
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^\);(?=$|-->)/gm, ') STRICT;'))
}
