/** Both migration trees come from one schema: `bun run migrations:generate` runs drizzle-kit once for each engine. */
import { defineConfig } from 'drizzle-kit'
import { engine } from './db/columns.ts'

export default defineConfig({
  dialect: engine === 'sqlite' ? 'sqlite' : 'postgresql',
  schema: './db/schema/index.ts',
  out: `./db/migrations/${engine}`,
})
