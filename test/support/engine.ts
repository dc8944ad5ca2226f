import { afterAll } from 'bun:test'
import './validated-once.ts'

/** Loaded before any test: which engine the suite runs on is decided before the first column is built. */
if (Bun.env['TEST_DATABASE_URL']) Bun.env['DATABASE_URL'] = Bun.env['TEST_DATABASE_URL']
else delete Bun.env['DATABASE_URL']

afterAll(async () => {
  const { cleanUp } = await import('./database.ts')
  await cleanUp()
})
